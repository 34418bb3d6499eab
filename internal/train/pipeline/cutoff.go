package pipeline

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// The cutoff of two classes. A score fitted to -1 and +1 by least squares is above 0 exactly where the second
// class is the likelier one only if it can follow the share of the classes everywhere. A sum of straight lines
// cannot, and for classes of unequal size its best cutoff is not 0. The cutoff is computed from one more
// release: the number of training records of either class with a score in each of cutoffBins equal bins.
const (
	cutoffLeaf = "cutoff"
	// cutoffShare is the part of the model's mu^2 that the release takes.
	cutoffShare = .1
	cutoffBins  = 64
	// cutoffDoubt is the number of standard deviations of its noise that the gain of a cutoff must exceed;
	// otherwise the cutoff remains 0.
	cutoffDoubt = 1
)

// withCutoff is a trainer of two classes that moves the cutoff of its score.
type withCutoff struct{ oneVsRest }

// Plan prices the fit and the counts.
func (t withCutoff) Plan(f method.Facts) (budget.Node, error) {
	fit, err := t.oneVsRest.Plan(f)
	if err != nil {
		return fit, err
	}
	return budget.Sequence(
		"two-classes",
		budget.Sequence("score", fit).Scaled(1-cutoffShare),
		budget.GaussianLeaf(cutoffLeaf, cutoffShare, 1).WithStatistic(mechanism.StatHistogram),
	), nil
}

// Fit trains; see [method.Trainer].
func (t withCutoff) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	s = s.Sub("two-classes")
	out, err := t.oneVsRest.Fit(ctx, s.Sub("score"), d)
	if err != nil {
		return nil, err
	}
	model := out.Model.(*regression.Classifier)
	clampModel(model.Scores[0])
	counts, err := releaseCutoff(ctx, s, d.Records, model.Scores[0])
	if err != nil {
		return nil, err
	}
	model.Cutoff, model.Probability = counts.Cutoff, counts.probabilityCurve()
	out.Counts = (*method.ScoreCounts)(counts)
	return out, nil
}

// releaseCutoff releases the counts and computes the cutoff from them.
//
// A record in a class is in one of 2 cutoffBins cells, which depends only on that record and on the released
// score; a record in no class is in no cell. Adding or removing one record changes one cell by 1: L2
// sensitivity 1. Substitution: sqrt 2.
func releaseCutoff(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	score regression.Model,
) (*scoreCounts, error) {
	counts, err := releaseCells(
		ctx,
		s,
		cutoffLeaf,
		v,
		score,
		2*cutoffBins,
		cutoffCell{},
	)
	if err != nil {
		return nil, fmt.Errorf("cutoff: %w", err)
	}
	sigma := s.Scale(cutoffLeaf)
	return &scoreCounts{
		Counts: counts,
		Sigma:  sigma,
		Cutoff: bestCutoff(counts, sigma),
	}, nil
}

// cutoffCell is the cell of a class and a score; records in no class have no cell.
type cutoffCell struct{}

func (cutoffCell) cell(class int, score float64) int {
	if class < 2 {
		return class*cutoffBins + cutoffBin(score)
	}
	return noCell
}

// cutoffBin returns the bin of a score among equal ones of [-1, 1]. Bin b holds
// the scores above its lower end and up to its upper one, as the cutoff parts
// them.
func cutoffBin(score float64) int {
	b := math.Ceil((score+scoreRange)*(cutoffBins/(2*scoreRange))) - 1
	return int(min(max(b, 0), cutoffBins-1))
}

// bestCutoff returns the end of a bin at which the noisy counts gain most right
// predictions over the cutoff 0, less the doubt that their noise leaves: with m
// bins between the two it is sigma sqrt(2 m).
func bestCutoff(counts []float64, sigma float64) float64 {
	best := 0.
	cutoff := 0.
	for _, side := range []int{-1, 1} {
		gain := 0.
		for m := 1; m < cutoffBins/2; m++ {
			// Moving up, records of the next bin above are given to the first class;
			// moving down, those of the next one below to the second.
			b := cutoffBins/2 + m - 1
			if side < 0 {
				b = cutoffBins/2 - m
			}
			gain += float64(side) * (counts[b] - counts[cutoffBins+b])
			if sure := gain - cutoffDoubt*sigma*math.Sqrt(float64(2*m)); sure > best {
				best = sure
				cutoff = float64(side*m) * (2 * scoreRange) / cutoffBins
			}
		}
	}
	return cutoff
}
