package boosting

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/memlimit"
)

// mostLearned is about the number of records that kernel stages learn from; coins choose them where there are more.
// A model has some thousand numbers: what more records would tell about them cannot be seen.
// sampleCoins is the name of the coins.
const (
	mostLearned = 1 << 24
	sampleCoins = "sample"
)

// sample goes on with about k.most of the records, if there are more. Coins choose them, with a probability that was
// released: which records of a table take part depends on no other record, so sums keep their sensitivity. What is
// released of them is scaled to all records. See docs/proofs/boosted-kernel.md, "Algorithm".
func (k *kernelBooster) sample() error {
	share := float64(k.most) / k.total
	if share >= 1 {
		return nil
	}
	k.records.Forget(k.state) // of all records; that of the sample is computed from the steps so far
	_, k.records = k.records.Deal(k.session.Coins(sampleCoins), share)
	k.spend.sampled = mechanism.Odds(share)
	k.mu *= k.spend.sampled
	k.keep(float64(k.most))
	return k.ctx.Err()
}

// leastKept is the number of cells of features up to which all are kept in memory, however little of it there is.
const leastKept = 1 << 26

// keep says that engines keep the features of about so many records. In memory they may take an eighth of it.
func (k *kernelBooster) keep(records float64) {
	k.state.held, k.state.mostCells = records, max(float64(memlimit.Available()/8/2), leastKept)
}
