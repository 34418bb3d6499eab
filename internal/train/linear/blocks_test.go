package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
)

// manyColumns are a number, a column of levels levels, one of 3 and the target.
func manyColumns(levels int) []dataset.Column {
	return []dataset.Column{
		{Name: "x"},
		{
			Name:       "many",
			Kind:       dataset.Category,
			Categories: make([]string, levels),
		},
		{
			Name:       "few",
			Kind:       dataset.Category,
			Categories: make([]string, 2),
			Other:      true,
		},
		{Name: "y"},
	}
}

// manyRows returns the second moments of n rows of manyColumns, and the effects of the levels.
func manyRows(n, levels int) (Packed, []float64) {
	p := testrows.Points(3)
	effects := make([]float64, levels)
	for v := range effects {
		effects[v] = p.Next() / 2
	}
	size := levels + 6 // x, the levels, 3 of few, y, the constant
	m := mat.NewSymDense(size, nil)
	z := make([]float64, size)
	for range n {
		clear(z)
		z[0] = p.Next()
		v := min(
			int((p.Next()+1)/2*float64(levels)),
			levels-1,
		)
		z[1+v] = 1
		z[1+levels+min(
			int((p.Next()+1)*1.5),
			2,
		)] = 1
		z[size-2] = effects[v] + z[0]/4 + p.Next()/10
		z[size-1] = Kappa
		m.SymRankOne(m, 1, mat.NewVecDense(size, z))
	}
	return packSymmetric(m), effects
}

func packSymmetric(m *mat.SymDense) Packed {
	g := Packed{P: m.SymmetricDim()}
	for i := range g.P {
		for j := i; j < g.P; j++ {
			g.Values = append(g.Values, m.At(i, j))
		}
	}
	return g
}

// withNoise adds noise with standard deviation sigma on the diagonal and sigma/sqrt2 off it. Its
// law is not normal but has the same variance.
func withNoise(g Packed, sigma float64, seed uint64) Packed {
	p := testrows.Points(seed)
	m := g.Symmetric()
	for i := range g.P {
		for j := i; j < g.P; j++ {
			x := (p.Next() + p.Next() + p.Next()) * sigma
			if j > i {
				x /= math.Sqrt2
			}
			m.SetSym(i, j, m.At(i, j)+x)
		}
	}
	return packSymmetric(m)
}

// TestBlocksOnlyOfManyLevels checks which tables have blocks. The other category column has 3
// levels.
func TestBlocksOnlyOfManyLevels(t *testing.T) {
	for _, tt := range []struct {
		levels, numbers int
		want            bool
	}{
		{FewValues - 3, 1, false},
		{FewValues - 2, 1, true},
		{20, 22, true},
		{20, 23, false},
		{mostBlockEntries - 6, 1, true},
		{mostBlockEntries - 5, 1, false},
	} {
		columns := append(make([]dataset.Column, tt.numbers-1), manyColumns(tt.levels)...)
		got := blocksOf(columns) != nil
		if got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestProjectionIsNearerToTruth checks that moments without noise stay as they are, that those with noise have the
// properties of the blocks, and that the projection is nearer to the truth.
func TestProjectionIsNearerToTruth(t *testing.T) {
	const levels = 20
	exact, _ := manyRows(4000, levels)
	b := blocksOf(manyColumns(levels))
	if got := b.denoise(exact, 1e-6); frobeniusDistance(got, exact) > 1e-6 {
		t.Errorf(
			"exact moments move by %v",
			frobeniusDistance(got, exact),
		)
	}
	const sigma = 40
	noisy := withNoise(exact, sigma, 5)
	m := noisy.Symmetric()
	b.markComplete(NewDistribution(m, sigma))
	b.project(m)
	last := m.SymmetricDim() - 1
	for _, x := range b.listBlocks() {
		if !x.complete {
			t.Fatalf(
				"entries from %d to %d are not complete",
				x.lo, x.hi,
			)
		}
		for i := range last + 1 {
			inside := x.lo <= i && i < x.hi
			sum := 0.
			for v := x.lo; v < x.hi; v++ {
				sum += m.At(i, v)
				if inside && v != i && m.At(i, v) != 0 {
					t.Errorf(
						"product of levels %d and %d: %v",
						i, v, m.At(i, v),
					)
				}
			}
			d := sum - m.At(i, last)/Kappa
			if math.Abs(d) > 1e-3*sigma {
				t.Errorf(
					"entry %d: products add up to %v more than that of the constant",
					i,
					d,
				)
			}
		}
	}
	got := packSymmetric(m)
	if !(frobeniusDistance(got, exact) < .85*frobeniusDistance(noisy, exact)) {
		t.Errorf(
			"distance %v, before %v",
			frobeniusDistance(got, exact),
			frobeniusDistance(noisy, exact),
		)
	}
}

// frobeniusDistance returns the Frobenius norm of the difference.
func frobeniusDistance(a, b Packed) float64 {
	var d mat.SymDense
	d.AddSym(a.Symmetric(), scaleMatrix(b.Symmetric(), -1))
	return mat.Norm(&d, 2)
}

func scaleMatrix(a *mat.SymDense, x float64) *mat.SymDense {
	var out mat.SymDense
	out.ScaleSym(x, a)
	return &out
}

// TestIncompleteColumns checks that a column without an entry for other values is complete only if
// hardly any record has such a value.
func TestIncompleteColumns(t *testing.T) {
	exact, _ := manyRows(4000, 20)
	for missed, want := range map[float64]bool{0: true, 100: true, 3000: false} {
		g := exact.Symmetric()
		last := g.SymmetricDim() - 1
		g.SetSym(last, last, g.At(last, last)+missed*Kappa*Kappa)
		b := blocksOf(manyColumns(20))
		b.markComplete(NewDistribution(g, 40))
		if b.levels[0].complete != want {
			t.Errorf(
				"%v records without a level: %v",
				missed, b.levels[0].complete,
			)
		}
		if !b.levels[1].complete {
			t.Error("a column with an entry for other values is not complete")
		}
	}
}

// TestCountNoise checks the stated noise of the counts of levels against that of many draws. Of 20
// levels and 200 draws, the mean variance is within 10% of its expectation.
func TestCountNoise(t *testing.T) {
	const (
		levels = 20
		sigma  = 40
		draws  = 200
	)
	exact, _ := manyRows(4000, levels)
	b := blocksOf(manyColumns(levels))
	var errors []float64
	for draw := range draws {
		m := withNoise(exact, sigma, uint64(draw)+100).Symmetric()
		b.markComplete(NewDistribution(m, sigma))
		b.project(m)
		for v := 1; v <= levels; v++ {
			errors = append(errors, m.At(v, v)-exact.Entry(v, v))
		}
	}
	stated := b.countNoise(levels+5, sigma)[1]
	got := stat.PopStdDev(errors, nil)
	if got > 1.05*stated || got < .8*stated {
		t.Errorf("standard deviation %v, stated %v", got, stated)
	}
}

// TestShrinkProducts checks that noise alone becomes independence and that a strong dependence
// stays.
func TestShrinkProducts(t *testing.T) {
	const sigma = 60
	exact, _ := manyRows(4000, 20)
	b := blocksOf(manyColumns(20))
	m := b.denoise(withNoise(exact, sigma, 9), sigma).Symmetric()
	last := m.SymmetricDim() - 1
	off := 0.
	for v := b.levels[0].lo; v < b.levels[0].hi; v++ {
		for u := b.levels[1].lo; u < b.levels[1].hi; u++ {
			off = max(
				off,
				math.Abs(m.At(v, u)-m.At(v, last)*m.At(u, last)/m.At(last, last)),
			)
		}
	}
	if off > sigma/3 { // noise alone reaches 1.7 sigma
		t.Errorf("independent columns: off by up to %v", off)
	}
	strong := mat.NewSymDense(5, []float64{
		0, 0, 900, 0, 0,
		0, 0, 0, 900, 0,
		900, 0, 0, 0, 0,
		0, 900, 0, 0, 0,
		0, 0, 0, 0, 1000,
	})
	shrinkProducts(strong, []int{0, 1}, []int{2, 3}, 1)
	x := strong.At(0, 2)
	if math.Abs(x-900) > 1 ||
		math.Abs(strong.At(0, 3)) > 1 {
		t.Errorf(
			"a dependence of 900 became %v and %v",
			x, strong.At(0, 3),
		)
	}
}
