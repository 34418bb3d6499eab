package selection

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// ErrSizes is returned at plan time for a list of sizes that is not increasing,
// has fewer than two, or leaves [1, number of candidates].
var ErrSizes = errors.New(
	"the sizes to try must be two or more, increasing, and no more than the columns")

// A Sizer is a selector that can leave the number of features to later stages. With a
// list of sizes it releases an order of columns, and a private selection chooses the size
// (docs/proofs/dpfsdr.md, "Private selection of the size"); the model is trained on the
// first columns of the order. Without a list it chooses the number itself. With a list,
// Select returns the number of columns of the largest size.
type Sizer interface {
	Selector
	// SizeList returns the sizes to try, increasing, or nil.
	SizeList() []int
	// Ranked is Select with the chosen candidates in order, the best first. Their number
	// is the largest size.
	Ranked(
		ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records,
	) ([]int, error)
}

// SizeList returns x.Sizes.
func (x DPFSDR) SizeList() []int {
	return x.Sizes
}

// SizeList returns x.Sizes.
func (x DPFS) SizeList() []int {
	return x.Sizes
}

// SizeList returns x.Sizes.
func (x CRFS) SizeList() []int {
	return x.Sizes
}

// Ranked returns the candidates in the order of dynamic relevance; see [Sizer].
func (x DPFSDR) Ranked(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().releaseRanked(ctx, s, f, records)
}

// Ranked returns the candidates by falling F-score; see [Sizer].
func (x DPFS) Ranked(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().releaseRanked(ctx, s, f, records)
}

// Ranked returns the candidates by falling F-score, without those that are
// correlated with better ones; see [Sizer].
func (x CRFS) Ranked(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	return x.setting().releaseRanked(ctx, s, f, records)
}

func (x classSetting) releaseRanked(
	ctx context.Context,
	s *mechanism.Session,
	f Facts,
	records mechanism.Records,
) ([]int, error) {
	d, err := x.releaseStatistics(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	return x.rankedColumns(d), nil
}

// mostFeatures returns the largest number of features of a choice of k, or of a list of sizes.
func mostFeatures(k int, sizes []int) int {
	switch {
	case len(sizes) > 0:
		return sizes[len(sizes)-1]
	case k == 0:
		return defaultMost
	}
	return k
}

// isIncreasing reports whether there are two sizes or more, from 1 to most.
func isIncreasing(sizes []int, most int) bool {
	for i, n := range sizes {
		if n < 1 || n > most || i > 0 && n <= sizes[i-1] {
			return false
		}
	}
	return len(sizes) > 1
}
