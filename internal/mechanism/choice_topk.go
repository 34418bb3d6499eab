package mechanism

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// ErrTopK is returned for an invalid choice of k of d candidates: k is not in
// [1, d-1], there are too many candidates for the form, the form is unknown, or
// gamma does not apply. It depends on public facts only.
var ErrTopK = errors.New("not a valid choice of k candidates")

// TopKForm is a method to choose k of d candidates.
type TopKForm uint8

const (
	// OneShot adds one Gumbel number to every score and keeps the k largest: the
	// output distribution of Peeling in one pass. It costs K draws of the exponential mechanism.
	// (Durfee and Rogers, "Practical differentially private top-k selection with
	// pay-what-you-get composition", 2019, lemma 4.2)
	OneShot TopKForm = iota
	// Peeling runs the exponential mechanism K times without replacement, each
	// round with the exact sampler of [Choose]. It costs K draws.
	Peeling
	// Lipschitz is the canonical Lipschitz mechanism with Gumbel noise: one draw
	// of the exponential mechanism over all sets of K candidates. (Shekelyan and
	// Loukides, arXiv 2201.13376, with the class sizes of docs/proofs/top-k.md,
	// "Sensitivity and proof")
	Lipschitz
	// LipschitzExponential is the same with exponential noise: at equal epsilon
	// the best set is a little likelier, but only pure privacy is known, which
	// composes less well. It costs one Pure draw.
	LipschitzExponential
)

var topKNames = [...]string{"one-shot", "peeling", "lipschitz", "lipschitz-exponential"}

// String returns the name of the form in a recipe.
func (f TopKForm) String() string {
	if int(f) < len(topKNames) {
		return topKNames[f]
	}
	return fmt.Sprintf("form(%d)", uint8(f))
}

// ParseTopKForm is the inverse of String; any other name is [ErrTopK].
func ParseTopKForm(name string) (TopKForm, error) {
	for i, n := range topKNames {
		if n == name {
			return TopKForm(i), nil
		}
	}
	return 0, fmt.Errorf("%w: no form %q; there are %q", ErrTopK, name, topKNames)
}

// TopK chooses k of d candidates with high scores.
//
// OneShot and Peeling find the largest scores first and lose the others one by one as the budget
// shrinks. A Lipschitz form evaluates whole sets and finds nearly all of the best set or very
// little of it. It is better only if the scores of the best set exceed the others by more than
// about k log(d/k) times width/epsilon, and the other forms then find most of the set too.
type TopK struct {
	Form TopKForm
	K    int // candidates to choose, 1 <= K < d
	// Gamma, in [0, 1), weighs the loss of a set in the Lipschitz forms:
	// (1-Gamma) times the best score left out less Gamma times the worst score
	// chosen. It is used when HasGamma is set, and is 1/2 otherwise.
	Gamma    float64
	HasGamma bool
}

// lossWeight returns the weight in use.
func (t TopK) lossWeight() float64 {
	if t.HasGamma {
		return t.Gamma
	}
	return .5
}

// Statistic returns the name of the choice for its leaf. It depends on the form only, which
// determines how far a record can move the output.
func (t TopK) Statistic() budget.Statistic {
	switch t.Form {
	case Peeling:
		return StatPeeling
	case Lipschitz:
		return StatLipschitz
	case LipschitzExponential:
		return StatLipschitzExponential
	}
	return StatOneShot
}

func (t TopK) isLipschitz() bool {
	return t.Form == Lipschitz || t.Form == LipschitzExponential
}

// Plan returns the leaf that a release spends.
func (t TopK) Plan(name string, share float64) budget.Node {
	switch t.Form {
	case Lipschitz:
		return budget.ExponentialLeaf(name, share, 1).WithStatistic(t.Statistic())
	case LipschitzExponential:
		return budget.PureLeaf(name, share, 1).WithStatistic(t.Statistic())
	}
	return budget.ExponentialLeaf(name, share, t.K).WithStatistic(t.Statistic())
}

// Validate returns an error wrapping [ErrTopK] if the choice cannot be made
// among d candidates.
func (t TopK) Validate(d int) error {
	switch {
	case int(t.Form) >= len(topKNames):
		return fmt.Errorf(
			"%w: form %v is unknown; there are %q",
			ErrTopK,
			t.Form,
			topKNames,
		)
	case t.K < 1 || t.K >= d:
		return fmt.Errorf(
			"%w: k is %d and must be at least 1 and below the number of candidates, %d", ErrTopK,
			t.K, d)
	case t.isLipschitz() && d > maxLipschitz:
		return fmt.Errorf("%w: %v takes at most %d candidates, there are %d; use %v", ErrTopK,
			t.Form, maxLipschitz, d, OneShot)
	case t.isLipschitz() && int64(t.K)*int64(d-t.K) > maxClasses:
		return fmt.Errorf("%w: %v looks at k(d-k) = %d classes of sets, more than %d; use %v",
			ErrTopK, t.Form, int64(t.K)*int64(d-t.K), maxClasses, OneShot)
	case !t.HasGamma && t.Gamma != 0:
		return fmt.Errorf("%w: gamma is %v but HasGamma is not set", ErrTopK, t.Gamma)
	case t.HasGamma && !t.isLipschitz():
		return fmt.Errorf(
			"%w: gamma belongs to the Lipschitz forms, not to %v",
			ErrTopK,
			t.Form,
		)
	case t.HasGamma && !(t.Gamma >= 0 && t.Gamma < 1):
		return fmt.Errorf("%w: gamma is %v and must be in [0, 1)", ErrTopK, t.Gamma)
	}
	return nil
}

// Release returns the indices of the chosen candidates in increasing order; their
// ranks are not released. The sensitivity of scores is the width b - a of the range
// of the change of any score when a record is added. Release spends every draw of
// the leaf that Plan returned under this name.
func (t TopK) Release(
	s *Session,
	name string,
	scores Bounded[Vector],
) (Public[[]int], error) {
	wide, err := perUnit(s, name, scores, Width)
	if err != nil {
		return Public[[]int]{}, err
	}
	if err := t.Validate(len(scores.value)); err != nil {
		return Public[[]int]{}, fmt.Errorf("%w: %q", err, s.childPath(name))
	}
	if t.Form == Peeling {
		return t.releaseByPeeling(s, name, scores) // every round widens the bound itself
	}
	scores = wide
	kind := budget.Exponential
	draws := 1
	if t.Form == LipschitzExponential {
		kind = budget.Pure
	}
	if t.Form == OneShot {
		draws = t.K
	}
	tickets := make([]ticket, draws)
	for i := range tickets {
		var err error
		if tickets[i], err = s.takeDraw(name, i, kind, t.Statistic()); err != nil {
			return Public[[]int]{}, err
		}
	}
	first := tickets[0]
	rate, err := t.noiseRate(first.law.Epsilon, scores.sens)
	if err != nil {
		return Public[[]int]{}, fmt.Errorf("%w: %q", err, first.path)
	}
	chosen := t.drawSet(first.random, scores.value, rate)
	chosen = s.core.tap.watchChoices(first, scores.value, scores.sens, chosen)
	for _, k := range tickets {
		s.noteRelease(k, scores.Sensitivity(), 0)
	}
	return Public[[]int]{chosen}, nil
}

// drawSet draws the set, in increasing order, for the forms that take one pass. rate converts
// score units into units of the noise.
func (t TopK) drawSet(random *noise.Stream, scores Vector, rate float64) []int {
	if t.Form == OneShot {
		return drawOneShot(random, scores, t.K, rate)
	}
	return newLipschitzClasses(scores, t.K, t.lossWeight(), rate).drawSet(random,
		t.Form == LipschitzExponential)
}

// noiseRate returns (epsilon - slack)/sens, rounded down: the epsilon of a draw after paying
// for the numerical error of the noise (choice_topk_slack.go). sens is in score units.
func (t TopK) noiseRate(epsilon, sens float64) (float64, error) {
	epsilon -= t.numericalSlack()
	if !(epsilon > 0) || !(sens <= noise.MaxScale) {
		return 0,
			fmt.Errorf("%w: %v needs an epsilon above %g a draw and a finite width", ErrScale,
				t.Form, t.numericalSlack())
	}
	return epsilon / roundUp(max(sens, 1)), nil
}

// releaseByPeeling chooses one candidate per round and removes it from the list.
func (t TopK) releaseByPeeling(
	s *Session,
	name string,
	scores Bounded[Vector],
) (Public[[]int], error) {
	left := make([]int, len(scores.value))
	for j := range left {
		left[j] = j
	}
	scores.value, scores.statistic = slices.Clone(scores.value), t.Statistic()
	chosen := make([]int, t.K)
	for round := range chosen {
		choice, err := Choose(s, name, round, scores)
		if err != nil {
			return Public[[]int]{}, err
		}
		i := choice.Value()
		chosen[round] = left[i]
		left = slices.Delete(left, i, i+1)
		scores.value = slices.Delete(scores.value, i, i+1)
	}
	slices.Sort(chosen)
	return Public[[]int]{chosen}, nil
}

// drawOneShot returns the k candidates with the largest score plus Gumbel noise.
//
// The score in use is rate (x_j - x_(k)), x_(k) the k-th largest, clamped to
// [-oneShotReach, oneShotReach]. When a record is added, x_j and x_(k) move
// within the same range of width b - a, so x_j - x_(k) moves within a range of
// that width that contains 0; clamping only shrinks a change, so the clamped
// score does too. With Gumbel noise the order of the sums is the order of k
// rounds of the exponential mechanism without replacement (P(j first) ~
// exp(u_j), and the rest independent of the maximum), and the set is a function
// of it. Ties between computed sums go to the smaller index.
func drawOneShot(
	random *noise.Stream,
	scores Vector,
	k int,
	rate float64,
) []int {
	sorted := slices.Clone(scores)
	slices.Sort(sorted)
	boundary := sorted[len(sorted)-k]
	sums := make([]float64, len(scores))
	order := make([]int, len(scores))
	for j, x := range scores {
		u := math.Min(rate*scoreGap(max(x, boundary), min(x, boundary)), oneShotReach)
		if x < boundary {
			u = -u
		}
		sums[j] = u + random.Gumbel().Value()
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case sums[a] > sums[b]:
			return -1
		case sums[a] < sums[b]:
			return 1
		}
		return a - b
	})
	chosen := order[:k:k]
	slices.Sort(chosen)
	return chosen
}

// scoreGap returns a - b for a >= b, exact before it is rounded to a float64.
func scoreGap(a, b int64) float64 {
	return float64(uint64(a) - uint64(b))
}

// The statistics of [TopK.Release], by form.
const (
	StatOneShot              budget.Statistic = "one-shot"
	StatPeeling              budget.Statistic = "peeling"
	StatLipschitz            budget.Statistic = "lipschitz"
	StatLipschitzExponential budget.Statistic = "lipschitz-exponential"
)
