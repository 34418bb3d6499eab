package scaling

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestIndicatorEncodes checks that a missing cell has the median in its own entry and the root of .2 in that of its
// indicator, that every other cell has 0 there, and that the norm limit is that of the column alone.
func TestIndicatorEncodes(t *testing.T) {
	columns := []dataset.Column{
		{Name: "a", Indicator: true},
		{Name: "b"},
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{
			{Floats: []float64{1, math.NaN()}},
			{Floats: []float64{0, math.NaN()}},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEncoder(
		columns,
		[]Range{
			{
				Lower:     -1,
				Upper:     1,
				HasMedian: true,
				Median:    .5,
			},
			{Lower: -1, Upper: 1},
		},
	)
	rows := [][]int16{
		make([]int16, 2),
		make([]int16, 2),
		make([]int16, 2),
	}
	e.Encode(tab.View().Block(0, 2), rows, &Scratch{})
	const one = mechanism.FixedOne
	for k, want := range [][2]int16{{one, one / 2}, {0, 7327}, {0, 0}} { // 7327 = trunc(sqrt(.2) 2^14)
		if [2]int16(rows[k]) != want {
			t.Errorf(
				"entry %d: %v, want %v",
				k, rows[k], want,
			)
		}
	}
	got := e.NormLimit(.5)
	if got != 2*NumericNorm+.25 {
		t.Errorf("norm limit %v", got)
	}
	if math.Abs(MissingEntry*MissingEntry-.2) > 1e-15 {
		t.Errorf("the square of the entry is %v", MissingEntry*MissingEntry)
	}
}

// TestIndicatorSensitivity searches the corners. For any two records, including missing cells and medians at the ends
// of the range, the limited rows are no longer than B, z z^T is no longer than B^2, and two such products differ by
// at most sqrt 2 B^2, in Frobenius norm.
func TestIndicatorSensitivity(t *testing.T) {
	cells := []float64{-1, 0, .3, 1, math.NaN()}
	columns := []dataset.Column{
		{Name: "a", Indicator: true},
		{Name: "b", Indicator: true},
		{Name: "c"},
	}
	var data [3][]float64
	for _, a := range cells {
		for _, b := range cells {
			for _, c := range cells {
				data[0] = append(data[0], a)
				data[1] = append(data[1], b)
				data[2] = append(data[2], c)
			}
		}
	}
	n := len(data[0])
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{
			{Floats: data[0]},
			{Floats: data[1]},
			{Floats: data[2]},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.GaussianLeaf("x", 1, 1),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	closest := 0.
	for _, median := range []float64{-1, 0, .9, 1} {
		r := Range{
			Lower:     -1,
			Upper:     1,
			HasMedian: true,
			Median:    median,
		}
		e := NewEncoder(columns, []Range{r, r, r})
		rows := make([][]int16, len(e.Slots())+1)
		for k := range rows {
			rows[k] = make([]int16, n)
		}
		e.Encode(
			tab.View().Block(0, n),
			rows[:len(rows)-1],
			&Scratch{},
		)
		for i := range n {
			rows[len(rows)-1][i] = FixedPoint(.5)
		}
		limit := e.NormLimit(.5) * mechanism.FixedOne * mechanism.FixedOne
		s.NewCross(len(rows), e.NormLimit(.5), 1).Clip(rows)
		dot := func(i, j int) float64 {
			sum := 0.
			for k := range rows {
				sum += float64(rows[k][i]) * float64(rows[k][j])
			}
			return sum
		}
		for i := range n {
			for j := range i {
				// |z z' - y y'|^2 = |z|^4 + |y|^4 - 2 (z.y)^2
				a := dot(i, i)
				b := dot(j, j)
				c := dot(i, j)
				if a > limit ||
					a*a+b*b-2*c*c > 2*limit*limit {
					t.Fatalf(
						"median %v, records %d and %d: squares %v and %v, limit %v",
						median,
						i,
						j,
						a,
						b,
						limit,
					)
				}
				closest = max(
					closest,
					(a*a+b*b-2*c*c)/(2*limit*limit),
				)
			}
		}
	}
	if closest < .9 {
		t.Errorf(
			"no pair comes closer to the bound than %v of it",
			closest,
		)
	}
}
