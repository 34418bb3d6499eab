package colblock

import (
	"encoding/binary"
	"math"
)

// codeBytes are the possible numbers of bytes of a code, with the largest code that each holds. A
// code is stored as its successor, so that -1, a missing cell of a column of texts, is 0.
var codeBytes = [...]struct {
	width   uint8
	largest int
}{{1, math.MaxUint8 - 1}, {2, math.MaxUint16 - 1}, {4, math.MaxInt32}}

// CodeEncoding returns the smallest encoding for codes between -1 and largest.
func CodeEncoding(largest int) Encoding {
	k := 0
	for k < len(codeBytes)-1 && codeBytes[k].largest < largest {
		k++
	}
	return Encoding{
		width:  codeBytes[k].width,
		digits: codeDigits,
	}
}

// AppendCodes appends codes, which must be in the range of the encoding.
func (e Encoding) AppendCodes(to []byte, codes []int32) []byte {
	switch e.width {
	case 1:
		for _, k := range codes {
			to = append(to, uint8(k+1))
		}
	case 2:
		for _, k := range codes {
			to = binary.LittleEndian.AppendUint16(to, uint16(k+1))
		}
	default:
		for _, k := range codes {
			to = binary.LittleEndian.AppendUint32(to, uint32(k+1))
		}
	}
	return to
}

// DecodeCodes sets codes to a list of as many.
func (e Encoding) DecodeCodes(codes []int32, from []byte) {
	from = from[:int(e.width)*len(codes)]
	switch e.width {
	case 1:
		for i, k := range from {
			codes[i] = int32(k) - 1
		}
	case 2:
		for i := range codes {
			codes[i] = int32(binary.LittleEndian.Uint16(from[2*i:])) - 1
		}
	default:
		for i := range codes {
			codes[i] = int32(binary.LittleEndian.Uint32(from[4*i:])) - 1
		}
	}
}
