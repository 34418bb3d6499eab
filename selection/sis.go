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
	// ErrScore is returned at plan time for a score that is none of the
	// SISScores.
	ErrScore = errors.New("the score must be auto, tau, correlation or product")
	// ErrRanges is returned by Select for a score that works on scaled columns
	// when it is not handed one range a candidate and one for the target.
	ErrRanges = errors.New("the score needs the ranges of all columns")
)

// SISScore is what [SIS] ranks the columns by. The empty string is ScoreAuto.
type SISScore string

const (
	// ScoreAuto is ScoreTau, but ScoreCorrelation where there is a category
	// column among at most 1000 candidates: the order of its values,
	// which tau ranks by, may mean nothing.
	ScoreAuto SISScore = "auto"
	// ScoreTau is |tau(x, y)|, the rank correlation of [Kendall] without its
	// later rounds: no range is needed, the width of its change is 2.5 (4 under
	// substitution), and its size on normal data is n asin(rho)/pi. A category
	// column ranks by the order in which the recipe lists its values; a missing
	// number ranks below every other, a value outside the list above.
	ScoreTau SISScore = "tau"
	// ScoreProduct is |sum x y| on columns that their ranges map to [-1, 1], a
	// missing value to the middle. Its change has width 2 (4 under
	// substitution). Where the middle of a range is not the mean of its column,
	// the score holds the product of the means besides the covariance; so it
	// suits declared ranges around a known centre. A category column scores as
	// the best of the columns "1 for this value, -1 for any other".
	ScoreProduct SISScore = "product"
	// ScoreCorrelation is ScoreProduct with x and y cut at half their ranges, at
	// about 1.4 standard deviations of a normal column whose range was released,
	// and with y counted from a centre that is released first: the one among 129
	// in its range that the cut y balance around, by the exponential mechanism.
	// Then the mean of x adds nothing to the score, the private scale of every
	// column takes the place of its deviation, and the cut makes of every record
	// what a rank would: the signal is about three times that of ScoreProduct
	// for the same width. A declared range far wider than its column makes the
	// column's score small: leave such a range out, or use ScoreTau.
	ScoreCorrelation SISScore = "correlation"
)

// wideColumns is the number of candidates above which ScoreAuto does without
// ranges: the noise in released ranges grows with the number of columns.
const wideColumns = 1000

// SIS picks the K candidates with the largest marginal dependence on the
// target, in one private top-k choice (DP-SIS of "Feature Selection from
// Differentially Private Correlations", arXiv 2408.10862, with the sound scores
// of docs/proofs/sis.md, "What holds, and what does not": centring and scaling
// by what is in the data, as published, has no bounded sensitivity). Unlike
// [Kendall] it does not mind that two columns say the same; in return it asks
// for each column once, however large K is. Every step is an exponential
// mechanism, or pure, so a budget of delta 0 will do as long as no range has to
// be released.
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
// Product is well behind correlation except in the first row, where neither finds
// much, so ScoreAuto never takes it. Tau is a little ahead of correlation
// throughout and well ahead at 500 records and epsilon 1, so ScoreAuto takes
// correlation only for the sake of category columns.
type SIS struct {
	K     int // 1 <= K < number of candidates
	Score SISScore
	// TopK is the form of the choice; the zero value is OneShot. Lipschitz is the
	// paper's. On seven microarray sets and a synthetic one, |tau|, K = 5, OneShot
	// agreed more with the true best five on all eight at epsilon 5, Lipschitz on
	// five of them at epsilon 20.
	TopK mechanism.TopKForm
	// Gamma is the weight of the Lipschitz forms where HasGamma is set; see
	// [mechanism.TopK].
	Gamma    float64
	HasGamma bool
}

// resolve returns x with ScoreAuto replaced by the score it means.
func (x SIS) resolve(f Facts) SIS {
	if x.Score == ScoreAuto || x.Score == "" {
		x.Score = ScoreTau
		category := func(c dataset.Column) bool { return c.Kind == dataset.Category }
		if len(f.Columns) <= wideColumns && slices.ContainsFunc(f.Columns, category) {
			x.Score = ScoreCorrelation
		}
	}
	return x
}

// Name returns "sis".
func (SIS) Name() string { return "sis" }

// NeedsRanges reports whether the score works on scaled columns.
func (x SIS) NeedsRanges(f Facts) bool { return x.resolve(f).Score != ScoreTau }

// Gathers reports whether the score is made of ranks among all records.
func (x SIS) Gathers(f Facts) bool { return x.resolve(f).Score == ScoreTau }

// ByRanks returns true: where it gathers, what is made of the records is counts of pairs by ranks.
func (SIS) ByRanks() bool { return true }

// choice is the private choice of K candidates.
func (x SIS) choice() mechanism.TopK {
	return mechanism.TopK{Form: x.TopK, K: x.K, Gamma: x.Gamma, HasGamma: x.HasGamma}
}

// Plan returns the leaf of the choice, after that of the target's centre for
// ScoreCorrelation. Errors: [ErrCount], [ErrScore], [mechanism.ErrTopK].
func (x SIS) Plan(f Facts) (budget.Node, bool, error) {
	if x.K < 1 || x.K >= len(f.Columns) {
		return budget.Node{}, false, fmt.Errorf("%w: k is %d, there are %d", ErrCount, x.K, len(f.Columns))
	}
	if err := x.choice().Validate(len(f.Columns)); err != nil {
		return budget.Node{}, false, err
	}
	switch x.resolve(f).Score {
	case ScoreTau, ScoreProduct:
		return budget.Seq("sis", x.choice().Plan("choice", 1)), true, nil
	case ScoreCorrelation:
		return budget.Seq("sis", budget.ExponentialLeaf("center", centerShare, 1).Of(mechanism.StatProducts), x.choice().Plan("choice", 1-centerShare)), true, nil
	}
	return budget.Node{}, false, fmt.Errorf("%w, not %q", ErrScore, x.Score)
}

// Most returns the K candidates that take the most room in a row.
func (x SIS) Most(f Facts) []dataset.Column { return widestOf(x.K, f) }

// Select returns the picked candidates, increasing. Errors besides those of the
// mechanisms and the context: [ErrRanges].
func (x SIS) Select(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	choice, err := x.Choose(ctx, s, f, records)
	return choice.Picked, err
}

// Choose implements [Rater]. No score is released, so a gap is all that is known.
func (x SIS) Choose(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (method.Choice, error) {
	s = s.Sub("sis")
	x = x.resolve(f)
	scores, err := x.scores(ctx, s, f, records)
	if err != nil {
		return method.Choice{}, err
	}
	chosen, err := x.choice().Release(s, "choice", scores)
	if err != nil {
		return method.Choice{}, err
	}
	g := topKGap(s, "choice", x.choice(), len(f.Columns))
	switch x.Score {
	case ScoreTau:
		g.Scores, g.Reach = "rank correlation", "half the number of training records"
	case ScoreCorrelation:
		g.Scores, g.Reach = "sum of cut and centred products", "the number of training records"
	default:
		g.Scores, g.Reach = "sum of products", "the number of training records"
	}
	return gapOnly(chosen.Value(), g), nil
}

// scores returns the scores of all candidates.
func (x SIS) scores(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) (mechanism.Bounded[mechanism.Vector], error) {
	var columns interface {
		Scores(candidates []int) mechanism.Bounded[mechanism.Vector]
	}
	var err error
	switch {
	case x.Score == ScoreTau:
		columns, err = rankAll(ctx, s, f, records)
	case len(f.Ranges) != len(f.Columns)+1:
		err = fmt.Errorf("%w: %s got %d for %d columns", ErrRanges, x.Score, len(f.Ranges), len(f.Columns)+1)
	default:
		columns, err = x.products(ctx, s, f, records)
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
