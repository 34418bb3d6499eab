package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// The intervals of prediction y = prediction +- half width, by split conformal
// prediction on the released counts of residuals.
const (
	// halfMiss is the probability that noise makes an interval too narrow.
	halfMiss = .025
	twoSided = 1.959964 // the normal quantile of 1 - halfMiss
)

// intervalLevels are the levels at which intervals are released, with the smallest n mu at
// which they are: below, they are several times too wide.
func intervalLevels() []struct{ level, least float64 } {
	return []struct{ level, least float64 }{{.9, 200}, {.95, 450}}
}

// A HalfWidth is a half width of an interval of prediction.
type HalfWidth struct {
	Level     float64 `json:"level"`
	HalfWidth float64 `json:"half_width"` // in units of the target, > 0
}

// halfWidths returns the half widths that may be published, in half widths of the
// target's range.
func halfWidths(sizes mechanism.Sizes, a mechanism.Squares, strength float64) []HalfWidth {
	var out []HalfWidth
	for _, x := range intervalLevels() {
		if strength < x.least {
			continue
		}
		if b, ok := scan(sizes, a, 1-x.level); ok {
			out = append(out, HalfWidth{x.level, edge(b)})
		}
	}
	return out
}

// scan returns the smallest bin whose upper edge q satisfies, for a fresh record that is
// exchangeable with the held-out ones,
//
//	P(|y - prediction| <= q) >= 1 - alpha - halfMiss - P(|y - prediction| > edge 4),
//
// and false where the widest edge does not.
//
// Proof. With n held-out records let e* be the smallest edge with at most
// alpha (n+1) - 1 residuals above it; split conformal prediction gives
// P(|y - prediction| <= e*) >= 1 - alpha (V. Vovk, A. Gammerman and G. Shafer,
// "Algorithmic learning in a random world", 2005). The scan goes down from
// edge 4 and stops at the first edge that fails, so it ends below e* only if the one
// edge just below e* passes, though the exact statistic there is above 0: noise of
// standard deviation at most that under the root must be below
// -twoSided of it, a probability of halfMiss. Neither a union over edges nor a law of the
// residuals is assumed. Counts end at edge 4, so what lies beyond it adds to the miss.
func scan(sizes mechanism.Sizes, a mechanism.Squares, alpha float64) (bin int, ok bool) {
	bin = coverBin
	for b := coverBin - 1; b >= 0; b-- {
		if above(sizes, a, alpha, b) > 0 {
			break
		}
		bin = b
	}
	return bin, bin < coverBin
}

// above returns the statistic of [scan] at the upper edge of bin b.
func above(sizes mechanism.Sizes, a mechanism.Squares, alpha float64, b int) float64 {
	noise := sq(sizes.FirstNoise)*float64(coverBin-b) + sq(alpha*a.CountNoise)
	return sum(sizes.First[b+1:coverBin+1]) - alpha*(a.Count+1) + 1 + twoSided*math.Sqrt(noise)
}
