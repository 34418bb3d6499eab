package boosting

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
)

// An input maps a record to a bin: the fine bin of a numeric feature, or the index, counted from 1, of the
// entry of x that is 1.
type input struct {
	List    int   // of bins; negative if it has no list
	Entries []int // of x
}

// bins returns the bins of a block whose rows and lists of fine bins are given.
func (in input) bins(x [][]int16, lists [][]uint8) []uint8 {
	if in.List >= 0 {
		return append([]uint8(nil), lists[in.List]...)
	}
	out := make([]uint8, len(lists[0]))
	for level, k := range in.Entries {
		for r, v := range x[k] {
			if v > 0 {
				out[r] = uint8(level + 1)
			}
		}
	}
	return out
}

// enter switches to the map introduced by a step.
func (k *kept) enter(m *kernelmap.Map, step int) {
	k.features = m
	k.entered = step
	k.phi = nil
	switch {
	case k.store != nil:
	case float64(m.Features())*k.held <= k.mostCells:
		k.phi = k.computed()
	default:
		k.cells = nil
	}
}

// computed returns the features of the block.
func (k *kept) computed() [][]int16 {
	n := k.n
	features := k.features.Features()
	if cap(k.cells) < n*features {
		k.cells = make([]int16, n*features)
	}
	phi := make([][]int16, features)
	for i := range phi {
		phi[i] = k.cells[i*n : (i+1)*n]
	}
	k.features.Apply(phi, k.inputBins())
	return phi
}

// eachFeature calls f with the features of successive parts of the block and the index of their first record.
func (k *kept) eachFeature(f func(phi [][]int16, from int)) {
	if k.phi == nil && k.store != nil && float64(k.features.Features())*k.held <= maxStoredCells {
		k.phi = k.storedFeatures() // reused in the rest of this pass
	}
	if k.phi != nil {
		f(k.phi, 0)
		return
	}
	part, ok := k.parts.Get().(*featurePart)
	if !ok {
		part = &featurePart{}
	}
	defer k.parts.Put(part)
	bins := k.inputBins()
	for from := 0; from < k.n; from += partRows {
		n := min(partRows, k.n-from)
		f(part.apply(k.features, bins, from, n), from)
	}
}

// partRows is the number of records whose features are computed at a time, so that they fit the cache. It is a
// multiple of the number of records that maps and sums process at a time.
const partRows = 384

// A featurePart is a buffer for features.
type featurePart struct {
	cells []int16
	phi   [][]int16
	bins  [][]uint8
}

// partStride is the distance between lists. It is not a multiple of a large power of two, which would cause
// cache conflicts between lists.
const partStride = partRows + 32

// apply returns the features of n records, valid until the next call.
func (p *featurePart) apply(
	m *kernelmap.Map,
	bins [][]uint8,
	from, n int,
) [][]int16 {
	features := m.Features()
	if len(p.cells) < features*partStride {
		p.cells = make([]int16, features*partStride)
	}
	p.phi = p.phi[:0]
	p.bins = p.bins[:0]
	for i := range features {
		p.phi = append(p.phi, p.cells[i*partStride:][:n])
	}
	for _, list := range bins {
		p.bins = append(p.bins, list[from:from+n])
	}
	m.Apply(p.phi, p.bins)
	return p.phi
}

// kernelStatistic is the sum of phi g, with phi the features of the current map, whose length is at most 1, and
// g the residual clamped to [-Clip, Clip].
type kernelStatistic struct {
	Of       *state
	Features int
	Clip     float64
}

// State implements [mechanism.Stateful].
func (x kernelStatistic) State() mechanism.State {
	return x.Of
}

// BlockRows is the number of records of a block.
func (kernelStatistic) BlockRows() int {
	return blockRows
}

// New implements [mechanism.Statistic]. The cross product limits every record to length 1 again, in integers,
// so the sensitivity does not depend on the rounding of a map.
func (x kernelStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &kernelPass{
		maker: m,
		cross: m.NewCross(x.Features, 1, x.Clip),
	}
}

type kernelPass struct {
	maker mechanism.Maker
	cross *mechanism.Cross
	g     []float64
}

func (p *kernelPass) Add(b mechanism.Block) {
	k := b.Kept.(*kept)
	p.g = k.residuals(p.g)
	k.eachFeature(func(phi [][]int16, from int) {
		p.cross.Add(p.plantLength(phi), p.g[from:][:len(phi[0])])
	})
}

func (p *kernelPass) Cells() mechanism.Cells {
	return p.cross.Cells()
}
