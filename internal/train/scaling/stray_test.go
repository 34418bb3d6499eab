package scaling

import (
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestStrayMagnitudes checks that a bin far above the records of a column is ignored if its count passes only the
// threshold that some empty bin passes in one run of a hundred, for features and for the target, and that it is kept
// if its count is larger, or if it is near the records.
func TestStrayMagnitudes(t *testing.T) {
	p := Private{
		Columns: []dataset.Column{{Name: "age"}, {Name: "days"}},
		Target:  1,
	}
	open := []int{0, 1}
	threshold := p.noiseThreshold(1, exponentBins*float64(len(open)))
	strict := p.noiseThreshold(1, strayRarity*exponentBins*float64(len(open)))
	if !(threshold < strict) {
		t.Fatalf("threshold %v, strict %v", threshold, strict)
	}
	for _, c := range []struct {
		name   string
		at     float64 // value of the bin besides that of the records, which are between 8 and 16
		passes float64 // largest value exceeded by its count
		kept   bool
	}{
		{"far above, by chance", 3000, threshold, false},
		{"far below 0, by chance", -3000, threshold, false},
		{"as large as the search goes", 1e19, threshold, false},
		{"far above, certain", 3000, strict, true},
		{"far below 0, certain", -3000, strict, true},
		{"near", 120, threshold, true},
		{"far smaller", 1e-6, threshold, true},
	} {
		counts := make([]float64, exponentBins)
		counts[exponentBin(10)] = 20
		counts[exponentBin(c.at)] = 1.01 * c.passes
		columns := []noisyCounts{{counts, 1}, {counts, 1}}
		for i, m := range p.readMagnitudes(columns, open, 100) {
			if kept := m.lower <= c.at && c.at <= m.upper; kept != c.kept {
				t.Errorf("%s: column %d has the range [%v, %v]", c.name, i, m.lower, m.upper)
			}
			if !(m.lower <= 10 && 10 <= m.upper) {
				t.Errorf("%s: column %d lost its records: [%v, %v]", c.name, i, m.lower, m.upper)
			}
		}
	}
}
