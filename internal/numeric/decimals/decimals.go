// Package decimals compresses columns of numbers without loss of a bit: numbers with few decimal places become
// integers over a power of ten, after "ALP: Adaptive Lossless Floating-Point Compression" (Afroozeh, Kuffó and Boncz,
// 2023), and numbers of single precision are stored in 4 bytes. Numbers that fit neither form are stored as exceptions
// with their positions. If there are too many exceptions, the column stays uncompressed.
package decimals

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"github.com/dptrain/dptrain/internal/numeric/simd"
)

// Whole is the bytes of a number that is kept as it is.
const Whole = 8

// exceptionBytes is the size of a number that is kept beside the others: a place of 4 bytes and 8 of the number.
const exceptionBytes = 4 + Whole

// A Form is the encoding of a list of numbers. The zero Form belongs to no list.
type Form struct {
	width  uint8 // bytes of each
	digits uint8 // decimal places; singles: not decimals
	class  uint8 // of the number of exceptions, see classes
}

// singles is the digits of numbers that are kept with single precision.
const singles = math.MaxUint8

// classes are the possible capacities for exceptions, as divisors of the number of values. There are few of them, so
// that the size of a list reveals little about its content.
var classes = [...]int{0, 256, 64, 16, 8}

// suits is the class of the most exceptions with which a form suits other numbers than those it was found for.
const suits = 2

// AsTheyAre is the form of numbers that are kept as they are, the lowest byte of each first.
var AsTheyAre = Form{width: Whole}

// room returns how many of n numbers may be exceptions.
func (f Form) room(n int) int {
	if f.class == 0 {
		return 0
	}
	return n / classes[f.class]
}

// Size returns the bytes of n numbers.
func (f Form) Size(n int) int {
	return int(f.width)*n + exceptionBytes*f.room(n)
}

// MostSize is the largest Size of n numbers.
func MostSize(n int) int {
	return Whole * n
}

// powers are those of ten that are exact.
var powers = func() (out [19]float64) {
	for i := range out {
		out[i] = math.Pow10(i)
	}
	return out
}()

// lanes returns the rule of decimals.
func (f Form) lanes() simd.Decimals {
	return simd.NewDecimals(int(f.width), powers[f.digits])
}

// sampleSize is the number of values from which the form of a list is chosen.
const sampleSize = 64

// A Packer has the memory that packing needs.
type Packer struct{ exact []byte }

// Pack compresses x into to, which must have space for [MostSize] numbers, and returns the form and the bytes. If
// compression does not help, the bytes are nil and the caller keeps x. The form of the preceding numbers, before, is
// reused if it also fits x; pass the zero Form if there is none.
func (p *Packer) Pack(to []byte, x []float64, before Form) (Form, []byte) {
	if need := (len(x) + 63) / 64 * 8; cap(p.exact) < need {
		p.exact = make([]byte, need)
	} else {
		p.exact = p.exact[:need]
	}
	to = to[:MostSize(len(x))]
	f, others := before, len(x)
	if f.class = 0; f != AsTheyAre && f.width > 0 {
		others = f.pack(to, p.exact, x)
	}
	if others > len(x)/classes[suits] || len(x) == 0 {
		if f = guessForm(x); f == AsTheyAre {
			return f, nil
		}
		others = f.pack(to, p.exact, x)
	}
	for f.exceedsExceptions(others, len(x)) && 2*f.width < Whole {
		f.width *= 2
		others = f.pack(to, p.exact, x)
	}
	if f.exceedsExceptions(others, len(x)) {
		return AsTheyAre, nil
	}
	for f.room(len(x)) < others {
		f.class++
	}
	to = to[:f.Size(len(x))]
	f.storeExceptions(to[int(f.width)*len(x):], p.exact, x)
	return f, to
}

// exceedsExceptions reports whether others exceptions among n numbers exceed the largest capacity.
func (f Form) exceedsExceptions(others, n int) bool {
	return others > n/classes[len(classes)-1]
}

// pack keeps all numbers without a place beside the others, and returns of how many these are not the bits.
func (f Form) pack(to, exact []byte, x []float64) (others int) {
	if f.digits == singles {
		packSingles(to, exact, x)
	} else {
		f.packDecimals(to, exact, x)
	}
	others = len(x)
	for i := 0; i < len(exact); i += 8 {
		others -= bits.OnesCount64(binary.LittleEndian.Uint64(exact[i:]))
	}
	return others
}

// guessForm returns how a list is kept best, by some of its numbers and without exceptions.
func guessForm(x []float64) Form {
	var some [sampleSize]float64
	n := min(len(x), sampleSize)
	for i := range n {
		some[i] = x[i*len(x)/n]
	}
	best, least := AsTheyAre, Whole*n
	try := func(f Form, others int) {
		if cost := int(f.width)*n + exceptionBytes*others; cost < least &&
			!f.exceedsExceptions(others, n) {
			best, least = f, cost
		}
	}
	for digits := range powers {
		var wider [Whole + 1]int // numbers that need as many bytes
		for _, v := range some[:n] {
			wider[width(v, powers[digits])]++
		}
		others := n
		for _, width := range []uint8{1, 2, 4} {
			others -= wider[width]
			try(Form{width: width, digits: uint8(digits)}, others)
		}
		if others == 0 { // more digits need no fewer bytes
			break
		}
	}
	others := 0
	for _, v := range some[:n] {
		if !isSingle(v) {
			others++
		}
	}
	try(Form{width: 4, digits: singles}, others)
	return best
}

// width returns the number of bytes of x's integer, or Whole if no integer reproduces its bits.
func width(x, power float64) int {
	if math.Float64bits(x) == none {
		return 1
	}
	v := math.RoundToEven(x * power)
	if !(math.Abs(v) <= math.MaxInt32) ||
		!equalBits(simd.NewDecimals(4, power).Number(int32(v)), x) {
		return Whole
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

// none is the bit pattern that represents NaN.
var none = math.Float64bits(math.NaN())

// isSingle reports whether a number is one of single precision.
func isSingle(x float64) bool {
	return equalBits(float64(float32(x)), x)
}

// packSingles stores numbers in single precision and marks those for which this is exact.
func packSingles(to, exact []byte, x []float64) {
	clear(exact)
	for i, v := range x {
		binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(float32(v)))
		if isSingle(v) {
			exact[i/8] |= 1 << (i % 8)
		}
	}
}

// packDecimals stores numbers as integers and marks those for which this is exact.
func (f Form) packDecimals(to, exact []byte, x []float64) {
	d := f.lanes()
	done := d.Pack(to[:int(f.width)*len(x)], exact, x)
	clear(exact[(done+7)/8:])
	for i, v := range x[done:] {
		i += done
		var k int32
		if w := width(v, powers[f.digits]); math.Float64bits(v) == none {
			k = d.Least()
		} else if w <= int(f.width) {
			k = int32(math.RoundToEven(v * powers[f.digits]))
		} else {
			continue
		}
		exact[i/8] |= 1 << (i % 8)
		putInteger(to, int(f.width), i, k)
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

// storeExceptions stores the numbers that are not exact, with their places, and behind the last a place that there is not.
func (f Form) storeExceptions(to, exact []byte, x []float64) {
	for i := 0; i < len(exact); i += 8 {
		for others := ^binary.LittleEndian.Uint64(exact[i:]); others != 0; others &= others - 1 {
			k := 8*i + bits.TrailingZeros64(others)
			if k >= len(x) {
				break
			}
			binary.LittleEndian.PutUint32(to, uint32(k))
			binary.LittleEndian.PutUint64(to[4:], math.Float64bits(x[k]))
			to = to[exceptionBytes:]
		}
	}
	for ; len(to) > 0; to = to[exceptionBytes:] {
		binary.LittleEndian.PutUint32(to, math.MaxUint32)
		binary.LittleEndian.PutUint64(to[4:], 0)
	}
}

// Unpack sets x to the numbers that [Packer.Pack] kept in this form: as many.
func (f Form) Unpack(x []float64, from []byte) {
	f.UnpackSome(x, from, len(x), 0)
}

// UnpackSome sets x to those from place at on of n numbers that [Packer.Pack] kept in this form.
func (f Form) UnpackSome(x []float64, from []byte, n, at int) {
	width := int(f.width)
	some := from[width*at : width*(at+len(x))]
	switch {
	case f.width == Whole:
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(some[Whole*i:]))
		}
	case f.digits == singles:
		for i := range x {
			x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(some[4*i:])))
		}
	default:
		f.unpackDecimals(x, some)
	}
	others := from[width*n : f.Size(n)]
	for others = others[exceptionBytes*skipException(others, at):]; len(
		others) > 0; others = others[exceptionBytes:] {
		k := int64(binary.LittleEndian.Uint32(others))
		if k >= int64(at+len(x)) {
			break
		}
		x[k-int64(at)] = math.Float64frombits(binary.LittleEndian.Uint64(others[4:]))
	}
}

// Gather sets x to the numbers at some places, which rise, of n numbers that [Packer.Pack] kept in this form. A row is a place and base.
func (f Form) Gather(x []float64, from []byte, n int, rows []int32, base int) {
	switch {
	case f.width == Whole:
		for i, r := range rows {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(from[Whole*(int(r)-base):]))
		}
	case f.digits == singles:
		for i, r := range rows {
			x[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(from[4*(int(r)-base):])))
		}
	default:
		d := f.lanes()
		for i, r := range rows {
			x[i] = d.Number(readInteger(from, int(f.width), int(r)-base))
		}
	}
	i := 0
	for others := from[int(f.width)*n : f.Size(n)]; len(others) > 0 &&
		i < len(rows); others = others[exceptionBytes:] {
		k := int64(binary.LittleEndian.Uint32(others))
		for i < len(rows) && int64(rows[i])-int64(base) < k {
			i++
		}
		if i < len(rows) && int64(rows[i])-int64(base) == k {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(others[4:]))
		}
	}
}

// skipException returns how many exceptions have a place below at. They are in order.
func skipException(others []byte, at int) int {
	if at == 0 {
		return 0
	}
	return sort.Search(len(others)/exceptionBytes, func(i int) bool {
		return int64(binary.LittleEndian.Uint32(others[exceptionBytes*i:])) >= int64(at)
	})
}

// unpackDecimals sets x to the numbers of integers.
func (f Form) unpackDecimals(x []float64, from []byte) {
	d := f.lanes()
	for i := d.Unpack(x, from); i < len(x); i++ {
		x[i] = d.Number(readInteger(from, int(f.width), i))
	}
}
