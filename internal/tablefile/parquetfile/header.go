package parquetfile

import (
	"bufio"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// header is a decoded page header.
type header struct {
	kind                 format.PageType
	expanded, compressed int64 // bytes, without the header
	crc                  uint32
	values               int64
	described            int  // number of page kinds that are described: one
	stored               bool // version 2: the values are not compressed

	encoding               format.Encoding
	levelEncoding          format.Encoding
	definition, repetition int64 // version 2: bytes of levels
}

// Keys of the used fields of format.PageHeader.
const (
	keyPageType      = 0x01
	keyExpanded      = 0x02
	keyCompressed    = 0x03
	keyCRC           = 0x04
	keyValues1       = 0x05_01
	keyEncoding1     = 0x05_02
	keyLevels1       = 0x05_03
	keyDictValues    = 0x07_01
	keyDictEncoding  = 0x07_02
	keyValues2       = 0x08_01
	keyEncoding2     = 0x08_04
	keyDefinition2   = 0x08_05
	keyRepetition2   = 0x08_06
	keyIsCompressed2 = 0x08_07
)

// valuesOf locates the number of values in the header of each kind of page.
var valuesOf = map[format.PageType]uint64{
	format.DataPage:       keyValues1,
	format.DictionaryPage: keyDictValues,
	format.DataPageV2:     keyValues2,
}

// readHeader reads the header of a page. Statistics in it are skipped.
func readHeader(in *bufio.Reader) (h header, ok bool) {
	h.kind = -1
	h.compressed = -1
	h.expanded = -1
	s := scanner{in: in, number: h.setField}
	s.flag = func(key uint64, v bool) {
		if key == keyIsCompressed2 {
			h.stored = !v
		}
	}
	ok = s.scanStruct(0, 0) && h.described == 1 &&
		min(h.expanded, h.compressed, h.values, h.definition, h.repetition) >= 0 &&
		max(h.expanded, h.compressed, h.values, h.definition, h.repetition) <= math.MaxInt32
	return h, ok
}

// setField sets the field for one number.
func (h *header) setField(key uint64, v int64) {
	switch key {
	case keyPageType:
		h.kind = format.PageType(v)
	case keyExpanded:
		h.expanded = v
	case keyCompressed:
		h.compressed = v
	case keyCRC:
		h.crc = uint32(v)
	case keyValues1, keyDictValues, keyValues2:
		h.values = v
		h.described++
		if key != valuesOf[h.kind] {
			h.described++
		}
	case keyEncoding1, keyDictEncoding, keyEncoding2:
		h.encoding = format.Encoding(v)
	case keyLevels1:
		h.levelEncoding = format.Encoding(v)
	case keyDefinition2:
		h.definition = v
	case keyRepetition2:
		h.repetition = v
	}
}
