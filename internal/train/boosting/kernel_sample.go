package boosting

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/ram"
)

// mostLearned is the approximate maximum number of records that kernel stages learn from; a coin decides about
// each if there are more. A model has a few thousand numbers, and further records would not improve them
// noticeably. sampleCoins is the name of the coins.
const (
	mostLearned = 1 << 24
	sampleCoins = "sample"
)

// sample restricts the stages to about k.most records, if there are more. Coins choose them, with a probability
// computed from a release: whether a record takes part does not depend on other records, so sums keep their
// sensitivity. Releases are scaled to all records. See docs/proofs/boosted-kernel.md, "Algorithm".
func (k *kernelBooster) sample() error {
	share := float64(k.most) / k.total
	if share >= 1 {
		return nil
	}
	k.records.Forget(k.state) // of all records; that of the sample is recomputed from the steps so far
	_, k.records = k.records.Deal(k.session.Coins(sampleCoins), share)
	k.spend.sampled = mechanism.Odds(share)
	k.mu *= k.spend.sampled
	k.requestFeatureCache(float64(k.most))
	return k.ctx.Err()
}

// leastKept is the number of cells of features that are always kept in memory, however little memory there is.
const leastKept = 1 << 26

// requestFeatureCache lets engines keep the features of about that many records, in at most an eighth of the memory.
func (k *kernelBooster) requestFeatureCache(records float64) {
	k.state.held, k.state.mostCells = records, max(float64(ram.Available()/8/2), leastKept)
}
