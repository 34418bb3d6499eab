package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestPartEdges checks that the edges of parts are thirty-seconds of an octave, that upper ends belong to a part, and
// that sizes in other bins belong to no part.
func TestPartEdges(t *testing.T) {
	o := octaves{3, 4, 20}
	for i, b := range o {
		for k := range parts {
			want := upperEdge(b-1) * math.Exp2(float64(k+1)/32)
			if math.Abs(partEdge(b, k)/want-1) > 1e-15 {
				t.Errorf(
					"part %d of bin %d ends at %v, want %v",
					k, b, partEdge(b, k), want,
				)
			}
			if got := int(o.cellOf(partEdge(b, k))); got != 1+i*parts+k {
				t.Errorf(
					"the end of part %d of bin %d is in cell %d",
					k, b, got,
				)
			}
			got := int(o.cellOf(math.Nextafter(partEdge(b, k), 0)))
			if got != 1+i*parts+k {
				t.Errorf(
					"before the end of part %d of bin %d is cell %d",
					k, b, got,
				)
			}
		}
	}
	for size, want := range map[float64]uint16{
		0:                                mechanism.NoSize,
		upperEdge(2):                     mechanism.NoSize,
		math.Nextafter(upperEdge(4), 9):  mechanism.NoSize,
		math.Nextafter(upperEdge(20), 9): 0,
		math.Inf(1):                      0,
	} {
		got := o.cellOf(size)
		if got != want {
			t.Errorf(
				"%v is in cell %d, want %d",
				size, got, want,
			)
		}
	}
	if octaves(nil).cellOf(3) != mechanism.NoSize ||
		octaves(nil).cellGroups().Len() != 0 {
		t.Error("there are cells where no bin is divided")
	}
}

// releaseSizes returns the first release of sizes, of records whose targets are at the end of the range, with noise from r.
func releaseSizes(sizes []float64, noise float64, r *rand.Rand) mechanism.Sizes {
	s := mechanism.Sizes{
		First:       make([]float64, sizeBins),
		Second:      make([]float64, sizeBins),
		FirstNoise:  noise,
		SecondNoise: 2 * noise,
	}
	for _, x := range sizes {
		s.First[sizeBin(x)]++
		s.Second[rangeBin]++
	}
	for b := range s.First {
		s.First[b] += noise * r.NormFloat64()
	}
	return s
}

// releaseSquares returns the second release, with noise of standard deviation noise in a cell of weight 1.
func releaseSquares(
	l limits,
	o octaves,
	sizes []float64,
	noise float64,
	r *rand.Rand,
) mechanism.Squares {
	groups := o.cellGroups()
	cell := noise / (.9 / math.Sqrt2)
	a := mechanism.Squares{
		Count:      float64(len(sizes)) + noise/.15*r.NormFloat64(),
		CountNoise: noise / .15,
		CellNoise:  cell,
		FarNoise:   noise / .9,
		NodeNoise:  noise / .9,
		Cells:      make([]float64, groups.Len()),
		Groups:     make([]float64, len(o)),
		Nodes:      make([]float64, l.residualNodes().Len()),
	}
	for _, x := range sizes {
		c := o.cellOf(x)
		switch {
		case x > l.residual && len(a.Nodes) > 0:
			a.Nodes[0] += .5
			a.Cells[0] += .5
		case c != mechanism.NoSize:
			a.Cells[c]++
			if c > 0 {
				a.Groups[(c-1)/parts]++
			}
		}
	}
	for c := range a.Cells {
		if c == 0 {
			a.Cells[c] += a.FarNoise * r.NormFloat64()
		} else {
			a.Cells[c] += cell * r.NormFloat64()
		}
	}
	for g := range a.Groups {
		a.Groups[g] += cell * r.NormFloat64()
	}
	for j := range a.Nodes {
		a.Nodes[j] += a.NodeNoise * r.NormFloat64()
	}
	return a
}

// TestHalfWidths: without noise a half width is the smallest edge of a part that split conformal prediction would take,
// so it holds the share of the sizes that it must, and the edge below does not.
func TestHalfWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 200 {
		sizes := make([]float64, 40+r.IntN(2000))
		scale := math.Exp2(-6 * r.Float64())
		power := .2 + 3*r.Float64()
		for i := range sizes {
			sizes[i] = scale * math.Pow(r.Float64(), power)
		}
		first := releaseSizes(sizes, 1e-9, r)
		l := readLimits(first, 1e-9)
		o := readOctaves(first, l)
		a := releaseSquares(l, o, sizes, 1e-9, r)
		found += len(halfWidths(a, o, 1e9))
		for _, w := range halfWidths(a, o, 1e9) {
			outside := func(q float64) float64 {
				n := 0.
				for _, x := range sizes {
					if x > q {
						n++
					}
				}
				return n
			}
			allowed := (1-w.Level)*float64(len(sizes)+1) - 1
			if outside(w.HalfWidth) > allowed+1e-3 {
				t.Errorf(
					"%d sizes, %v: %v are beyond %v",
					len(sizes),
					w.Level,
					outside(w.HalfWidth),
					w.HalfWidth,
				)
			}
			below := w.HalfWidth / math.Exp2(1./32) *
				(1 - 1e-12)
			if outside(below) <= allowed-1e-3 && below > upperEdge(0) {
				t.Errorf(
					"%d sizes, %v: only %v are beyond %v",
					len(sizes),
					w.Level,
					outside(below),
					below,
				)
			}
		}
	}
	if found < 390 {
		t.Errorf("%d half widths of 400 are found", found)
	}
}

// TestHalfWidthsWithNoise checks that a half width allows for the noise of its counts: over draws of normal noise it
// contains too few sizes at most once in forty, and the mean excess is small.
func TestHalfWidthsWithNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const (
		draws = 4000
		mu    = .5
	)
	sizes := make([]float64, 1500)
	for i := range sizes {
		sizes[i] = .4 * (float64(i) + .5) / float64(len(sizes)) // even up to .4
	}
	missed := map[float64]float64{}
	excess := map[float64]float64{}
	published := map[float64]float64{}
	for range draws {
		first := releaseSizes(sizes, math.Sqrt(1.25/.15)/mu, r)
		noise := math.Sqrt(1.9575/.85) / mu
		l := readLimits(first, noise*math.Sqrt(4./3))
		o := readOctaves(first, l)
		a := releaseSquares(l, o, sizes, noise, r)
		for _, w := range halfWidths(a, o, 1e9) {
			held := min(w.HalfWidth/.4, 1)
			if held < w.Level-1./float64(len(sizes)) {
				missed[w.Level]++
			}
			excess[w.Level] += held - w.Level
			published[w.Level]++
		}
	}
	for level, n := range missed {
		if n/draws > halfMiss+3*math.Sqrt(.025/draws) {
			t.Errorf(
				"%v: too narrow in %v of the draws",
				level, n/draws,
			)
		}
	}
	for _, level := range []float64{.9, .95} {
		e := excess[level] / published[level]
		if !(e > 0 && e < .07) || published[level] < .95*draws {
			t.Errorf(
				"%v: %v more are held, in %v draws",
				level, e, published[level],
			)
		}
	}
}
