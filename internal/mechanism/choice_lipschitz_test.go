package mechanism

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dptrain/dptrain/internal/testkit"
)

// A setLaw is the probability of every set of candidates, by bit mask.
type setLaw []float64

// setsOf lists the masks of k of d candidates.
func setsOf(d, k int) (masks []int) {
	for m := range 1 << d {
		if bits.OnesCount(uint(m)) == k {
			masks = append(masks, m)
		}
	}
	return masks
}

func maskOf(chosen []int) (m int) {
	for _, j := range chosen {
		m |= 1 << j
	}
	return m
}

// maxLaw returns the distribution of argmax u_c + Z_c, where Z_c is the largest of size_c noises: Gumbel, or
// exponential by Gauss-Legendre quadrature, which is exact for this polynomial in p = exp(-z): P(c) = integral of
// size a_c/(1-a_c p) prod_o (1-a_o p)^size_o, a = exp(u).
func maxLaw(u, size []float64, exponential bool) []float64 {
	out := make([]float64, len(u))
	a := make([]float64, len(u))
	top := slices.Max(u)
	degree := 0.
	total := 0.
	for c := range u {
		a[c] = math.Exp(u[c] - top)
		degree += size[c]
		total += size[c] * a[c]
	}
	if !exponential {
		for c := range out {
			out[c] = size[c] * a[c] / total
		}
		return out
	}
	n := int(degree)/2 + 2
	at := make([]float64, n)
	weight := make([]float64, n)
	quad.Legendre{}.FixedLocations(at, weight, 0, 1)
	for i, p := range at {
		product := weight[i]
		for c := range u {
			product *= math.Pow(1-a[c]*p, size[c])
		}
		for c := range out {
			out[c] += product * size[c] * a[c] / (1 - a[c]*p)
		}
	}
	return out
}

// bruteLaw is the mechanism by definition: every set has its own loss and its
// own noise.
func bruteLaw(x []int64, k int, gamma, rate float64, exponential bool) setLaw {
	masks := setsOf(len(x), k)
	u := make([]float64, len(masks))
	size := make([]float64, len(masks))
	for i, m := range masks {
		best := math.Inf(-1)
		worst := math.Inf(1) // outside, inside
		for j, v := range x {
			if m>>j&1 == 1 {
				worst = math.Min(worst, float64(v))
			} else {
				best = math.Max(best, float64(v))
			}
		}
		u[i] = -rate * ((1-gamma)*math.Max(best, worst) - gamma*worst)
		size[i] = 1
	}
	law := make(setLaw, 1<<len(x))
	for i, p := range maxLaw(u, size, exponential) {
		law[masks[i]] = p
	}
	return law
}

// classLaw is the distribution of lipschitz.choose in closed form, computed from its classes. published uses the
// class sizes and bodies of the paper instead of ours.
func classLaw(l *lipschitzClasses, exponential, published bool) setLaw {
	type class struct{ h, t int }
	classes := []class{{l.k - 1, l.k}}
	u := []float64{0}
	size := []float64{1}
	for t := l.k + 1; t <= len(l.order); t++ {
		for h := range l.k {
			n := math.Exp(l.logSize(h, t))
			if published {
				n = binomial(t-h-1, l.k-h-1)
			}
			classes = append(classes, class{h, t})
			u = append(u, -l.classLoss(h, t))
			size = append(size, math.Round(n))
		}
	}
	law := make(setLaw, 1<<len(l.order))
	for c, p := range maxLaw(u, size, exponential) {
		h := classes[c].h
		t := classes[c].t
		first := h + 1 // index of the first rank of the body
		if published {
			first = h
		}
		body := max(t-1-first, 0)
		sets := setsOf(body, l.k-h-1)
		if len(sets) != int(size[c]) {
			panic(fmt.Sprintf(
				"class (%d, %d) has %d sets, its size is %v",
				h,
				t,
				len(sets),
				size[c],
			))
		}
		for _, b := range sets {
			m := maskOf(l.order[:h]) | 1<<l.order[t-1]
			for i := range body {
				if b>>i&1 == 1 {
					m |= 1 << l.order[first+i]
				}
			}
			law[m] += p / size[c]
		}
	}
	return law
}

func binomial(n, k int) float64 {
	out := 1.
	for i := range k {
		out *= float64(n-i) / float64(i+1)
	}
	return math.Round(out)
}

// vectorsOf calls f with scores of d candidates, with and without ties, in
// every kind of order.
func vectorsOf(d int, f func(x []int64)) {
	for _, x := range [][]int64{
		{3, 2, 1, 0, -2, -9},
		{0, 1, 2, 3, 4, 5},
		{4, 4, 4, 4, 4, 4},
		{1, 7, 1, 7, -3, 1},
		{-5, 0, 9, 9, 2, 0},
	} {
		f(x[:d])
	}
}

var gammas = []float64{0, .25, .5, .9}

// sampleSets draws n sets and compares their frequencies with a distribution.
func sampleSets(t *testing.T, n int, law setLaw, draw func() []int) {
	t.Helper()
	counts := make([]float64, len(law))
	for range n {
		counts[maskOf(draw())]++
	}
	var got, want []float64
	for m, p := range law {
		if p > 0 {
			got = append(got, counts[m])
			want = append(want, p*float64(n))
		} else if counts[m] > 0 {
			t.Errorf("set %b of probability 0 was drawn", m)
		}
	}
	testkit.CheckChiSquare(t, got, want)
}

// TestLipschitzValues reproduces the values of the specification: scores
// normalised by Delta_f = 1, so a width of 2.
func TestLipschitzValues(t *testing.T) {
	x := []int64{3, 2, 1, 0}
	masks := []int{0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100}
	for exponential, want := range map[bool][]float64{
		false: {.254027, .197836, .154075, .154075, .119994, .119994},
		true:  {.280178, .200109, .148250, .148250, .111607, .111607},
	} {
		l := newLipschitzClasses(x, 2, .5, 1./2)
		law := classLaw(l, exponential, false)
		expected := make(setLaw, 1<<4)
		for i, m := range masks {
			expected[m] = want[i]
			if math.Abs(law[m]-want[i]) > 6e-7 {
				t.Errorf(
					"exponential %v, set %04b: %.7f, want %v",
					exponential,
					m,
					law[m],
					want[i],
				)
			}
		}
		s := testStream(100)
		sampleSets(t, 300000, expected, func() []int {
			return l.drawSet(s, exponential)
		})
	}
}

// TestLipschitzLaw checks that the distribution computed from classes equals the one by definition, for every d <= 6,
// k < d and gamma and in both forms, and that draws follow it.
func TestLipschitzLaw(t *testing.T) {
	seed := byte(0)
	for d := 2; d <= 6; d++ {
		for k := 1; k < d; k++ {
			for _, gamma := range gammas {
				vectorsOf(d, func(x []int64) {
					for _, exponential := range []bool{false, true} {
						l := newLipschitzClasses(x, k, gamma, .4)
						got := classLaw(l, exponential, false)
						want := bruteLaw(x, k, gamma, .4, exponential)
						for m := range want {
							if math.Abs(got[m]-want[m]) > 1e-12 {
								t.Fatalf(
									"%v, k %d, gamma %v, exponential %v, set %b: %v, want %v",
									x,
									k,
									gamma,
									exponential,
									m,
									got[m],
									want[m],
								)
							}
						}
						seed++
						s := testStream(seed)
						sampleSets(t, 1000, want, func() []int {
							return l.drawSet(s, exponential)
						})
					}
				})
			}
		}
	}
}

// TestLipschitzOfOne checks that for k = 1 the loss is that of the exponential mechanism at gamma times the rate, and
// 0 at gamma = 0.
func TestLipschitzOfOne(t *testing.T) {
	x := []int64{4, -1, 2, 2}
	for _, gamma := range gammas {
		law := classLaw(newLipschitzClasses(x, 1, gamma, .7), false, false)
		total := 0.
		for _, v := range x {
			total += math.Exp(.7 * gamma * float64(v))
		}
		for j, v := range x {
			want := math.Exp(.7*gamma*float64(v)) / total
			if math.Abs(law[1<<j]-want) > 1e-14 {
				t.Errorf(
					"gamma %v, candidate %d: %v, want %v",
					gamma, j, law[1<<j], want,
				)
			}
		}
	}
}

// worstPair searches all pairs of score vectors with d ranked entries from 0..grid-1 in which every entry moves by
// one of moves. It returns the largest log-ratio of the probability of a set, and the largest range of log-ratios
// within a pair. law takes scores in decreasing order.
func worstPair(
	d, k, grid int,
	moves []int64,
	law func(x []int64) setLaw,
) (ratio, span float64) {
	cache := map[[6]int64]setLaw{}
	masks := setsOf(d, k)
	logLaw := func(x []int64) setLaw {
		id := [6]int64{}
		copy(id[:], x)
		if cache[id] == nil {
			logs := law(slices.Clone(x))
			for m, p := range logs {
				logs[m] = math.Log(p)
			}
			cache[id] = logs
		}
		return cache[id]
	}
	base := make([]int64, d)
	order := make([]int, d)
	moved := make([]int64, d)
	after := make([]int64, d)
	pair := func(move int) {
		for j := range moved {
			moved[j] = base[j] + moves[move%len(moves)]
			order[j] = j
			move /= len(moves)
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return int(moved[b] - moved[a])
		})
		for rank, j := range order {
			after[rank] = moved[j]
		}
		p := logLaw(base)
		q := logLaw(after)
		low := math.Inf(1)
		high := math.Inf(-1)
		for _, m := range masks {
			n := 0
			for rank, j := range order {
				n |= m >> j & 1 << rank
			}
			low = math.Min(low, p[m]-q[n])
			high = math.Max(high, p[m]-q[n])
		}
		ratio = max(ratio, high, -low)
		span = max(span, high-low)
	}
	var grow func(at int, most int64)
	grow = func(at int, most int64) {
		if at == d {
			for move := range int(math.Pow(float64(len(moves)), float64(d))) {
				pair(move)
			}
			return
		}
		for v := range most + 1 {
			base[at] = v
			grow(at+1, v)
		}
	}
	grow(0, int64(grid-1))
	return ratio, span
}

// TestLipschitzPrivacy checks that over all neighbouring pairs of a small grid no set is more than exp(epsilon) times
// as likely on one side, and that with Gumbel noise the log-ratios of a pair span at most epsilon (bounded range).
// Only the width of the changes counts, even if they are not symmetric and gamma is not 1/2.
func TestLipschitzPrivacy(t *testing.T) {
	const epsilon = 1
	most := map[bool]float64{}
	for _, moves := range [][]int64{
		{-1, 0, 1},
		{-3, 0, 2},
		{0, 1},
	} {
		rate := epsilon / float64(slices.Max(moves)-slices.Min(moves))
		for d := 2; d <= 6; d++ {
			for k := 1; k < d; k++ {
				for _, gamma := range gammas {
					for _, exponential := range []bool{false, true} {
						ratio, span := worstPair(d, k, 3, moves, func(x []int64) setLaw {
							return classLaw(
								newLipschitzClasses(x, k, gamma, rate),
								exponential,
								false,
							)
						})
						if ratio > epsilon+1e-12 || !exponential && span > epsilon+1e-12 {
							t.Errorf(
								"d %d, k %d, gamma %v, exponential %v, moves %v: log-ratio %v, range %v",
								d,
								k,
								gamma,
								exponential,
								moves,
								ratio,
								span,
							)
						}
						most[exponential] = max(most[exponential], ratio)
					}
				}
			}
		}
	}
	t.Logf("largest log-ratios %v", most)
	for exponential, ratio := range most {
		if ratio < .75*epsilon {
			t.Errorf(
				"exponential %v: the search reached a log-ratio of %v only",
				exponential,
				ratio,
			)
		}
	}
}

// TestPublishedClassSizes checks that the same search refutes the claimed epsilon for the published class sizes:
// swapping the order of scores by an ever smaller change costs log k, whatever epsilon is.
func TestPublishedClassSizes(t *testing.T) {
	published := func(k int, gamma, rate float64, exponential bool) func(x []int64) setLaw {
		return func(x []int64) setLaw {
			return classLaw(newLipschitzClasses(x, k, gamma, rate), exponential, true)
		}
	}
	for _, exponential := range []bool{false, true} {
		worst := 0.
		for k := 2; k < 6; k++ {
			ratio, _ := worstPair(
				6,
				k,
				3,
				[]int64{-1, 0, 1},
				published(k, .5, 1./2, exponential),
			)
			worst = max(worst, ratio)
		}
		if worst < 1.2 {
			t.Errorf(
				"exponential %v: the search found %v only, though the claim of 1 is wrong",
				exponential,
				worst,
			)
		}
		t.Logf(
			"exponential %v: log-ratio %.3f at a claimed epsilon of 1",
			exponential, worst,
		)
	}
	// At rate 1e-9 the scores hardly count, but their order does.
	for d, want := range map[int]float64{4: .693, 6: 1.099} {
		k := d / 2
		ratio, _ := worstPair(
			d, k, 2,
			[]int64{-1, 0, 1},
			published(k, .5, 1e-9, false),
		)
		if ratio < want-.001 {
			t.Errorf(
				"%d of %d: log-ratio %v, expected log k",
				k, d, ratio,
			)
		}
		sound, _ := worstPair(d, k, 2, []int64{-1, 0, 1}, func(x []int64) setLaw {
			return classLaw(newLipschitzClasses(x, k, .5, 1e-9), false, false)
		})
		if sound > 1e-8 {
			t.Errorf(
				"%d of %d: our sizes have log-ratio %v",
				k, d, sound,
			)
		}
	}
}

// TestLipschitzPassesOverNothing checks that the classes skipped without logarithms are never the best, so that the
// draw is bit-identical to that of the plain loop.
func TestLipschitzPassesOverNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 400 {
		d := 2 + r.IntN(60)
		x := make([]int64, d)
		for j := range x {
			x[j] = r.Int64N(100)
		}
		l := newLipschitzClasses(
			x,
			1+r.IntN(d-1),
			gammas[r.IntN(4)],
			math.Pow(10, 4*r.Float64()-4),
		)
		for _, exponential := range []bool{false, true} {
			plain := testStream(byte(trial))
			h := l.k - 1
			at := l.k
			best := classNoise(0, plain.Gumbel().Value(), exponential)
			for j := l.k + 1; j <= d; j++ {
				for i := range l.k {
					v := classNoise(
						l.logSize(i, j),
						plain.Gumbel().Value(), exponential,
					) -
						l.classLoss(i, j)
					if v > best {
						best = v
						h = i
						at = j
					}
				}
			}
			gotH, gotT := l.drawClass(testStream(byte(trial)), exponential)
			if gotH != h || gotT != at {
				t.Fatalf(
					"d %d, k %d: class (%d, %d), the plain loop gives (%d, %d)",
					d,
					l.k,
					gotH,
					gotT,
					h,
					at,
				)
			}
		}
	}
}

// TestLipschitzFarScores checks that scores at the ends of int64 and rates that overflow any float have the limits of
// the distribution: the best set at a huge rate, and all sets equally likely at rate 0.
func TestLipschitzFarScores(t *testing.T) {
	x := []int64{math.MinInt64, math.MaxInt64, 0, math.MaxInt64 - 1}
	for _, gamma := range gammas[1:] {
		for _, rate := range []float64{1e-12, 1, 1e300} {
			for _, exponential := range []bool{false, true} {
				l := newLipschitzClasses(x, 2, gamma, rate)
				for seed := range byte(50) {
					got := l.drawSet(testStream(seed), exponential)
					if !slices.Equal(got, []int{1, 3}) {
						t.Fatalf(
							"gamma %v, rate %v: chose %v",
							gamma, rate, got,
						)
					}
				}
			}
		}
	}
}
