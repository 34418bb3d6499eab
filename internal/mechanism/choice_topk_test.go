package mechanism

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// roundsLaw is the distribution of the set chosen by k rounds of the exponential mechanism without replacement: the
// sum over all orders.
func roundsLaw(x []int64, k int, rate float64) setLaw {
	law := make(setLaw, 1<<len(x))
	var grow func(mask int, p float64)
	grow = func(mask int, p float64) {
		if bits.OnesCount(uint(mask)) == k {
			law[mask] += p
			return
		}
		total := 0.
		for j, v := range x {
			if mask>>j&1 == 0 {
				total += math.Exp(rate * float64(v))
			}
		}
		for j, v := range x {
			if mask>>j&1 == 0 {
				grow(mask|1<<j, p*math.Exp(rate*float64(v))/total)
			}
		}
	}
	grow(0, 1)
	return law
}

// gumbelLaw is the distribution of the k largest of score plus Gumbel noise, by inclusion and exclusion over the
// chosen entries that fall below the largest of the others: P(every Gumbel of T is below the maximum of R) =
// W_R/(W_R+W_T).
func gumbelLaw(x []int64, k int, rate float64) setLaw {
	law := make(setLaw, 1<<len(x))
	weight := func(mask int) (w float64) {
		for j, v := range x {
			if mask>>j&1 == 1 {
				w += math.Exp(rate * float64(v))
			}
		}
		return w
	}
	for _, m := range setsOf(len(x), k) {
		out := weight(1<<len(x) - 1 - m)
		for sub := m; ; sub = (sub - 1) & m {
			term := out / (out + weight(sub))
			if bits.OnesCount(uint(sub))&1 == 1 {
				term = -term
			}
			law[m] += term
			if sub == 0 {
				break
			}
		}
	}
	return law
}

// TestOneShotLaw checks that the largest noisy scores have the distribution of the rounds, and so do the draws of
// oneShot; with k = 1 it is the exponential mechanism.
func TestOneShotLaw(t *testing.T) {
	seed := byte(0)
	for d := 2; d <= 6; d++ {
		for k := 1; k < d; k++ {
			vectorsOf(d, func(x []int64) {
				rounds := roundsLaw(x, k, .3)
				gumbel := gumbelLaw(x, k, .3)
				total := 0.
				for _, v := range x {
					total += math.Exp(.3 * float64(v))
				}
				for m := range rounds {
					if math.Abs(rounds[m]-gumbel[m]) > 1e-12 {
						t.Fatalf(
							"%v, k %d, set %b: %v by rounds, %v at once",
							x,
							k,
							m,
							rounds[m],
							gumbel[m],
						)
					}
				}
				for j, v := range x {
					want := math.Exp(.3*float64(v)) / total
					if k == 1 &&
						math.Abs(rounds[1<<j]-want) > 1e-12 {
						t.Fatalf(
							"%v, candidate %d: %v, want %v",
							x, j, rounds[1<<j], want,
						)
					}
				}
				seed++
				s := testStream(seed)
				sampleSets(t, 5000, gumbel, func() []int {
					return drawOneShot(s, x, k, .3)
				})
			})
		}
	}
}

// TestRoundsPrivacy checks that k rounds of epsilon stay within k epsilon for all neighbouring pairs of a small grid.
func TestRoundsPrivacy(t *testing.T) {
	for d := 2; d <= 5; d++ {
		for k := 1; k < d; k++ {
			ratio, _ := worstPair(d, k, 3, []int64{-1, 0, 1}, func(x []int64) setLaw {
				return roundsLaw(x, k, 1./2)
			})
			if ratio > float64(k) ||
				ratio < .3*float64(min(k, d-k)) {
				t.Errorf(
					"%d of %d: log-ratio %v",
					k, d, ratio,
				)
			}
		}
	}
}

// TestOneShotReach checks that scores farther apart than the noise can reach yield the best set, on both sides of the
// boundary.
func TestOneShotReach(t *testing.T) {
	x := []int64{
		math.MinInt64, 5, math.MaxInt64,
		1 << 40,
		-(1 << 40), 0,
	}
	for seed := range byte(50) {
		got := drawOneShot(testStream(seed), x, 3, 1e3)
		if !slices.Equal(got, []int{1, 2, 3}) {
			t.Fatalf("chose %v", got)
		}
	}
}

var forms = []TopKForm{OneShot, Peeling, Lipschitz, LipschitzExponential}

// topKSession returns a session with one priced release in the given form.
func topKSession(t testing.TB, x TopK, epsilon float64, seed byte) *Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run", x.Plan("top", 1)),
		budget.Target{Epsilon: epsilon, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	s.core.key = noise.Key{seed, byte(x.Form), 17}
	return s
}

func widthScores(width float64, v ...int64) Bounded[Vector] {
	return Bounded[Vector]{
		value: v,
		norm:  Width,
		sens:  width,
		unit:  1,
	}
}

// TestTopKReleaseLaw checks that through the session every form has the distribution of the epsilon it was priced at.
func TestTopKReleaseLaw(t *testing.T) {
	const width, runs = 5, 3000
	x := []int64{9, 0, 7, 4, 4}
	for _, form := range forms {
		top := TopK{Form: form, K: 2}
		if form >= Lipschitz {
			top.Gamma = .25
			top.HasGamma = true
		}
		first := topKSession(t, top, 3, 0)
		law, _ := first.core.priced.Law("run/top")
		rate := law.Epsilon / width
		want := roundsLaw(x, 2, rate)
		if form >= Lipschitz {
			want = bruteLaw(x, 2, .25, rate, form == LipschitzExponential)
		}
		seed := 0
		sampleSets(t, runs, want, func() []int {
			s := (&runState{
				priced: first.core.priced,
				spent:  map[string]map[int]bool{},
				events: map[string]Event{},
			}).sessionAt("run")
			s.core.key = noise.Key{
				byte(seed),
				byte(seed >> 8),
				byte(form),
			}
			seed++
			out, err := top.Release(s, "top", widthScores(width, x...))
			if err != nil {
				t.Fatal(err)
			}
			return out.Value()
		})
	}
}

// TestTopKSpends checks that every form spends its whole leaf, once.
func TestTopKSpends(t *testing.T) {
	for _, form := range forms {
		top := TopK{Form: form, K: 3}
		s := topKSession(t, top, 1, 1)
		out, err := top.Release(
			s, "top",
			widthScores(2, 5, 1, 1, 8, 9),
		)
		if err != nil {
			t.Fatal(err)
		}
		v := out.Value()
		if len(v) != 3 ||
			!slices.IsSorted(v) ||
			len(slices.Compact(slices.Clone(v))) != 3 ||
			v[0] < 0 ||
			v[2] > 4 {
			t.Errorf("%v: released %v", form, v)
		}
		e := s.Events()[0]
		draws := 3
		if form >= Lipschitz {
			draws = 1
		}
		kind := budget.Exponential
		if form == LipschitzExponential {
			kind = budget.Pure
		}
		if e.Released != draws ||
			e.Law.Draws != draws ||
			e.Law.Kind != kind ||
			e.Sensitivity != 2 ||
			e.Scale != 0 {
			t.Errorf("%v: event %+v", form, e)
		}
		_, err = top.Release(
			s, "top",
			widthScores(2, 5, 1, 1, 8, 9),
		)
		if !errors.Is(err, ErrSpent) {
			t.Errorf(
				"%v: a second release: %v",
				form, err,
			)
		}
	}
}

func TestTopKRefuses(t *testing.T) {
	good := widthScores(2, 5, 1, 1, 8)
	for _, form := range forms {
		plan := TopK{Form: form, K: 2}
		s := topKSession(t, plan, 1, 1)
		for name, c := range map[string]struct {
			top    TopK
			scores Bounded[Vector]
			err    error
		}{
			"norm":       {plan, newVector(1, 2, 3, 4), ErrNorm},
			"no k":       {TopK{Form: form}, good, ErrTopK},
			"negative k": {TopK{Form: form, K: -1}, good, ErrTopK},
			"k = d":      {TopK{Form: form, K: 4}, good, ErrTopK},
			"no scores":  {plan, widthScores(2), ErrTopK},
			"form":       {TopK{Form: 9, K: 2}, good, ErrTopK},
			"gamma 1": {
				TopK{
					Form:     form,
					K:        2,
					Gamma:    1,
					HasGamma: true,
				},
				good,
				ErrTopK,
			},
			"gamma < 0": {
				TopK{
					Form:     form,
					K:        2,
					Gamma:    -.1,
					HasGamma: true,
				},
				good,
				ErrTopK,
			},
			"gamma NaN": {
				TopK{
					Form:     form,
					K:        2,
					Gamma:    math.NaN(),
					HasGamma: true,
				},
				good,
				ErrTopK,
			},
			"gamma alone": {
				TopK{
					Form:  form,
					K:     2,
					Gamma: .3,
				},
				good, ErrTopK,
			},
		} {
			_, err := c.top.Release(s, "top", c.scores)
			if !errors.Is(err, c.err) {
				t.Errorf(
					"%v, %s: %v, want %v",
					form, name, err, c.err,
				)
			}
		}
		if s.core.spent["run/top"] != nil {
			t.Errorf("%v: a refused release spent its draw", form)
		}
		_, err := plan.Release(s, "other", good)
		if !errors.Is(err, ErrUnknownLeaf) {
			t.Errorf(
				"%v: an unplanned leaf: %v",
				form, err,
			)
		}
		infinite := widthScores(math.Inf(1), 5, 1, 1, 8)
		_, err = plan.Release(s, "top", infinite)
		if !errors.Is(err, ErrScale) {
			t.Errorf(
				"%v: an infinite width: %v",
				form, err,
			)
		}
	}
	for _, pair := range [][2]TopKForm{
		{Lipschitz, LipschitzExponential},
		{LipschitzExponential, Lipschitz},
		{OneShot, LipschitzExponential},
		{LipschitzExponential, Peeling},
	} {
		s := topKSession(t, TopK{Form: pair[0], K: 2}, 1, 1)
		_, err := (TopK{Form: pair[1], K: 2}).Release(s, "top", good)
		if !errors.Is(err, ErrLaw) {
			t.Errorf(
				"%v on a leaf of %v: %v",
				pair[1], pair[0], err,
			)
		}
	}
	// More choices than were priced.
	_, err := (TopK{K: 3}).Release(
		topKSession(t, TopK{K: 2}, 1, 1),
		"top", good,
	)
	if !errors.Is(
		err, ErrSpent) {
		t.Errorf("3 choices on 2 draws: %v", err)
	}
	err = (TopK{Form: Lipschitz, K: 1 << 12}).Validate(1 << 18)
	if !errors.Is(err, ErrTopK) {
		t.Errorf("2^30 classes: %v", err)
	}
	err = (TopK{Form: Lipschitz, K: 2}).Validate(maxLipschitz + 1)
	if !errors.Is(err, ErrTopK) {
		t.Errorf("too many candidates: %v", err)
	}
	if err := (TopK{Form: Lipschitz, K: 2, HasGamma: true}).Validate(3); err != nil {
		t.Errorf("gamma 0: %v", err)
	}
}

// TestTopKSlack checks that the price of the noise's rounding error is subtracted from epsilon, and that an epsilon
// consumed entirely by this slack is refused.
func TestTopKSlack(t *testing.T) {
	for _, form := range []TopKForm{OneShot, Lipschitz, LipschitzExponential} {
		top := TopK{Form: form, K: 4}
		slack := top.numericalSlack()
		if slack <= 0 || slack > 1e-6 {
			t.Errorf("%v: slack %v", form, slack)
		}
		rate, err := top.noiseRate(1, 8)
		if err != nil ||
			rate*8 > 1-slack ||
			rate*8 < 1-slack-1e-12 {
			t.Errorf(
				"%v: rate %v, %v",
				form, rate, err,
			)
		}
		if _, err := top.noiseRate(slack, 8); !errors.Is(err, ErrScale) {
			t.Errorf(
				"%v: an epsilon of %v: %v",
				form, slack, err,
			)
		}
	}
}

func TestParseTopKForm(t *testing.T) {
	for _, form := range forms {
		got, err := ParseTopKForm(form.String())
		if err != nil || got != form {
			t.Errorf(
				"%v: %v, %v",
				form, got, err,
			)
		}
	}
	_, err := ParseTopKForm("largest")
	if !errors.Is(err, ErrTopK) {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestTopKManyCandidates checks that with a large budget the 200 selected of 20,000 candidates are among the best,
// and that with a small one the result is still a set.
func TestTopKManyCandidates(t *testing.T) {
	const d, k = 20000, 200
	scores := make([]int64, d)
	for j := range scores {
		scores[j] = int64(j * 7919 % d)
	}
	for _, form := range forms {
		for _, epsilon := range []float64{.01, 1e4} {
			top := TopK{Form: form, K: k}
			out, err := top.Release(
				topKSession(t, top, epsilon, 5),
				"top",
				widthScores(10, scores...),
			)
			if err != nil {
				t.Fatal(err)
			}
			v := out.Value()
			best := 0
			for i, j := range v {
				if j < 0 ||
					j >= d ||
					i > 0 && v[i-1] >= j {
					t.Fatalf(
						"%v: not a set of candidates: %v",
						form, v,
					)
				}
				if scores[j] >= d-k {
					best++
				}
			}
			if len(v) != k || epsilon > 1 && best < k*9/10 {
				t.Errorf(
					"%v at epsilon %v: %d chosen, %d of the best",
					form,
					epsilon,
					len(v),
					best,
				)
			}
		}
	}
}

func benchmarkTopK(b *testing.B, d, k int) {
	r := rand.New(rand.NewPCG(1, 1))
	scores := make([]int64, d)
	for j := range scores {
		scores[j] = r.Int64N(50 << 20)
	}
	for _, form := range forms {
		b.Run(form.String(), func(b *testing.B) {
			top := TopK{Form: form, K: k}
			priced := topKSession(b, top, 1, 1).core.priced
			for b.Loop() {
				s, err := NewSession(priced)
				if err != nil {
					b.Fatal(err)
				}
				_, err = top.Release(
					s,
					"top",
					widthScores(2.5*(1<<20), scores...),
				)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTopK22000Of5(b *testing.B) {
	benchmarkTopK(b, 22000, 5)
}
func BenchmarkTopK20000Of200(b *testing.B) {
	benchmarkTopK(b, 20000, 200)
}
