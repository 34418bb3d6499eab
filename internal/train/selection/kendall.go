package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/train/method"
	settings "github.com/dptrain/dptrain/selection"
)

// ErrCount is returned at plan time for a number of features that is not
// between 1 and one less than the number of candidates.
var ErrCount = errors.New("k must be at least 1 and below the number of candidate columns")

// DefaultK is the default number of features.
const DefaultK = 5

// Kendall picks K features one by one by the exponential mechanism on rank
// correlations (DPKendall of "Better Private Linear Regression Through Better
// Private Feature Selection", with the sound counts and scales of
// docs/proofs/kendall.md, "Algorithm"). It runs on raw columns: ranks need no
// range and no bounds. A category column ranks by the order in which the recipe
// lists its values. A missing number ranks below every other, a value outside
// the list above.
type Kendall settings.Kendall

// Name returns "kendall".
func (Kendall) Name() string {
	return "kendall"
}

// Plan returns K equal draws of the exponential mechanism.
func (x Kendall) Plan(f Facts) (budget.Node, bool, error) {
	if x.K < 1 || x.K >= len(f.Columns) {
		return budget.Node{}, false,
			fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.K, len(f.Columns))
	}
	return budget.ExponentialLeaf("kendall", 1, x.K).WithStatistic(mechanism.StatKendall), true, nil
}

// Widest returns the K candidates that take the most room in a row.
func (x Kendall) Widest(f Facts) []dataset.Column {
	return widestOf(x.K, f)
}

// Gathers returns true, because ranks need all records.
func (Kendall) Gathers(Facts) bool {
	return true
}

// ByRanks returns true: the selector uses only counts of pairs by ranks.
func (Kendall) ByRanks() bool {
	return true
}

// rankScores returns the rank correlations of all candidates with the target.
func (Kendall) rankScores(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (*mechanism.Kendall, error) {
	if k, err := s.NewKendallOver(ctx, records); k != nil || err != nil {
		return k, err
	}
	v, err := records.View(ctx)
	if err != nil {
		return nil, err
	}
	last := len(f.Columns)
	all := v.Block(0, v.Len())
	return s.NewKendall(ctx, last, func(j int, scratch *kendall.Scratch) *kendall.Ranks {
		if f.Columns[j].Kind == dataset.Category {
			return kendall.RankCodes(all.Codes(j, nil), scratch)
		}
		return kendall.Rank(all.Float(j, nil), scratch)
	}, func(scratch *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(all.Float(last, nil), scratch)
	})
}

// Select returns the picked candidates, increasing.
func (x Kendall) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	choice, err := x.Choose(ctx, s, f, records)
	return choice.Picked, err
}

// Choose implements [Rater]. Scores are not released, so the confidence is a gap.
func (x Kendall) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	picked, err := x.pickColumns(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	return gapOnly(picked, &method.Gap{
		Score: roundsGap(
			s.Sensitivity("kendall"),
			s.Epsilon("kendall"),
			len(f.Columns),
			x.K,
		),
		Level:  gapLevel,
		Scores: "rank correlation less redundancy",
		Reach:  "half the number of training records",
		Rounds: x.K > 1,
	}), nil
}

// pickColumns returns the picked candidates, increasing.
func (x Kendall) pickColumns(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	scores, err := x.rankScores(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	scores.DeclarePublic(f.publicColumns())
	left := make([]int, len(f.Columns))
	for j := range left {
		left[j] = j
	}
	var picked []int
	for round := range x.K {
		choice, err := mechanism.Choose(s, "kendall", round, scores.Scores(left))
		if err != nil {
			return nil, err
		}
		j := left[choice.Value()]
		picked = append(picked, j)
		left = slices.Delete(left, choice.Value(), choice.Value()+1)
		if round+1 < x.K {
			if err := scores.Pick(ctx, j); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(picked)
	return picked, nil
}
