package evaluate

import (
	"math"
	"slices"
	"sort"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Prediction intervals y = prediction +- half width, by split conformal prediction on the released counts of
// residuals. The first release determines the octaves in which intervals may end; the second counts the
// residuals of these octaves in narrow bins.
const (
	// halfMiss is the probability that noise makes an interval too narrow.
	halfMiss = .025
	twoSided = 1.959964 // the normal quantile of 1 - halfMiss
	// guessZ is the number of standard deviations of its noise that the first guess allows for.
	guessZ = 2.2
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
func halfWidths(a mechanism.Squares, o octaves, strength float64) []HalfWidth {
	var out []HalfWidth
	for _, x := range intervalLevels() {
		if strength < x.least {
			continue
		}
		if q, ok := o.scanEdges(a, 1-x.level); ok {
			out = append(out, HalfWidth{x.level, q})
		}
	}
	return out
}

// guessBin returns the smallest bin above whose upper edge there seem to be at most the share alpha of the residuals.
func guessBin(sizes mechanism.Sizes, alpha float64) int {
	n := sumOf(sizes.First)
	for b := lastBin - 1; b >= 0; b-- {
		// The counts above are in the sum with 1 - alpha, the others with -alpha, as part of n.
		over := float64(lastBin - b)
		noise := sizes.FirstNoise * math.Sqrt(over*square(1-alpha)+(sizeBins-over)*square(alpha))
		if sumOf(sizes.First[b+1:])-alpha*(n+1)+1+guessZ*noise > 0 {
			return b + 1
		}
	}
	return 0
}

// widestInterval is the bin whose upper edge, 4, is the widest interval of prediction.
const widestInterval = rangeBin + 4

// octaves are the bins of sizes that the second release divides into parts, in increasing order: for each level
// the guessed bin and those below it, and the bins between.
type octaves []int

const (
	// parts is the number of parts of equal ratio of a bin: thirty-seconds of an octave.
	parts = 16
	// depth is the number of bins that are divided per level.
	depth = 6
)

// readOctaves chooses the octaves from the first release. The last ends at or below the limit of residuals,
// because the cells are paid for by the budget of squares that residuals in cells leave. The first bin, which
// starts at 0, is not divided.
func readOctaves(sizes mechanism.Sizes, l limits) octaves {
	highest := min(int(sizeBin(l.residual)), widestInterval)
	if upperEdge(highest) > l.residual {
		highest--
	}
	first, last := sizeBins, 0
	for _, x := range intervalLevels() {
		top := min(guessBin(sizes, 1-x.level), highest)
		first = min(first, top-depth+1)
		last = max(last, top)
	}
	var o octaves
	for b := max(first, 1); b <= last; b++ {
		o = append(o, b)
	}
	return o
}

// lastBin returns the last of the bins; there is one.
func (o octaves) lastBin() int {
	return o[len(o)-1]
}

// cellGroups returns the cells of the second release: one for the sizes above all these bins, and a group of parts per bin.
func (o octaves) cellGroups() mechanism.CellGroups {
	if len(o) == 0 {
		return mechanism.CellGroups{}
	}
	return mechanism.CellGroups{
		Groups: len(o),
		Parts:  parts,
	}
}

// cellOf returns the cell of a size, or [mechanism.NoSize] if it is in no cell.
func (o octaves) cellOf(size float64) uint16 {
	b := int(sizeBin(size))
	if len(o) > 0 && b > o.lastBin() {
		return 0
	}
	i, ok := slices.BinarySearch(o, b)
	if !ok {
		return mechanism.NoSize
	}
	return uint16(1 + i*parts + sort.Search(parts-1, func(k int) bool {
		return size <= partEdge(b, k)
	}))
}

// partEdge returns the upper edge of part k of bin b >= 1.
func partEdge(b, k int) float64 {
	if k == parts-1 {
		return upperEdge(b)
	}
	return upperEdge(b-1) * partRatios[k]
}

// partRatios are 2^((k+1)/32), as decimals so that they are the same on every machine.
var partRatios = [parts - 1]float64{
	1.02189714865411667823,
	1.04427378242741384032,
	1.06714040067682361817,
	1.09050773266525765921,
	1.11438674259589253631,
	1.13878863475669165370,
	1.16372485877757751381,
	1.18920711500272106672,
	1.21524735998046887812,
	1.24185781207348404859,
	1.26905095719173322255,
	1.29683955465100966593,
	1.32523664315974129463,
	1.35425554693689272830,
	1.38390988196383195487,
}

// scanEdges returns the smallest edge q of a part, from the last one downwards, such that, for a new record that is
// exchangeable with the held-out ones,
//
//	P(|y - prediction| <= q) >= 1 - alpha - halfMiss,
//
// and false if this is not known for the last edge.
//
// Proof. Given the first release the edges are fixed. With n held-out records let e* be the smallest edge of
// any bin or part with at most alpha (n+1) - 1 residuals above it; split conformal prediction gives P(|y -
// prediction| <= e*) >= 1 - alpha (V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random
// world", 2005). The scan proceeds downwards from the last edge and stops at the first that fails. So it ends
// below e* only if one fixed edge passes, the next one below e* or, if e* is beyond it, the last one, although
// the exact statistic there is above 0: the noise of the second release, whose standard deviation
// [octaves.countAbove] returns, must be less than -twoSided times it, which has probability halfMiss. The proof
// needs neither a union bound over edges nor an assumption on the distribution of the residuals. ∎
func (o octaves) scanEdges(
	a mechanism.Squares,
	alpha float64,
) (q float64, ok bool) {
	for _, b := range slices.Backward(o) {
		for k := parts - 1; k >= 0; k-- {
			n := o.countAbove(a, b, k)
			if n.Value-alpha*(a.Count+1)+1+twoSided*math.Hypot(n.Sigma, alpha*a.CountNoise) > 0 {
				return q, ok
			}
			q = partEdge(b, k)
			ok = true
		}
	}
	return q, ok
}

// countAbove returns the noisy number of sizes above part k of bin b, from the second release only: those of the far
// cell and of the nodes, those of the bins between, and those of the bin itself. For the last there are two
// estimates, the parts above and the whole minus the parts below, with weights 1/variance.
func (o octaves) countAbove(a mechanism.Squares, b, k int) Count {
	value := a.Cells[0] + sumOf(a.Nodes)
	variance := square(a.FarNoise) + float64(len(a.Nodes))*square(a.NodeNoise)
	at, _ := slices.BinarySearch(o, b)
	for i := at + 1; i < len(o); i++ {
		value, variance = value+a.Groups[i], variance+square(a.CellNoise)
	}
	cells := a.Cells[1+at*parts:][:parts]
	below := k + 1
	if below < parts {
		inside := combineCounts(
			Count{sumOf(cells[below:]), a.CellNoise * math.Sqrt(float64(parts-below))},
			Count{a.Groups[at] - sumOf(cells[:below]), a.CellNoise * math.Sqrt(float64(1+below))})
		value, variance = value+inside.Value, variance+square(inside.Sigma)
	}
	return Count{value, math.Sqrt(variance)}
}
