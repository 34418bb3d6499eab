package testkit

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// FalseAlarm is the probability with which [CheckChiSquare] fails a correct sampler on a fresh stream. Streams of tests have
// fixed keys, so the tests are deterministic.
const FalseAlarm = 1e-7

// minExpected is the smallest expected count of a cell.
const minExpected = 10

// CheckChiSquare fails the test if counts differ from their expected values by more than chance explains. It merges
// neighbouring cells until each has an expected count of at least 10.
func CheckChiSquare(t testing.TB, counts, expected []float64) {
	t.Helper()
	var statistic, count, mean float64
	cells := 0
	for i := range counts {
		count += counts[i]
		mean += expected[i]
		if mean >= minExpected {
			statistic += (count - mean) * (count - mean) / mean
			cells++
			count = 0
			mean = 0
		}
	}
	if cells < 2 {
		t.Fatalf("only %d cells: the test could not fail", cells)
	}
	limit := distuv.ChiSquared{K: float64(cells - 1)}.Quantile(1 - FalseAlarm)
	if statistic > limit {
		t.Errorf("chi-square %.1f over %d cells, limit %.1f", statistic, cells, limit)
	}
}
