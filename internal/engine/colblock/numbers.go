package colblock

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"github.com/dptrain/dptrain/internal/numeric/simd"
)

// numberBytes is the number of bytes of a number that is stored as it is.
const numberBytes = 8

// exceptionBytes is the number of bytes of an exception: 4 of its position and 8 of the number.
const exceptionBytes = 4 + numberBytes

// An Encoding is the format of a list of numbers, codes or identities. The zero Encoding belongs to
// no list.
type Encoding struct {
	width  uint8 // bytes of each
	digits uint8 // decimal places, or one of the constants below
	class  uint8 // of the number of exceptions, see exceptionClasses
}

// Values of Encoding.digits for lists without decimal places.
const (
	singleDigits  = math.MaxUint8     // numbers with single precision
	missingDigits = math.MaxUint8 - 1 // numbers with single precision and missing cells
	codeDigits    = math.MaxUint8 - 2 // codes, see [Encoding.AppendCodes]
)

// Raw is the encoding of numbers that are stored as they are, the lowest byte of each first.
var Raw = Encoding{width: numberBytes}

// exceptionClasses are the possible capacities for exceptions, as divisors of the number of values.
// There are few of them, so that the size of a list reveals little about its content.
var exceptionClasses = [...]int{0, 256, 64, 16, 8}

// reuseClass is the class of the most exceptions with which the encoding of other numbers is
// reused.
const reuseClass = 2

// capacity returns how many of n numbers may be exceptions.
func (e Encoding) capacity(n int) int {
	if e.class == 0 {
		return 0
	}
	return n / exceptionClasses[e.class]
}

// Size returns the number of bytes of a list of n.
func (e Encoding) Size(n int) int {
	return int(e.width)*n + exceptionBytes*e.capacity(n)
}

// MaxSize returns the largest [Encoding.Size] of n numbers.
func MaxSize(n int) int {
	return numberBytes * n
}

// powers are those of ten that are exact.
var powers = func() (out [19]float64) {
	for i := range out {
		out[i] = math.Pow10(i)
	}
	return out
}()

// decimals returns the conversion between numbers and integers over a power of ten.
func (e Encoding) decimals() simd.Decimals {
	return simd.NewDecimals(int(e.width), powers[e.digits])
}

// sampleSize is the number of values from which the encoding of a list is chosen.
const sampleSize = 64

// An Encoder encodes lists of numbers, one after the other. It keeps the memory that encoding
// needs.
type Encoder struct {
	exact []byte // one bit per number: whether it is no exception
}

// EncodeNumbers encodes x into to, which must have space for [MaxSize] bytes, and returns the
// encoding and the bytes. If they would not be fewer than those of [Raw], the encoding is Raw, the
// bytes are nil and to has arbitrary contents. The encoding of the preceding numbers, before, is
// reused if it also fits x; with the zero Encoding the result depends on x alone.
func (c *Encoder) EncodeNumbers(
	to []byte,
	x []float64,
	before Encoding,
) (Encoding, []byte) {
	if need := (len(x) + 63) / 64 * 8; cap(c.exact) < need {
		c.exact = make([]byte, need)
	} else {
		c.exact = c.exact[:need]
	}
	to = to[:MaxSize(len(x))]
	e := before
	e.class = 0
	exceptions := len(x)
	if e != Raw && e.width > 0 {
		e, exceptions = e.encode(to, c.exact, x)
	}
	if exceptions > len(x)/exceptionClasses[reuseClass] || len(x) == 0 {
		if e = guessEncoding(x); e == Raw {
			return e, nil
		}
		e, exceptions = e.encode(to, c.exact, x)
	}
	for tooManyExceptions(exceptions, len(x)) && 2*e.width < numberBytes {
		e.width *= 2
		e, exceptions = e.encode(to, c.exact, x)
	}
	if tooManyExceptions(exceptions, len(x)) {
		return Raw, nil
	}
	for e.capacity(len(x)) < exceptions {
		e.class++
	}
	to = to[:e.Size(len(x))]
	e.storeExceptions(to, c.exact, x)
	return e, to
}

// tooManyExceptions reports whether the exceptions among n numbers exceed the largest capacity.
func tooManyExceptions(exceptions, n int) bool {
	return exceptions > n/exceptionClasses[len(exceptionClasses)-1]
}

// encode stores all numbers, marks those that are exact, and returns the number of the others.
// Among encodings with single precision, it chooses the one that x needs.
func (e Encoding) encode(
	to, exact []byte,
	x []float64,
) (used Encoding, exceptions int) {
	if e.single() {
		e.digits = encodeSingles(to, exact, x)
	} else {
		e.encodeDecimals(to, exact, x)
	}
	exceptions = len(x)
	for i := 0; i < len(exact); i += 8 {
		exceptions -= bits.OnesCount64(binary.LittleEndian.Uint64(exact[i:]))
	}
	return e, exceptions
}

// single reports whether numbers have single precision.
func (e Encoding) single() bool {
	return e.digits >= missingDigits
}

// guessEncoding returns the encoding, without exceptions, that takes the fewest bytes for a sample
// of the numbers.
func guessEncoding(x []float64) Encoding {
	var sample [sampleSize]float64
	n := min(len(x), sampleSize)
	for i := range n {
		sample[i] = x[i*len(x)/n]
	}
	best, least := Raw, numberBytes*n
	try := func(e Encoding, exceptions int) {
		cost := int(e.width)*n + exceptionBytes*exceptions
		if cost < least && !tooManyExceptions(exceptions, n) {
			best, least = e, cost
		}
	}
	for digits := range powers {
		var ofWidth [numberBytes + 1]int // numbers that need as many bytes
		for _, v := range sample[:n] {
			ofWidth[integerWidth(v, powers[digits])]++
		}
		exceptions := n
		for _, width := range []uint8{1, 2, 4} {
			exceptions -= ofWidth[width]
			try(Encoding{
				width:  width,
				digits: uint8(digits),
			}, exceptions)
		}
		if exceptions == 0 { // more digits need no fewer bytes
			break
		}
	}
	exceptions := 0
	for _, v := range sample[:n] {
		if !isSingle(v) {
			exceptions++
		}
	}
	try(Encoding{
		width:  4,
		digits: singleDigits,
	}, exceptions)
	return best
}

// integerWidth returns the number of bytes of x's integer, or numberBytes if no integer reproduces
// its bits.
func integerWidth(x, power float64) int {
	if math.Float64bits(x) == missingBits {
		return 1
	}
	v := math.RoundToEven(x * power)
	if !(math.Abs(v) <= math.MaxInt32) ||
		!equalBits(simd.NewDecimals(4, power).Number(int32(v)), x) {
		return numberBytes
	}
	switch v = math.Abs(v); {
	case v <= math.MaxInt8:
		return 1
	case v <= math.MaxInt16:
		return 2
	}
	return 4
}

// equalBits reports whether two numbers have the same bits.
func equalBits(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y)
}

// missingBits is the bit pattern of a missing cell, NaN. missingSingle represents it in single
// precision.
var (
	missingBits   = math.Float64bits(math.NaN())
	missingSingle = uint32(0x7fc0_0001)
)

// isSingle reports whether single precision represents a number exactly.
func isSingle(x float64) bool {
	return equalBits(float64(float32(x)), x) || math.Float64bits(x) == missingBits
}

// readSingle returns a number from its bits in single precision.
func readSingle(from []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(from)))
}

// readSingleOrMissing is readSingle for a list with missing cells.
func readSingleOrMissing(from []byte) float64 {
	if binary.LittleEndian.Uint32(from) == missingSingle {
		return math.Float64frombits(missingBits)
	}
	return readSingle(from)
}

// encodeSingles stores numbers in single precision and marks those for which this is exact. It
// returns the digits of the encoding.
func encodeSingles(to, exact []byte, x []float64) (digits uint8) {
	clear(exact)
	digits = singleDigits
	for i, v := range x {
		b := math.Float32bits(float32(v))
		switch {
		case equalBits(float64(float32(v)), v) && b != missingSingle:
			exact[i/8] |= 1 << (i % 8)
		case math.Float64bits(v) == missingBits:
			exact[i/8] |= 1 << (i % 8)
			digits = missingDigits
			b = missingSingle
		}
		binary.LittleEndian.PutUint32(to[4*i:], b)
	}
	return digits
}

// encodeDecimals stores numbers as integers and marks those for which this is exact.
func (e Encoding) encodeDecimals(to, exact []byte, x []float64) {
	d := e.decimals()
	done := d.Pack(to[:int(e.width)*len(x)], exact, x)
	clear(exact[(done+7)/8:])
	for i, v := range x[done:] {
		i += done
		var k int32
		if w := integerWidth(v, powers[e.digits]); math.Float64bits(v) == missingBits {
			k = d.Min()
		} else if w <= int(e.width) {
			k = int32(math.RoundToEven(v * powers[e.digits]))
		} else {
			continue
		}
		exact[i/8] |= 1 << (i % 8)
		putInteger(to, int(e.width), i, k)
	}
}

// putInteger stores integer i of a list.
func putInteger(to []byte, width, i int, k int32) {
	switch width {
	case 1:
		to[i] = uint8(k)
	case 2:
		binary.LittleEndian.PutUint16(to[2*i:], uint16(k))
	default:
		binary.LittleEndian.PutUint32(to[4*i:], uint32(k))
	}
}

// readInteger returns integer i of a list.
func readInteger(from []byte, width, i int) int32 {
	switch width {
	case 1:
		return int32(int8(from[i]))
	case 2:
		return int32(int16(binary.LittleEndian.Uint16(from[2*i:])))
	}
	return int32(binary.LittleEndian.Uint32(from[4*i:]))
}

// noPosition is the position of an unused exception.
const noPosition = math.MaxUint32

// storeExceptions appends the numbers that are not exact, with their positions, to the list in to,
// and fills the space for more exceptions. An exception is 0 in the list itself: what simd leaves
// there differs from one machine to another.
func (e Encoding) storeExceptions(to, exact []byte, x []float64) {
	rest := to[int(e.width)*len(x):]
	for i := 0; i < len(exact); i += 8 {
		for others := ^binary.LittleEndian.Uint64(exact[i:]); others != 0; others &= others - 1 {
			k := 8*i + bits.TrailingZeros64(others)
			if k >= len(x) {
				break
			}
			putInteger(to, int(e.width), k, 0)
			binary.LittleEndian.PutUint32(rest, uint32(k))
			binary.LittleEndian.PutUint64(rest[4:], math.Float64bits(x[k]))
			rest = rest[exceptionBytes:]
		}
	}
	for ; len(rest) > 0; rest = rest[exceptionBytes:] {
		binary.LittleEndian.PutUint32(rest, noPosition)
		binary.LittleEndian.PutUint64(rest[4:], 0)
	}
}

// DecodeNumbers sets x to a list of as many numbers.
func (e Encoding) DecodeNumbers(x []float64, from []byte) {
	e.DecodeRange(x, from, len(x), 0)
}

// DecodeRange sets x to the numbers from position at on of a list of n.
func (e Encoding) DecodeRange(x []float64, from []byte, n, at int) {
	width := int(e.width)
	some := from[width*at : width*(at+len(x))]
	switch {
	case e == Raw:
		GetNumbers(x, some)
	case e.digits == singleDigits:
		for i := range x {
			x[i] = readSingle(some[4*i:])
		}
	case e.digits == missingDigits:
		for i := range x {
			x[i] = readSingleOrMissing(some[4*i:])
		}
	default:
		e.decodeDecimals(x, some)
	}
	exceptions := from[width*n : e.Size(n)]
	exceptions = exceptions[exceptionBytes*exceptionsBefore(exceptions, at):]
	for ; len(exceptions) > 0; exceptions = exceptions[exceptionBytes:] {
		k := int64(binary.LittleEndian.Uint32(exceptions))
		if k >= int64(at+len(x)) {
			break
		}
		x[k-int64(at)] = math.Float64frombits(binary.LittleEndian.Uint64(exceptions[4:]))
	}
}

// Gather sets x to the numbers at some positions of a list of n. Position k of the list is row
// base+k, and rows are increasing.
func (e Encoding) Gather(
	x []float64,
	from []byte,
	n int,
	rows []int32,
	base int,
) {
	switch {
	case e == Raw:
		for i, r := range rows {
			b := from[numberBytes*(int(r)-base):]
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case e.single():
		for i, r := range rows {
			x[i] = readSingleOrMissing(from[4*(int(r)-base):])
		}
	default:
		d := e.decimals()
		for i, r := range rows {
			x[i] = d.Number(readInteger(from, int(e.width), int(r)-base))
		}
	}
	i := 0
	exceptions := from[int(e.width)*n : e.Size(n)]
	for ; len(exceptions) > 0 && i < len(rows); exceptions = exceptions[exceptionBytes:] {
		k := int64(binary.LittleEndian.Uint32(exceptions))
		for i < len(rows) && int64(rows[i])-int64(base) < k {
			i++
		}
		if i < len(rows) && int64(rows[i])-int64(base) == k {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(exceptions[4:]))
		}
	}
}

// exceptionsBefore returns how many exceptions have a position below at. They are in order.
func exceptionsBefore(exceptions []byte, at int) int {
	if at == 0 {
		return 0
	}
	return sort.Search(len(exceptions)/exceptionBytes, func(i int) bool {
		return int64(binary.LittleEndian.Uint32(exceptions[exceptionBytes*i:])) >= int64(at)
	})
}

// decodeDecimals sets x to the numbers of integers.
func (e Encoding) decodeDecimals(x []float64, from []byte) {
	d := e.decimals()
	for i := d.Unpack(x, from); i < len(x); i++ {
		x[i] = d.Number(readInteger(from, int(e.width), i))
	}
}
