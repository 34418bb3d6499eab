package colblock

import (
	"encoding/binary"
	"errors"
	"math"
)

// textBits marks a number that represents a text: a NaN whose lowest 32 bits are the position of
// the text in the list of its column. Code that is unaware of texts reads a missing cell.
const textBits = 0x7ff8_7764_0000_0000

// TextNumber returns the number that represents the text with a position in the list of its column.
func TextNumber(k int32) float64 {
	return math.Float64frombits(textBits | uint64(uint32(k)))
}

// NumberText returns the position of the text that a number represents, and whether it represents
// one.
func NumberText(x float64) (k int32, ok bool) {
	b := math.Float64bits(x)
	if b&^math.MaxUint32 != textBits {
		return -1, false
	}
	return int32(uint32(b)), true
}

// textList is the list of the distinct texts of a column of a block, in the order of their first
// occurrence. Position 0 is reserved for texts that are not listed.
type textList struct {
	positions map[string]int32
	list      []string
}

func newTextList() *textList {
	return &textList{
		positions: map[string]int32{},
		list:      []string{""},
	}
}

// clear removes all texts and keeps the memory.
func (t *textList) clear() {
	clear(t.positions)
	t.list = t.list[:1]
}

// position returns the position of a text, which it adds if necessary.
func (t *textList) position(text string) int32 {
	k, ok := t.positions[text]
	if !ok {
		k = int32(len(t.list))
		t.list = append(t.list, text)
		t.positions[text] = k
	}
	return k
}

// renumber returns a function that converts positions in another list to positions in this one. It
// keeps positions below 1, which have no text.
func (t *textList) renumber(from []string) func(k int32) int32 {
	known := make([]int32, len(from))
	return func(k int32) int32 {
		if k < 1 {
			return k
		}
		if known[k] == 0 {
			known[k] = t.position(from[k])
		}
		return known[k]
	}
}

// appendTexts appends a list of texts: their number, and then the length and the bytes of each. It
// leaves out the reserved position.
func appendTexts(to []byte, list []string) []byte {
	to = binary.AppendUvarint(to, uint64(len(list)-1))
	for _, text := range list[1:] {
		to = append(binary.AppendUvarint(to, uint64(len(text))), text...)
	}
	return to
}

// ErrDamaged is returned for bytes that are not the encoding of a column.
var ErrDamaged = errors.New("a block of columns is damaged")

// ReadTexts reads a list of texts, and returns the bytes after it.
func ReadTexts(data []byte) (list []string, rest []byte, err error) {
	n, k := binary.Uvarint(data)
	if k <= 0 || n > uint64(len(data)) {
		return nil, nil, ErrDamaged
	}
	data = data[k:]
	list = make([]string, 1, 1+n)
	for range n {
		size, k := binary.Uvarint(data)
		if k <= 0 || size > uint64(len(data)-k) {
			return nil, nil, ErrDamaged
		}
		list = append(list, string(data[k:k+int(size)]))
		data = data[k+int(size):]
	}
	return list, data, nil
}
