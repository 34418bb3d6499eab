package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// A Parquet file says in its footer and in the header of every page how long the
// parts are that follow, and the Parquet library allocates what they say before it
// looks. A few bytes can so ask for more memory than there is, which ends a Go
// process without a word. Therefore the footer and the page headers are scanned
// first: no list is longer than the bytes that are left, no page than its column,
// and no page expands beyond maxPage by its own account. That each page then holds
// what its header says is looked at in parquetpage.go.

// The public limits of a page, as its header states its size before compression,
// of a footer's groups, which the library visits by recursion, and of a decimal.
// Writers aim at one page a megabyte.
const (
	maxPage    = 1 << 28 // bytes
	pageValue  = 8       // bytes of a page for each value that it may have
	maxGroups  = 1 << 16
	maxDecimal = 32 // bytes
)

// The public limit of rows for each byte of a file, and the rows that are free of it. A
// run of equal values takes the same few bytes however long it is, so without a limit
// two thousand bytes could ask for all the memory of a table of 2^31 rows. What gzip
// makes of the shortest lines is half as much.
const (
	rowsPerByte = 1 << 10
	freeRows    = 1 << 20
)

// pageSizes is what a page header says.
type pageSizes struct {
	expanded, compressed int64 // bytes, without the header
	values               int64
	kinds                int // of page that it describes: one, or none for an index
	dictionary           bool

	encoding, levelEncoding format.Encoding

	version2                      bool
	stored                        bool // version 2: the values are not compressed
	nulls, definition, repetition int64
}

// pageCheck checks the column chunks of one column that holds one value a row.
type pageCheck struct {
	path  string
	file  io.ReaderAt
	size  int64
	width int64 // of a value in a dictionary, at least
	page  int64 // maxPage; tests make it smaller
	body  *pageBody
	large func() // if set, called before a page of more than largePage bytes is looked at
}

// largePage is more than writers put into a page, unless one cell is that long.
const largePage = 1 << 24

// chunk scans the pages of a column chunk of at least one row.
func (c pageCheck) chunk(ctx context.Context, meta *format.ColumnMetaData, rows int64) error {
	at, size := meta.DataPageOffset, meta.TotalCompressedSize
	if meta.DictionaryPageOffset != 0 {
		at = meta.DictionaryPageOffset
	}
	if at < 4 || size < 0 || at > c.size || size > c.size-at {
		return damagedParquet(c.path)
	}
	for end := at + size; at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, n, ok := c.header(at, end)
		if !ok {
			return damagedParquet(c.path)
		}
		at += n
		bytes := max(head.expanded, head.compressed)
		switch {
		case head.compressed < 0, head.compressed > end-at, head.expanded < 0, head.values < 0,
			head.dictionary && head.values > bytes/c.width, !head.dictionary && head.values > rows:
			return damagedParquet(c.path)
		case bytes > c.page, head.values > c.page/pageValue:
			return c.tooLarge()
		case !head.dictionary:
			rows -= head.values
		}
		if bytes > largePage && c.large != nil {
			c.large()
		}
		switch err := c.body.check(&head, c.file, at); err {
		case nil:
		case errPageLimit:
			return c.tooLarge()
		default:
			return damagedParquet(c.path)
		}
		at += head.compressed
	}
	return nil
}

func (c pageCheck) tooLarge() error {
	return &FileError{Path: c.path, Msg: fmt.Sprintf("holds a page of more than %d bytes or %d values", c.page, c.page/pageValue),
		Hint: "write it again with smaller pages", Err: ErrTooLarge}
}

// header reads the page header at an offset and returns its length.
func (c pageCheck) header(at, end int64) (p pageSizes, n int64, ok bool) {
	for window := int64(1 << 9); ; window <<= 4 {
		buf := make([]byte, min(window, end-at))
		if _, err := c.file.ReadAt(buf, at); err != nil {
			return p, 0, false
		}
		p = pageSizes{}
		s := thriftScan{data: buf, keep: p.field, flag: p.flag}
		if s.fields(0, 0) {
			return p, int64(s.at), p.kinds <= 1
		}
		if int64(len(buf)) == end-at || window > c.page {
			return p, 0, false
		}
	}
}

// The numbers of the fields in format.FileMetaData and format.SchemaElement, then
// in format.PageHeader and the headers in it.
const (
	footerSchema   = 2
	schemaChildren = 5
	groupChunks    = 1 // in format.RowGroup, the only list at its depth with this number

	pageExpanded   = 2
	pageCompressed = 3
	pageDataV1     = 5
	pageDictionary = 7
	pageDataV2     = 8
	pageValues     = 1
	pageEncoding   = 2 // of versions 1 and of dictionaries
	pageLevels     = 3

	page2Nulls      = 2
	page2Encoding   = 4
	page2Definition = 5
	page2Repetition = 6
	page2Compressed = 7
)

// field takes one number of a page header.
func (p *pageSizes) field(depth int, outer, inner int16, v int64) {
	switch {
	case depth == 0 && inner == pageExpanded:
		p.expanded = v
	case depth == 0 && inner == pageCompressed:
		p.compressed = v
	case depth == 1 && inner == pageValues && outer == pageDictionary:
		p.dictionary, p.values, p.kinds = true, v, p.kinds+1
	case depth == 1 && inner == pageValues && (outer == pageDataV1 || outer == pageDataV2):
		p.values, p.kinds, p.version2 = v, p.kinds+1, outer == pageDataV2
	case depth == 1 && outer == pageDataV2:
		p.field2(inner, v)
	case depth == 1 && inner == pageEncoding && (outer == pageDataV1 || outer == pageDictionary):
		p.encoding = format.Encoding(v)
	case depth == 1 && inner == pageLevels && outer == pageDataV1:
		p.levelEncoding = format.Encoding(v)
	}
}

// field2 takes one number of the header of a data page of version 2.
func (p *pageSizes) field2(inner int16, v int64) {
	switch inner {
	case page2Nulls:
		p.nulls = v
	case page2Encoding:
		p.encoding = format.Encoding(v)
	case page2Definition:
		p.definition = v
	case page2Repetition:
		p.repetition = v
	}
}

// flag takes one truth value of a page header.
func (p *pageSizes) flag(depth int, outer, inner int16, v bool) {
	if depth == 1 && outer == pageDataV2 && inner == page2Compressed {
		p.stored = !v
	}
}

// thriftScan walks over a struct in Thrift's compact encoding and checks that it
// is one, without building it.
type thriftScan struct {
	data []byte
	at   int
	// keep, if set, is called with each integer: how deep it stands, the number of
	// the field that holds its struct or list, the number of its own field.
	keep func(depth int, outer, inner int16, v int64)
	// flag, if set, is called in the same way with each truth value of a struct.
	flag func(depth int, outer, inner int16, v bool)
}

// leastChunk is less than what the description of a column chunk takes, in bytes: the
// library keeps more than 500 for each.
const leastChunk = 16

// thriftDepth is how deep structs and lists may nest; six levels are in use.
const thriftDepth = 24

// fields scans a struct that stands in field outer, up to its end. The numbers of
// fields must grow, as writers have them, so that none is given twice.
func (s *thriftScan) fields(depth int, outer int16) bool {
	if depth > thriftDepth {
		return false
	}
	var id int16
	for {
		b, ok := s.byte()
		if !ok {
			return false
		}
		if b == 0 {
			return true
		}
		next := int64(id) + int64(b>>4)
		if b>>4 == 0 {
			if next, ok = s.varint(); !ok || next <= int64(id) {
				return false
			}
		}
		if next > math.MaxInt16 {
			return false
		}
		id = int16(next)
		kind := b & 15
		if isBool := kind == 1 || kind == 2; isBool { // the value is in the kind
			if s.flag != nil {
				s.flag(depth, outer, id, kind == 1)
			}
			continue
		}
		if !s.value(kind, depth, outer, id) {
			return false
		}
	}
}

// value scans one value of a kind.
func (s *thriftScan) value(kind byte, depth int, outer, id int16) bool {
	switch kind {
	case 1, 2, 3: // a truth value of a list, a byte
		return s.skip(1)
	case 4, 5, 6: // integers
		v, ok := s.varint()
		if ok && s.keep != nil {
			s.keep(depth, outer, id, v)
		}
		return ok
	case 7: // a float
		return s.skip(8)
	case 8: // bytes
		n, ok := s.uvarint()
		return ok && n <= uint64(len(s.data)) && s.skip(int(n))
	case 9, 10: // a list, a set
		return s.list(depth, id)
	case 12:
		return s.fields(depth+1, id)
	}
	return false // maps are not in use
}

// list scans a list, whose items take a byte each at least.
func (s *thriftScan) list(depth int, id int16) bool {
	b, ok := s.byte()
	if !ok {
		return false
	}
	n := uint64(b >> 4)
	if n == 15 {
		if n, ok = s.uvarint(); !ok {
			return false
		}
	}
	if n > uint64(len(s.data)-s.at) {
		return false
	}
	for range n {
		start := s.at
		if depth >= thriftDepth || !s.value(b&15, depth+1, 0, id) {
			return false
		}
		if depth == 2 && id == groupChunks && s.at-start < leastChunk {
			return false
		}
	}
	return true
}

func (s *thriftScan) byte() (byte, bool) {
	if s.at >= len(s.data) {
		return 0, false
	}
	s.at++
	return s.data[s.at-1], true
}

func (s *thriftScan) skip(n int) bool {
	if n > len(s.data)-s.at {
		return false
	}
	s.at += n
	return true
}

func (s *thriftScan) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(s.data[s.at:])
	s.at += max(n, 0)
	return v, n > 0
}

func (s *thriftScan) varint() (int64, bool) {
	v, n := binary.Varint(s.data[s.at:])
	s.at += max(n, 0)
	return v, n > 0
}
