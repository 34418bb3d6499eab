package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Errors of a SIS.
var (
	// ErrScore is returned at plan time for an unknown score.
	ErrScore = errors.New("the score must be auto, tau, correlation or product")
	// ErrRanges is returned by Select for a score that works on scaled columns
	// without one range per candidate and one for the target.
	ErrRanges = errors.New("the score needs the ranges of all columns")
)

// SISScore is the score by which [SIS] ranks the columns. The empty string means ScoreAuto.
type SISScore string

const (
	// ScoreAuto means ScoreCorrelation if there are at most 1000 candidates and one
	// of them is a category column, because the order of its values, which tau uses,
	// may be arbitrary. Otherwise it means ScoreTau. It is decided when a run is planned,
	// so an undeclared column counts as a number even if it turns out to be text.
	ScoreAuto SISScore = "auto"
	// ScoreTau is |tau(x, y)|, the rank correlation of [Kendall] without its
	// later rounds: no range is needed, the width of its change is 2.5 (4 under
	// substitution), and its size on normal data is n asin(rho)/pi. A category
	// column ranks by the order in which the recipe lists its values; a missing
	// number ranks below every other, a value outside the list above.
	ScoreTau SISScore = "tau"
	// ScoreProduct is |sum x y| on columns that their ranges map to [-1, 1], a
	// missing value to the middle. Its change has width 2 (4 under
	// substitution). If the middle of a range is not the mean of its column, the
	// score contains the product of the means in addition to the covariance, so it
	// suits declared ranges around a known centre. The score of a category column is
	// the best score of the columns "1 for this value, -1 for any other".
	ScoreProduct SISScore = "product"
	// ScoreCorrelation is ScoreProduct with x and y clamped at half their ranges, at
	// about 1.4 standard deviations of a normal column whose range was released,
	// and with y relative to a centre that is released first: one of 129
	// points of its range around which the clamped values of y balance, chosen by the
	// exponential mechanism. Then the mean of x does not affect the score, the private
	// scale of a column replaces its deviation, and clamping bounds the influence of a
	// record like a rank: the signal is about three times that of ScoreProduct for the
	// same width. The score of a column is small if its declared range is far too wide:
	// leave such a range out, or use ScoreTau.
	ScoreCorrelation SISScore = "correlation"
)

// wideColumns is the number of candidates above which ScoreAuto uses no ranges: the noise in released ranges grows with the number of columns.
const wideColumns = 1000

// SIS picks the K candidates with the largest marginal dependence on the
// target, in one private top-k choice (DP-SIS of "Feature Selection from
// Differentially Private Correlations", arXiv 2408.10862, with the sound scores
// of docs/proofs/sis.md, "What holds, and what does not": centring and scaling
// by the data, as published, has no bounded sensitivity). Unlike [Kendall] it may
// pick two columns with the same information; in return it evaluates each column
// once for any K. Every step is an exponential mechanism, or pure, so a budget of
// delta 0 is enough unless ranges have to be released.
//
// # Which score
//
// Sum of the absolute correlations of the chosen five columns with the target,
// relative to that of the best five: mean over eleven public regression sets with
// 8 to 26 columns (docs/lab/accuracy.md) and five random samples of each, selection
// share .1, delta 1e-6, the ranges of all columns released for correlation and
// product. Lipschitz, and OneShot in parentheses; from run to run a
// figure moves by about .03 for tau and .06 for the others.
//
//	records  epsilon  tau        correlation  product
//	500      1        .62 (.83)  .56 (.63)    .60 (.68)
//	500      5        .90 (.93)  .88 (.89)    .64 (.68)
//	2000     1        .89 (.92)  .86 (.91)    .70 (.64)
//	2000     5        .96 (.96)  .94 (.95)    .81 (.81)
//	8000     1        .96 (.96)  .94 (.95)    .80 (.83)
//	8000     5        .97 (.97)  .96 (.96)    .85 (.84)
//
// Product is well behind correlation except in the first row, where both are weak,
// so ScoreAuto does not use it. Tau is slightly better than correlation throughout
// and much better at 500 records and epsilon 1, so ScoreAuto uses correlation for
// category columns only.
type SIS struct {
	K     int // 1 <= K < number of candidates
	Score SISScore
	// TopK is the form of the choice; the zero value is OneShot. Lipschitz is the
	// paper's. On seven microarray sets and a synthetic one, |tau|, K = 5, OneShot
	// agreed more with the true best five on all eight sets at epsilon 5, and
	// Lipschitz on five sets at epsilon 20.
	TopK mechanism.TopKForm
	// Gamma is the weight of the Lipschitz forms where HasGamma is set; see
	// [mechanism.TopK].
	Gamma    float64
	HasGamma bool
}

// resolveScore returns x with ScoreAuto replaced by the score it means.
func (x SIS) resolveScore(f Facts) SIS {
	if x.Score == ScoreAuto || x.Score == "" {
		x.Score = ScoreTau
		category := func(c dataset.Column) bool {
			return c.Kind == dataset.Category
		}
		if !f.OnlyNumbers && len(f.Columns) <= wideColumns &&
			slices.ContainsFunc(f.Columns, category) {
			x.Score = ScoreCorrelation
		}
	}
	return x
}

// Name returns "sis".
func (SIS) Name() string {
	return "sis"
}

// NeedsRanges reports whether the score works on scaled columns.
func (x SIS) NeedsRanges(f Facts) bool {
	return x.resolveScore(f).Score != ScoreTau
}

// Gathers reports whether the score uses ranks among all records.
func (x SIS) Gathers(f Facts) bool {
	return x.resolveScore(f).Score == ScoreTau
}

// ByRanks returns true: if the selector gathers records, it uses only counts of pairs by ranks.
func (SIS) ByRanks() bool {
	return true
}

// topKChoice returns the private choice of K candidates.
func (x SIS) topKChoice() mechanism.TopK {
	return mechanism.TopK{
		Form:     x.TopK,
		K:        x.K,
		Gamma:    x.Gamma,
		HasGamma: x.HasGamma,
	}
}

// Plan returns the leaf of the choice, after that of the target's centre for
// ScoreCorrelation. Errors: [ErrCount], [ErrScore], [mechanism.ErrTopK].
func (x SIS) Plan(f Facts) (budget.Node, bool, error) {
	if x.K < 1 || x.K >= len(f.Columns) {
		return budget.Node{}, false,
			fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.K, len(f.Columns))
	}
	if err := x.topKChoice().Validate(len(f.Columns)); err != nil {
		return budget.Node{}, false, err
	}
	switch x.resolveScore(f).Score {
	case ScoreTau, ScoreProduct:
		return budget.Sequence("sis", x.topKChoice().Plan("choice", 1)), true, nil
	case ScoreCorrelation:
		return budget.Sequence(
			"sis",
			budget.ExponentialLeaf("center", centerShare, 1).WithStatistic(mechanism.StatProducts),
			x.topKChoice().Plan("choice", 1-centerShare),
		), true, nil
	}
	return budget.Node{}, false, fmt.Errorf("%w, not %q", ErrScore, x.Score)
}

// Widest returns the K candidates that take the most room in a row.
func (x SIS) Widest(f Facts) []dataset.Column {
	return widestOf(x.K, f)
}

// Select returns the picked candidates, increasing. Errors besides those of the
// mechanisms and the context: [ErrRanges].
func (x SIS) Select(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	choice, err := x.Choose(ctx, s, f, records)
	return choice.Picked, err
}

// Choose implements [Rater]. Scores are not released, so the confidence is a gap.
func (x SIS) Choose(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (method.Choice, error) {
	s = s.Sub("sis")
	x = x.resolveScore(f)
	scores, err := x.candidateScores(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	chosen, err := x.topKChoice().Release(s, "choice", scores)
	if err != nil {
		return method.Choice{}, err
	}
	g := topKGap(s, "choice", x.topKChoice(), len(f.Columns))
	switch x.Score {
	case ScoreTau:
		g.Scores = "rank correlation"
		g.Reach = "half the number of training records"
	case ScoreCorrelation:
		g.Scores = "sum of cut and centred products"
		g.Reach = "the number of training records"
	default:
		g.Scores = "sum of products"
		g.Reach = "the number of training records"
	}
	return gapOnly(chosen.Value(), g), nil
}

// candidateScores returns the scores of all candidates.
func (x SIS) candidateScores(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (mechanism.Bounded[mechanism.Vector], error) {
	var columns interface {
		Scores(candidates []int) mechanism.Bounded[mechanism.Vector]
	}
	var err error
	switch {
	case x.Score == ScoreTau:
		columns, err = rankAll(ctx, s, f, records)
	case len(f.Ranges) != len(f.Columns)+1:
		err = fmt.Errorf("%w: %s got %d for %d columns", ErrRanges, x.Score, len(f.Ranges),
			len(f.Columns)+1)
	default:
		columns, err = x.targetProducts(ctx, s, f, records)
	}
	if err != nil {
		return mechanism.Bounded[mechanism.Vector]{}, err
	}
	all := make([]int, len(f.Columns))
	for j := range all {
		all[j] = j
	}
	return columns.Scores(all), nil
}
