package mechanism

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
)

// A WorstPair is a statistic on a pair of neighbouring inputs that should attain its
// sensitivity, with its release. An audit measures leaves with it. The pair of a statistic is
// in the file of the statistic; [WorstPairs] lists them all.
type WorstPair struct {
	// Statistic is the name of the statistic in the leaves of a plan.
	Statistic budget.Statistic
	// Kind is the kind of noise that its release is priced for.
	Kind budget.Kind
	// Single is set if the release is a single call, which spends one draw of a leaf or all
	// draws together.
	Single bool
	// Slow is set if the release takes about a hundred times as long as the others.
	Slow bool
	// Relations lists the relations that have this pair.
	Relations []budget.Relation
	// Prepare computes the private statistic of side 0 or 1 of the pair and returns its
	// release. s has the relation, and law is the noise distribution of a draw.
	Prepare func(ctx context.Context, s *Session, law budget.Law, side int) (WorstRelease, error)
}

// A WorstRelease spends a draw of the leaf name and returns the output as numbers. Their
// number is constant.
type WorstRelease func(s *Session, name string, draw int) ([]float64, error)

// Under returns the relation of the pair that represents a release under rel, and whether
// there is one. Tables that differ in the private columns of one record differ by one
// record, so statistics without a pair for that relation have the bound of substitution.
func (x WorstPair) Under(rel budget.Relation) (budget.Relation, bool) {
	if !slices.Contains(x.Relations, rel) && rel == budget.SubstitutePrivateColumns {
		rel = budget.Substitute
	}
	return rel, slices.Contains(x.Relations, rel)
}

// WorstPairs returns the pair of every statistic that a session can release.
func WorstPairs() []WorstPair {
	return []WorstPair{
		worstCount(), worstCountAlone(), worstAgreement(), worstAgreementAlone(), worstRatio(), worstIntercepts(),
		worstHistogram(), worstCells(), worstScoreDifference(), worstQuartile(), worstGram(), worstGramEntries(), worstNodeGrams(), worstMedians(), worstEigenvalue(), worstCross(), worstOuter(), worstBinSums(), worstValueSums(), worstSums(), worstSizeCounts(),
		worstSquareSums(), worstVotesCounted(), worstTally(), worstClassStats(), worstMinimizer(), worstMinimizerCoordinates(), worstPartGram(),
		worstVotes(), worstProducts(), worstKendall(),
		worstTopK(OneShot), worstTopK(Peeling), worstTopK(Lipschitz), worstTopK(LipschitzExponential), worstDepth(),
		worstWords(), worstNewWords(),
		worstTreeCounts(), worstMoments(), worstGroupSums(),
	}
}

// WorstPairOf returns the pair of a statistic and whether there is one.
func WorstPairOf(x budget.Statistic) (WorstPair, bool) {
	all := WorstPairs()
	i := slices.IndexFunc(all, func(w WorstPair) bool { return w.Statistic == x })
	if i < 0 {
		return WorstPair{}, false
	}
	return all[i], true
}

// anyRecord returns the relations under which a record may be replaced by any other.
func anyRecord() []budget.Relation { return []budget.Relation{budget.AddRemove, budget.Substitute} }

// RecordOn returns a code for the record in which neighbours differ on side 0 or 1: -1 and
// +1 if it is replaced; 0, for no record, and +1 if it is added.
func RecordOn(rel budget.Relation, side int) int {
	switch {
	case side == 1:
		return 1
	case rel == budget.AddRemove:
		return 0
	}
	return -1
}

// pick returns one of three values by a code from [RecordOn].
func pick[T any](record int, minus, none, plus T) T {
	return [...]T{minus, none, plus}[record+1]
}

func worstGaussian(x Bounded[Vector]) WorstRelease {
	return func(s *Session, name string, draw int) ([]float64, error) {
		out, err := GaussianDraw(s, name, draw, x)
		return out.Value(), err
	}
}

func worstLaplace(x Bounded[int64]) WorstRelease {
	return func(s *Session, name string, draw int) ([]float64, error) {
		out, err := Laplace(s, name, draw, x)
		return []float64{out.Value()}, err
	}
}

// worstChoice releases the choice among d candidates, as one number for each candidate.
func worstChoice(x Bounded[Vector], d int) WorstRelease {
	return func(s *Session, name string, draw int) ([]float64, error) {
		j, err := Choose(s, name, draw, x)
		out := make([]float64, d)
		if err == nil {
			out[j.Value()] = 1
		}
		return out, err
	}
}

// numberPair is the pair of a number, released with Laplace noise.
func numberPair(x budget.Statistic, relations []budget.Relation, number func(s *Session, side int) (Bounded[int64], error)) WorstPair {
	return WorstPair{
		Statistic: x, Kind: budget.Laplace, Relations: relations,
		Prepare: func(_ context.Context, s *Session, _ budget.Law, side int) (WorstRelease, error) {
			n, err := number(s, side)
			return worstLaplace(n), err
		},
	}
}

// alonePair is the pair of a number as a vector of one entry, released with Gaussian noise.
func alonePair(x budget.Statistic, relations []budget.Relation, number func(s *Session, side int) (Bounded[int64], error)) WorstPair {
	return vectorPair(StatAlone(x), relations, func(s *Session, side int) (Bounded[Vector], error) {
		n, err := number(s, side)
		return Alone(n), err
	})
}

// vectorPair is the pair of a vector, released with Gaussian noise.
func vectorPair(x budget.Statistic, relations []budget.Relation, vector func(s *Session, side int) (Bounded[Vector], error)) WorstPair {
	return WorstPair{
		Statistic: x, Kind: budget.Gaussian, Relations: relations,
		Prepare: func(_ context.Context, s *Session, _ budget.Law, side int) (WorstRelease, error) {
			v, err := vector(s, side)
			return worstGaussian(v), err
		},
	}
}

// lead returns the lead, in units of score, of the candidate that loses from a record over
// the candidate that gains, for a score of sensitivity width. With this lead the candidate
// that gains is rare on side 0, and the ratio of its probabilities is near e^epsilon.
func lead(law budget.Law, width float64) int {
	return int(math.Ceil(width * (1 + 1.5/law.Epsilon)))
}
