package kendall

import (
	"math/bits"
	"slices"
	"unsafe"
)

const (
	rowBits       = 32      // an item is estimate<<rowBits | row
	maxBinBits    = 16      // bins of the histogram of keys, log2
	maxBucketBits = 10      // streams that one scatter writes, log2: their lines fit the caches
	itemsLog      = 9       // items that a bucket is meant to hold, log2
	maxDigitBits  = 10      // a digit that a bucket is sorted by
	manyItems     = 1 << 12 // a bucket of more is sorted by all digits
	crowded       = 12      // places that insertion moves an item by on average, at most
)

// sorter finds the order of a column of keys. It keeps its working memory, 16
// bytes a row and at most 264 KiB, from call to call.
//
// A histogram of the leading bits, those from the first in which keys differ,
// is read as the distribution function of the keys, linear within a bin. Scaled
// to 32 bits it estimates the rank of a key and is monotone in it, so items
// (estimate, row) can be sorted in place of keys: they are half as large, and
// spread evenly over the buckets of a scatter whatever the distribution. Keys
// of equal estimate share a bin, that is maxBinBits leading bits in a long
// column; they are equal, or few, or rarely many, and then sorted by the same
// method on the bits that are left.
type sorter struct {
	floats      []float64 // the column: one of these three
	codes       []int32
	plain       []uint64
	items       []uint64
	sorted      []uint64
	low, high   uint64 // least and greatest key
	bins        []uint32
	lows, highs [1 << maxDigitBits]uint32 // where the next item of a digit goes
	deeper      *sorter                   // for long runs of different keys with one estimate
	room        []uint64                  // of such a sorter, for its keys
}

// growBuffers makes room for n rows.
func (s *sorter) growBuffers(n int) {
	s.items, s.sorted = roomFor(s.items, n), roomFor(s.sorted, n)
}

// roomFor returns s with length n, its content unspecified.
func roomFor(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	return s[:n]
}

// bufferHalves returns room for two lists of n numbers, where items were before.
func (s *sorter) bufferHalves(n int) (a, b []uint32) {
	s.items = roomFor(s.items, n)
	both := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(s.items))), 2*n)
	return both[:n:n], both[n:]
}

func (s *sorter) rowCount() int {
	return len(s.floats) + len(s.codes) + len(s.plain)
}

// sortKey returns the key of a row.
func (s *sorter) sortKey(row uint32) uint64 {
	switch {
	case s.plain != nil:
		return s.plain[row]
	case s.codes != nil:
		return codeKey(s.codes[row])
	}
	return floatKey(s.floats[row])
}

// loadKeys sets sorted to the keys, which stay there until the items are sorted.
func (s *sorter) loadKeys() {
	low, high := ^uint64(0), uint64(0)
	keys := s.sorted
	for i, v := range s.floats {
		k := floatKey(v)
		keys[i] = k
		low, high = min(low, k), max(high, k)
	}
	for i, c := range s.codes {
		k := codeKey(c)
		keys[i] = k
		low, high = min(low, k), max(high, k)
	}
	for i, k := range s.plain {
		keys[i] = k
		low, high = min(low, k), max(high, k)
	}
	s.low = low
	s.high = high
}

// sortRows sets sorted to the items in ascending order of (estimate, row), and fills r with them.
func (s *sorter) sortRows(r *Ranks) {
	var ends [1 << maxBucketBits]uint32
	bucketBits := min(max(bits.Len(uint(len(s.sorted)))-itemsLog, 0), maxBucketBits)
	shift := uint(rowBits - bucketBits)
	s.estimateBuckets(&ends, shift)
	if bucketBits == 0 { // few items are one bucket: no scatter
		s.items, s.sorted = s.sorted, s.items
		if !oneEstimate(s.sorted) {
			s.sortItems(s.sorted, s.items, 2*rowBits)
		}
		s.fillRanks(r, 0, len(s.sorted))
		return
	}
	countsToStarts(ends[:1<<bucketBits])
	sorted := s.sorted
	for _, item := range s.items {
		e := &ends[item>>rowBits>>(shift&63)%(1<<maxBucketBits)]
		sorted[*e] = item
		*e++
	}
	from := uint32(0)
	for _, to := range ends[:1<<bucketBits] {
		if !oneEstimate(sorted[from:to]) {
			s.sortItems(sorted[from:to], s.items[from:to], rowBits+int(shift))
		}
		s.fillRanks(r, int(from), int(to))
		from = to
	}
}

// estimateBuckets sets items[i] to the estimate of key i and i, and counts in ends
// the items of each bucket estimate>>bucketShift.
func (s *sorter) estimateBuckets(
	ends *[1 << maxBucketBits]uint32,
	bucketShift uint,
) {
	shift := s.countDigits()
	fraction := uint(rowBits - bits.Len(uint(len(s.sorted)-1))) // bits of an estimate after the point
	low := s.low
	bins := s.bins
	items := s.items[:len(s.sorted)]
	for i, k := range s.sorted {
		d := k - low
		bin := bins[d>>(shift&63):][:2]
		first := uint64(bin[0])
		next := uint64(bin[1])
		inBin, _ := bits.Mul64(d<<1<<(63-shift&63), (next-first)<<(fraction&63))
		e := first<<(fraction&63) + inBin
		items[i] = e<<rowBits | uint64(i)
		ends[e>>(bucketShift&63)%(1<<maxBucketBits)]++
	}
}

// countDigits sets bins[b] to the number of keys in bins before b and returns
// the shift that takes key-low to its bin.
func (s *sorter) countDigits() (shift uint) {
	width := bits.Len64(s.high - s.low)
	binBits := min(width, maxBinBits, bits.Len(uint(len(s.sorted))))
	shift = uint(width - binBits)
	if size := 1<<binBits + 1; cap(s.bins) < size {
		s.bins = make([]uint32, size)
	} else {
		s.bins = s.bins[:size]
		clear(s.bins)
	}
	low := s.low
	bins := s.bins
	for _, k := range s.sorted {
		bins[(k-low)>>(shift&63)]++
	}
	countsToStarts(bins)
	return shift
}

// sortItems sorts items that differ in their last width bits only, and are in
// ascending order of rows, with working memory of the same length: by digits, the lowest one first. Of few items
// two digits are nearly always enough; what these do not tell apart is left to insertion.
func (s *sorter) sortItems(r, work []uint64, width int) {
	digit := min(max(bits.Len(uint(len(r)))-2, 4), maxDigitBits)
	shift := max(width-2*digit, rowBits)
	for len(r) > manyItems && shift > rowBits {
		shift = max(shift-2*digit, rowBits)
	}
	for ; shift < width; shift += 2 * digit {
		s.byDigits(r, work, shift, digit)
	}
	insertionSort(r)
}

// byDigits sorts items by two digits, the bits from shift on, and keeps their old order where these are equal.
func (s *sorter) byDigits(r, work []uint64, shift, digit int) {
	const most = 1<<maxDigitBits - 1
	lows := &s.lows
	highs := &s.highs
	clear(lows[:1<<digit])
	clear(highs[:1<<digit])
	low := uint(shift) & 63
	high := uint(shift+digit) & 63
	mask := uint64(1)<<digit - 1
	work = work[:len(r)]
	for _, item := range r {
		lows[item>>low&mask&most]++
		highs[item>>high&mask&most]++
	}
	countsToStarts(lows[:1<<digit])
	countsToStarts(highs[:1<<digit])
	for _, item := range r {
		e := &lows[item>>low&mask&most]
		work[*e] = item
		*e++
	}
	for _, item := range work {
		e := &highs[item>>high&mask&most]
		r[*e] = item
		*e++
	}
}

// insertionSort sorts items that are nearly sorted, or else leaves them to another sort.
func insertionSort(r []uint64) {
	last := uint64(0)
	moves := 0
	for i, v := range r {
		if v >= last {
			last = v
			continue
		}
		j := i
		for ; j > 0 && r[j-1] > v; j-- {
			r[j] = r[j-1]
		}
		r[j] = v
		if moves += i - j; moves > crowded*len(r) {
			slices.Sort(r)
			return
		}
	}
}

// oneEstimate reports whether all items have the same estimate.
func oneEstimate(items []uint64) bool {
	for _, item := range items {
		if item>>rowBits != items[0]>>rowBits {
			return false
		}
	}
	return true
}

// countsToStarts turns counts into the sums of the counts before each.
func countsToStarts(counts []uint32) {
	at := uint32(0)
	for i, c := range counts {
		counts[i] = at
		at += c
	}
}
