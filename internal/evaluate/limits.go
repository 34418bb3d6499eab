package evaluate

import (
	"math"
	"sort"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// The public edges of the bins of sizes, in half widths of the target's range:
// half octaves from 2^-12 to 64. Bin b holds the sizes above edge b-1 up to edge b;
// the first begins at 0, and the last has no end.
const (
	firstEdge = -24
	lastEdge  = 12
	sizeBins  = lastEdge - firstEdge + 2
	rangeBin  = -firstEdge     // its upper edge is 1, an end of the target's range
	widestBin = rangeBin + 2   // its upper edge is 2, the largest residual of targets in the range
	lastBin   = sizeBins - 1   // what lies beyond all edges
	halfBits  = math.Sqrt2 / 2 // an octave's half, downwards
)

// edge returns the upper edge of bin b, for the last one its lower edge.
func edge(b int) float64 {
	k := min(b, lastBin-1) + firstEdge
	if k&1 == 0 {
		return math.Ldexp(1, k>>1)
	}
	return math.Ldexp(halfBits, (k+1)>>1)
}

// sizeBin returns the bin of a size, which is not negative.
func sizeBin(size float64) uint16 {
	return uint16(sort.Search(lastBin, func(b int) bool { return size <= edge(b) }))
}

// climb returns the last bin, from k up to top, to which counts are seen: it goes a bin
// further as long as the 1, 2 or 4 bins that follow hold more than z standard
// deviations of their noise, sigma a bin. Windows end at top.
func climb(counts []float64, sigma float64, k int, z float64, top int) int {
	for k < top {
		seen := false
		for w := 1; w <= 4; w *= 2 {
			last := min(k+w, top)
			seen = seen || sum(counts[k+1:last+1]) > z*sigma*math.Sqrt(float64(w))
		}
		if !seen {
			break
		}
		k++
	}
	return k
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

// farthest returns the last bin of the farthest 1, 2, 4 or 8 bins beyond k that hold
// more than farSeen standard deviations of their noise; k if there are none.
func farthest(counts []float64, sigma float64, k int) int {
	for last := len(counts) - 1; last > k; last-- {
		for w := 1; w <= 8 && last-w >= k; w *= 2 {
			if sum(counts[last-w+1:last+1]) > farSeen*sigma*math.Sqrt(float64(w)) {
				return last
			}
		}
	}
	return k
}

// What it takes to see a record in the bins, in standard deviations. A run of noise that
// climbs far makes the sums useless, so targets, whose limit may be 64, take more.
// The most is for what lies past a gap, which is looked for in many places.
const (
	targetSeen   = 2.5
	residualSeen = 1.5
	farSeen      = 3.3
)

// limits say where targets and residuals are cut, in half widths of the target's
// range: public numbers, read from released sizes.
type limits struct {
	targetBin, residualBin int
	target, residual       float64 // at least 1; at most target + 1, which is as large as a residual gets
	far                    bool    // residuals are seen that only targets beyond their limit can have
}

// readLimits reads them from released counts. The target's limit is an end of its
// range, or farther out as far as targets are seen there. The residual's is found from
// the fullest bin on, and one bin is added: what is not quite seen matters too. Where
// residuals are seen past a gap, it is beyond these.
func readLimits(s mechanism.Sizes) limits {
	l := limits{targetBin: climb(s.Second, s.SecondNoise, rangeBin, targetSeen, lastBin)}
	l.target = edge(l.targetBin)
	from := 0
	for b, n := range s.First[:widestBin+1] {
		if n > s.First[from] {
			from = b
		}
	}
	seen := farthest(s.First, s.FirstNoise, climb(s.First, s.FirstNoise, from, residualSeen, lastBin))
	l.residualBin = min(seen+1, lastBin)
	l.residual = min(edge(l.residualBin), l.target+1)
	if seen > int(sizeBin(l.target+1)) {
		l.far, l.targetBin, l.residualBin = true, lastBin, lastBin
	}
	return l
}

// beyond returns the noisy number of targets beyond the limit and the standard
// deviation of its noise.
func (l limits) beyond(s mechanism.Sizes) (count, noise float64) {
	first := int(sizeBin(l.target)) + 1
	return sum(s.Second[first:]), s.SecondNoise * math.Sqrt(float64(sizeBins-first))
}
