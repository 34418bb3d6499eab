package audit

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// A WorstPair is a statistic on a pair of neighbouring inputs that should attain its sensitivity, together with its
// release. [Step] measures leaves with it.
type WorstPair struct {
	// Statistic is the name of the statistic in the leaves of a plan.
	Statistic budget.Statistic
	// Kind is the kind of noise that the release is priced for.
	Kind budget.Kind
	// Single is set if the release is a single call, which spends one draw of a leaf or all draws together.
	Single bool
	// Slow is set if the release takes about a hundred times as long as the others.
	Slow bool
	// Relations lists the relations that have this pair.
	Relations []budget.Relation
	// Companion, if it has a name, is a second leaf that the release spends. The outputs on both sides of the pair
	// depend on the first leaf only.
	Companion Companion
	// Prepare computes the private statistic of side 0 or 1 of the pair and returns its release. s has the relation,
	// and law is the noise distribution of a draw.
	Prepare func(
		ctx context.Context, s *mechanism.Session, law budget.Law, side int,
	) (WorstRelease, error)
}

// A Companion is a leaf of a plan besides the one that is measured.
type Companion struct {
	Name      string
	Statistic budget.Statistic
	Law       budget.Law
}

// leaves returns the leaf of the given name for the statistic of the pair and its companion, if it has one.
func (x WorstPair) leaves(name string, law budget.Law) []budget.Node {
	out := []budget.Node{budget.FixedLeaf(name, law).WithStatistic(x.Statistic)}
	if x.Companion.Name != "" {
		out = append(out,
			budget.FixedLeaf(x.Companion.Name, x.Companion.Law).
				WithStatistic(x.Companion.Statistic))
	}
	return out
}

// A WorstRelease spends one draw of the leaf called name and returns the output, whose length is always the same.
type WorstRelease func(s *mechanism.Session, name string, draw int) ([]float64, error)

// RelationFor returns the relation of the pair that represents a release under rel, and whether there is one. Tables
// that differ in the private columns of one record differ by one record, so statistics without a pair for that relation
// have the bound of substitution.
func (x WorstPair) RelationFor(rel budget.Relation) (budget.Relation, bool) {
	if !slices.Contains(x.Relations, rel) && rel == budget.SubstitutePrivateColumns {
		rel = budget.Substitute
	}
	return rel, slices.Contains(x.Relations, rel)
}

// WorstPairs returns the pair of every statistic that a session can release.
func WorstPairs() []WorstPair {
	return []WorstPair{
		countPair(),
		loneCountPair(),
		agreementPair(),
		loneAgreementPair(),
		agreementRatioPair(),
		interceptsPair(),
		histogramPair(),
		cellsPair(),
		scoreDifferencePair(),
		quartilePair(),
		gramPair(),
		gramEntriesPair(),
		nodeGramsPair(),
		mediansPair(),
		eigenvaluePair(),
		crossPair(),
		outerPair(),
		binSumsPair(),
		valueSumsPair(),
		clampedSumsPair(),
		sizeCountsPair(),
		sizeEntriesPair(),
		squareSumsPair(),
		squareEntriesPair(),
		groupedSquaresPair(),
		countedVotesPair(),
		tallyPair(),
		tallyEntriesPair(),
		classStatisticsPair(),
		minimizerPair(),
		minimizerCoordinatesPair(),
		privateBlocksPair(), labelSumsPair(), partClassStatisticsPair(),
		votesPair(),
		productsPair(),
		kendallPair(),
		topKPair(mechanism.OneShot),
		topKPair(mechanism.Peeling),
		topKPair(mechanism.Lipschitz),
		topKPair(mechanism.LipschitzExponential),
		tukeyDepthPair(),
		wordCountsPair(),
		newWordsPair(),
		treeCountsPair(),
		momentsPair(),
		groupSumsPair(),
	}
}

// WorstPairOf returns the pair of a statistic and whether there is one.
func WorstPairOf(x budget.Statistic) (WorstPair, bool) {
	all := WorstPairs()
	i := slices.IndexFunc(all, func(w WorstPair) bool {
		return w.Statistic == x
	})
	if i < 0 {
		return WorstPair{}, false
	}
	return all[i], true
}

// recordRelations returns the relations under which a record may be replaced by any other.
func recordRelations() []budget.Relation {
	return []budget.Relation{budget.AddRemove, budget.Substitute}
}

// RecordOn returns a code for the record in which neighbours differ on side 0 or 1: -1 and +1 if it is replaced; 0, for
// no record, and +1 if it is added.
func RecordOn(rel budget.Relation, side int) int {
	switch {
	case side == 1:
		return 1
	case rel == budget.AddRemove:
		return 0
	}
	return -1
}

// byRecord returns one of three values by a code from [RecordOn].
func byRecord[T any](record int, minus, absent, plus T) T {
	return [...]T{minus, absent, plus}[record+1]
}

// lead returns the lead, in units of score, of the candidate that loses from a record over the candidate that gains,
// for a score of sensitivity width. With this lead the candidate that gains is rare on side 0, and the ratio of its
// probabilities is near e^epsilon.
func lead(law budget.Law, width float64) int {
	return int(math.Ceil(width * (1 + 1.5/law.Epsilon)))
}

// releaseNumber returns a release of a number with Laplace noise.
func releaseNumber(x mechanism.Bounded[int64]) WorstRelease {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		out, err := mechanism.Laplace(s, name, draw, x)
		return []float64{out.Value()}, err
	}
}

// releaseVector returns a release of a vector with Gaussian noise.
func releaseVector(x mechanism.Bounded[mechanism.Vector]) WorstRelease {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		out, err := mechanism.GaussianDraw(s, name, draw, x)
		return out.Value(), err
	}
}

// releaseCells returns a release of a vector with Laplace noise.
func releaseCells(x mechanism.Bounded[mechanism.Vector]) WorstRelease {
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, err := mechanism.LaplaceCells(s, name, x)
		return out.Value(), err
	}
}

// releaseChoice returns a release of the choice among d candidates, as one number for each candidate.
func releaseChoice(x mechanism.Bounded[mechanism.Vector], d int) WorstRelease {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		j, err := mechanism.Choose(s, name, draw, x)
		out := make([]float64, d)
		if err == nil {
			out[j.Value()] = 1
		}
		return out, err
	}
}

// A numberStatistic computes a private number on a side of a pair.
type numberStatistic func(s *mechanism.Session, side int) (mechanism.Bounded[int64], error)

// numberPair returns the pair of a number that is released with Laplace noise.
func numberPair(
	x budget.Statistic,
	relations []budget.Relation,
	number numberStatistic,
) WorstPair {
	return WorstPair{
		Statistic: x,
		Kind:      budget.Laplace,
		Relations: relations,
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			n, err := number(s, side)
			return releaseNumber(n), err
		},
	}
}

// lonePair returns the pair of a number that is released as a vector of one entry, with Gaussian noise.
func lonePair(
	x budget.Statistic,
	relations []budget.Relation,
	number numberStatistic,
) WorstPair {
	return vectorPair(mechanism.StatAlone(x), relations,
		func(s *mechanism.Session, side int) (mechanism.Bounded[mechanism.Vector], error) {
			n, err := number(s, side)
			return mechanism.Alone(n), err
		})
}

// A vectorStatistic computes a private vector on a side of a pair.
type vectorStatistic func(
	s *mechanism.Session, side int,
) (mechanism.Bounded[mechanism.Vector], error)

// vectorPair returns the pair of a vector that is released with Gaussian noise.
func vectorPair(
	x budget.Statistic,
	relations []budget.Relation,
	vector vectorStatistic,
) WorstPair {
	return WorstPair{
		Statistic: x,
		Kind:      budget.Gaussian,
		Relations: relations,
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			v, err := vector(s, side)
			return releaseVector(v), err
		},
	}
}

// cellPair returns the pair of a vector that is released with Laplace noise.
func cellPair(x budget.Statistic, vector vectorStatistic) WorstPair {
	return WorstPair{
		Statistic: x,
		Kind:      budget.Pure,
		Single:    true,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			v, err := vector(s, side)
			return releaseCells(v), err
		},
	}
}

// pure returns the pair of a release that is priced for Laplace noise.
func (x WorstPair) pure() WorstPair {
	x.Kind = budget.Pure
	return x
}

// choicePair returns the pair of a choice between two candidates.
func choicePair(
	x budget.Statistic,
	scores func(ctx context.Context, s *mechanism.Session, law budget.Law, record int) (mechanism.Bounded[mechanism.Vector], error),
) WorstPair {
	return WorstPair{
		Statistic: x,
		Kind:      budget.Exponential,
		Relations: recordRelations(),
		Prepare: func(
			ctx context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			u, err := scores(ctx, s, law, RecordOn(s.Relation(), side))
			return releaseChoice(u, 2), err
		},
	}
}

// jointPair returns the pair of an accumulator that releases all of its statistics by one call with Gaussian noise.
// prepare computes the accumulator on the side with the record of the given code.
func jointPair(
	x budget.Statistic,
	prepare func(s *mechanism.Session, record int) func(s *mechanism.Session, name string) ([]float64, error),
) WorstPair {
	return WorstPair{
		Statistic: x,
		Kind:      budget.Gaussian,
		Single:    true,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			release := prepare(s, RecordOn(s.Relation(), side))
			return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
				return release(s, name)
			}, nil
		},
	}
}
