package mechanism

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
	"github.com/dptrain/dptrain/internal/testkit"
)

// cloudOfColumns returns a cloud of points from its coordinates, where each list has one number per point.
func cloudOfColumns(list ...[]float64) Cloud {
	p := Maker{}.NewPoints(len(list[0]), len(list))
	for i := range list[0] {
		point := make([]float64, len(list))
		for j := range list {
			point[j] = list[j][i]
		}
		p.Set(i, point)
	}
	return p.Bound().value
}

// scaledRatio returns a/b, scaled by 2^shift, as a float64.
func scaledRatio(a, b *big.Int, shift int) float64 {
	f := new(big.Float).Quo(
		new(big.Float).SetInt(a),
		new(big.Float).SetInt(b),
	)
	x, _ := f.SetMantExp(f, shift).Float64()
	return x
}

func close6(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf(
			"%s is %.9g, want %.9g",
			what, got, want,
		)
	}
}

// TestDepthExample reproduces the first example of the specification.
func TestDepthExample(t *testing.T) {
	var x, y []float64
	for i := 1.; i <= 12; i++ {
		x = append(x, i)
		y = append(
			y,
			(i-6.5)*(i-6.5)*(i-6.5),
		)
	}
	n := newNestedBoxes(cloudOfColumns(x, y))
	law := depthLaw{depthStep(.5), 1e-5}
	_, total := n.measureStability(law)
	for i, want := range []float64{
		3660.25, 1640.25, 600.25, 156.25,
		20.25, .25,
	} {
		close6(
			t, "a volume",
			scaledRatio(n.volumes[i], bigOne, -2*gridBits),
			want, 1e-6,
		)
	}
	// The weight of U_3 in units of rho^3 2^-96.
	weight := math.Exp(1.5) * scaledRatio(
		total, bigOne, -2*gridBits-3*stepBits,
	)
	close6(t, "the weight of U_3", weight, 3243.4528401, 1e-6)
	close6(
		t, "r_0",
		brute{n: n, law: law}.nestRatio(0),
		35.5708, 1e-5,
	)

	boxes := drawLaw(n, law, total)
	depths := make([]float64, 7)
	for q := 6; q >= 3; q-- {
		inner := 0.
		if q < 6 {
			inner = scaledRatio(n.boxVolume(q+1), bigOne, -2*gridBits)
		}
		depths[q] = math.Exp(.5*float64(q)) * (scaledRatio(
			n.boxVolume(q),
			bigOne,
			-2*gridBits,
		) - inner) /
			weight
	}
	for i, want := range []float64{.829404, .140059, .029927, .000609} {
		got := boxes[i]
		if math.Abs(got-want) > 6e-7 {
			t.Errorf(
				"box %d is drawn with probability %.7f, want %.6f",
				i+3, got, want,
			)
		}
	}
	for i, want := range []float64{.613504, .309828, .075121, .001548} {
		got := depths[i+3]
		if math.Abs(got-want) > 6e-7 {
			t.Errorf(
				"depth %d has probability %.7f, want %.6f",
				i+3, got, want,
			)
		}
	}
}

// drawLaw returns the probabilities of the boxes t, t+1, ..., Q of the draw:
// the numbers below total that box maps to each, found by bisection.
func drawLaw(n *nestedBoxes, law depthLaw, total *big.Int) []float64 {
	var out []float64
	last := new(big.Int)
	for q := n.t; q <= n.q; q++ {
		lo := new(big.Int).Set(last)
		hi := new(big.Int).Set(total) // box(u) <= q below some u
		for lo.Cmp(hi) < 0 {
			mid := new(big.Int).Add(lo, hi)
			mid.Rsh(mid, 1)
			if n.selectBox(law, mid) <= q {
				lo.Add(mid, bigOne)
			} else {
				hi = mid
			}
		}
		out = append(
			out,
			scaledRatio(new(big.Int).Sub(lo, last), total, 0),
		)
		last = lo
	}
	return out
}

// TestDepthGaussianGrid reproduces the second example of the specification.
func TestDepthGaussianGrid(t *testing.T) {
	const m, delta = 500, 1e-5
	x := make([]float64, m)
	for i := range x {
		x[i] = distuv.UnitNormal.Quantile((float64(i) + .5) / m)
	}
	n := newNestedBoxes(cloudOfColumns(x, x, x, x, x))
	law := depthLaw{depthStep(UsualSplit().Step * math.Log(3)), delta}
	h, total := n.measureStability(law)
	if h != 40 {
		t.Errorf("h is %d, want 40", h)
	}
	scale := uint64(math.Ceil(hUnits / (UsualSplit().Check * math.Log(3))))
	close6(
		t, "the threshold",
		float64(passThreshold(delta, scale))/hUnits,
		24.6215, 2e-6,
	)
	logOf := func(v *big.Int, shift int) float64 {
		f := new(big.Float).SetInt(v)
		e := f.MantExp(f)
		mantissa, _ := f.Float64()
		return math.Log(mantissa) + float64(e+shift)*math.Ln2
	}
	close6(
		t, "lv_125",
		logOf(n.boxVolume(125), -5*gridBits),
		1.520040, 1e-6,
	)
	lw := logOf(total, -5*gridBits-stepBits*(250-125)) + 125*UsualSplit().Step*math.Log(3)
	close6(t, "lw(125)", lw, 69.7331067, 1e-8)
}

// brute computes the results of a nest by counting every grid point instead of using boxes. The grid is small:
// coordinates are 0..side-1 times 2^-200.
type brute struct {
	n      *nestedBoxes
	law    depthLaw
	points [][]int
	side   int
}

const smallUnit = 0x1p-200

func newBrute(points [][]int, side int, law depthLaw) brute {
	list := make([][]float64, len(points[0]))
	for j := range list {
		for _, p := range points {
			list[j] = append(list[j], float64(p[j])*smallUnit)
		}
	}
	return brute{newNestedBoxes(cloudOfColumns(list...)), law, points, side}
}

func (b brute) rho() *big.Rat {
	return new(big.Rat).SetFrac(
		new(big.Int).SetUint64(b.law.step),
		new(big.Int).Lsh(bigOne, stepBits),
	)
}

func ratPower(x *big.Rat, k int) *big.Rat {
	out := big.NewRat(1, 1)
	for range k {
		out.Mul(out, x)
	}
	return out
}

// depth is the definition of T.
func (b brute) depth(y []int) int {
	depth := len(b.points) / 2
	for j := range y {
		below := 0
		above := 0
		for _, p := range b.points {
			if p[j] <= y[j] {
				below++
			}
			if p[j] >= y[j] {
				above++
			}
		}
		depth = min(depth, below, above)
	}
	return depth
}

// depths lists the depth of every grid point.
func (b brute) depths() []int {
	d := len(b.points[0])
	y := make([]int, d)
	var out []int
	for {
		out = append(out, b.depth(y))
		j := 0
		for ; j < d; j++ {
			if y[j]++; y[j] < b.side {
				break
			}
			y[j] = 0
		}
		if j == d {
			return out
		}
	}
}

// ratios returns r_0, r_1, ... as far as they are finite, from depths.
func (b brute) ratios(depths []int) []*big.Rat {
	t := len(b.points) / 4
	q := len(b.points) / 2
	var out []*big.Rat
	for k := 0; t-k-2 >= 1 && t+k+1 <= q; k++ {
		volume := int64(0)
		weight := new(big.Rat)
		for _, x := range depths {
			if x >= t-k-2 {
				volume++
			}
			if x >= t+k+1 {
				weight.Add(weight, ratPower(b.rho(), x))
			}
		}
		r := new(big.Rat).Mul(
			ratPower(b.rho(), t+k+2),
			big.NewRat(volume, 1),
		)
		out = append(out, r.Quo(r, weight))
	}
	return out
}

// nestRatio returns r_k of the nest, by its recurrence without the comparison.
func (b brute) nestRatio(k int) float64 {
	p := b.n.t + k + 1
	sum := new(big.Rat)
	for q := b.n.q; q >= p; q-- { // B_q
		sum.Mul(sum, b.rho())
		exact := new(big.Int).Set(b.n.boxVolume(q))
		if q < b.n.q {
			exact.Sub(exact, b.n.boxVolume(q+1))
		}
		sum.Add(sum, new(big.Rat).SetInt(exact))
	}
	r := new(big.Rat).SetInt(b.n.boxVolume(b.n.t - k - 2))
	r.Mul(r, b.rho())
	x, _ := r.Quo(r, sum).Float64()
	return x
}

// probabilities returns P_Z on the grid.
func (b brute) probabilities(depths []int) []*big.Rat {
	t := len(b.points) / 4
	out := make([]*big.Rat, len(depths))
	total := new(big.Rat)
	for i, x := range depths {
		out[i] = new(big.Rat)
		if x >= t {
			out[i] = ratPower(b.rho(), x)
			total.Add(total, out[i])
		}
	}
	for _, p := range out {
		p.Quo(p, total)
	}
	return out
}

// largestExcess returns the largest P(S) - rho^2 Q(S).
func largestExcess(p, q []*big.Rat, rho *big.Rat) *big.Rat {
	sum := new(big.Rat)
	square := ratPower(rho, 2)
	for i := range p {
		d := new(big.Rat).Mul(square, q[i])
		if d.Sub(p[i], d); d.Sign() > 0 {
			sum.Add(sum, d)
		}
	}
	return sum
}

// drawCloud draws a cloud of small integer points with ties, often concentrated in few places.
func drawCloud(t *rapid.T, m, d, side int) [][]int {
	points := make([][]int, m)
	spread := rapid.IntRange(1, side).Draw(t, "spread")
	for i := range points {
		points[i] = make([]int, d)
		for j := range points[i] {
			points[i][j] = (side-spread)/2 + rapid.IntRange(0, spread-1).Draw(t, "x")
		}
	}
	return points
}

// movePoints returns the cloud with k points moved.
func movePoints(t *rapid.T, points [][]int, k, side int) [][]int {
	out := slices.Clone(points)
	for range k {
		i := rapid.IntRange(0, len(points)-1).Draw(t, "which")
		moved := make([]int, len(points[i]))
		for j := range moved {
			moved[j] = rapid.IntRange(0, side-1).Draw(t, "to")
		}
		out[i] = moved
	}
	return out
}

// TestDepthLemmas checks L2 and L3 exactly, and boxes against the definition of depth, on random clouds with ties.
// For Z* within k replacements of Z and Z** one further, max over S of P(S) - rho^2 P'(S) is at most r_k(Z) in both
// directions; r_(k-1)(Z*) <= r_k(Z) for k = 1; and the number of r_k <= delta is the computed stability and moves by
// at most 1.
func TestDepthLemmas(t *testing.T) {
	reached := 0. // largest share of r_k that an excess came to
	for _, d := range []int{1, 2} {
		side := []int{0, 24, 8}[d]
		rapid.Check(t, func(t *rapid.T) {
			m := rapid.IntRange(12, 24).Draw(t, "m")
			law := depthLaw{
				depthStep(rapid.Float64Range(.01, 1.5).Draw(t, "e")),
				rapid.Float64Range(.01, 3).Draw(t, "delta"),
			}
			law.delta = min(law.delta, .999)
			z := newBrute(drawCloud(t, m, d, side), side, law)
			depths := z.depths()
			for q := 1; q <= m/2; q++ {
				count := int64(0)
				for _, x := range depths {
					if x >= q {
						count++
					}
				}
				if z.n.boxVolume(q).Cmp(big.NewInt(count)) != 0 {
					t.Fatalf(
						"box %d has %v points, counted %d",
						q, z.n.boxVolume(q), count,
					)
				}
			}
			r := z.ratios(depths)
			h := stabilityOf(z)
			want := countBelow(r, law.delta)
			if h != want {
				t.Fatalf(
					"h is %d, by definition %d",
					h, want,
				)
			}
			k := rapid.IntRange(0, len(r)-1).Draw(t, "k")
			one := newBrute(movePoints(t, z.points, k, side), side, law)
			two := newBrute(movePoints(t, one.points, 1, side), side, law)
			p := one.probabilities(one.depths())
			q := two.probabilities(two.depths())
			for _, e := range []*big.Rat{
				largestExcess(p, q, z.rho()),
				largestExcess(q, p, z.rho()),
			} {
				if e.Cmp(r[k]) > 0 {
					t.Fatalf(
						"excess %v above r_%d = %v",
						e.FloatString(6),
						k,
						r[k].FloatString(6),
					)
				}
				share, _ := new(big.Rat).Quo(e, r[k]).Float64()
				reached = max(reached, share)
			}
			next := newBrute(movePoints(t, z.points, 1, side), side, law)
			for k, x := range next.ratios(next.depths()) {
				if k+1 < len(r) && x.Cmp(r[k+1]) > 0 {
					t.Fatalf(
						"r_%d of a neighbour exceeds r_%d",
						k, k+1,
					)
				}
			}
			a := stabilityOf(z)
			b := stabilityOf(next)
			if a-b > 1 || b-a > 1 {
				t.Fatalf("h moved from %d to %d", a, b)
			}
		})
	}
	if reached < .02 {
		t.Errorf(
			"no excess above %.3f of its bound was seen: the test is blind",
			reached,
		)
	}
}

// TestDepthSplits computes the whole release on random clouds and their neighbours, for several splits. The sum over
// outcomes of the positive part of P - e^epsilon P' must be at most delta, and the log-ratio of the bit that reports
// whether the check passed must come as close to e1 as allowed.
func TestDepthSplits(t *testing.T) {
	const epsilon, delta = 3., .2
	for _, split := range []DepthSplit{
		UsualSplit(), {.1, .45},
		{.5, .25},
		{.7, .15},
	} {
		if err := split.Validate(); err != nil {
			t.Fatal(err)
		}
		law := depthLaw{depthStep(split.Step * epsilon), delta}
		scale := uint64(math.Ceil(roundUp(hUnits / (split.Check * epsilon))))
		passes := func(h int) float64 {
			x := (float64(passThreshold(delta, scale)) - float64(h)*hUnits + .5) / float64(scale)
			if x < 0 {
				return 1 - math.Exp(x)/2
			}
			return math.Exp(-x) / 2
		}
		const side = 24
		furthest := 0.
		compare := func(a, b brute) (excess float64) {
			one := passes(stabilityOf(a))
			two := passes(stabilityOf(b))
			furthest = max(furthest, math.Abs(math.Log(one/two)))
			p := a.probabilities(a.depths())
			q := b.probabilities(b.depths())
			over := func(pass float64, p []*big.Rat, other float64, q []*big.Rat) float64 {
				sum := max(0, 1-pass-math.Exp(epsilon)*(1-other))
				for y := range p {
					first, _ := p[y].Float64()
					second, _ := q[y].Float64()
					sum += max(0, pass*first-math.Exp(epsilon)*other*second)
				}
				return sum
			}
			return max(over(one, p, two, q), over(two, q, one, p))
		}
		rapid.Check(t, func(t *rapid.T) {
			m := rapid.IntRange(12, 40).Draw(t, "m")
			a := newBrute(drawCloud(t, m, 1, side), side, law)
			b := newBrute(movePoints(t, a.points, 1, side), side, law)
			excess := compare(a, b)
			if excess > delta+1e-9 {
				t.Fatalf(
					"%+v: excess %v above delta",
					split, excess,
				)
			}
		})
		for m := 16; m <= 40; m += 4 {
			for apart := range m / 4 { // apart points are at each end of the grid, and the others in the middle
				points := make([][]int, m)
				for i := range points {
					points[i] = []int{side / 2}
				}
				for i := range apart {
					points[i] = []int{0}
					points[m-1-i] = []int{side - 1}
				}
				other := slices.Clone(points)
				other[apart] = []int{0}
				excess := compare(
					newBrute(points, side, law),
					newBrute(other, side, law),
				)
				if excess > delta+1e-9 {
					t.Fatalf(
						"%+v, %d of %d points apart: excess %v above delta",
						split,
						apart,
						m,
						excess,
					)
				}
				other[m-1-apart] = []int{side - 1}
				third := slices.Clone(other)
				third[apart] = []int{side / 2}
				excess = compare(
					newBrute(third, side, law),
					newBrute(other, side, law),
				)
				if excess > delta+1e-9 {
					t.Fatalf(
						"%+v, %d of %d points apart: excess %v above delta",
						split,
						apart,
						m,
						excess,
					)
				}
			}
		}
		e1 := split.Check * epsilon
		if furthest > e1*(1+1e-6) || furthest < .6*e1 {
			t.Errorf(
				"%+v: the check tells neighbours apart by %v, of %v",
				split, furthest, e1,
			)
		}
	}
	for _, split := range []DepthSplit{
		{},
		{.4, .31},
		{0, .5},
		{1, 0},
		{-.2, .5},
		{math.NaN(), .1},
		{.1, math.NaN()},
	} {
		if err := split.Validate(); !errors.Is(err, ErrSplit) {
			t.Errorf("%+v: %v", split, err)
		}
		s := depthSession(t, budget.AddRemove, epsilon, delta)(1)
		_, _, err := TukeyDepth(
			s, "tukey",
			s.NewPoints(20, 1).Bound(),
			split,
		)
		if !errors.Is(err, ErrSplit) ||
			s.Events()[0].Released != 0 {
			t.Errorf(
				"%+v: %v, and the leaf is spent: %v",
				split, err,
				s.Events()[0].Released,
			)
		}
	}
}

func stabilityOf(b brute) int {
	h, _ := b.n.measureStability(b.law)
	return h
}

func countBelow(r []*big.Rat, delta float64) int {
	limit := new(big.Rat).SetFloat64(delta)
	for k, x := range r {
		if x.Cmp(limit) > 0 {
			return k
		}
	}
	return len(r)
}

// TestDepthSensitivityExhaustive replaces every point of every cloud of 12, 16
// and 20 points of {0, 1, 2} by every value.
func TestDepthSensitivityExhaustive(t *testing.T) {
	law := depthLaw{step: 5 << (stepBits - 2)}
	for _, m := range []int{12, 16, 20} {
		for _, law.delta = range []float64{.05, .3, .8} {
			h := map[[2]int]int{} // by the numbers of zeros and ones
			for a := 0; a <= m; a++ {
				for b := 0; a+b <= m; b++ {
					points := make([][]int, 0, m)
					for i := range m {
						x := 2
						if i < a {
							x = 0
						} else if i < a+b {
							x = 1
						}
						points = append(points, []int{x})
					}
					h[[2]int{a, b}] = stabilityOf(newBrute(points, 3, law))
				}
			}
			moved := false
			for from, x := range h {
				for _, step := range [][2]int{
					{1, 0}, {0, 1},
					{1, -1},
					{-1, 0},
					{0, -1},
					{-1, 1},
				} {
					y, ok := h[[2]int{
						from[0] + step[0],
						from[1] + step[1],
					}]
					if ok && (x-y > 1 || y-x > 1) {
						t.Errorf(
							"m %d, delta %v: h moves from %d to %d",
							m, law.delta, x, y,
						)
					}
					moved = moved || ok && x != y
				}
			}
			if !moved && law.delta == .8 {
				t.Errorf(
					"m %d: h is the same for all clouds: the search is blind",
					m,
				)
			}
		}
	}
}

// TestDepthDrawLaw compares draws with the distribution counted on the grid.
func TestDepthDrawLaw(t *testing.T) {
	points := [][]int{
		{1, 3},
		{2, 2},
		{2, 5},
		{3, 4},
		{3, 3},
		{3, 0},
		{4, 6},
		{4, 3},
		{5, 1},
		{5, 5},
		{6, 2},
		{0, 4},
		{7, 7},
	}
	b := newBrute(points, 8, depthLaw{depthStep(.4), .1})
	_, total := b.n.measureStability(b.law)
	const draws = 200000
	s := testStream(60)
	counts := make([]float64, 64)
	expected := make([]float64, 64)
	for range draws {
		y := b.n.drawPoint(s, b.law, total)
		counts[int(y[0]/smallUnit)+8*int(y[1]/smallUnit)]++
	}
	for i, p := range b.probabilities(b.depths()) {
		expected[i], _ = p.Float64()
		if expected[i] == 0 && counts[i] > 0 {
			t.Errorf(
				"grid point %d is outside the box and was drawn",
				i,
			)
		}
		expected[i] *= draws
	}
	testkit.CheckChiSquare(t, counts, expected)
}

// depthSession has a leaf "tukey" with the given parameters.
func depthSession(
	t testing.TB, rel budget.Relation, epsilon, delta float64,
) func(seed int) *Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run",
			budget.FixedLeaf(
				"tukey",
				budget.Law{
					Kind:    budget.Approximate,
					Epsilon: epsilon,
					Delta:   delta,
					Draws:   1,
				},
			),
			budget.LaplaceLeaf("rest", 1, 1),
		),
		budget.Target{
			Epsilon:  1.1 * epsilon,
			Delta:    min(1.1*delta, .5),
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return func(seed int) *Session {
		s, err := NewSession(p.Again())
		if err != nil {
			t.Fatal(err)
		}
		s.core.key = noise.Key{byte(seed), byte(seed >> 8)}
		return s
	}
}

// TestTukeyDepthAbstains checks that the release passes with the probability given by h and the threshold, and that
// an unsafe cloud passes with probability at most delta. The tolerance is six standard deviations: two-sided false
// alarm 2e-9 a case.
func TestTukeyDepthAbstains(t *testing.T) {
	const epsilon, delta, runs = 2, .02, 4000
	open := depthSession(t, budget.AddRemove, epsilon, delta)
	grid := func(m int) Cloud {
		x := make([]float64, m)
		for i := range x {
			x[i] = distuv.UnitNormal.Quantile((float64(i) + .5) / float64(m))
		}
		return cloudOfColumns(x)
	}
	apart := make([]float64, 40) // every box is far smaller than the one around it
	for i := range apart {
		apart[i] = math.Ldexp(1-2*float64(i%2), 4*i)
	}
	seen := map[int]bool{}
	for _, c := range []Cloud{
		grid(60), grid(68),
		grid(76), cloudOfColumns(apart),
	} {
		h, _ := newNestedBoxes(c).measureStability(
			depthLaw{depthStep(UsualSplit().Step * epsilon), delta})
		seen[h] = true
		z := (float64(h) - math.Log(1/(2*delta))/(UsualSplit().Check*epsilon)) *
			UsualSplit().Check * epsilon
		want := math.Exp(z) / 2
		if z > 0 {
			want = 1 - math.Exp(-z)/2
		}
		passed := 0.
		for i := range runs {
			_, ok, err := TukeyDepth(
				open(i),
				"tukey",
				Bounded[Cloud]{c, Replaced, 1, 1, ""},
				UsualSplit(),
			)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				passed++
			}
		}
		sd := math.Sqrt(want * (1 - want) / runs)
		if math.Abs(passed/runs-want) > 6*sd+1e-5 {
			t.Errorf(
				"h %d: passed with frequency %v, want %v",
				h, passed/runs, want,
			)
		}
		if h == 0 && passed/runs > delta+6*math.Sqrt(delta/runs) {
			t.Errorf(
				"an unsafe cloud passes with frequency %v, above delta",
				passed/runs,
			)
		}
	}
	if !seen[0] || len(seen) < 4 {
		t.Errorf("the clouds have too few different h: %v", seen)
	}
}

// TestTukeyDepthPoint checks that released points are within U_t under both relations, and that a coordinate that is
// constant over the cloud is returned exactly.
func TestTukeyDepthPoint(t *testing.T) {
	for _, rel := range bothRelations() {
		open := depthSession(t, rel, 4, 1e-4)
		x := make([]float64, 100)
		y := make([]float64, 100)
		for i := range x {
			x[i] = float64(i) + .5
			y[i] = .1
		}
		released := 0
		for i := range 50 {
			s := open(i)
			p, ok, err := TukeyDepth(
				s,
				"tukey",
				Bounded[Cloud]{cloudOfColumns(x, y), Replaced, 1, 1, ""},
				UsualSplit(),
			)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			released++
			v := p.Value()
			if v[0] < 24.5 ||
				v[0] > 75.5 ||
				v[1] != .1 {
				t.Errorf("released %v", v)
			}
			e := s.Events()[0]
			if e.Released != 1 ||
				e.Sensitivity != 1 ||
				!(e.Scale >= 1/(.4*4)) ||
				e.Scale > 1/(.4*4)+1e-5 {
				t.Errorf("event %+v", e)
			}
		}
		if released < 45 {
			t.Errorf(
				"%v: %d of 50 runs passed",
				rel, released,
			)
		}
	}
}

// TestTukeyDepthRefuses checks that refusals follow from public facts.
func TestTukeyDepthRefuses(t *testing.T) {
	s := depthSession(t, budget.AddRemove, 1, 1e-5)(1)
	for _, c := range []struct{ m, d int }{{11, 2}, {0, 2}, {12, 0}} {
		_, _, err := TukeyDepth(
			s,
			"tukey",
			s.NewPoints(c.m, c.d).Bound(),
			UsualSplit(),
		)
		if !errors.Is(err, ErrPoints) {
			t.Errorf(
				"%d points of %d coordinates: %v",
				c.m, c.d, err,
			)
		}
	}
	cloud := s.NewPoints(12, 1).Bound()
	_, _, err := TukeyDepth(s, "rest", cloud, UsualSplit())
	if !errors.Is(err, ErrLaw) {
		t.Errorf("a leaf of another law: %v", err)
	}
	_, _, err = TukeyDepth(
		s,
		"tukey",
		Bounded[Cloud]{cloud.value, L2, 1, 1, ""},
		UsualSplit(),
	)
	if !errors.Is(err, ErrNorm) {
		t.Errorf("another norm: %v", err)
	}
	if _, _, err := TukeyDepth(s, "tukey", cloud, UsualSplit()); err != nil {
		t.Error(err)
	}
	_, _, err = TukeyDepth(s, "tukey", cloud, UsualSplit())
	if !errors.Is(err, ErrSpent) {
		t.Errorf("a second release: %v", err)
	}
}

// TestPoints checks that points with a non-finite number move to the origin, and that Bound keeps its own copy.
func TestPoints(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	p := s.NewPoints(4, 2)
	p.Set(0, []float64{1, math.NaN()})
	p.Set(1, []float64{math.Inf(-1), 2})
	p.Set(2, []float64{3, -4})
	b := p.Bound()
	p.Set(2, []float64{5, 6})
	want := []float64{0, 0, 0, 0, 3, -4, 0, 0}
	if !slices.Equal(b.value.values, want) || b.Sensitivity() != 1 {
		t.Errorf(
			"points %v with sensitivity %v, want %v",
			b.value.values,
			b.Sensitivity(),
			want,
		)
	}
	defer func() {
		if recover() == nil {
			t.Error("a point of another dimension was accepted")
		}
	}()
	p.Set(0, []float64{1})
}

// TestGridRoundsTowardZero checks that rounding is toward zero, is monotone, and is lossless between 2^-147 and 2^200.
func TestGridRoundsTowardZero(t *testing.T) {
	for _, c := range []struct{ in, want float64 }{
		{0, 0},
		{math.Copysign(0, -1), 0},
		{.1, .1},
		{-1e30, -1e30},
		{0x1p-201, 0},
		{-0x1p-201, 0},
		{5e-324, 0},
		{0x1.8p-200, 0x1p-200},
		{-0x1.8p-200, -0x1p-200},
		{1e300, 0x1p200},
		{-math.MaxFloat64, -0x1p200},
		{0x1.fffffffffffffp-148, 0x1.fffffffffffffp-148},
	} {
		got := gridValue(gridPoint(c.in))
		if got != c.want {
			t.Errorf(
				"%v is held as %v, want %v",
				c.in, got, c.want,
			)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		y := rapid.Float64().Draw(t, "y")
		if math.IsNaN(x) || math.IsNaN(y) {
			return
		}
		a := gridPoint(min(x, y))
		b := gridPoint(max(x, y))
		if a.Cmp(b) > 0 {
			t.Fatalf("%v and %v change their order", x, y)
		}
		v := gridPoint(x)
		if new(big.Int).Abs(v).BitLen() > gridBits+gridReach+1 ||
			v.Sign()*int(math.Copysign(1, x)) < 0 {
			t.Fatalf("%v is held as %v", x, v)
		}
	})
}

// TestDepthStep checks that rho never exceeds e^e' and is smaller by a relative difference of about 2^-32 at most.
func TestDepthStep(t *testing.T) {
	for _, e := range []float64{
		0, 1e-13, 1e-6, .01, .28,
		.5, 3, 19.9, 25, 1e9,
	} {
		rho := new(big.Float).SetMantExp(
			new(big.Float).SetUint64(depthStep(e)),
			-stepBits,
		)
		want := math.Exp(min(e, 20))
		got, _ := rho.Float64()
		if got > want || got < want*(1-0x1p-30) || got < 1 {
			t.Errorf(
				"step %v: rho %.17g, e^e' %.17g",
				e, got, want,
			)
		}
	}
}

// TestThreshold checks that P(round(Lap) > threshold) <= delta.
func TestThreshold(t *testing.T) {
	for _, scale := range []uint64{1, 1000, 1 << 22} {
		for _, delta := range []float64{
			1e-300, 1e-9, .01, .3,
			.5, .9,
		} {
			v := passThreshold(delta, scale)
			p := math.Exp(-(float64(v)+.5)/float64(scale)) / 2
			if p > delta ||
				v > 0 && p < delta*math.Exp(-2/float64(scale))*(1-1e-9) {
				t.Errorf(
					"scale %d, delta %v: passes with probability %v",
					scale, delta, p,
				)
			}
		}
	}
	if passThreshold(0, 1000) != math.MaxInt64 {
		t.Error("delta 0 can be passed")
	}
}
