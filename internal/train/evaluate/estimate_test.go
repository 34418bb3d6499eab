package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// almostEqual reports whether a number agrees with one that was computed beforehand and
// written with six digits after the point.
func almostEqual(got, want float64) bool {
	return math.Abs(got-want) <= 5.001e-7*math.Max(1, math.Abs(want))
}

// binAt returns the bin whose upper edge is 2^(k/2).
func binAt(k int) int {
	return k - firstEdge
}

// specifiedRelease returns the released numbers of the specification's test, at mu = 1, with the
// limits that are read from its sizes and the given nodes.
func specifiedRelease(nodes ...float64) (mechanism.Sizes, limits, mechanism.Squares) {
	s1 := math.Sqrt(1.25 / .15)
	s2 := math.Sqrt(1.9575 / .85)
	squareNoise := math.Sqrt(4./3) * s2
	sizes := mechanism.Sizes{
		First:        make([]float64, sizeBins),
		Second:       make([]float64, sizeBins),
		FirstNoise:   s1,
		SecondNoise:  2 * s1,
		MissingNoise: s1 / math.Sqrt(1.25),
	}
	copy(
		sizes.First[binAt(-8):],
		[]float64{100, 150, 200, 180, 90, 20, 4, -3, 1},
	)
	copy(
		sizes.Second[binAt(-6):],
		[]float64{60, 150, 160, 200, 120, 50, 8},
	)
	l := readLimits(sizes, squareNoise)
	return sizes, l, mechanism.Squares{
		Count:         750,
		Sum:           15 / l.target,
		Target:        110 / square(l.target),
		Residual:      22 / square(l.residual),
		Contrast:      9,
		Nodes:         nodes,
		CountNoise:    s2 / .15,
		SumNoise:      s2 / .25,
		TargetNoise:   squareNoise,
		ResidualNoise: squareNoise,
		ContrastNoise: s2 / .25,
		NodeNoise:     s2 / .9,
		MissingNoise:  s2 / .4,
		SharedNoise:   s2 * s2 * 2 / 3,
	}
}

// TestSizeBinEdges: a bin of sizes contains its upper end.
func TestSizeBinEdges(t *testing.T) {
	for b := range sizeBins {
		want := math.Exp2(float64(min(b, lastBin-1)+firstEdge) / 2)
		if math.Abs(upperEdge(b)/want-1) > 1e-15 {
			t.Errorf(
				"edge %d is %v, want %v",
				b, upperEdge(b), want,
			)
		}
		if b == lastBin {
			continue
		}
		got := int(sizeBin(upperEdge(b)))
		if got != b {
			t.Errorf("edge %d is in bin %d", b, got)
		}
		got = int(sizeBin(math.Nextafter(upperEdge(b), 100)))
		if got != b+1 {
			t.Errorf(
				"beyond edge %d is in bin %d",
				b, got,
			)
		}
	}
	if upperEdge(rangeBin) != 1 ||
		upperEdge(widestBin) != 2 ||
		upperEdge(widestInterval) != 4 ||
		upperEdge(lastBin) != 64 ||
		sizeBins != 38 {
		t.Error("the named edges are elsewhere")
	}
	if sizeBin(0) != 0 || sizeBin(math.Inf(1)) != lastBin {
		t.Error("0 or infinity is in another bin")
	}
}

// TestReleasedNumbers reproduces numbers that were computed beforehand from released counts and sums,
// with no residual seen beyond the limit and with some.
func TestReleasedNumbers(t *testing.T) {
	sizes, l, _ := specifiedRelease()
	got := normalScale(sizes.First, scaleSeen*sizes.FirstNoise, lastBin)
	if !almostEqual(got, .129000) {
		t.Errorf("the scale of residuals is %v", got)
	}
	if l.target != 1 ||
		!almostEqual(l.residual, .579690) ||
		l.residualNodes().Len() != 2 ||
		!almostEqual(l.residualNodes().Level(1)*l.residual, 1.159380) ||
		l.residualNodes().Level(2)*l.residual != 2 {
		t.Fatalf("limits %+v", l)
	}
	for _, c := range []struct {
		nodes []float64
		want  map[string]float64
	}{
		{[]float64{1.5, .3}, map[string]float64{
			"n":          750,
			"cap":        .579690,
			"E":          22,
			"T":          109.7,
			"lE":         .516267,
			"lT":         4.813636,
			"nE":         .346741,
			"nT":         3.129560,
			"nC":         .515921,
			"factor":     1.396715,
			"R²":         .799453,
			"lower":      .780223,
			"upper":      .817979,
			"all errors": .484872,
		}},
		{[]float64{25, .3}, map[string]float64{
			"n":          750,
			"cap":        1.159380,
			"E":          47.505481,
			"T":          109.7,
			"lE":         40.474129,
			"lT":         4.813636,
			"nE":         6.125756,
			"nT":         3.129560,
			"nC":         .515921,
			"factor":     1.396715,
			"R²":         .566951,
			"lower":      .426897,
			"upper":      .706756,
			"all errors": .241424,
		}},
	} {
		_, _, a := specifiedRelease(c.nodes...)
		e := computeEstimates(sizes, l, a)
		value, lower, upper := e.r2()
		for name, got := range map[string]float64{
			"n":          e.n,
			"cap":        e.cut,
			"E":          e.error,
			"T":          e.total,
			"lE":         e.errorLuck,
			"lT":         e.totalLuck,
			"nE":         e.errorNoise,
			"nT":         e.totalNoise,
			"nC":         e.noiseCovariance,
			"factor":     e.luckFactor,
			"R²":         value,
			"lower":      lower,
			"upper":      upper,
			"all errors": e.allErrorsLower(),
		} {
			want := c.want[name]
			if math.Abs(got-want) > 1.001e-6 {
				t.Errorf(
					"nodes %v: %s is %.6f, want %.6f",
					c.nodes, name, got, want,
				)
			}
		}
		if e.seenBeyond != (e.cut > l.residual) {
			t.Errorf(
				"nodes %v: residuals beyond the limit are seen: %v",
				c.nodes,
				e.seenBeyond,
			)
		}
	}
}

// TestLuckFactor checks that a release that measures more sampling error than the rules assume widens the interval, that
// one that measures less narrows it, and that one with too much noise to measure leaves the rules nearly unchanged.
// Residuals beyond the limit, which are not measured, never narrow it.
func TestLuckFactor(t *testing.T) {
	width := func(contrast, noise float64, nodes ...float64) float64 {
		sizes, l, a := specifiedRelease(nodes...)
		a.Contrast = contrast
		a.ContrastNoise = noise
		_, lower, upper := computeEstimates(sizes, l, a).r2()
		return upper - lower
	}
	rules := width(0, math.Inf(1), 0, 0)
	small := width(0, 1e-3, 0, 0)
	large := width(30, 1e-3, 0, 0)
	if !(small < .95*rules && rules < .8*large) {
		t.Errorf(
			"widths %v, %v and %v",
			small, rules, large,
		)
	}
	if beyond, small := width(0, math.Inf(1), 25, 0), width(0, 1e-3, 25, 0); small < .85*beyond {
		t.Errorf(
			"with residuals beyond the limit: widths %v and %v",
			small, beyond,
		)
	}
}

// TestLimitsOfSpecification: with a fifth of the residuals and a tenth of the targets the limit of targets is within
// their range.
func TestLimitsOfSpecification(t *testing.T) {
	sizes, _, _ := specifiedRelease()
	for b := range sizes.First {
		sizes.First[b] *= .2
		sizes.Second[b] *= .1
	}
	l := readLimits(sizes, math.Sqrt(1.9575/.85*4/3))
	if !almostEqual(l.residual, .385281) || !almostEqual(l.target, .883441) {
		t.Errorf("limits %+v", l)
	}
}

// TestLimitsWithoutSignal: where residuals are as large as targets both limits are two and a half scales, and
// between little and no signal they go there without a jump.
func TestLimitsWithoutSignal(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	of := func(ratio float64) limits {
		sizes := mechanism.Sizes{
			First:       make([]float64, sizeBins),
			Second:      make([]float64, sizeBins),
			FirstNoise:  5,
			SecondNoise: 10,
		}
		for range 2000 {
			x := r.NormFloat64() / 16
			sizes.First[sizeBin(math.Abs(ratio*x))]++
			sizes.Second[sizeBin(math.Abs(x))]++
		}
		return readLimits(sizes, 5)
	}
	none := of(1)
	some := of(.8)
	signal := of(.5)
	if none.noSignal != 1 ||
		math.Abs(16*none.target/2.5-1) > .2 ||
		none.residual > upperEdge(int(sizeBin(4.5/16))) {
		t.Errorf("without signal: %+v", none)
	}
	if signal.noSignal != 0 || signal.target < 1.8*none.target {
		t.Errorf("with signal: %+v", signal)
	}
	if !(some.noSignal > .3 &&
		some.noSignal < .7 &&
		some.target > none.target &&
		some.target < signal.target) {
		t.Errorf("with little signal: %+v", some)
	}
}

// TestCountNoiseMatchesSpecification: the standard deviations of the noise at mu = 1, as specified.
func TestCountNoiseMatchesSpecification(t *testing.T) {
	for _, c := range []struct {
		relation            budget.Relation
		sizes, sum, squares float64
	}{
		{budget.AddRemove, 2.886751, 1.517544, 1.752309},
		{budget.Substitute, 4.082483, 1.814160, 1.814160},
	} {
		priced, err := budget.Calibrate(
			Regression{}.Plan(),
			budget.Target{
				Epsilon:  1,
				Delta:    1e-6,
				Relation: c.relation,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		mu := priced.Guarantee().Mu
		y, p := drawTargets(rand.New(rand.NewPCG(1, 1)), 900, .5)
		pairs := newPairs(t, y, p, 0, 100, 50)
		got := mechanism.SquareSumsNoise(s, sumsLeaf) * mu
		if math.Abs(got-c.squares) > 2e-6 {
			t.Errorf(
				"%v: the noise of the sums of squares is %v/mu, want %v",
				c.relation,
				got,
				c.squares,
			)
		}
		if _, err := (Regression{}).Run(context.Background(), s, pairs); err != nil {
			t.Fatal(err)
		}
		if got := s.Scale(sizesLeaf) * mu; math.Abs(got-c.sizes) > 1e-5 {
			t.Errorf(
				"%v: the noise of the sizes is %v/mu, want %v",
				c.relation, got, c.sizes,
			)
		}
		if got := s.Scale(sumsLeaf) * mu; math.Abs(got-c.sum) > 2e-6 {
			t.Errorf(
				"%v: the sums were released with the noise %v/mu, want %v",
				c.relation,
				got,
				c.sum,
			)
		}
	}
}

// TestSeenNodes: windows of one, two and all further nodes.
func TestSeenNodes(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []float64
		want  int
	}{
		"none":    {nil, 0},
		"nothing": {[]float64{4.9, 1, -1}, 0},
		"one":     {[]float64{5.1, 0, 0}, 1},
		"two":     {[]float64{3.6, 3.6, 0, 0}, 1},
		"all": {
			[]float64{2.9, 2.9, 2.9, 2.9},
			2,
		},
		"past a gap":    {[]float64{0, 0, 8.8}, 3},
		"hidden by one": {[]float64{-9, 7, 7}, 0},
		"last":          {[]float64{9, 9, 9}, 3},
	} {
		got := seenNodes(c.nodes, nodeSeen)
		if got != c.want {
			t.Errorf(
				"%s: %d, want %d",
				name, got, c.want,
			)
		}
	}
}

// TestScaleOfNormalSizes checks that the scale of normal sizes is found to a few percent, and that the result is a
// size even without counts.
func TestScaleOfNormalSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, sigma := range []float64{.003, .2, 3} {
		counts := make([]float64, sizeBins)
		for range 100_000 {
			counts[sizeBin(math.Abs(sigma*r.NormFloat64()))]++
		}
		got := normalScale(counts, scaleSeen, lastBin)
		if math.Abs(got/sigma-1) > .03 {
			t.Errorf(
				"the scale of sizes with standard deviation %v is %v",
				sigma, got,
			)
		}
	}
	for _, counts := range [][]float64{
		make([]float64, sizeBins),
		slices.Repeat([]float64{-1}, sizeBins),
		append(make([]float64, sizeBins-1), 9),
	} {
		got := normalScale(counts, scaleSeen, lastBin)
		if !(got > 0 && got <= 64) {
			t.Errorf("%v: %v", counts, got)
		}
	}
}

// TestClimbWindows: windows of 1, 2 and 4 bins end at the top.
func TestClimbWindows(t *testing.T) {
	for name, c := range map[string]struct {
		counts []float64
		k, top int
		want   int
	}{
		"nothing": {
			[]float64{9, 0, 0, 0, 0, 0},
			0, 5, 0,
		},
		"one": {
			[]float64{9, 3, 0, 0, 0, 0},
			0, 5, 1,
		},
		"not quite": {
			[]float64{9, 2, 0, 0, 0, 0},
			0, 5, 0,
		},
		"two": {
			[]float64{9, 2, 2, 0, 0, 0},
			0, 5, 1,
		},
		"four": {
			[]float64{9, 1.5, 1.5, 1.5, 1.5, 0},
			0, 5, 1,
		},
		"three more": {
			[]float64{9, 0, 0, 0, 9, 0},
			0, 5, 4,
		},
		"top": {
			[]float64{9, 9, 9, 9, 9, 9},
			0, 5, 5,
		},
		"a lower top": {
			[]float64{9, 9, 9, 9, 9, 9},
			0, 3, 3,
		},
		"ends there": {
			[]float64{9, 1, 9, 0, 0, 0},
			0, 1, 0,
		},
		"no fall back": {
			[]float64{9, -9, 3, 0, 0, 0},
			0, 5, 0,
		},
		"starts higher": {
			[]float64{9, 9, 9, 0, 0, 0},
			2, 5, 2,
		},
	} {
		got := climbBins(c.counts, 1, c.k, 2.5, c.top)
		if got != c.want {
			t.Errorf(
				"%s: %d, want %d",
				name, got, c.want,
			)
		}
	}
}

// TestLimitsOfTargets checks that the limit of targets grows with the targets beyond their range, up
// to the last edge. Residuals are cut where they are observed, and never beyond their largest value.
func TestLimitsOfTargets(t *testing.T) {
	for _, c := range []struct {
		bin  int
		want float64
	}{
		{rangeBin, 1},
		{rangeBin + 1, math.Sqrt2},
		{rangeBin + 5, math.Sqrt(32)},
		{lastBin - 1, 64},
		{lastBin, 64},
	} {
		sizes := mechanism.Sizes{
			First:       make([]float64, sizeBins),
			Second:      make([]float64, sizeBins),
			FirstNoise:  1,
			SecondNoise: 2,
		}
		for b := range sizeBins {
			if b <= widestBin {
				sizes.First[b] = 50
			}
			if b <= c.bin {
				sizes.Second[b] = 50
			}
		}
		sizes.Second[rangeBin] = 5000 // a scale far above that of residuals
		l := readLimits(sizes, 1)
		if math.Abs(l.target/c.want-1) > 1e-15 ||
			l.residual < min(2, l.largestResidual()) ||
			l.residual > l.largestResidual() {
			t.Errorf(
				"targets up to bin %d: %+v",
				c.bin, l,
			)
		}
		count, noise := l.countBeyond(sizes)
		bins := float64(max(lastBin-c.bin, 1))
		want := float64(50 * max(c.bin-lastBin+1, 0))
		if count != want ||
			math.Abs(noise-2*math.Sqrt(bins)) > 1e-12 {
			t.Errorf(
				"targets up to bin %d: %v are beyond, with noise %v",
				c.bin, count, noise,
			)
		}
	}
}

// TestErrorsAreConsistent: a mean absolute error is never above the root of the mean square, neither the value nor an
// end of the interval, and each interval is used for the other; of two that exclude each other noise misled one, and
// both become what holds the two.
func TestErrorsAreConsistent(t *testing.T) {
	for _, c := range [][4]Quality{
		{
			{2, 1, 3, .95},
			{4, 3, 5, .95},
			{2, 1, 3, .95},
			{4, 3, 5, .95},
		},
		{
			{6, 2, 9, .95},
			{4, 0, 5, .95},
			{5, 2, 5, .95},
			{5, 2, 5, .95},
		},
		{
			{9, 8, 10, .95},
			{1, 0, 8.5, .95},
			{8, 8, 8.5, .95},
			{8, 8, 8.5, .95},
		},
		{
			{9, 8, 10, .95},
			{1, 0, 2, .95},
			{5, 0, 10, .95},
			{5, 0, 10, .95},
		},
	} {
		mae, rmse := makeConsistent(c[0], c[1])
		if mae != c[2] || rmse != c[3] {
			t.Errorf(
				"%v and %v: %v and %v, want %v and %v",
				c[0], c[1], mae,
				rmse, c[2], c[3],
			)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Quality {
			list := rapid.SliceOfN(
				rapid.Float64Range(0, 10), 3, 3,
			).Draw(t, name)
			slices.Sort(list)
			return Quality{
				Lower: list[0],
				Value: list[1],
				Upper: list[2],
			}
		}
		mae, rmse := makeConsistent(draw("MAE"), draw("RMSE"))
		if mae.Value > rmse.Value ||
			mae.Lower > rmse.Lower ||
			mae.Upper > rmse.Upper {
			t.Fatalf(
				"MAE %+v, RMSE %+v",
				mae, rmse,
			)
		}
		for _, q := range []Quality{mae, rmse} {
			if q.Lower > q.Value || q.Value > q.Upper {
				t.Fatalf("%+v", q)
			}
		}
	})
}

// TestCombinedWeightsByVariance: weights 1/variance.
func TestCombinedWeightsByVariance(t *testing.T) {
	got := combineCounts(Count{10, 1}, Count{20, 2})
	if got.Value != 12 ||
		math.Abs(got.Sigma-math.Sqrt(.8)) > 1e-15 {
		t.Errorf("%+v", got)
	}
}

// TestShareOf checks that the interval is that of the linearised ratio, within [0, 1], and is [0, 1]
// without records.
func TestShareOf(t *testing.T) {
	got := ShareOf(Count{300, 10}, Count{700, 20})
	reach := 1.959964 * math.Hypot(.7*10, .3*20) / 1000
	if math.Abs(got.Value-.3) > 1e-15 ||
		math.Abs(got.Upper-.3-reach) > 1e-12 ||
		math.Abs(.3-reach-got.Lower) > 1e-12 {
		t.Errorf("%+v", got)
	}
	for _, c := range [][2]float64{
		{-5, 3},
		{0, 0},
		{-9, 100},
		{100, -9},
	} {
		s := ShareOf(Count{c[0], 10}, Count{c[1], 10})
		if !(0 <= s.Lower && s.Lower <= s.Value && s.Value <= s.Upper && s.Upper <= 1) {
			t.Errorf("%v: %+v", c, s)
		}
	}
	s := ShareOf(Count{-5, 10}, Count{3, 10})
	if s.Lower != 0 || s.Upper != 1 {
		t.Errorf("nothing is known: %+v", s)
	}
}

// TestFiellerMatchesDefinition compares the interval with its definition on a grid of ratios.
func TestFiellerMatchesDefinition(t *testing.T) {
	for _, c := range []struct{ e, t, varE, varT, covariance float64 }{
		{3, 10, 1, 1, 0},
		{0, 10, 1, 4, 0},
		{-1, 10, 1, 1, 0},
		{3, 2, 1, 4, 0},
		{9, 2, 1, 4, 0},
		{1, 100, .01, 25, 0},
		{3, 10, 1, 1, .9},
		{8, 10, 4, 4, 3.9},
		{8, 10, 4, 4, -2},
		{9, 2, 1, 4, 1.5},
	} {
		lower, upper := fiellerInterval(
			c.e, c.t, c.varE,
			c.varT, c.covariance, 1.96,
		)
		for rho := 0.0; rho < 20; rho += .001 {
			variance := c.varE + rho*rho*c.varT - 2*rho*c.covariance
			inside := math.Abs(c.e-rho*c.t) <= 1.96*math.Sqrt(variance)
			near := math.Abs(rho-lower) < .002 || math.Abs(rho-upper) < .002
			if !near && inside != (rho > lower && rho < upper) {
				t.Errorf(
					"%+v: rho %.3f inside=%v, interval [%v, %v]",
					c,
					rho,
					inside,
					lower,
					upper,
				)
				break
			}
		}
	}
}
