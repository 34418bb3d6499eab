package selection

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// ClassScores are the scores of features for a classifier.
type ClassScores struct {
	F          []float64 // F-score of each candidate, at least 0
	Importance []float64 // its share of their sum
}

// Scores releases the class statistics once, as Select does, and returns the scores by
// which Select would order the candidates, for experiments on their precision.
func (x DPFSDR) Scores(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) (ClassScores, error) {
	d, err := x.setting().releaseStatistics(ctx, s, f, records)
	if err != nil {
		return ClassScores{}, err
	}
	return d.classScores(), nil
}

// MeanError returns the mean absolute differences of the F-scores and of the
// importances, the measure of the paper's figure 3 (equation 20). Both have one
// score a candidate.
func (a ClassScores) MeanError(b ClassScores) (f, importance float64) {
	for j := range a.F {
		f += math.Abs(a.F[j]-b.F[j]) / float64(len(a.F))
		importance += math.Abs(a.Importance[j]-b.Importance[j]) / float64(len(a.F))
	}
	return f, importance
}

// ExactScores returns the scores of the exact statistics. They are NOT private:
// for experiments on public data only. Error: [ErrRanges], or the context's.
func ExactScores(
	ctx context.Context,
	f Facts,
	v dataset.View,
) (ClassScores, error) {
	d, err := exactDiscriminant(ctx, f, v)
	if err != nil {
		return ClassScores{}, err
	}
	return d.classScores(), nil
}

// DFS is DPFSDR on exact statistics, the non-private scheme that the paper
// compares with: no limit on the rows, and no noise in the statistics or in the
// model. It is NOT private: for experiments on public data only. Errors: those
// of [DPFSDR.Plan], [ErrRanges], and the context's.
func DFS(
	ctx context.Context,
	x DPFSDR,
	f Facts,
	v dataset.View,
) ([]int, error) {
	if _, _, err := x.Plan(f); err != nil {
		return nil, err
	}
	d, err := exactDiscriminant(ctx, f, v)
	if err != nil {
		return nil, err
	}
	return x.setting().pickColumns(ctx, d)
}

func exactDiscriminant(
	ctx context.Context,
	f Facts,
	v dataset.View,
) (*discriminant, error) {
	if err := f.checkRanges(); err != nil {
		return nil, err
	}
	e := classEncoder(f)
	sums := newExactSums(len(e.Slots()), len(f.Target.Categories))
	rows := newClassRows(e, f)
	size := rowsOfBlocks(len(e.Slots()))
	for from := 0; from < v.Len(); from += size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sums.Add(rows.readBlock(v.Block(from, min(from+size, v.Len()))))
	}
	return newDiscriminant(e, len(f.Columns), sums.classMoments(), 1, 0), nil
}

func (d *discriminant) classScores() ClassScores {
	return ClassScores{d.f, d.importance}
}
