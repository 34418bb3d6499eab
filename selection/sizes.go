package selection

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// ErrSizes is returned at plan time for a list of sizes that is not increasing,
// has fewer than two, or leaves [1, number of candidates].
var ErrSizes = errors.New("the sizes to try must be two or more, increasing, and no more than the columns")

// A Sizer is a selector that can leave the number of features to what comes after
// it: with a list of sizes it releases an order, and its stage in a pipeline trains on the
// first columns of it, as many as one of the sizes says, which a private selection
// chooses (docs/proofs/dpfsdr.md, "Private selection of the size"). Without that it chooses
// itself; with sizes, Select returns as many columns as the largest.
type Sizer interface {
	Selector
	// SizeList returns the sizes to try, increasing, or nil.
	SizeList() []int
	// Ranked is Select with the chosen candidates in their order, the best first: as
	// many as the largest size.
	Ranked(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error)
}

// SizeList returns x.Sizes.
func (x DPFSDR) SizeList() []int { return x.Sizes }

// SizeList returns x.Sizes.
func (x DPFS) SizeList() []int { return x.Sizes }

// SizeList returns x.Sizes.
func (x CRFS) SizeList() []int { return x.Sizes }

// Ranked returns the candidates in the order of dynamic relevance; see [Sizer].
func (x DPFSDR) Ranked(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().rank(ctx, s, f, records)
}

// Ranked returns the candidates by falling F-score; see [Sizer].
func (x DPFS) Ranked(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().rank(ctx, s, f, records)
}

// Ranked returns the candidates by falling F-score, without those that are
// correlated with better ones; see [Sizer].
func (x CRFS) Ranked(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	return x.setting().rank(ctx, s, f, records)
}

func (x classSetting) rank(ctx context.Context, s *mechanism.Session, f Facts, records mechanism.Records) ([]int, error) {
	d, err := x.release(ctx, s, f, records)
	if err != nil {
		return nil, err
	}
	return x.ranked(d), nil
}

// mostOf is the largest number of features of a choice of k, or of a list of sizes.
func mostOf(k int, sizes []int) int {
	switch {
	case len(sizes) > 0:
		return sizes[len(sizes)-1]
	case k == 0:
		return defaultMost
	}
	return k
}

// increasing reports whether there are two sizes or more, from 1 to most.
func increasing(sizes []int, most int) bool {
	for i, n := range sizes {
		if n < 1 || n > most || i > 0 && n <= sizes[i-1] {
			return false
		}
	}
	return len(sizes) > 1
}
