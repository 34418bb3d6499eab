package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	settings "github.com/dptrain/dptrain/selection"
)

// Errors of a SubLasso at plan time.
var (
	// ErrLambda is returned for a penalty outside (0, 1).
	ErrLambda = errors.New(
		"lambda must be above 0 and below 1 (on standardised columns a lasso of penalty 1 keeps nothing)")
	// ErrBuckets is returned for a number of buckets that cannot be used.
	ErrBuckets = errors.New(
		"the number of buckets must be 0 (chosen from public facts) or between 2 and 1000000")
)

// defaultLambda is the default penalty of [SubLasso].
const defaultLambda = .1

// SubLasso picks K features by the votes of lasso fits on disjoint parts of the
// records (sample and aggregate: Kifer, Smith and Thakurta, "Private convex
// empirical risk minimization and high-dimensional regression", COLT 2012, as
// used in "Better Private Linear Regression Through Better Private Feature
// Selection"; made sound as described in docs/proofs/sublasso.md, "What
// holds, and what does not").
//
// A secret coin assigns every record to one of m buckets, so the assignment of a record
// does not depend on other records. Every bucket fits one lasso to its records and votes
// for the columns with the largest non-zero coefficients, at most K. K rounds of the
// exponential mechanism then pick from the counts of votes. One record moves each count
// by at most 1.
//
// Within a bucket columns and target are standardised, so the fit needs no
// ranges; a column that is constant in a bucket gets no vote there. A missing number
// is replaced by its declared substitute, or else by the mean of its column in the
// bucket. A category column enters as one 0/1 column per listed value and counts
// with its largest coefficient. A bucket without records, with a constant target or
// with a fit that does not converge has no votes.
type SubLasso settings.SubLasso

// Name returns "sublasso".
func (SubLasso) Name() string {
	return "sublasso"
}

// NeedsCount reports whether the number of buckets has to be chosen, which needs a
// released lower bound of the number of records.
func (x SubLasso) NeedsCount() bool {
	return x.Buckets == 0
}

// Plan returns K equal draws of the exponential mechanism. Errors: [ErrCount],
// [ErrBuckets], [ErrLambda].
func (x SubLasso) Plan(f Facts) (budget.Node, bool, error) {
	switch {
	case x.K < 1 || x.K >= len(f.Columns):
		return budget.Node{}, false,
			fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.K, len(f.Columns))
	case x.Buckets != 0 && (x.Buckets < 2 || x.Buckets > MaxBuckets):
		return budget.Node{}, false, fmt.Errorf("%w: %d", ErrBuckets, x.Buckets)
	case x.Lambda != 0 && !(x.Lambda > 0 && x.Lambda < 1):
		return budget.Node{}, false, fmt.Errorf("%w: %v", ErrLambda, x.Lambda)
	}
	return x.peelingChoice().Plan("sublasso", 1), true, nil
}

// Widest returns the K candidates that take the most room in a row.
func (x SubLasso) Widest(f Facts) []dataset.Column {
	return widestOf(x.K, f)
}

// Gathers returns true: a lasso is fitted to the records of every bucket.
func (SubLasso) Gathers(Facts) bool {
	return true
}

// InBuckets returns true: the records of one bucket are needed at a time.
func (SubLasso) InBuckets() bool {
	return true
}

// Select returns the picked candidates, increasing.
func (x SubLasso) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	choice, err := x.Choose(ctx, s, f, records)
	return choice.Picked, err
}

// Choose implements [Rater]. Counts are not released, so the confidence is a gap.
func (x SubLasso) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	law, ok := s.Law("sublasso")
	if !ok {
		return method.Choice{}, fmt.Errorf("%w: %q", mechanism.ErrUnknownLeaf, "sublasso")
	}
	m := x.numBuckets(f, law.Epsilon)
	votes := s.NewVotes(len(f.Columns), x.K)
	err := records.Buckets(ctx, s.Coins("buckets"), m, func(_ int, parts []dataset.View) error {
		return x.countVotes(ctx, s, f, parts, votes)
	})
	if err != nil {
		return method.Choice{}, err
	}
	all := make([]int, len(f.Columns))
	for j := range all {
		all[j] = j
	}
	chosen, err := x.peelingChoice().Release(s, "sublasso", votes.Scores(all))
	if err != nil {
		return method.Choice{}, err
	}
	g := topKGap(s, "sublasso", x.peelingChoice(), len(f.Columns))
	g.Scores, g.Reach = "number of votes", fmt.Sprintf("%d, the number of buckets", m)
	return gapOnly(chosen.Value(), g), nil
}

func (x SubLasso) peelingChoice() mechanism.TopK {
	return mechanism.TopK{
		Form: mechanism.Peeling,
		K:    x.K,
	}
}

func (x SubLasso) lassoPenalty() float64 {
	if x.Lambda == 0 {
		return defaultLambda
	}
	return x.Lambda
}
