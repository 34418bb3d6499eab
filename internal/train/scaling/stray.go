package scaling

import "slices"

// A bin of the first histogram that exceeds the threshold by chance may have any magnitude, and the range of
// its column would extend to it. With such a range of the target predictions would be absurd, and with that of a
// feature the model would treat all values of the column as equal. Over all columns this has probability at most
// [spurious]. The probability is reduced by the factor strayRarity where the harm would be largest, for a bin
// more than strayMagnitudes binary magnitudes above all other detected bins.
const (
	strayMagnitudes = 4
	strayRarity     = 1000
)

// withoutStray returns the counts with those of stray bins at 0: bins above threshold, but not
// above strict, that are far above all others above threshold in magnitude.
func (c noisyCounts) withoutStray(threshold, strict float64) noisyCounts {
	for {
		largest, next := -1, -1 // bins by magnitude; the second one is a magnitude only
		size := func(bin int) int {
			return max(bin-zeroBin, zeroBin-bin)
		}
		for b, n := range c.counts {
			switch {
			case n <= threshold:
			case largest < 0 || size(b) > size(largest):
				if largest >= 0 {
					next = size(largest)
				}
				largest = b
			default:
				next = max(next, size(b))
			}
		}
		if next < 0 ||
			size(largest)-max(next, -minExponent) <= strayMagnitudes ||
			c.counts[largest] > strict {
			return c
		}
		c.counts = slices.Clone(c.counts)
		c.counts[largest] = 0
	}
}
