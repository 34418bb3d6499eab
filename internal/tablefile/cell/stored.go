package cell

import (
	"encoding/hex"
	"math"
)

// AppendUUID writes the 16 bytes of a UUID in its usual form, 32 lower-case digits in five groups.
func AppendUUID(b, id []byte) []byte {
	at := 0
	for k, size := range [...]int{4, 2, 2, 2, 6} {
		if k > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, id[at:at+size])
		at += size
	}
	return b
}

// Float16 returns the value of a 16-bit number as defined by IEEE 754.
func Float16(bits uint16) float64 {
	sign := 1.0
	if bits>>15 != 0 {
		sign = -1
	}
	exponent := int(bits >> 10 & 31)
	fraction := float64(bits & 1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
