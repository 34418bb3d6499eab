package mechanism

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// productsOf returns the scores over the picked records: a record is one value
// of every numeric column, then a code of every category column, then y.
func productsOf(s *Session, levels []int, records [][]int16, pick []int) Bounded[Vector] {
	p := s.NewProducts(levels)
	columns := make([][]int16, len(levels))
	codes := make([][]int32, len(levels))
	all := make([]int, len(levels))
	var y []int16
	for _, i := range pick {
		for j, l := range levels {
			v := records[i][j]
			if l > 0 {
				codes[j] = append(codes[j], int32(v))
			} else {
				columns[j] = append(columns[j], v)
			}
		}
		y = append(y, records[i][len(levels)])
	}
	for j := range all {
		all[j] = j
	}
	p.Add(columns, codes, y)
	return p.Scores(all)
}

// gridRecords returns every record with a value of each list.
func gridRecords(lists ...[]int16) [][]int16 {
	records := [][]int16{nil}
	for _, list := range lists {
		var longer [][]int16
		for _, r := range records {
			for _, v := range list {
				longer = append(longer, append(slices.Clone(r), v))
			}
		}
		records = longer
	}
	return records
}

// TestProductsSensitivity checks that no pair of neighbours changes the difference between the scores of two columns
// by more than 2 (4 under substitution), and that some change it by exactly that. This includes values outside [-1,
// 1], which are clamped, and category columns with codes outside the list.
func TestProductsSensitivity(t *testing.T) {
	const one = FixedOne
	for name, c := range map[string]struct {
		levels []int
		values [][]int16
	}{
		"numeric": {
			[]int{0, 0},
			[][]int16{
				{-one, 5000, math.MaxInt16},
				{-one, one},
				{math.MinInt16, 0, one},
			},
		},
		"category": {
			[]int{2, 3},
			[][]int16{
				{-1, 0, 1},
				{0, 1, 2, 3},
				{-one, 0, one},
			},
		},
		"both": {
			[]int{0, 3},
			[][]int16{
				{-one, 0, one},
				{0, 1, 2},
				{-one, one},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			records := gridRecords(c.values...)
			searchNeighbours(t, 2, len(records), 1, func(s *Session, pick []int) Bounded[Vector] {
				return productsOf(s, c.levels, records, pick)
			})
		})
	}
}

// TestProductsRange checks that one score moves within [-1, 1] when a record is added and within [-2, 2] when one is
// replaced, that both ends are attained, and that the declared width is that of the range.
func TestProductsRange(t *testing.T) {
	records := gridRecords(
		[]int16{-FixedOne, 3, FixedOne},
		[]int16{0, 1, 2},
		[]int16{-FixedOne, FixedOne},
	)
	for rel, reach := range map[budget.Relation]float64{
		budget.AddRemove:  1,
		budget.Substitute: 2,
	} {
		s := testSession(t, rel, 1)
		for column := range 2 {
			lowest := 0.0
			highest := 0.0
			products := rememberTables(2, func(table []int) Bounded[Vector] {
				return productsOf(s, []int{0, 3}, records, table)
			})
			eachNeighbour(2, len(records), rel, func(a, b []int) {
				x := products(a)
				y := products(b)
				change := float64(y.value[column]-x.value[column]) * x.unit
				lowest = math.Min(lowest, change)
				highest = math.Max(highest, change)
				if x.Sensitivity() != 2*reach {
					t.Fatalf(
						"%v: declared width %v, want %v",
						rel, x.Sensitivity(), 2*reach,
					)
				}
			})
			if lowest != -reach || highest != reach {
				t.Errorf(
					"%v, column %d: change in [%v, %v], want [%v, %v]",
					rel,
					column,
					lowest,
					highest,
					-reach,
					reach,
				)
			}
		}
	}
}

// TestProductsCentredFails checks that the published score, |sum (x-mean)(y-mean)| after scaling both by their
// largest magnitude, is not 1-sensitive: the record (1e6, 0, 1) moves the score of one column from 100 to about 1 and
// does not change that of the other (the specification, CLAIM 1). On clamped values it moves neither by more than 1.
func TestProductsCentredFails(t *testing.T) {
	const n = 100
	var x1, x2, y []float64
	for i := range n {
		v := float64(1 - 2*(i%2))
		x1 = append(x1, v)
		y = append(y, v)
		x2 = append(
			x2,
			v*float64(1-2*(i/2%2)*(i/50)),
		)
	}
	published := func(x, y []float64) float64 {
		scaled := func(v []float64) []float64 {
			mean := 0.0
			largest := 0.0
			for _, u := range v {
				mean += u / float64(len(v))
			}
			out := make([]float64, len(v))
			for i, u := range v {
				out[i] = u - mean
				largest = math.Max(largest, math.Abs(out[i]))
			}
			for i := range out {
				out[i] /= largest
			}
			return out
		}
		sum := 0.0
		b := scaled(y)
		for i, a := range scaled(x) {
			sum += a * b[i]
		}
		return math.Abs(sum)
	}
	fixed := func(v []float64) []int16 {
		out := make([]int16, len(v))
		for i, u := range v {
			out[i] = int16(min(max(u, -1), 1) * FixedOne)
		}
		return out
	}
	sound := func(x, y []float64) float64 {
		p := testSession(t, budget.AddRemove, 1).NewProducts([]int{0})
		p.Add([][]int16{fixed(x)}, nil, fixed(y))
		b := p.Scores([]int{0})
		return float64(b.value[0]) * b.unit
	}
	grown := append([]float64{1e6}, x1...)
	grown2 := append([]float64{0}, x2...)
	target := append([]float64{1}, y...)
	before := published(x1, y)
	after := published(grown, target)
	if before != n ||
		after > 2 {
		t.Errorf(
			"published score of the first column: %v, then %v",
			before, after,
		)
	}
	before = published(x2, y)
	after = published(grown2, target)
	if math.Abs(before-after) > 1 {
		t.Errorf(
			"published score of the second column: %v, then %v",
			before, after,
		)
	}
	d := sound(grown, target) - sound(x1, y)
	if math.Abs(d) > 1 {
		t.Errorf("the sound score moved by %v", d)
	}
}

// TestProductsValues compares scores with values computed by hand.
func TestProductsValues(t *testing.T) {
	const one, half = FixedOne, FixedOne / 2
	s := testSession(t, budget.AddRemove, 1)
	p := s.NewProducts([]int{0, 0, 2, 3})
	y := []int16{one, half, -one, 0}
	p.Add(
		[][]int16{
			{one, one, half, -one},
			{-one, half, half, one},
			nil, nil,
		},
		[][]int32{
			nil, nil,
			{0, 1, 0, 1},
			{2, 2, 7, -1},
		},
		y,
	)
	// 1 + 1/2 - 1/2; -1 + 1/4 - 1/2; S = (0, 1/2): |2S_1 - 1/2| = 1/2;
	// S = (0, 0, 3/2): 3/2.
	want := []float64{1, 1.25, .5, 1.5}
	got := p.Scores([]int{0, 1, 2, 3})
	for j, w := range want {
		v := float64(got.value[j]) * got.unit
		if v != w {
			t.Errorf(
				"column %d: %v, want %v",
				j, v, w,
			)
		}
	}
	some := p.Balance([]int{3, 1})
	if some.value[0] != -got.value[3] ||
		some.value[1] != -got.value[1] ||
		some.sens != got.sens ||
		some.norm != Width {
		t.Errorf(
			"balance %+v of scores %+v",
			some, got,
		)
	}
	empty := s.NewProducts([]int{0, 2}).Scores([]int{0, 1})
	if !slices.Equal(empty.value, Vector{0, 0}) {
		t.Errorf("no records score %v", empty.value)
	}
}

// TestProductsCategoryIsItsBestColumn checks that a category column scores as the best of the numeric columns "+1 for
// one value, -1 for the others", regardless of the blocks.
func TestProductsCategoryIsItsBestColumn(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		levels := rapid.IntRange(1, 4).Draw(t, "levels")
		codes := rapid.SliceOfN(
			rapid.Int32Range(0, int32(levels)-1),
			n, n,
		).Draw(
			t,
			"codes",
		)
		y := rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "y")
		columns := make([][]int16, levels)
		for k := range columns {
			for _, c := range codes {
				v := int16(-FixedOne)
				if int(c) == k {
					v = FixedOne
				}
				columns[k] = append(columns[k], v)
			}
		}
		plain := s.NewProducts(make([]int, levels))
		category := s.NewProducts([]int{levels})
		rest := s.NewProducts([]int{levels})
		plain.Add(columns, nil, y)
		at := rapid.IntRange(0, n).Draw(t, "cut")
		before := slices.Clone(y)
		category.Add(
			[][]int16{nil},
			[][]int32{codes[:at]},
			y[:at],
		)
		rest.Add(
			[][]int16{nil},
			[][]int32{codes[at:]},
			y[at:],
		)
		category.Cells().mergeValues(rest.Cells().copyValues())
		all := make([]int, levels)
		for k := range all {
			all[k] = k
		}
		if got, want := category.Scores([]int{0}).value[0],
			slices.Max(plain.Scores(all).value); got != want {
			t.Fatalf("score %d, best column %d", got, want)
		}
		if !slices.Equal(before, y) {
			t.Fatal("Add changed its arguments")
		}
	})
}

// TestProductsShape checks that a block in which a record might count twice is refused.
func TestProductsShape(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	for name, f := range map[string]func(){
		"levels": func() {
			s.NewProducts([]int{-1})
		},
		"numeric": func() {
			s.NewProducts([]int{0}).Add(
				[][]int16{{1, 2}},
				nil, []int16{1},
			)
		},
		"codes": func() {
			s.NewProducts([]int{2}).Add(
				[][]int16{nil},
				[][]int32{{1}},
				[]int16{1, 2},
			)
		},
		"columns": func() {
			s.NewProducts([]int{0, 0}).Add(
				[][]int16{{1}}, nil,
				[]int16{1},
			)
		},
		"more": func() {
			s.NewProducts([]int{0}).Add(
				[][]int16{{1}, {1}},
				nil, []int16{1},
			)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			f()
		})
	}
}

func ExampleProducts() {
	node := TopK{Form: Lipschitz, K: 1}.Plan("best", 1)
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{Epsilon: 300},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := s.NewProducts([]int{0, 0})
	y := []int16{FixedOne, -FixedOne, FixedOne, -FixedOne}
	p.Add(
		[][]int16{
			{FixedOne, 0, 0, 0},
			{-FixedOne, FixedOne, -FixedOne, FixedOne},
		},
		nil,
		y,
	)
	scores := p.Scores([]int{0, 1}) // 1 and |-4|
	best, err := TopK{Form: Lipschitz, K: 1}.Release(s, "best", scores)
	fmt.Println(scores.Sensitivity(), best.Value(), err)
	// Output: 2 [1] <nil>
}
