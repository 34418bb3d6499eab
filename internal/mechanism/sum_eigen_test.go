package mechanism

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
)

// TestSmallestEigenvalueSensitivity checks over rows of every direction that no record moves the eigenvalue by more
// than declared, and that a single row along an axis moves it by B² up to the width of the certified interval.
func TestSmallestEigenvalueSensitivity(t *testing.T) {
	var rows [][]int16
	for _, x := range []int16{-FixedOne, 0, 5000, FixedOne} {
		for _, y := range []int16{-11585, 0, 7, FixedOne} {
			rows = append(rows, []int16{x, y})
		}
	}
	for _, limit := range []float64{.3, 1, 1.9} {
		reached := .999
		if limit > 1 {
			reached = .5 // no entry, and so no row along an axis, is above 1
		}
		searchNeighbours(t, 2, len(rows), reached, func(s *Session, pick []int) Bounded[Vector] {
			g := s.NewGram(2, limit)
			block := make([][]int16, 2)
			for _, i := range pick {
				for k := range block {
					block[k] = append(block[k], rows[i][k])
				}
			}
			g.Add(block)
			return g.SmallestEigenvalue()
		})
	}
}

// TestSmallestEigenvalueDeclares checks that the declared sensitivity is about B² under both relations.
func TestSmallestEigenvalueDeclares(t *testing.T) {
	for _, rel := range bothRelations() {
		for _, c := range []struct {
			p     int
			limit float64
		}{
			{1, 1},
			{6, 1.45},
			{100, 20},
			{1, 1e-6},
		} {
			got := testSession(t, rel, 1).NewGram(c.p, c.limit).SmallestEigenvalue().Sensitivity()
			if got < c.limit-2*gramUnit ||
				got > 1.01*c.limit+2*gramUnit {
				t.Errorf(
					"%v, p = %d, B² = %v: sensitivity %v",
					rel, c.p, c.limit, got,
				)
			}
		}
	}
}

// TestSmallestEigenvalueValue checks that the value is at most the certified width below the eigenvalue of the exact
// sums, for random rows and for an empty table.
func TestSmallestEigenvalueValue(t *testing.T) {
	s := testSession(t, budget.Substitute, 1)
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 6).Draw(t, "p")
		n := rapid.IntRange(0, 40).Draw(t, "n")
		limit := rapid.Float64Range(.1, 4).Draw(t, "limit")
		g := s.NewGram(p, limit)
		block := make([][]int16, p)
		for k := range block {
			block[k] = rapid.SliceOfN(rapid.Int16(), n, n).Draw(t, "column")
		}
		g.Add(block)
		a := mat.NewSymDense(p, nil)
		k := 0
		for i := range p {
			for j := i; j < p; j++ {
				a.SetSym(i, j, float64(g.sums[k])*gramUnit)
				k++
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(a, false) {
			t.Fatal("no eigenvalues")
		}
		want := eigen.Values(nil)[0]
		got := float64(g.SmallestEigenvalue().value[0]) * gramUnit
		d := want - got
		if d > eigenWidth*limit+1e-6 || d < -1e-6 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestSmallestEigenvalueRelease checks that the eigenvalue is released by the Gaussian mechanism.
func TestSmallestEigenvalueRelease(t *testing.T) {
	s := testSession(t, budget.AddRemove, 0)
	g := s.NewGram(1, 1)
	x := make([]int16, 30000)
	for i := range x {
		x[i] = FixedOne
	}
	g.Add([][]int16{x})
	out, err := Gaussian(s, "sums", g.SmallestEigenvalue())
	if err != nil {
		t.Fatal(err)
	}
	// Noise beyond 6 standard deviations has probability below 1e-8.
	d := out.Value()[0] - 30000
	if len(out.Value()) != 1 ||
		math.Abs(d) > 6*s.Scale("sums")+1 {
		t.Errorf("released %v", out.Value())
	}
}
