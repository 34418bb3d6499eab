package kendall

import (
	"math/bits"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

const (
	leafBits  = 10 // a leaf counts the ascents among 2^leafBits places
	digitBits = 9  // a split is by 2^digitBits buckets
	digits    = 1 << digitBits
	chunkSize = 255 // elements that 8-bit counters can count
)

// A word of counters holds in lane c how many elements went to lanes below c.
// Adding such a constant, shifted by d lanes, counts an element of lane d.
const (
	lanes8  = 0x0101010101010100 // 8 lanes of 8 bits
	lanes16 = 0x0001000100010000 // 4 lanes of 16 bits
)

// countAscents returns the number of pairs i < j with p[i] < p[j], where p is a
// permutation of 0..len(p)-1. It destroys p and work, of the same length.
func countAscents(p, work []uint32) int64 {
	if len(p) <= 1<<leafBits {
		return leafAscents(p)
	}
	shift := splitShift(len(p))
	return newSplit(shift).countAscents(p, work) + ascentsInDigits(work, p, shift, 0, digits)
}

// ascentsWith is ascents by several goroutines. Each splits a part of p, once it is known how many elements of each digit
// are in those before, and then takes some of the digits.
func ascentsWith(workers int, p, work []uint32) int64 {
	if workers == 1 || len(p) <= 1<<leafBits {
		return countAscents(p, work)
	}
	shift := splitShift(len(p))
	splits := make([]*split, workers)
	totals := make([]int64, workers)
	runParallel(workers, func(k int) {
		splits[k] = newSplit(shift)
		if k+1 < workers {
			splits[k].countBuckets(chunkOf(p, k, workers))
		}
	})
	for k := range splits[1:] {
		splits[k+1].splitByParent(splits[k])
	}
	runParallel(workers, func(k int) {
		totals[k] = splits[k].countAscents(chunkOf(p, k, workers), work)
	})
	runParallel(workers, func(k int) {
		totals[k] += ascentsInDigits(
			work,
			p,
			shift,
			digits*k/workers,
			digits*(k+1)/workers,
		)
	})
	total := int64(0)
	for _, t := range totals {
		total += t
	}
	return total
}

// chunkOf returns part k of parts equal parts of p.
func chunkOf(p []uint32, k, parts int) []uint32 {
	return p[len(p)*k/parts : len(p)*(k+1)/parts]
}

// runParallel calls f for every k below workers, each in a goroutine.
func runParallel(workers int, f func(k int)) {
	var wait parallel.Group
	for k := range workers {
		wait.Go(func() { f(k) })
	}
	wait.Wait()
}

// ascentsInDigits returns the ascents within each of the digits from first to last-1 in p, which a split has written.
func ascentsInDigits(p, work []uint32, shift uint, first, last int) int64 {
	total := int64(0)
	for from := first << shift; from < min(last<<shift, len(p)); from += 1 << shift {
		to := min(from+1<<shift, len(p))
		total += countAscents(p[from:to], work[from:to])
	}
	return total
}

// splitShift returns the number of bits left to each digit of n elements.
func splitShift(n int) uint {
	return uint(max(leafBits, bits.Len(uint(n-1))-digitBits))
}

// split counts the ascents of the digits p[i]>>shift of a permutation and moves the other bits of its elements to
// work, grouped by digit and in their old order within each digit. Digit d starts at d<<shift, and its remaining bits
// are a permutation again.
type split struct {
	shift  uint
	next   [digits]uint32 // where in work the next element of a digit goes
	before [digits]uint32 // elements of a lower digit, in the chunks before this one
	// For this chunk, a tree of words of counters, three bits of the digit a
	// level. Its root is a local variable of ascents.
	mid [8]uint64
	low [64]uint64

	counts [digits]uint32 // elements of each digit in a part, for the split of what follows
}

func newSplit(shift uint) *split {
	s := &split{shift: shift}
	for d := range s.next {
		s.next[d] = uint32(d) << (shift & 31)
	}
	return s
}

// countBuckets counts the digits of a part.
func (s *split) countBuckets(p []uint32) {
	for _, v := range p {
		s.counts[v>>(s.shift&31)%digits]++
	}
}

// splitByParent prepares s to split the part that comes after the part of o. It must be called before o starts. The elements of
// s are placed after those of o and of its predecessors, and are counted as larger.
func (s *split) splitByParent(o *split) {
	lower := uint32(0)
	for d, count := range o.counts {
		s.next[d], s.before[d] = o.next[d]+count, o.before[d]+lower
		lower += count
	}
}

// countAscents returns how many pairs of an element before p or in p and a later
// one in p have digits in ascending order.
func (s *split) countAscents(p, work []uint32) int64 {
	shift, rest, total := s.shift, uint32(1)<<(s.shift&31)-1, uint64(0)
	for len(p) > 0 {
		chunk := p[:min(chunkSize, len(p))]
		p = p[len(chunk):]
		root := uint64(0)
		for _, v := range chunk {
			d := v >> (shift & 31) % digits
			a := 8 * (d >> 6) & 63
			b := 8 * (d >> 3) & 63
			c := 8 * d & 63
			mid := &s.mid[d>>6]
			low := &s.low[d>>3]
			e := &s.next[d]
			total += uint64(s.before[d]) + root>>a&255 + *mid>>b&255 + *low>>c&255
			root += lanes8 << a
			*mid += lanes8 << b
			*low += lanes8 << c
			work[*e] = v & rest
			*e++
		}
		s.foldCounts(root)
	}
	return int64(total)
}

// foldCounts adds the counts of a chunk to before and clears them.
func (s *split) foldCounts(root uint64) {
	for g, w := range s.low {
		base := uint32(root>>(g&^7)&255 + s.mid[g>>3]>>(8*g&63)&255)
		b := (*[8]uint32)(s.before[8*g:])
		b[0] += base
		b[1] += base + uint32(w>>8&255)
		b[2] += base + uint32(w>>16&255)
		b[3] += base + uint32(w>>24&255)
		b[4] += base + uint32(w>>32&255)
		b[5] += base + uint32(w>>40&255)
		b[6] += base + uint32(w>>48&255)
		b[7] += base + uint32(w>>56)
	}
	s.mid = [8]uint64{}
	s.low = [64]uint64{}
}

// leafAscents is ascents for at most 2^leafBits elements: a set of bits for the last six, below two
// levels of words of counters for the others.
func leafAscents(p []uint32) int64 {
	var (
		set   [16]uint64
		mid   [4]uint64
		root  uint64
		total uint64
	)
	for _, v := range p {
		w := v >> 6 & 15
		a, b := 16*(w>>2)&63, 16*w&63
		words := &set[w]
		m := &mid[w>>2]
		bit := uint64(1) << (v & 63)
		total += root>>a&0xffff + *m>>b&0xffff + uint64(bits.OnesCount64(*words&(bit-1)))
		root += lanes16 << a
		*m += lanes16 << b
		*words |= bit
	}
	return int64(total)
}
