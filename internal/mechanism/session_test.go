package mechanism

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
	"github.com/dptrain/dptrain/internal/testkit"
)

func pricedPlan(t testing.TB, rel budget.Relation) *budget.Priced {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run",
			budget.GaussianLeaf("sums", .4, 2),
			budget.LaplaceLeaf("count", .2, 1),
			budget.Sequence("inner", budget.ExponentialLeaf("pick", .4, 3)),
		),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func testSession(t testing.TB, rel budget.Relation, seed byte) *Session {
	t.Helper()
	s, err := NewSession(pricedPlan(t, rel))
	if err != nil {
		t.Fatal(err)
	}
	if seed != 0 {
		s.core.key = noise.Key{seed}
	}
	return s
}

func newVector(v ...int64) Bounded[Vector] {
	return Bounded[Vector]{v, L2, 1 << 20, countUnit, ""}
}

// TestOneSession checks that a priced tree opens exactly one session, even if several are requested at once, and any
// number of rehearsals. Again yields one more session.
func TestOneSession(t *testing.T) {
	p := pricedPlan(t, budget.AddRemove)
	var opened atomic.Int32
	for _, tree := range []*budget.Priced{p, p.Again(), p.Again()} {
		var wait sync.WaitGroup
		opened.Store(0)
		for range 50 {
			wait.Go(func() {
				if _, err := NewRehearsal(tree); err != nil {
					t.Error(err)
				}
				s, err := NewSession(tree)
				switch {
				case err == nil && s != nil:
					opened.Add(1)
				case !errors.Is(err, ErrOpened) || s != nil:
					t.Errorf(
						"a session %v, %v",
						s != nil, err,
					)
				}
			})
		}
		if wait.Wait(); opened.Load() != 1 {
			t.Errorf(
				"%d sessions of one priced tree",
				opened.Load(),
			)
		}
	}
}

func TestSpending(t *testing.T) {
	s := testSession(t, budget.AddRemove, 0)
	_, err := GaussianDraw(s, "sums", 1, newVector(1))
	if err != nil {
		t.Fatal(err)
	}
	refused := []struct {
		name string
		err  error
		call func() error
	}{
		{"second time", ErrSpent, func() error {
			_, err := GaussianDraw(s, "sums", 1, newVector(1))
			return err
		}},
		{"beyond the draws", ErrSpent, func() error {
			_, err := GaussianDraw(s, "sums", 2, newVector(1))
			return err
		}},
		{"negative draw", ErrSpent, func() error {
			_, err := GaussianDraw(s, "sums", -1, newVector(1))
			return err
		}},
		{"unplanned", ErrUnknownLeaf, func() error {
			_, err := Gaussian(s, "other", newVector(1))
			return err
		}},
		{"inner node", ErrUnknownLeaf, func() error {
			_, err := Gaussian(s, "inner", newVector(1))
			return err
		}},
		{"another law", ErrLaw, func() error {
			_, err := Gaussian(s, "count", newVector(1))
			return err
		}},
		{"another norm", ErrNorm, func() error {
			_, err := Choose(
				s.Sub("inner"), "pick",
				0, newVector(1),
			)
			return err
		}},
		{"nothing", ErrEmpty, func() error {
			_, err := Gaussian(s, "sums", newVector())
			return err
		}},
		{"scale", ErrScale, func() error {
			_, err := Gaussian(
				s,
				"sums",
				Bounded[Vector]{Vector{1}, L2, math.Inf(1), 1, ""},
			)
			return err
		}},
	}
	for _, c := range refused {
		err := c.call()
		if !errors.Is(err, c.err) {
			t.Errorf(
				"%s: got %v, want %v",
				c.name, err, c.err,
			)
		}
	}
	if s.core.spent["run/inner/pick"] != nil {
		t.Error("a refused release spent its draw")
	}
}

// TestNoiseIgnoresOrder checks that the noise of a draw depends on the key, the leaf and the draw, but not on the
// time or the goroutine of the request.
func TestNoiseIgnoresOrder(t *testing.T) {
	a := testSession(t, budget.AddRemove, 7)
	b := testSession(t, budget.AddRemove, 7)
	first, _ := GaussianDraw(a, "sums", 0, newVector(0, 0, 0))
	second, _ := GaussianDraw(a, "sums", 1, newVector(0, 0, 0))
	var wg sync.WaitGroup
	var out [2]Public[[]float64]
	for i := 1; i >= 0; i-- {
		wg.Go(func() {
			out[i], _ = GaussianDraw(b, "sums", i, newVector(0, 0, 0))
		})
	}
	wg.Wait()
	if !slices.Equal(out[0].Value(), first.Value()) ||
		!slices.Equal(out[1].Value(), second.Value()) {
		t.Error("noise depends on the order of the releases")
	}
	if slices.Equal(first.Value(), second.Value()) {
		t.Error("two draws share their noise")
	}
	c := testSession(t, budget.AddRemove, 0)
	fresh, _ := GaussianDraw(c, "sums", 0, newVector(0, 0, 0))
	if slices.Equal(fresh.Value(), first.Value()) {
		t.Error("a fresh session repeats a key")
	}
}

func TestEvents(t *testing.T) {
	s := testSession(t, budget.AddRemove, 0)
	_, err := GaussianDraw(s, "sums", 0, newVector(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	events := s.Events()
	if len(events) != 3 {
		t.Fatalf(
			"%d events, want one a leaf",
			len(events),
		)
	}
	e := events[0]
	mu := e.Law.Mu
	if e.Path != "run/sums" ||
		e.Released != 1 ||
		e.Sensitivity != 1 ||
		e.Law.Draws != 2 {
		t.Errorf("event %+v", e)
	}
	// Sigma is sensitivity/mu rounded up to the grid.
	if e.Scale < 1/mu || e.Scale > 1/mu+2*countUnit {
		t.Errorf(
			"scale %v, want %v",
			e.Scale, 1/mu,
		)
	}
	if events[1].Released != 0 ||
		events[1].Law.Kind != budget.Laplace {
		t.Errorf("unspent leaf: %+v", events[1])
	}
}

func TestReleasesCarryTheirNoise(t *testing.T) {
	// Half the epsilon of a Laplace step doubles its scale.
	run := func(eps float64) float64 {
		p, err := budget.Calibrate(
			budget.Sequence("run", budget.LaplaceLeaf("count", 1, 1)),
			budget.Target{Epsilon: eps, Delta: 0},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Laplace(
			s,
			"count",
			0,
			Bounded[int64]{5 << 20, Absolute, 1 << 20, countUnit, ""},
		)
		if err != nil {
			t.Fatal(err)
		}
		return s.Scale("count")
	}
	one := run(1)
	half := run(.5)
	if math.Abs(half/one-2) > 1e-5 ||
		math.Abs(one-1) > 1e-5 {
		t.Errorf(
			"scales %v at epsilon 1 and %v at 1/2",
			one, half,
		)
	}
}

func TestAddSaturating(t *testing.T) {
	for _, c := range []struct{ a, b, want int64 }{
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64},
		{math.MaxInt64, math.MinInt64, -1},
		{-3, 5, 2},
	} {
		got := addSaturating(c.a, c.b)
		if got != c.want {
			t.Errorf(
				"%d + %d = %d, want %d",
				c.a, c.b, got, c.want,
			)
		}
	}
}

func TestCoins(t *testing.T) {
	s := testSession(t, budget.AddRemove, 3)
	c := s.Coins("split")
	const n = 100000
	counts := make([]float64, 7)
	expected := make([]float64, 7)
	heads := 0.0
	same := 0.0
	other := s.Coins("bucket")
	for id := range uint64(n) {
		counts[c.Uniform(id, 7)]++
		if c.Heads(id, .1) {
			heads++
		}
		if c.Uniform(id, 2) == other.Uniform(id, 2) {
			same++
		}
		if c.Uniform(id, 7) != s.Coins("split").Uniform(id, 7) {
			t.Fatal("a record's coin changes within a run")
		}
		if id > 1000 {
			continue
		}
		if c.Uniform(id, 1) != 0 ||
			c.Heads(id, 0) ||
			!c.Heads(id, 1) {
			t.Fatal("certain coins are not certain")
		}
	}
	for i := range expected {
		expected[i] = n / 7.
	}
	testkit.CheckChiSquare(t, counts, expected)
	// six standard deviations
	if math.Abs(heads-n*.1) > 6*math.Sqrt(n*.09) ||
		math.Abs(same-n/2) > 6*math.Sqrt(n/4) {
		t.Errorf(
			"%v heads at p=.1, %v agreements of two coins, of %d",
			heads, same, n,
		)
	}
}

// TestRehearsalMargin checks that a rehearsal refuses noise within 2^4 of the grid's limit, which a run may still
// draw, and that it refuses a choice at the run's own limit.
func TestRehearsalMargin(t *testing.T) {
	plan, err := budget.Calibrate(
		budget.Sequence("run",
			budget.FixedLeaf("sum", budget.Law{
				Kind:  budget.Gaussian,
				Mu:    1,
				Draws: 1,
			}),
			budget.FixedLeaf(
				"one",
				budget.Law{
					Kind:    budget.Laplace,
					Epsilon: 1,
					Draws:   1,
				},
			),
			budget.FixedLeaf(
				"pick",
				budget.Law{
					Kind:    budget.Exponential,
					Epsilon: 1,
					Draws:   1,
				},
			),
		),
		budget.Target{Epsilon: 20, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sens           float64
		rehearsal, run bool
	}{
		{noise.MaxScale / 32, true, true},
		{noise.MaxScale / 8, false, true},
		{noise.MaxScale * 2, false, false},
	} {
		for _, rehearsal := range []bool{true, false} {
			open := NewSession
			want := c.run
			if rehearsal {
				open = NewRehearsal
				want = c.rehearsal
			}
			s, err := open(plan.Again())
			if err != nil {
				t.Fatal(err)
			}
			_, err1 := Gaussian(
				s, "sum",
				Bounded[Vector]{Vector{0}, L2, c.sens, 1, ""},
			)
			_, err2 := Laplace(
				s, "one", 0,
				Bounded[int64]{0, Absolute, c.sens, 1, ""},
			)
			_, err3 := Choose(
				s,
				"pick",
				0,
				Bounded[Vector]{Vector{0, 0}, Width, 1 << 41, 1, ""},
			)
			for _, err := range []error{err1, err2} {
				if (err == nil) != want ||
					err != nil && !errors.Is(err, ErrScale) {
					t.Errorf(
						"sensitivity %g, rehearsal %v: %v",
						c.sens, rehearsal, err,
					)
				}
			}
			if err3 != nil {
				t.Error(err3)
			}
		}
	}
}

// testStream returns a stream of random 64-bit words for a test.
func testStream(seed byte) *noise.Stream {
	return noise.NewStream(noise.Key{seed}.Derive("test", "sampler", 0))
}
