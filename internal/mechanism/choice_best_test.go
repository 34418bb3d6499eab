package mechanism

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// searchSession returns a session of a plan with a selection between two candidates and one more step.
func searchSession(t testing.TB, law budget.Selection, seed uint64) *Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Parallel("fit",
			budget.SelectBest("train",
				law,
				budget.Parallel("a",
					budget.GaussianLeaf("model", 1, 1),
					budget.GaussianLeaf("score", 1, 1),
				),
				budget.Sequence("b", budget.GaussianLeaf("model", 1, 2)),
			),
			budget.GaussianLeaf("metric", 1, 1),
		),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	if seed > 0 {
		s.core.key = noise.Key{}
		binary.BigEndian.PutUint64(s.core.key[:], seed)
	}
	return s
}

func runsOf(t testing.TB, mean float64) budget.Selection {
	t.Helper()
	law, err := budget.SelectionForMean(0, mean)
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// TestBestLaw checks that of two candidates, where the second always wins, the first is returned with probability E
// 2^-K. Keys are fixed; a correct selection fails with probability 1e-6 over their choice.
func TestBestLaw(t *testing.T) {
	const n = 4000
	law := runsOf(t, 3)
	want := math.Log1p(-(1-law.Gamma)/2) / math.Log(law.Gamma) // the generating function at 1/2
	lost := 0.
	base := searchSession(t, law, 1)
	for i := range uint64(n) {
		core := newRunState(base.core.priced)
		binary.BigEndian.PutUint64(core.key[:], i)
		w, err := Best(
			core.sessionAt("fit"),
			"train",
			func(c int, _ *Session) (int, float64, error) {
				return 0, float64(c), nil
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		lost += float64(1 - w.Candidate)
	}
	z := (lost - n*want) / math.Sqrt(n*want*(1-want))
	if math.Abs(z) > 4.9 {
		t.Errorf(
			"the first of two was returned %v of %v times, want %v",
			lost, n, n*want,
		)
	}
}

// TestBestTakesTheBest checks that the largest score wins, that the first of equal scores wins, and that a missing
// score counts as the lowest.
func TestBestTakesTheBest(t *testing.T) {
	for seed := uint64(1); seed < 60; seed++ {
		var given []float64
		scores := []float64{
			math.NaN(), .3, .9,
			math.Inf(-1), .9,
			.1,
		}
		w, err := Best(
			searchSession(t, runsOf(t, 8), seed),
			"train",
			func(int, *Session) (int, float64, error) {
				x := scores[(len(given)+int(seed))%len(scores)]
				given = append(given, x)
				return len(given) - 1, x, nil
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		best := math.Inf(-1)
		for i, x := range given {
			if x > best {
				want = i
				best = x
			}
		}
		if w.Result != want || w.Score != best {
			t.Errorf(
				"seed %d: try %d with score %v of %v",
				seed, w.Result, w.Score, given,
			)
		}
	}
}

// spendCandidate spends all leaves of a candidate.
func spendCandidate(c int, s *Session) (out []float64, err error) {
	draws := []string{"model", "score"}
	if c == 1 {
		draws = []string{"model", "model"}
	}
	for i, leaf := range draws {
		draw := 0
		if c == 1 {
			draw = i
		}
		x, err := GaussianDraw(s, leaf, draw, newVector(0))
		if err != nil {
			return nil, err
		}
		out = append(out, x.Value()...)
	}
	return out, nil
}

// TestTriesHaveOwnNoise checks that each try has its own noise, and that each leaf can be spent once in each try of its
// own candidate and nowhere else.
func TestTriesHaveOwnNoise(t *testing.T) {
	s := searchSession(t, runsOf(t, 30), 3)
	if _, err := Gaussian(s.Sub("train").Sub("a"), "model", newVector(0)); !errors.Is(err, ErrTry) {
		t.Errorf("outside a try: %v", err)
	}
	seen := map[float64]bool{}
	var last *Session
	calls := map[int]int{}
	_, err := Best(s, "train", func(c int, s *Session) (int, float64, error) {
		last = s
		calls[c]++
		out, err := spendCandidate(c, s)
		if err != nil {
			return 0, 0, err
		}
		for _, x := range out {
			if seen[x] {
				t.Error("the noise of two releases is equal")
			}
			seen[x] = true
		}
		if _, err := spendCandidate(c, s); !errors.Is(err, ErrSpent) {
			t.Errorf("twice in a try: %v", err)
		}
		other := s.core.sessionAt("fit/train/" + []string{"b", "a"}[c])
		if _, err := Gaussian(other, "model", newVector(0)); !errors.Is(err, ErrTry) {
			t.Errorf("of the other candidate: %v", err)
		}
		_, err = Gaussian(s.core.sessionAt("fit"), "metric", newVector(0))
		if !errors.Is(err, ErrTry) {
			t.Errorf("outside the selection: %v", err)
		}
		_, err = Best(
			s.core.sessionAt("fit"),
			"train",
			func(int, *Session) (int, float64, error) {
				return 0, 0, nil
			},
		)
		if !errors.Is(err, ErrTry) {
			t.Errorf("a selection in a try: %v", err)
		}
		return 0, 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls[0] == 0 || calls[1] == 0 {
		t.Fatalf("tries by candidate: %v; take another seed", calls)
	}
	_, err = GaussianPart(last, "model", 0, 0, 1, newVector(0))
	if !errors.Is(err, ErrTry) {
		t.Errorf("after the try: %v", err)
	}
	_, err = Best(s, "train", func(int, *Session) (int, float64, error) {
		return 0, 0, nil
	})
	if !errors.Is(err, ErrSpent) {
		t.Errorf("a second selection: %v", err)
	}
	_, err = Best(s, "metric", func(int, *Session) (int, float64, error) {
		return 0, 0, nil
	})
	if !errors.Is(err, ErrUnknownLeaf) {
		t.Errorf("no selection: %v", err)
	}
	geometric := searchSession(t, budget.Selection{Eta: 1, Gamma: .2}, 3)
	_, err = Best(geometric, "train", func(int, *Session) (int, float64, error) {
		return 0, 0, nil
	})
	if !errors.Is(err, ErrLaw) {
		t.Errorf("eta 1: %v", err)
	}
	failure := errors.New("no")
	_, err = Best(
		searchSession(t, runsOf(t, 3), 3),
		"train",
		func(int, *Session) (int, float64, error) {
			return 0, 0, failure
		},
	)
	if !errors.Is(err, failure) {
		t.Errorf("an error of a try: %v", err)
	}
}

// TestEventsHideTries checks that the events a session reports about its releases depend on the winning candidate
// alone.
func TestEventsHideTries(t *testing.T) {
	first := map[int][]Event{}
	for seed := uint64(1); seed < 40; seed++ {
		s := searchSession(t, runsOf(t, 4), seed)
		w, err := Best(s, "train", func(c int, s *Session) (int, float64, error) {
			out, err := spendCandidate(c, s)
			return 0, out[0], err
		})
		if err != nil {
			t.Fatal(err)
		}
		events := s.Events()
		seen, ok := first[w.Candidate]
		if ok && !reflect.DeepEqual(seen, events) {
			t.Fatalf(
				"seed %d: %+v, before %+v",
				seed, events, seen,
			)
		}
		first[w.Candidate] = events
		for _, e := range events {
			within := fmt.Sprintf(
				"fit/train/%s/",
				[]string{"a", "b"}[w.Candidate],
			)
			won := len(e.Path) > len(within) &&
				e.Path[:len(within)] == within
			if won != (e.Released > 0) || won && e.Scale == 0 {
				t.Errorf(
					"candidate %d won: %+v",
					w.Candidate, e,
				)
			}
		}
	}
	if len(first) != 2 {
		t.Errorf("%d candidates ever won", len(first))
	}
}

func ExampleBest() {
	law, err := budget.SelectionForMean(0, 5)
	if err != nil {
		panic(err)
	}
	tree := budget.SelectBest("search",
		law,
		budget.GaussianLeaf("coarse", 1, 1),
		budget.GaussianLeaf("fine", 1, 1),
	)
	priced, err := budget.Calibrate(budget.Sequence("run", tree), budget.Target{
		Epsilon: 1,
		Delta:   1e-6,
	})
	if err != nil {
		panic(err)
	}
	s, err := NewSession(priced)
	if err != nil {
		panic(err)
	}
	// A real try trains on some records and releases its score on others.
	w, err := Best(s, "search", func(candidate int, s *Session) (string, float64, error) {
		return []string{"coarse", "fine"}[candidate], 1, nil
	})
	fmt.Println(
		w.Result == []string{"coarse", "fine"}[w.Candidate],
		w.Score, err,
	)
	// Output: true 1 <nil>
}

// TestBestRehearsal checks that a rehearsal tries every candidate once and returns the first regardless of the
// scores, because it selects no candidate.
func TestBestRehearsal(t *testing.T) {
	s := searchSession(t, runsOf(t, 1.01), 0)
	r, err := NewRehearsal(s.core.priced)
	if err != nil {
		t.Fatal(err)
	}
	var tried []int
	w, err := Best(r, "train", func(c int, s *Session) (int, float64, error) {
		tried = append(tried, c)
		return c, float64(c), nil
	})
	if err != nil ||
		!reflect.DeepEqual(tried, []int{0, 1}) ||
		w.Candidate != 0 ||
		w.Result != 0 {
		t.Errorf(
			"tried %v, %+v: %v",
			tried, w, err,
		)
	}
}
