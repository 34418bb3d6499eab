package evaluate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// near reports whether a number agrees with one that was computed beforehand and
// written with six digits after the point.
func near(got, want float64) bool { return math.Abs(got-want) <= 5.001e-7*math.Max(1, math.Abs(want)) }

// binAt returns the bin whose upper edge is 2^(k/2).
func binAt(k int) int { return k - firstEdge }

// specified returns the released numbers of the specification's test, at mu = 1.
func specified() (mechanism.Sizes, mechanism.Squares) {
	s1, s2 := math.Sqrt(1.25)*2, math.Sqrt(1.575/.75)
	sizes := mechanism.Sizes{
		First: make([]float64, sizeBins), Second: make([]float64, sizeBins),
		FirstNoise: s1, SecondNoise: 2 * s1, MissingNoise: s1 / math.Sqrt(1.25),
	}
	copy(sizes.First[binAt(-8):], []float64{100, 150, 200, 180, 90, 20, 4, -3, 1})
	copy(sizes.Second[binAt(-6):], []float64{60, 0, 150, 160, 200, 120, 50, 8})
	target, residual := 1., math.Sqrt2/2
	return sizes, mechanism.Squares{
		Count: 750, Sum: .02 * 750 / target, Target: 110 / target, Residual: 22 / sq(residual), Beyond: 1,
		BeyondNoise: s2 / .8, CountNoise: s2 / .15, SumNoise: s2 / .25, TargetNoise: s2 / .7, ResidualNoise: s2, MissingNoise: s2 / .4,
	}
}

// TestEdges: the bins of sizes, of which upper ends belong to the bin.
func TestEdges(t *testing.T) {
	for b := range sizeBins {
		want := math.Exp2(float64(min(b, lastBin-1)+firstEdge) / 2)
		if math.Abs(edge(b)/want-1) > 1e-15 {
			t.Errorf("edge %d is %v, want %v", b, edge(b), want)
		}
		if b == lastBin {
			continue
		}
		if got := int(sizeBin(edge(b))); got != b {
			t.Errorf("edge %d is in bin %d", b, got)
		}
		if got := int(sizeBin(math.Nextafter(edge(b), 100))); got != b+1 {
			t.Errorf("beyond edge %d is in bin %d", b, got)
		}
	}
	if edge(rangeBin) != 1 || edge(widestBin) != 2 || edge(widestInterval) != 4 || edge(lastBin) != 64 || sizeBins != 38 {
		t.Error("the named edges are elsewhere")
	}
	if sizeBin(0) != 0 || sizeBin(math.Inf(1)) != lastBin {
		t.Error("0 or infinity is in another bin")
	}
}

// TestReleasedNumbers reproduces numbers that were computed beforehand from released counts and sums. n mu is
// 750, so 1.5 standard deviations of noise may hide records: tail = .5 (1.5 sqrt(5) + 1).
func TestReleasedNumbers(t *testing.T) {
	sizes, a := specified()
	l := readLimits(sizes)
	if l.target != 1 || l.targetBin != rangeBin || !near(l.residual, .707107) || edge(l.residualBin-1) != .5 {
		t.Fatalf("limits %+v", l)
	}
	if f := fourth(sizes.First, sizes.FirstNoise, l.residualBin, l.residual); !near(f, .732527) {
		t.Errorf("F is %v", f)
	}
	if g := fourth(sizes.Second, sizes.SecondNoise, l.targetBin, l.target); !near(g, 75.164541) {
		t.Errorf("G is %v", g)
	}
	e := estimate(sizes, l, a)
	value, lower, upper := e.r2()
	for name, c := range map[string][2]float64{
		"n": {e.n, 750}, "E": {e.error, 22}, "T": {e.total, 109.7}, "Var E": {e.errorVar, .612194}, "Var T": {e.totalVar, 63.458577},
		"tail": {e.tail, 2.177051}, "R²": {value, .799453}, "lower": {lower, .735086}, "upper": {upper, .830344},
		"MAE": {e.absolute, .119192},
	} {
		if !near(c[0], c[1]) {
			t.Errorf("%s is %.6f, want %.6f", name, c[0], c[1])
		}
	}
}

// TestHidden: what may hide grows with the number of records, between one and ten standard deviations.
func TestHidden(t *testing.T) {
	for strength, want := range map[float64]float64{0: 1, 500: 1, 750: 1.5, 2000: 4, 3000: 6, 5000: 10, 1e9: 10} {
		if got := hidden(strength); got != want {
			t.Errorf("n mu = %v: %v, want %v", strength, got, want)
		}
	}
}

// TestTail: what is counted beyond the limit hides as much as a power tail does, until it is seen; then as records of
// another kind may, which have no residual above the target's limit and 1.
func TestTail(t *testing.T) {
	sizes, a := specified()
	l := readLimits(sizes)
	least := .5 * 1.5 * math.Sqrt(5)
	for _, c := range []struct{ strength, beyond, noise, limit, want float64 }{
		{750, -9, 2, 1, least}, {750, 1.9, 2, 1, least + .95}, {750, 2, 2, 1, 4.6 * 3.5}, {750, 2, 2, 0.5, 4.6 * 1.75},
		{100, .5, 2, 9, 3.1 * 3.5}, {100, .49, 2, 9, .5 * (math.Sqrt(5) + .49)}, {2000, 1, 2, 9, 3.6 * (25 - .5)}, {2000, .99, 2, 9, 2*math.Sqrt(5) + .99/2}, {1e9, 3, 2, 9, 5.6 * (64 - .5)},
	} {
		a.Beyond, a.BeyondNoise, l.target = c.beyond, c.noise, c.limit
		if got := tail(c.strength, sizes, l, a); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestClimb: windows of 1, 2 and 4 bins, none of them beyond the top.
func TestClimb(t *testing.T) {
	for name, c := range map[string]struct {
		counts []float64
		k, top int
		want   int
	}{
		"nothing":       {[]float64{9, 0, 0, 0, 0, 0}, 0, 5, 0},
		"one":           {[]float64{9, 3, 0, 0, 0, 0}, 0, 5, 1},
		"not quite":     {[]float64{9, 2, 0, 0, 0, 0}, 0, 5, 0},
		"two":           {[]float64{9, 2, 2, 0, 0, 0}, 0, 5, 1},
		"four":          {[]float64{9, 1.5, 1.5, 1.5, 1.5, 0}, 0, 5, 1},
		"three more":    {[]float64{9, 0, 0, 0, 9, 0}, 0, 5, 4},
		"top":           {[]float64{9, 9, 9, 9, 9, 9}, 0, 5, 5},
		"a lower top":   {[]float64{9, 9, 9, 9, 9, 9}, 0, 3, 3},
		"ends there":    {[]float64{9, 1, 9, 0, 0, 0}, 0, 1, 0},
		"no fall back":  {[]float64{9, -9, 3, 0, 0, 0}, 0, 5, 0},
		"starts higher": {[]float64{9, 9, 9, 0, 0, 0}, 2, 5, 2},
	} {
		if got := climb(c.counts, 1, c.k, 2.5, c.top); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestFarthest: bins past a gap are seen from 3.3 standard deviations on, windows end with
// what is seen, and none begins before the bin that was reached.
func TestFarthest(t *testing.T) {
	for name, c := range map[string]struct {
		counts []float64
		want   int
	}{
		"nothing":     {[]float64{9, 3, 0, 0, 0, 0, 3, 0}, 0},
		"one":         {[]float64{9, 0, 0, 0, 0, 0, 3.4, 0}, 6},
		"two":         {[]float64{9, 0, 0, 0, 2.4, 2.4, 0, 0}, 5},
		"four":        {[]float64{9, 0, 1.7, 1.7, 1.7, 1.7, 0, 0}, 5},
		"the last":    {[]float64{9, 9, 9, 0, 0, 0, 0, 9}, 7},
		"below":       {[]float64{9, 9, -9, -9, -9, -9, -9, -9}, 1},
		"not reached": {[]float64{99, 1, 0, 0, 0, 0, 0, 0}, 0},
	} {
		if got := farthest(c.counts, 1, 0); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestFarResiduals: residuals past a gap are not cut; those that only targets beyond their
// limit can have are as large as residuals get.
func TestFarResiduals(t *testing.T) {
	for _, c := range []struct {
		bin  int
		want limits
	}{
		{rangeBin, limits{targetBin: rangeBin, residualBin: rangeBin + 1, target: 1, residual: math.Sqrt2}},
		{widestBin, limits{targetBin: rangeBin, residualBin: widestBin + 1, target: 1, residual: 2}},
		{widestBin + 1, limits{targetBin: lastBin, residualBin: lastBin, target: 1, residual: 2, far: true}},
		{lastBin, limits{targetBin: lastBin, residualBin: lastBin, target: 1, residual: 2, far: true}},
	} {
		sizes := mechanism.Sizes{First: make([]float64, sizeBins), Second: make([]float64, sizeBins), FirstNoise: 1, SecondNoise: 2}
		sizes.First[binAt(-12)], sizes.First[c.bin] = 500, 4
		if got := readLimits(sizes); got != c.want {
			t.Errorf("residuals in bin %d: %+v, want %+v", c.bin, got, c.want)
		}
	}
}

// TestLimitsOfTargets: the limit of targets grows with what is seen beyond their range, up
// to the last edge; residuals are not cut farther out than they get.
func TestLimitsOfTargets(t *testing.T) {
	for _, c := range []struct {
		bin  int
		want float64
	}{{rangeBin, 1}, {rangeBin + 1, math.Sqrt2}, {rangeBin + 5, math.Sqrt(32)}, {lastBin - 1, 64}, {lastBin, 64}} {
		sizes := mechanism.Sizes{First: make([]float64, sizeBins), Second: make([]float64, sizeBins), FirstNoise: 1, SecondNoise: 2}
		for b := range sizeBins {
			if b <= widestBin {
				sizes.First[b] = 50
			}
			if b <= c.bin {
				sizes.Second[b] = 50
			}
		}
		l := readLimits(sizes)
		if math.Abs(l.target/c.want-1) > 1e-15 || l.residual != math.Min(edge(widestBin+1), l.target+1) || l.far {
			t.Errorf("targets up to bin %d: %+v", c.bin, l)
		}
		count, noise := l.beyond(sizes)
		bins := float64(max(lastBin-c.bin, 1))
		if want := float64(50 * max(c.bin-lastBin+1, 0)); count != want || math.Abs(noise-2*math.Sqrt(bins)) > 1e-12 {
			t.Errorf("targets up to bin %d: %v are beyond, with noise %v", c.bin, count, noise)
		}
	}
}

// TestConsistent: a mean absolute error is never above the root of the mean square, neither the value nor an end of the interval,
// and each interval is used for the other; of two that exclude each other noise misled one, and both become what holds the two.
func TestConsistent(t *testing.T) {
	for _, c := range [][4]Quality{
		{{2, 1, 3, .95}, {4, 3, 5, .95}, {2, 1, 3, .95}, {4, 3, 5, .95}},
		{{6, 2, 9, .95}, {4, 0, 5, .95}, {5, 2, 5, .95}, {5, 2, 5, .95}},
		{{9, 8, 10, .95}, {1, 0, 8.5, .95}, {8, 8, 8.5, .95}, {8, 8, 8.5, .95}},
		{{9, 8, 10, .95}, {1, 0, 2, .95}, {5, 0, 10, .95}, {5, 0, 10, .95}},
	} {
		if mae, rmse := consistent(c[0], c[1]); mae != c[2] || rmse != c[3] {
			t.Errorf("%v and %v: %v and %v, want %v and %v", c[0], c[1], mae, rmse, c[2], c[3])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Quality {
			x := rapid.SliceOfN(rapid.Float64Range(0, 10), 3, 3).Draw(t, name)
			slices.Sort(x)
			return Quality{x[1], x[0], x[2], .95}
		}
		before, beforeRoot := draw("mae"), draw("rmse")
		mae, rmse := consistent(before, beforeRoot)
		if mae.Value > rmse.Value || mae.Lower > rmse.Lower || mae.Upper > rmse.Upper {
			t.Fatalf("%+v is above %+v", mae, rmse)
		}
		for _, q := range []Quality{mae, rmse} {
			if !(q.Lower <= q.Value && q.Value <= q.Upper) {
				t.Fatalf("%+v is not in its interval", q)
			}
		}
	})
}

// TestCombined: weights 1/variance.
func TestCombined(t *testing.T) {
	if got := combined(Count{10, 1}, Count{20, 2}); got.Value != 12 || math.Abs(got.Sigma-math.Sqrt(.8)) > 1e-15 {
		t.Errorf("%+v", got)
	}
}

// TestShareOf: the interval is that of the linearised ratio, within [0, 1], and knows
// nothing where there are no records.
func TestShareOf(t *testing.T) {
	got := ShareOf(Count{300, 10}, Count{700, 20})
	if reach := 1.959964 * math.Hypot(.7*10, .3*20) / 1000; math.Abs(got.Value-.3) > 1e-15 || math.Abs(got.Upper-.3-reach) > 1e-12 || math.Abs(.3-reach-got.Lower) > 1e-12 {
		t.Errorf("%+v", got)
	}
	for _, c := range [][2]float64{{-5, 3}, {0, 0}, {-9, 100}, {100, -9}} {
		s := ShareOf(Count{c[0], 10}, Count{c[1], 10})
		if !(0 <= s.Lower && s.Lower <= s.Value && s.Value <= s.Upper && s.Upper <= 1) {
			t.Errorf("%v: %+v", c, s)
		}
	}
	if s := ShareOf(Count{-5, 10}, Count{3, 10}); s.Lower != 0 || s.Upper != 1 {
		t.Errorf("nothing is known: %+v", s)
	}
}

// TestFieller compares the interval with its definition on a grid of ratios.
func TestFieller(t *testing.T) {
	for _, c := range []struct{ e, t, ve, vt float64 }{
		{3, 10, 1, 1}, {0, 10, 1, 4}, {-1, 10, 1, 1}, {3, 2, 1, 4}, {9, 2, 1, 4}, {1, 100, .01, 25},
	} {
		lower, upper := fieller(c.e, c.t, c.ve, c.vt, 1.96)
		for rho := 0.0; rho < 20; rho += .001 {
			inside := math.Abs(c.e-rho*c.t) <= 1.96*math.Sqrt(c.ve+rho*rho*c.vt)
			if near := math.Abs(rho-lower) < .002 || math.Abs(rho-upper) < .002; !near && inside != (rho > lower && rho < upper) {
				t.Errorf("%+v: rho %.3f inside=%v, interval [%v, %v]", c, rho, inside, lower, upper)
				break
			}
		}
	}
}
