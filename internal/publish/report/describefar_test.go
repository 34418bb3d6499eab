package report

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/describe"
)

// TestColumnLineOfFarValues checks that the line of a column states the shares of records beyond its range that are certainly
// large.
func TestColumnLineOfFarValues(t *testing.T) {
	estimate := func(value, reach float64) describe.Estimate {
		lower, upper := value-reach, value+reach
		return describe.Estimate{Value: &value, Lower: &lower, Upper: &upper}
	}
	c := describe.ColumnCard{
		Name:      "pay",
		Kind:      describe.Numeric,
		Range:     []float64{0, 10},
		Mean:      estimate(3, 1),
		Bins:      &describe.Bins{Edges: make([]float64, 65), Counts: make([]float64, 64)},
		Below:     estimate(10, 10),
		Above:     estimate(50, 10),
		Quartiles: []describe.Estimate{estimate(1, 0), estimate(2, 0), estimate(3, 0)},
	}
	for records, want := range map[float64]string{
		1000:   "0 to 10  5% above  mean 3",
		100:    "0 to 10  50% above  mean 3",
		10_000: "0 to 10  mean 3",
	} {
		if got := columnLine(c, 3, records); !strings.Contains(got, want) {
			t.Errorf("%v records: %q", records, got)
		}
	}
}
