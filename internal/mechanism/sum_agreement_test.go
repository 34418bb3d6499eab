package mechanism

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/testkit"
)

// agreementOf adds one record per entry of pick. A pick combines a vote (against, missing or for) with one of the
// weights.
func agreementOf(
	s *Session,
	lower, upper float64,
	weights []float64,
	pick []int,
) *Agreement {
	a := s.NewAgreement(lower, upper)
	for _, i := range pick {
		a.Add(
			[]float64{weights[i/3]},
			[]int8{int8(i%3 - 1)},
		)
	}
	return a
}

// TestAgreementSensitivity searches tables with weights below, at, between and
// above the bounds: u (2u) is never passed and is attained.
func TestAgreementSensitivity(t *testing.T) {
	weights := []float64{
		math.NaN(), -1, .5,
		1, 2, math.Inf(1),
	}
	searchNeighbours(t, 2, 3*len(weights), 1, func(s *Session, pick []int) Bounded[Vector] {
		return Alone(agreementOf(s, .5, 2, weights, pick).Sum())
	})
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:                2,
		budget.Substitute:               4,
		budget.SubstitutePrivateColumns: 4,
	} {
		got := testSession(t, rel, 1).NewAgreement(.5, 2).Sum().Sensitivity()
		if got != want {
			t.Errorf(
				"%v: sensitivity %v, want %v",
				rel, got, want,
			)
		}
	}
}

// TestRatioSensitivity checks Lemma 1: over every table of up to four records and every substitution, u/((n-1)l+u) is
// never exceeded and, up to the grid of the weights, attained; for l = .2, u = .4 and n = 5 it is 1/3.
func TestRatioSensitivity(t *testing.T) {
	weights := []float64{.2, .3, .4}
	s := testSession(t, budget.Substitute, 1)
	ratio := rememberTables(4, func(pick []int) Bounded[int64] {
		r, err := agreementOf(s, .2, .4, weights, pick).Ratio()
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
	for n := 1; n <= 4; n++ {
		want := .4 / (float64(n-1)*.2 + .4)
		worst := 0.0
		eachNeighbour(n, 9, budget.Substitute, func(a, b []int) {
			if len(a) != n {
				return
			}
			x := ratio(a)
			y := ratio(b)
			if math.Abs(x.Sensitivity()-want) > 1e-5 {
				t.Fatalf(
					"n = %d: declared %v, want %v",
					n, x.Sensitivity(), want,
				)
			}
			d := math.Abs(float64(x.value - y.value))
			if d > x.sens {
				t.Fatalf(
					"n = %d: change %v above the declared %v",
					n, d, x.sens,
				)
			}
			worst = max(worst, d/x.sens)
		})
		if worst < .99999 {
			t.Errorf(
				"n = %d: the bound is approached to %v only",
				n, worst,
			)
		}
	}
	heavy := []int{1 + 3*2 + 1, 0, 0, 0, 0} // one of weight u that agrees, four of weight l that do not
	light := []int{3 * 2, 0, 0, 0, 0}
	d := float64(ratio(heavy).value-ratio(light).value) * ratioUnit
	if math.Abs(d-1./3) > 1e-5 ||
		math.Abs(ratio(heavy).Sensitivity()-1./3) > 1e-5 {
		t.Errorf(
			"change %v and bound %v, want 1/3",
			d, ratio(heavy).Sensitivity(),
		)
	}
}

// TestRatioNeedsPublicCount checks that there is no bound for an added record.
func TestRatioNeedsPublicCount(t *testing.T) {
	if _, err := testSession(t, budget.AddRemove, 1).NewAgreement(.5, 2).Ratio(); !errors.Is(err, ErrRelation) {
		t.Errorf("%v", err)
	}
	r, err := testSession(t, budget.Substitute, 1).NewAgreement(.5, 2).Ratio()
	if err != nil ||
		float64(r.value)*r.unit != .5 ||
		math.Abs(r.Sensitivity()-1) > 1e-9 {
		t.Errorf("no records: %v, %v", r, err)
	}
}

// TestAgreementMerges checks that parts merge to the whole, regardless of the blocks.
func TestAgreementMerges(t *testing.T) {
	s := testSession(t, budget.Substitute, 1)
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOf(rapid.Float64Range(0, 3)).Draw(t, "w")
		votes := rapid.SliceOfN(
			rapid.Int8Range(-1, 1),
			len(w), len(w),
		).Draw(t, "votes")
		cut := rapid.IntRange(0, len(w)).Draw(t, "cut")
		whole := s.NewAgreement(.5, 2)
		a := s.NewAgreement(.5, 2)
		b := s.NewAgreement(.5, 2)
		whole.Add(w, votes)
		a.Add(w[:cut], votes[:cut])
		b.Add(w[cut:], votes[cut:])
		a.Cells().mergeValues(b.Cells().copyValues())
		if *a != *whole {
			t.Fatalf(
				"%+v, want %+v",
				*a, *whole,
			)
		}
		want := 0.0
		for i, v := range votes {
			want += min(max(w[i], .5), 2) * float64(v)
		}
		got := whole.Sum()
		if math.Abs(float64(got.value)*got.unit-want) > 1e-5*float64(1+len(w)) {
			t.Fatalf(
				"sum %v, want %v",
				float64(got.value)*got.unit, want,
			)
		}
	})
}

// TestPublicStream checks that streams are equal for equal names, different for other names, and uniform on (-1, 1)
// and on [0, n): the mean of 10^5 draws is within 6 standard deviations, which a correct stream misses with
// probability 2e-9.
func TestPublicStream(t *testing.T) {
	s := testSession(t, budget.AddRemove, 7)
	a := s.PublicStream("x")
	b := s.PublicStream("x")
	other := s.PublicStream("y")
	const n = 100000
	sum := 0.0
	square := 0.0
	same := 0
	for range n {
		v := a.Symmetric()
		if v != b.Symmetric() ||
			!(v > -1 && v < 1) ||
			v == 0 {
			t.Fatal("two streams of one name differ, or a draw is out of range")
		}
		if v == other.Symmetric() {
			same++
		}
		sum += v
		square += v * v
	}
	if same > 1 {
		t.Errorf("%d equal draws of two names", same)
	}
	if math.Abs(sum/n) > 6*math.Sqrt(1./3/n) ||
		math.Abs(square/n-1./3) > 6*math.Sqrt(4./45/n) {
		t.Errorf(
			"mean %v, mean square %v",
			sum/n, square/n,
		)
	}
	counts := make([]float64, 7)
	expected := make([]float64, 7)
	for range n {
		counts[a.Uniform(7)]++
	}
	for i := range expected {
		expected[i] = n / 7.
	}
	testkit.CheckChiSquare(t, counts, expected)
}
