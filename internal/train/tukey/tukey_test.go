package tukey

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

func bothRelations() []budget.Relation {
	return []budget.Relation{budget.AddRemove, budget.Substitute}
}

// newSession opens a session for a trainer's leaf alone.
func newSession(t testing.TB, facts method.Facts, rel budget.Relation) *mechanism.Session {
	t.Helper()
	s, err := mechanism.NewSession(pricedPlan(t, facts, rel))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pricedPlan(t testing.TB, facts method.Facts, rel budget.Relation) *budget.Priced {
	t.Helper()
	node, err := Tukey{}.Plan(facts)
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.Calibrate(
		budget.Sequence("fit", node, budget.LaplaceLeaf("rest", 1, 1)),
		budget.Target{
			Epsilon:  1.1 * facts.Epsilon,
			Delta:    1.1 * facts.Delta,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// dataOf returns the records of a view, with a public lower bound on their number.
func dataOf(
	facts method.Facts,
	v dataset.View,
	atLeast int,
	ranges []scaling.Range,
) method.Data {
	return method.Data{
		Facts:   facts,
		Records: memory.NewRecords(v),
		AtLeast: atLeast,
		Ranges:  ranges,
	}
}

// mixedColumns declares two numbers, a category and a target.
func mixedColumns() ([]dataset.Column, []scaling.Range) {
	return []dataset.Column{
			{Name: "a"},
			{
				Name:       "b",
				Ranged:     true,
				Lower:      0,
				Upper:      2,
				HasMissing: true,
				Missing:    1,
			},
			{
				Name:       "k",
				Kind:       dataset.Category,
				Categories: []string{"x", "y"},
				Other:      true,
			},
			{Name: "y"},
		}, []scaling.Range{
			{Lower: 998, Upper: 1002},
			{Lower: 0, Upper: 2, Declared: true},
			{},
			{Lower: -10, Upper: 30},
		}
}

// A record is a row of the mixed columns.
type record struct {
	id      uint64
	a, b, y float64
	k       int32
}

func mixedTable(t testing.TB, records []record) *dataset.Table {
	t.Helper()
	columns, _ := mixedColumns()
	data := make([]dataset.ColumnData, 4)
	ids := make([]uint64, 0, len(records))
	for _, r := range records {
		ids = append(ids, r.id)
		data[0].Floats = append(data[0].Floats, r.a)
		data[1].Floats = append(data[1].Floats, r.b)
		data[2].Codes = append(data[2].Codes, r.k)
		data[3].Floats = append(data[3].Floats, r.y)
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// mixedRecords returns n records of y = 5 + 3 (a-1000) - 2b + 4 [x] + noise.
func mixedRecords(n int, noise float64) []record {
	rng := rand.New(rand.NewPCG(3, 9))
	out := make([]record, n)
	for i := range out {
		r := record{
			id: uint64(i),
			a:  998 + 4*rng.Float64(),
			b:  2 * rng.Float64(),
			k:  int32(rng.IntN(3)),
		}
		r.y = 5 + 3*(r.a-1000) - 2*r.b + noise*rng.NormFloat64()
		if r.k == 0 {
			r.y += 4
		}
		out[i] = r
	}
	return out
}

// TestRecoversModel checks slopes, category effects and predictions of a model with a column far from 0, under both
// relations.
func TestRecoversModel(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 3,
		Delta:   1e-5,
	}
	tab := mixedTable(t, mixedRecords(20000, .5))
	for _, rel := range bothRelations() {
		fit, err := trainer.Fit(
			context.Background(),
			newSession(t, facts, rel),
			dataOf(facts, tab.View(), tab.Len(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		m := fit.Linear()
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if m.Lower != -10 ||
			m.Upper != 30 ||
			fit.TargetMean != 10 ||
			m.Target != "y" ||
			fit.Model != regression.Model(m) {
			t.Errorf(
				"model %+v, mean %v",
				m, fit.TargetMean,
			)
		}
		c := m.Columns[1]
		if c.Lower != 0 || c.Upper != 2 || c.Missing != 1 {
			t.Errorf("a declared column is treated as %+v", c)
		}
		c = m.Columns[0]
		if c.Upper != regression.Unbounded || c.Missing != 1000 {
			t.Errorf(
				"a column with a released range is treated as %+v",
				c,
			)
		}
		for i, want := range []float64{3, -2} {
			got := m.Terms[i].Coefficient
			if math.Abs(got-want) > .2 {
				t.Errorf(
					"coefficient %d is %v, want %v",
					i, got, want,
				)
			}
		}
		rows := regression.Rows{
			N: 3,
			Numeric: map[string][]float64{
				"a": {1001, 999, math.NaN()},
				"b": {1, 99, math.NaN()},
			},
			Codes: map[string]regression.Codes{
				"k": {
					Values:     []int32{0, 2, 1},
					Categories: []string{"x", "y"},
				},
			},
		}
		got, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{
			5 + 3 - 2 + 4,
			5 - 3 - 4, 5 - 2,
		} {
			if math.Abs(got[i]-want) > .4 {
				t.Errorf(
					"prediction %d is %v, want about %v",
					i, got[i], want,
				)
			}
		}
	}
}

// TestOneRecordMovesOneModel checks that adding, removing or replacing a record at any position changes the model of
// at most one bucket, bit for bit.
func TestOneRecordMovesOneModel(t *testing.T) {
	columns, ranges := mixedColumns()
	f := newFrame(columns, ranges)
	s := newSession(
		t,
		method.Facts{
			Columns: columns,
			Epsilon: 3,
			Delta:   1e-5,
		},
		budget.AddRemove,
	)
	const (
		n = 60
		m = 16
	)
	models := func(records []record) [][]float64 {
		out, err := f.fitBuckets(
			context.Background(),
			s,
			memory.NewRecords(mixedTable(t, records).View()),
			m,
		)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	odd := []record{
		{
			id: 999,
			a:  math.NaN(),
			b:  math.NaN(),
			y:  math.NaN(),
			k:  7,
		},
		{
			id: 999,
			a:  math.Inf(1),
			b:  -5,
			y:  1e308,
		},
		{
			id: 999,
			a:  1e308,
			b:  1e308,
			y:  -1e308,
			k:  2,
		},
		{
			id: 999,
			a:  1000,
			b:  1,
			y:  5,
			k:  1,
		},
	}
	base := mixedRecords(n, 1)
	before := models(base)
	changes := 0
	compare := func(what string, after [][]float64) {
		t.Helper()
		moved := 0
		for i := range before {
			if !slices.Equal(before[i], after[i]) &&
				before[i][0] == before[i][0] {
				moved++
			}
		}
		if moved > 1 {
			t.Errorf("%s: %d models changed", what, moved)
		}
		changes += moved
	}
	for at := range n {
		compare(
			"removed",
			models(slices.Delete(slices.Clone(base), at, at+1)),
		)
		for _, r := range odd {
			compare("added", models(slices.Insert(slices.Clone(base), at, r)))
			r.id = base[at].id
			compare(
				"replaced",
				models(slices.Concat(
					base[:at], []record{r},
					base[at+1:],
				)),
			)
		}
	}
	if changes < 8*n {
		t.Errorf("only %d changes: the search is blind", changes)
	}
}

// TestBucketModel compares the fit of a bucket with the ridge regression of package regression on standardised
// columns.
func TestBucketModel(t *testing.T) {
	columns, ranges := mixedColumns()
	f := newFrame(columns, ranges)
	records := mixedRecords(40, 1)
	records[3].b = math.NaN() // 1
	records[4].b = 7          // 2
	records[5].a = math.NaN() // the anchor
	got := newBucketFit(f).fitBucket(mixedTable(t, records).View())

	design := regression.Design{
		Target: "y",
		Names: []string{
			"a", "b", "x", "y1",
			"other",
		},
		X: make([][]float64, 5),
	}
	for _, r := range records {
		if r.a != r.a {
			r.a = 1000
		}
		if r.b != r.b {
			r.b = 1
		}
		row := []float64{
			r.a - 1000,
			min(r.b, 2) - 1,
			-1. / 3, -1. / 3,
			-1. / 3,
		}
		row[2+r.k]++
		for j, x := range row {
			design.X[j] = append(design.X[j], x)
		}
		design.Y = append(design.Y, r.y)
	}
	deviation := make([]float64, 5)
	for j, x := range design.X {
		centre := meanOf(x)
		squares := 0.
		for _, v := range x {
			squares += (v - centre) * (v - centre)
		}
		deviation[j] = math.Sqrt(squares / float64(len(x)))
		for k := range x {
			x[k] /= deviation[j]
		}
	}
	want, err := nonprivate.Ridge(
		context.Background(),
		design,
		ridgePenalty*float64(len(records)),
	)
	if err != nil {
		t.Fatal(err)
	}
	for j, term := range want.Terms {
		w := term.Coefficient / deviation[j]
		if math.Abs(got[j]-w) > 1e-9 {
			t.Errorf(
				"slope %d is %v, want %v",
				j, got[j], w,
			)
		}
	}
	if math.Abs(got[5]-want.Intercept) > 1e-9 {
		t.Errorf(
			"the prediction at the anchor is %v, want %v",
			got[5], want.Intercept,
		)
	}
}

// TestTukeyAcceptsAnyTable checks that a run on any table succeeds or abstains.
func TestTukeyAcceptsAnyTable(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 20,
		Delta:   1e-3,
	}
	constant := func(n int, r record) []record {
		out := make([]record, n)
		for i := range out {
			out[i] = r
			out[i].id = uint64(i)
		}
		return out
	}
	wild := mixedRecords(900, 1)
	for i := range wild {
		wild[i].a = []float64{
			1e308, -1e308, math.Inf(1),
			math.NaN(), 5e-324,
		}[i%5]
		wild[i].y = []float64{1e308, -1e308, math.NaN()}[i%3]
	}
	for name, records := range map[string][]record{
		"no rows":                 nil,
		"one row":                 mixedRecords(1, 1),
		"fewer rows than buckets": mixedRecords(20, 1),
		"all equal": constant(3000, record{
			a: 1000,
			b: 1,
			y: 4,
		}),
		"all missing": constant(
			500,
			record{
				a: math.NaN(),
				b: math.NaN(),
				y: math.NaN(),
				k: 9,
			},
		),
		"not finite": wild,
	} {
		answered := 0
		for range 5 {
			fit, err := trainer.Fit(
				context.Background(),
				newSession(t, facts, budget.AddRemove),
				dataOf(
					facts,
					mixedTable(t, records).View(),
					trainer.Records(facts),
					ranges,
				),
			)
			switch {
			case err == nil:
				answered++
				if err := fit.Linear().Validate(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case !errors.Is(err, ErrAbstained):
				t.Errorf("%s: %v", name, err)
			}
		}
		if name == "all equal" && answered == 0 {
			t.Errorf("%s: no model", name)
		}
	}
}

// TestConstantTarget checks that the model predicts a constant target.
func TestConstantTarget(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 5,
		Delta:   1e-5,
	}
	records := mixedRecords(20000, 1)
	for i := range records {
		records[i].y = 7
	}
	tab := mixedTable(t, records)
	fit, err := trainer.Fit(
		context.Background(),
		newSession(t, facts, budget.Substitute),
		dataOf(facts, tab.View(), tab.Len(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fit.Model.Predict(
		nil,
		regression.Rows{
			N: 1,
			Numeric: map[string][]float64{
				"a": {1001},
				"b": {2},
			},
			Codes: map[string]regression.Codes{"k": {
				Values:     []int32{0},
				Categories: []string{"x", "y"},
			}},
		},
	)
	if err != nil || math.Abs(got[0]-7) > 5*jitterWidth*20 {
		t.Errorf(
			"prediction %v, %v; want 7",
			got, err,
		)
	}
}

// TestRareCategoryPasses covers a category that is absent from many buckets and so has slope 0 there. Without the
// coins of [jitterWidth] the check would abstain.
func TestRareCategoryPasses(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 3,
		Delta:   1e-5,
	}
	z, err := trainer.bucketCounts(facts)
	if err != nil {
		t.Fatal(err)
	}
	records := mixedRecords(18*z.most, .5)
	for i := range records {
		if records[i].k == 0 {
			records[i].y -= 4 // no effect
		}
		records[i].k = 1
		if i%25 == 0 {
			records[i].k = 0
		}
	}
	tab := mixedTable(t, records)
	for _, c := range []struct {
		jitter bool
		passes int
	}{{true, 10}, {false, 0}} {
		passed := 0
		for range 10 {
			s := newSession(t, facts, budget.AddRemove)
			f := newFrame(columns, ranges)
			if !c.jitter {
				clear(f.jitter)
			}
			models, err := f.fitBuckets(
				context.Background(),
				s,
				memory.NewRecords(tab.View()),
				z.most,
			)
			if err != nil {
				t.Fatal(err)
			}
			points := s.NewPoints(z.most, z.d)
			for i, m := range models {
				points.Set(i, m)
			}
			_, ok, err := mechanism.TukeyDepth(
				s,
				tukeyLeaf,
				points.Bound(),
				mechanism.UsualSplit(),
			)
			if err != nil {
				t.Fatal(err)
			} else if ok {
				passed++
			}
		}
		d := passed - c.passes
		if d < -2 || d > 2 {
			t.Errorf(
				"jitter %v: %d of 10 pass, want about %d",
				c.jitter, passed, c.passes,
			)
		}
	}
}

// TestAbstainsBelowRecords checks that with too few records no row is read and the leaf is not spent.
func TestAbstainsBelowRecords(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 3,
		Delta:   1e-5,
	}
	tab := mixedTable(t, mixedRecords(50, 1))
	s := newSession(t, facts, budget.AddRemove)
	_, err := trainer.Fit(
		context.Background(),
		s,
		dataOf(facts, tab.View(), trainer.Records(facts)-1, ranges),
	)
	if !errors.Is(err, ErrAbstained) {
		t.Errorf("got %v, want ErrAbstained", err)
	}
	if s.Events()[0].Released != 0 {
		t.Error("the leaf was spent")
	}
	_, err = trainer.Fit(
		context.Background(),
		s,
		dataOf(facts, tab.View(), trainer.Records(facts), ranges),
	)
	if err != nil && !errors.Is(err, ErrAbstained) {
		t.Error(err)
	}
	if s.Events()[0].Released != 1 {
		t.Error("the leaf was not spent")
	}
}

// TestWithoutRanges checks that features without a range are anchored at 0.
func TestWithoutRanges(t *testing.T) {
	columns, _ := mixedColumns()
	f := newFrame(
		columns,
		[]scaling.Range{{}, {}, {}, {Lower: 0, Upper: 1}},
	)
	if f.anchors[0] != 0 ||
		f.jitter[0] != 0 ||
		f.cells[0].missing != 0 ||
		f.cells[1].missing != 1 ||
		f.jitter[2] != jitterWidth/2 {
		t.Errorf("frame %+v", f)
	}
}

// TestAnchors checks that a feature is anchored at its released median, wherever its range extends, and at the middle of
// the range if no median is released.
func TestAnchors(t *testing.T) {
	columns, ranges := mixedColumns()
	ranges[0] = scaling.Range{Lower: 0, Upper: 4096, Median: 7, HasMedian: true}
	if f := newFrame(columns, ranges); f.anchors[0] != 7 {
		t.Errorf("anchor %v, want the median 7", f.anchors[0])
	}
	ranges[0] = scaling.Range{Lower: 0, Upper: 4096}
	if f := newFrame(columns, ranges); f.anchors[0] != 2048 {
		t.Errorf("anchor %v, want the middle 2048", f.anchors[0])
	}
}

func TestCancelled(t *testing.T) {
	columns, ranges := mixedColumns()
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: 3,
		Delta:   1e-5,
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tab := mixedTable(t, mixedRecords(50, 1))
	_, err := trainer.Fit(
		ctx,
		newSession(t, facts, budget.AddRemove),
		dataOf(facts, tab.View(), 1<<30, ranges),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

var (
	_ method.Abstainer = Tukey{}
	_ method.Counter   = Tukey{}
)
