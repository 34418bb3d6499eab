package kendall

import "math/bits"

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

// ascents returns the number of pairs i < j with p[i] < p[j], where p is a
// permutation of 0..len(p)-1. It destroys p and work, of the same length.
func ascents(p, work []uint32) int64 {
	width := bits.Len(uint(max(len(p), 1) - 1))
	if width <= leafBits {
		return leafAscents(p)
	}
	shift := max(leafBits, width-digitBits)
	total := splitAscents(p, work, uint(shift))
	for from := 0; from < len(p); from += 1 << shift {
		to := min(from+1<<shift, len(p))
		total += ascents(work[from:to], p[from:to])
	}
	return total
}

// splitAscents returns the number of ascents of the digits p[i]>>shift and
// moves the other bits of the elements to work, by digits and in their old
// order for each digit. As p is a permutation, digit d begins at d<<shift, and
// what it is left with is a permutation again.
func splitAscents(p, work []uint32, shift uint) int64 {
	var (
		t     digitCounts
		next  [digits]uint32
		rest  = uint32(1)<<(shift&31) - 1
		total uint64
	)
	for d := range next {
		next[d] = uint32(d) << (shift & 31)
	}
	for len(p) > 0 {
		chunk := p[:min(chunkSize, len(p))]
		p = p[len(chunk):]
		root := uint64(0)
		for _, v := range chunk {
			d := v >> (shift & 31) % digits
			a, b, c := 8*(d>>6)&63, 8*(d>>3)&63, 8*d&63
			mid, low := &t.mid[d>>6], &t.low[d>>3]
			total += uint64(t.before[d]) + root>>a&255 + *mid>>b&255 + *low>>c&255
			root += lanes8 << a
			*mid += lanes8 << b
			*low += lanes8 << c
			e := &next[d]
			work[*e] = v & rest
			*e++
		}
		t.fold(root)
	}
	return int64(total)
}

// digitCounts tells how many elements had a digit below a given one: before
// for those of the chunks before this one, and for this chunk a tree of words
// of counters, three bits of the digit a level. Its root is a local variable
// of splitAscents.
type digitCounts struct {
	before [digits]uint32
	mid    [8]uint64
	low    [64]uint64
}

// fold adds the counts of a chunk to before and clears them.
func (t *digitCounts) fold(root uint64) {
	for g, w := range t.low {
		base := uint32(root>>(g&^7)&255 + t.mid[g>>3]>>(8*g&63)&255)
		b := (*[8]uint32)(t.before[8*g:])
		b[0] += base
		b[1] += base + uint32(w>>8&255)
		b[2] += base + uint32(w>>16&255)
		b[3] += base + uint32(w>>24&255)
		b[4] += base + uint32(w>>32&255)
		b[5] += base + uint32(w>>40&255)
		b[6] += base + uint32(w>>48&255)
		b[7] += base + uint32(w>>56)
	}
	t.mid, t.low = [8]uint64{}, [64]uint64{}
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
		words, m, bit := &set[w], &mid[w>>2], uint64(1)<<(v&63)
		total += root>>a&0xffff + *m>>b&0xffff + uint64(bits.OnesCount64(*words&(bit-1)))
		root += lanes16 << a
		*m += lanes16 << b
		*words |= bit
	}
	return int64(total)
}
