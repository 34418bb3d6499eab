// Package fastfloat turns decimal text into the nearest float64, faster than strconv and bit for bit the same.
//
// The time to read a large CSV file is mostly the time to parse numbers: a table of 500,000 rows and 90 columns
// holds 45 million numbers, usually written with 15 to 17 significant digits. The package answers the common
// shapes with integer arithmetic and declines everything else, so the caller can pass the rest to strconv:
//
//   - digits with at most one point and an optional exponent;
//   - at most 19 significant digits, so the digits fit a uint64 exactly;
//   - a decimal exponent between -27 and 27 after the point is moved to the
//     end of the digits, so the power of five fits a uint64 exactly (5^27 <
//     2^63).
//
// # Why the result is exact
//
// The number is m·10^e with m < 2^64. If m ≤ 2^53 and |e| ≤ 22, both m and 10^|e| are float64 values and one
// IEEE multiplication or division rounds once, correctly (Clinger, "How to read floating point numbers
// accurately", PLDI 1990). Otherwise m·5^e is a 128-bit integer, or m/5^-e a quotient with at least 62 bits and
// a remainder. Neither loses information: everything below the leading 64 bits is folded into one sticky bit
// (rounding to odd), and the conversion of a 64-bit integer to float64 then rounds once to nearest, ties to
// even. Powers of two only move the exponent, and in this range they can neither overflow nor become subnormal.
//
// The text accepted is a subset of what strconv.ParseFloat accepts: no infinities, no hexadecimal, no
// underscores, no spaces.
package fastfloat

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	maxDigits   = 19 // 10^19 - 1 < 2^64
	maxExponent = 27 // 5^27 < 2^63
	maxClinger  = 22 // 10^22 is a float64
)

// Parse returns the float64 nearest to the decimal number that is the whole of b. ok is false if b does not
// have one of the supported shapes; it may still be a number, which strconv.ParseFloat can parse.
func Parse(b []byte) (v float64, ok bool) {
	v, n, ok := Scan(b)
	if !ok || n != len(b) {
		return 0, false
	}
	return v, true
}

// Scan reads the longest decimal number at the start of b and returns its value and length n in bytes. ok is
// false if b does not start with a number of a supported shape; v and n are then zero.
func Scan(b []byte) (v float64, n int, ok bool) {
	i := 0
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i = 1
	}
	first := i
	var mant uint64
	for ; i < len(b) && b[i]-'0' <= 9; i++ { // rarely many
		mant = mant*10 + uint64(b[i]-'0')
	}
	count := i - first
	exp := 0
	if i < len(b) && b[i] == '.' {
		point := i + 1
		mant, i = appendDigits(b, point, mant)
		exp = point - i
		count += i - point
	}
	if count == 0 || (count > maxDigits && significant(b[first:i]) > maxDigits) {
		return 0, 0, false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, end, ok := exponent(b, i+1)
		if !ok {
			return 0, 0, false
		}
		exp += e
		i = end
	}
	v, ok = FromDecimal(mant, exp)
	if !ok {
		return 0, 0, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}

// appendDigits appends the decimal digits of b from position i to mant, eight at a time, and then those before
// the first byte that is not a digit: a loop over single digits would end at a branch that processors
// mispredict. mant wraps around beyond 19 significant digits, which Scan rejects afterwards.
func appendDigits(b []byte, i int, mant uint64) (uint64, int) {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:]) ^ 0x3030303030303030
		others := notBelowTen(w)
		if others == 0 {
			mant = mant*1e8 + parseEightDigits(w)
			i += 8
			continue
		}
		n := bits.TrailingZeros64(others) / 8
		return mant*scale[n] + parseEightDigits(w<<(64-8*n)), i + n
	}
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mant = mant*10 + uint64(b[i]-'0')
	}
	return mant, i
}

// scale holds 10^k for fewer than eight digits.
var scale = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// notBelowTen sets the high bit of every byte of w that is ten or more, and no other bit. Adding 0x76 to the low seven
// bits of a byte sets its high bit exactly from ten on, and never carries into
// the next byte.
func notBelowTen(w uint64) uint64 {
	const low, add, high = 0x7F7F7F7F7F7F7F7F, 0x7676767676767676, 0x8080808080808080
	return ((w & low) + add | w) & high
}

// parseEightDigits returns the number whose eight digits are the bytes of w, the first digit
// lowest: digits are paired to twos, fours and eight.
func parseEightDigits(w uint64) uint64 {
	w = w*10 + w>>8 // bytes 0, 2, 4, 6 hold two-digit numbers
	const pair = 0x000000FF000000FF
	const hi, lo = 100 + 1000000<<32, 1 + 10000<<32
	return ((w&pair)*hi + (w>>16&pair)*lo) >> 32
}

// significant counts the digits of s after its leading zeros.
func significant(s []byte) int {
	n := 0
	leading := true
	for _, c := range s {
		if c == '.' || (leading && c == '0') {
			continue
		}
		leading = false
		n++
	}
	return n
}

// exponent reads the signed integer after an e. It declines more than three digits: those values are zero,
// infinite or spelled unusually.
func exponent(b []byte, i int) (e, end int, ok bool) {
	neg := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		if i-start == 3 {
			return 0, 0, false
		}
		e = e*10 + int(b[i]-'0')
		i++
	}
	if neg {
		e = -e
	}
	return e, i, i > start
}

// FromDecimal returns the float64 nearest to mant·10^exp. ok is false if exp is outside the supported range.
func FromDecimal(mant uint64, exp int) (v float64, ok bool) {
	switch {
	case mant == 0:
		return 0, true
	case exp < -maxExponent || exp > maxExponent:
		return 0, false
	case mant <= 1<<53 && exp < 0 && exp >= -maxClinger:
		return float64(mant) / tens[-exp], true
	case mant <= 1<<53 && exp >= 0 && exp <= maxClinger:
		return float64(mant) * tens[exp], true
	case exp < 0:
		return divideByPower(mant, -exp), true
	default:
		return multiplyByPower(mant, exp), true
	}
}

// multiplyByPower rounds mant·5^k·2^k once, from the exact 128-bit product.
func multiplyByPower(mant uint64, k int) float64 {
	hi, lo := bits.Mul64(mant, fives[k])
	if hi == 0 {
		return float64(lo) * power2(k)
	}
	z := bits.LeadingZeros64(hi)
	top := hi<<z | lo>>(64-z)
	if lo<<z != 0 {
		top |= 1
	}
	return float64(top) * power2(64-z+k)
}

// divideByPower rounds mant/(5^k·2^k) once. With both operands shifted to 64 bits the quotient of mant·2^63 is between
// 2^62 and 2^64.
func divideByPower(mant uint64, k int) float64 {
	zm := bits.LeadingZeros64(mant)
	zd := bits.LeadingZeros64(fives[k])
	m := mant << zm
	d := fives[k] << zd
	q, rest := bits.Div64(m>>1, m<<63, d)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * power2(zd-zm-63-k)
}

// power2 returns 2^k for k in the range of normal numbers.
func power2(k int) float64 {
	return math.Float64frombits(uint64(k+1023) << 52)
}

// Constants: the powers of ten that are exact in float64, and the powers of five that fit a uint64.
var tens = [maxClinger + 1]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

var fives = func() (p [maxExponent + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()
