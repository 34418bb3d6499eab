package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// MostRecords is the largest number of records of any run. MostNarrow is the largest number for a run with a statistic
// that is not in growths. It is also that of a table in memory, where records have 32-bit numbers.
const (
	MostRecords = 1<<35 - 1
	MostNarrow  = math.MaxInt32
)

// growths contains, by statistic, the binary logarithm of a bound on the change of any integer of the statistic by one
// record, in grid units. The integers are the cells of the accumulator and the values to which noise is added. Sums over n
// records, of any part and in any order, are within n 2^growth, so they fit into 63 bits up to n = 2^(63-growth) - 1.
// Noise is added with saturation.
//
//   - Products of two numbers within 2^14 add 2^28 at most: gram, gram entries, cross, outer, node grams, class statistics.
//   - Numbers within 2^14 are added without scaling: bin sums, value sums.
//   - Counts are shifted by 20 bits when they are released, and may weigh up to maxCountWeight: histogram, cells; tally, count, words.
//     Those of sizes weigh 3 2^19 < 2^21 at most, and those of tally entries, whose shares add up to 1 + shareSlack, 2^20 + 1 at most.
//   - Sums are clamped to maxSum 2^28 = 2^31. Square sums add at most 1 in 2^-28, and the weights of their cells are at most 1 too.
//     Square entries add at most 1.6 in 2^-28.
//
// Other statistics are not listed: their proofs, their floating-point arithmetic or their positions allow up to 2^31 records.
var growths = map[budget.Statistic]int{
	StatGram:             28,
	StatGramEntries:      28,
	StatCross:            28,
	StatOuter:            28,
	StatNodeGrams:        28,
	StatClassStatistics:  28,
	StatBinSums:          14,
	StatValueSums:        14,
	StatHistogram:        28,
	StatCells:            28,
	StatTally:            20,
	StatTallyEntries:     21,
	StatCount:            20,
	StatAlone(StatCount): 20,
	StatWords:            20,
	StatNewWords:         20,
	StatSizeCounts:       21,
	StatSizeEntries:      21,
	StatSums:             31,
	StatSquareSums:       28,
	StatSquareEntries:    29,
	StatGroupedSquares:   28,
}

// maxCountWeight is the largest weight of a column of a [Histogram].
const maxCountWeight = 1 << 8

// MostOf returns the largest number of records of a run that releases a statistic.
func MostOf(x budget.Statistic) int64 {
	growth, ok := growths[x]
	if !ok {
		return MostNarrow
	}
	return min(int64(1)<<(63-growth)-1, MostRecords, math.MaxInt)
}

// TooMany returns the error for a table with more records than most, the limit of the run.
func TooMany(path string, most int64) error {
	return &dataset.FileError{
		Path: path,
		Msg: fmt.Sprintf("has more than %d rows, for which the sums of this run are proved",
			most),
		Hint: "split it",
		Err:  dataset.ErrTooLarge,
	}
}
