package mechanism

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
)

// Buckets is a function that is called with consecutive buckets: the number of the first one, and the
// records of each in the order of the table. The records are valid until it returns.
type Buckets func(first int, records []dataset.View) error

// Buckets assigns every record to one of m buckets, 1 <= m < 2^31, by its own coin. It calls each with all
// buckets in order, as many at a time as the engine chooses. It returns [ErrGather] if the engine has no
// buckets. Other errors are those of the engine, the context and each.
func (r Records) Buckets(ctx context.Context, coins Coins, m int, each Buckets) error {
	buckets := CapabilitiesOf(r.engine).Buckets
	if buckets == nil {
		return ErrGather
	}
	return buckets(ctx, r.part, coins, m, each)
}

// Split returns the records of the buckets first to last-1 of m. All records of v must be in these
// buckets. It uses all cores. The only error is that of the context.
func (c Coins) Split(ctx context.Context, v dataset.View, m, first, last int) ([]dataset.View, error) {
	bucket := make([]int32, v.Len())
	err := dataset.ForEach(ctx, v, 0, func(b dataset.Block, start int) {
		for k := range b.Len() {
			bucket[start+k] = int32(c.Uniform(b.ID(k), m) - first)
		}
	})
	if err != nil {
		return nil, err
	}
	row := -1
	return v.Split(last-first, func(uint64) int { // called in row order
		row++
		return int(bucket[row])
	}), nil
}
