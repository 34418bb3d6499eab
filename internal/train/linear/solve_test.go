package linear

import (
	"context"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// TestSolveExact checks that without noise, and therefore without ridge, solve returns the least-squares solution.
func TestSolveExact(t *testing.T) {
	rows := [][]float64{
		{1, 0, 2, .5},
		{0, 1, -1, .5},
		{1, 1, 1.5, .5},
		{-1, .5, -2, .5},
		{.3, -.7, 1, .5},
	}
	g := Packed{4, make([]float64, 10)}
	for _, z := range rows {
		for i, k := 0, 0; i < 4; i++ {
			for j := i; j < 4; j, k = j+1, k+1 {
				g.Values[k] += z[i] * z[j]
			}
		}
	}
	got := g.SolveAll(
		g.P-2, 0,
		NewSpectrum(g.Features(g.P-2)),
	)[0].Theta
	x := mat.NewDense(5, 3, nil)
	y := mat.NewVecDense(5, nil)
	for i, z := range rows {
		x.SetRow(i, []float64{z[0], z[1], z[3]})
		y.SetVec(i, z[2])
	}
	var want mat.VecDense
	if err := want.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if math.Abs(v-want.AtVec(i)) > 1e-9 {
			t.Errorf(
				"theta[%d] = %v, want %v",
				i, v, want.AtVec(i),
			)
		}
	}
}

// TestSolveIsTotal checks that indefinite, zero, huge and singular matrices give finite fits.
func TestSolveIsTotal(t *testing.T) {
	for name, values := range map[string][]float64{
		"zero": make([]float64, 10),
		"negative": {
			-5, 0, 0, 0, -5, 0, 0,
			-5, 0, -5,
		},
		"huge":    {1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300},
		"ones":    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"crossed": {0, 9, 9, 9, 0, 9, 9, 0, 9, 0},
	} {
		g := Packed{4, values}
		fit := g.SolveAll(2, 1, NewSpectrum(g.Features(2)))[0]
		for i, v := range fit.Theta {
			if math.IsNaN(v) ||
				math.IsInf(v, 0) ||
				!(fit.Cov.At(i, i) >= 0) ||
				math.IsInf(fit.Cov.At(i, i), 0) {
				t.Errorf(
					"%s: theta %v, variance %v",
					name, fit.Theta,
					fit.Cov.At(i, i),
				)
			}
		}
	}
}

// TestRowOrder checks that the private input of the Gram release is bit-identical if the rows are permuted, so that
// equal noise gives equal models. Sums are compared before noise is added.
func TestRowOrder(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
	}
	const n = 5000
	var rows, turned [3]dataset.ColumnData
	p := testrows.Points(7)
	for i := range n {
		rows[0].Floats, rows[2].Floats = append(rows[0].Floats, p.Next()),
			append(rows[2].Floats, p.Next())
		rows[1].Codes = append(rows[1].Codes, int32(i%3))
	}
	for i := range n {
		k := (i*2711 + 13) % n
		turned[0].Floats = append(turned[0].Floats, rows[0].Floats[k])
		turned[2].Floats = append(turned[2].Floats, rows[2].Floats[k])
		turned[1].Codes = append(turned[1].Codes, rows[1].Codes[k])
	}
	for _, of := range []RowsOf{AllColumns, Features, InClass} {
		if of == InClass {
			columns[1], columns[2] = columns[2], columns[1]
			rows[1], rows[2], turned[1], turned[2] = rows[2], rows[1], turned[2], turned[1]
		}
		if !reflect.DeepEqual(exactSums(t, columns, rows[:], of),
			exactSums(t, columns, turned[:], of)) {
			t.Errorf(
				"rows of kind %d: the sums depend on the order of the rows",
				of,
			)
		}
	}
}

// exactSums returns the sums to which the Gram release adds noise.
func exactSums(
	t *testing.T,
	columns []dataset.Column,
	data []dataset.ColumnData,
	of RowsOf,
) mechanism.Bounded[mechanism.Symmetric] {
	t.Helper()
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.GaussianLeaf("gram", 1, 1)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	one := scaling.Range{
		Lower:    -1,
		Upper:    1,
		Declared: true,
	}
	ranges := []scaling.Range{one, one, one}
	acc, err := mechanism.Sum[*gramPass](
		context.Background(),
		s,
		memory.NewRecords(tab.View()),
		gramStatistic{columns, ranges, of},
	)
	if err != nil {
		t.Fatal(err)
	}
	return acc.gram.Bound()
}
