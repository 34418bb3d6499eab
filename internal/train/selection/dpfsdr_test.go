package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// classTable builds a table of numeric columns with one range, category columns with the given codes, and a target
// with the given number of classes.
func classTable(
	t testing.TB,
	half float64,
	columns [][]float64,
	categories [][]int32,
	levels, classes int,
	y []int32,
) (dataset.View, Facts) {
	t.Helper()
	var f Facts
	var data []dataset.ColumnData
	for j, c := range columns {
		f.Columns = append(
			f.Columns,
			dataset.Column{Name: fmt.Sprint("x", j)},
		)
		data = append(data, dataset.ColumnData{Floats: c})
		f.Ranges = append(f.Ranges, scaling.Range{Lower: -half, Upper: half})
	}
	list := func(n int) (out []string) {
		for k := range n {
			out = append(out, fmt.Sprint("v", k))
		}
		return out
	}
	for j, c := range categories {
		f.Columns = append(
			f.Columns,
			dataset.Column{
				Name:       fmt.Sprint("g", j),
				Kind:       dataset.Category,
				Categories: list(levels),
			},
		)
		data = append(data, dataset.ColumnData{Codes: c})
		f.Ranges = append(f.Ranges, scaling.Range{})
	}
	f.Target = dataset.Column{
		Name:       "y",
		Kind:       dataset.Category,
		Categories: list(classes),
	}
	f.Ranges = append(f.Ranges, scaling.Range{})
	schema := dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)}
	tab, err := dataset.NewTable(
		schema,
		append(data, dataset.ColumnData{Codes: y}),
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab.View(), f
}

// classSession returns a session for the priced plan of a selector.
func classSession(t testing.TB, x Selector, epsilon float64, f Facts) *mechanism.Session {
	t.Helper()
	s, err := mechanism.NewSession(classPriced(t, x, epsilon, f))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func classPriced(t testing.TB, x Selector, epsilon float64, f Facts) *budget.Priced {
	t.Helper()
	node, private, err := x.Plan(f)
	if err != nil || !private {
		t.Fatalf("plan: private %v, %v", private, err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("selection", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: f.Relation,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func classPick(t testing.TB, x Selector, epsilon float64, f Facts, v dataset.View) []int {
	t.Helper()
	out, err := x.Select(
		context.Background(),
		classSession(t, x, epsilon, f),
		f,
		memory.NewRecords(v),
	)
	if err != nil {
		t.Fatal(err)
	}
	checkPicked(t, out, len(f.Columns))
	return out
}

func checkPicked(t testing.TB, picked []int, p int) {
	t.Helper()
	if len(picked) == 0 ||
		!slices.IsSorted(picked) ||
		len(slices.Compact(slices.Clone(picked))) != len(picked) ||
		picked[0] < 0 ||
		picked[len(picked)-1] >= p {
		t.Fatalf(
			"picked %v: not different ones of %d, increasing",
			picked, p,
		)
	}
}

// separatedClasses draws records of two classes whose means are 2 shift[j] apart in column j, copies of these columns with a
// little noise, and the given number of other columns, which are uninformative.
func separatedClasses(
	rng *rand.Rand, n int, shift []float64, others int,
) (columns [][]float64, y []int32) {
	k := len(shift)
	columns = make([][]float64, 2*k+others)
	for range n {
		class := rng.Int32N(2)
		y = append(y, class)
		for j := range columns {
			v := rng.NormFloat64()
			switch {
			case j < k:
				v += float64(2*class-1) * shift[j]
			case j < 2*k:
				v = columns[j-k][len(y)-1] + v/5
			}
			columns[j] = append(columns[j], v)
		}
	}
	return columns, y
}

// TestDPFSDRFindsWhatSeparates checks that of four columns that separate the classes, a near copy of each and twenty
// uninformative ones, 1e5 records and epsilon 1 select exactly one of each pair, under both relations. So does CR-FS.
// DPFS, which ignores correlation, excludes the uninformative columns.
//
// The noise in the difference of two means is .002 standard deviations of a column. An uninformative column is worth
// its penalty only with more than a hundred times that, and the order of the pairs changes only with more than fifty
// times that.
func TestDPFSDRFindsWhatSeparates(t *testing.T) {
	columns, y := separatedClasses(
		rand.New(rand.NewPCG(5, 6)),
		1e5,
		[]float64{.8, .6, .5, .4},
		20,
	)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	for _, f.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, x := range []Selector{
			DPFSDR{},
			CRFS{},
			DPFSDR{K: 4, Exact: true},
			CRFS{K: 4, Exact: true},
		} {
			got := classPick(t, x, 1, f, v)
			var pairs []int
			for _, j := range got {
				pairs = append(pairs, j%4)
			}
			slices.Sort(pairs)
			if !slices.Equal(pairs, []int{0, 1, 2, 3}) ||
				got[3] >= 8 {
				t.Errorf(
					"%v, %s: picked %v, want one of each pair j, j+4",
					f.Relation,
					x.Name(),
					got,
				)
			}
		}
		if got := classPick(t, DPFS{}, 1, f, v); got[0] > 4 || got[len(got)-1] >= 8 {
			t.Errorf(
				"%v, dpfs: picked %v",
				f.Relation, got,
			)
		}
		got := classPick(t, DPFS{K: 2, Exact: true}, 1, f, v)
		if !slices.Equal(got, []int{0, 4}) {
			t.Errorf(
				"%v, dpfs, two: picked %v, want the best and its copy",
				f.Relation, got,
			)
		}
	}
	got, err := DFS(context.Background(), DPFSDR{}, f, v)
	if err != nil ||
		!slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("exact: picked %v, %v", got, err)
	}
	got, err = DFS(context.Background(), DPFSDR{K: 2}, f, v)
	if err != nil || len(got) != 2 {
		t.Errorf(
			"at most two: picked %v, %v",
			got, err,
		)
	}
}

// TestClassesAndCategories uses three classes: one column separates the first class and a category column the others.
// Copies of both are left out.
func TestClassesAndCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	columns := make([][]float64, 5)
	groups := make([][]int32, 3)
	var y []int32
	for i := range 30000 {
		class := rng.Int32N(3)
		if y = append(y, class); i%50 == 0 {
			y[i] = 3 // in no class
		}
		for j := range columns {
			columns[j] = append(columns[j], rng.NormFloat64())
		}
		if class == 0 {
			columns[2][i] += 2
		}
		columns[4][i] = -columns[2][i]
		for j := range groups {
			groups[j] = append(groups[j], rng.Int32N(4))
		}
		if groups[1][i] = class; rng.IntN(4) == 0 {
			groups[1][i] = 3
		}
		groups[2][i] = 3 - groups[1][i] // the same under other names
	}
	v, f := classTable(t, 4, columns, groups, 4, 3, y)
	for _, f.Relation = range []budget.Relation{budget.AddRemove, budget.Substitute} {
		got := classPick(t, DPFSDR{}, 2, f, v)
		if len(got) != 2 ||
			got[0] != 2 && got[0] != 4 ||
			got[1] != 6 && got[1] != 7 {
			t.Errorf(
				"%v: picked %v, want 2 or 4, and 6 or 7",
				f.Relation, got,
			)
		}
	}
}

// TestRowOrder checks that the released sums are bit-identical for any order of the records.
func TestRowOrder(t *testing.T) {
	columns, y := separatedClasses(
		rand.New(rand.NewPCG(2, 2)),
		5000, []float64{.5, 1}, 3,
	)
	v, f := classTable(t, 2, columns, nil, 0, 2, y)
	order := rand.New(rand.NewPCG(3, 3)).Perm(len(y))
	other := make([][]float64, len(columns))
	shuffled := []int32(nil)
	for _, i := range order {
		shuffled = append(shuffled, y[i])
		for j, c := range columns {
			other[j] = append(other[j], c[i])
		}
	}
	w, _ := classTable(t, 2, other, nil, 0, 2, shuffled)
	s := classSession(t, DPFSDR{}, 1, f)
	sums := func(v dataset.View) mechanism.Bounded[mechanism.Weighted] {
		got, err := mechanism.Sum[*classPass](
			context.Background(),
			s,
			memory.NewRecords(v),
			classStatistic{Facts: f},
		)
		if err != nil {
			t.Fatal(err)
		}
		return got.sums.Bound()
	}
	if !reflect.DeepEqual(sums(v), sums(w)) {
		t.Error("the sums depend on the order of the records")
	}
}

// TestClassSelectorsAreTotal checks that some columns are selected at any epsilon for missing, infinite, constant and
// repeated columns, a single class, undeclared classes, and an empty table.
func TestClassSelectorsAreTotal(t *testing.T) {
	odd := []float64{
		math.NaN(),
		math.Inf(1),
		math.Inf(-1), 0, 1e300,
		-3,
	}
	for _, n := range []int{0, 1, 2, 60} {
		columns := make([][]float64, 4)
		groups := make([][]int32, 2)
		y := make([]int32, n)
		for i := range n {
			columns[0] = append(columns[0], odd[i%len(odd)])
			columns[1] = append(columns[1], 7)
			columns[2] = append(columns[2], float64(i))
			columns[3] = append(columns[3], float64(i))
			groups[0] = append(groups[0], int32(i%5))
			groups[1] = append(groups[1], 0)
		}
		for name, class := range map[string]func(int) int32{
			"mixed": func(i int) int32 {
				return int32(i % 4)
			},
			"one": func(int) int32 {
				return 1
			},
			"none": func(int) int32 {
				return 3
			},
		} {
			for i := range y {
				y[i] = class(i)
			}
			v, f := classTable(t, 2, columns, groups, 2, 3, y)
			f.Columns = append(
				slices.Clone(f.Columns),
				dataset.Column{Name: "void", Kind: dataset.Category},
			)
			f.Ranges = append(slices.Clone(f.Ranges), scaling.Range{})
			v = v.Columns([]int{
				0, 1, 2, 3, 4, 5, 5, 6,
			})
			for _, epsilon := range []float64{.001, 1, 1e6} {
				for _, x := range []Selector{
					DPFSDR{},
					DPFSDR{K: 3, Exact: true},
					DPFS{},
					CRFS{},
					CRFS{
						K:          6,
						Exact:      true,
						Correlated: .01,
					},
				} {
					got := classPick(t, x, epsilon, f, v)
					if len(got) > defaultMost {
						t.Errorf(
							"%s, %d records: picked %v",
							name, n, got,
						)
					}
				}
			}
			_, err := DFS(context.Background(), DPFSDR{}, f, v)
			if err != nil {
				t.Errorf(
					"exact, %s, %d records: %v",
					name, n, err,
				)
			}
		}
	}
}

// TestClassPlan checks that the plan is one Gaussian leaf, and that selections without a plan are refused.
func TestClassPlan(t *testing.T) {
	target := dataset.Column{
		Name:       "y",
		Kind:       dataset.Category,
		Categories: []string{"no", "yes"},
	}
	good := Facts{
		Columns: []dataset.Column{{Name: "a"}, {Name: "b"}},
		Target:  target,
	}
	wide := Facts{
		Columns: []dataset.Column{{
			Name:       "a",
			Kind:       dataset.Category,
			Categories: make([]string, maxEntries),
			Other:      true,
		}},
		Target: target,
	}
	for _, c := range []struct {
		x   Selector
		f   Facts
		err error
	}{
		{DPFSDR{}, good, nil},
		{DPFS{}, good, nil},
		{CRFS{}, good, nil},
		{DPFSDR{K: 5}, good, nil},
		{CRFS{K: 1, Exact: true}, good, nil},
		{DPFSDR{K: -1}, good, ErrCount},
		{DPFS{K: 2, Exact: true}, good, ErrCount},
		{DPFSDR{Exact: true}, good, ErrCount},
		{DPFSDR{}, Facts{Target: target}, ErrCount},
		{
			DPFSDR{},
			Facts{Columns: good.Columns, Target: dataset.Column{Name: "y"}},
			ErrTarget,
		},
		{
			DPFS{},
			Facts{
				Columns: good.Columns,
				Target: dataset.Column{
					Name:       "y",
					Kind:       dataset.Category,
					Categories: []string{"a"},
				},
			},
			ErrTarget,
		},
		{DPFSDR{Correlated: 1.1}, good, ErrCorrelated},
		{CRFS{Correlated: -1}, good, ErrCorrelated},
		{CRFS{Correlated: math.NaN()}, good, ErrCorrelated},
		{DPFSDR{}, wide, ErrEntries},
	} {
		node, private, err := c.x.Plan(c.f)
		if !errors.Is(err, c.err) || (err == nil) != private {
			t.Errorf(
				"%#v: private %v, %v, want %v",
				c.x, private, err, c.err,
			)
		}
		if err == nil &&
			(node.Name != c.x.Name() ||
				len(node.Kids) != 1 ||
				node.Kids[0].Leaf.Kind != budget.Gaussian ||
				!c.x.(Scaler).NeedsRanges(c.f)) {
			t.Errorf(
				"%s: plan %+v",
				c.x.Name(), node,
			)
		}
	}
	got := (DPFSDR{K: 1}).Widest(good)
	if len(got) != 1 {
		t.Errorf("most %v", got)
	}
	got = (CRFS{}).Widest(good)
	if len(got) != 2 {
		t.Errorf("most %v", got)
	}
}

// TestClassRanges checks that ranges are required, and that those of the scaling stage suffice, which has no range
// for the target.
func TestClassRanges(t *testing.T) {
	columns, y := separatedClasses(
		rand.New(rand.NewPCG(4, 4)),
		20000, []float64{1}, 2,
	)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	without := f
	without.Ranges = nil
	if _, err := (DPFSDR{}).Select(context.Background(), classSession(t, DPFSDR{}, 1, f), without,
		memory.NewRecords(v)); !errors.Is(err, ErrRanges) {
		t.Errorf("without ranges: %v", err)
	}
	stage := scaling.Private{
		Columns: append(slices.Clone(f.Columns), f.Target),
		Target:  len(f.Columns),
	}
	node, ok := stage.Plan()
	if !ok {
		t.Fatal("nothing to scale")
	}
	priced, err := budget.Calibrate(node, budget.Target{Epsilon: 2, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	f.Ranges, err = stage.Run(context.Background(), s, memory.NewRecords(v))
	if err != nil {
		t.Fatal(err)
	}
	got := classPick(t, DPFSDR{K: 1}, 2, f, v)
	if got[0] > 1 {
		t.Errorf("picked %v, want 0 or its copy 1", got)
	}
}

func TestClassCancel(t *testing.T) {
	columns, y := separatedClasses(
		rand.New(rand.NewPCG(4, 4)),
		100, []float64{1, 1}, 2,
	)
	v, f := classTable(t, 4, columns, nil, 0, 2, y)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (DPFSDR{}).Select(ctx, classSession(t, DPFSDR{}, 1, f), f,
		memory.NewRecords(v)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	d, err := exactDiscriminant(context.Background(), f, v)
	if err != nil {
		t.Fatal(err)
	}
	_, err = (DPFSDR{}).setting().pickColumns(ctx, d)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled search: %v", err)
	}
}
