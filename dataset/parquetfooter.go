package dataset

import (
	"encoding/binary"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// footerEnd is what follows the footer: its length and "PAR1".
const footerEnd = 8

// readFooter returns the footer of a file of the given size, checked.
func readFooter(r io.ReaderAt, size int64) (footer []byte, ok bool) {
	var end [footerEnd]byte
	if size < 4+footerEnd {
		return nil, false
	}
	if _, err := r.ReadAt(end[:], size-footerEnd); err != nil || string(end[4:]) != "PAR1" {
		return nil, false
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-4-footerEnd {
		return nil, false
	}
	footer = make([]byte, n)
	if _, err := r.ReadAt(footer, size-footerEnd-n); err != nil {
		return nil, false
	}
	return footer, checkFooter(footer)
}

// checkFooter scans a footer.
func checkFooter(footer []byte) bool {
	groups := 0
	s := thriftScan{data: footer, keep: func(depth int, outer, inner int16, _ int64) {
		if depth == 2 && outer == footerSchema && inner == schemaChildren {
			groups++
		}
	}}
	return s.fields(0, 0) && groups <= maxGroups
}

// A row group of no rows says nothing, and what stands in its place depends on the
// writer: no page, or a dictionary of nothing, an offset of 0, another codec than that of the
// groups with rows. A table that is written in one group per ward, day or batch has such
// groups where nobody was there. So that a record more in one of them changes no more than the
// table, they are left out before anything looks at them.

// withoutEmptyGroups returns a file as r is, of the size that it returns, without the row groups
// of no rows.
func withoutEmptyGroups(r io.ReaderAt, size int64, footer []byte) (io.ReaderAt, int64) {
	var meta format.FileMetaData
	if thrift.Unmarshal(new(thrift.CompactProtocol), footer, &meta) != nil {
		return r, size // for the Parquet library to refuse
	}
	all := len(meta.RowGroups)
	meta.RowGroups = slices.DeleteFunc(meta.RowGroups, empty)
	if len(meta.RowGroups) == all {
		return r, size
	}
	tail, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return r, size
	}
	front := size - footerEnd - int64(len(footer))
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(tail)))
	tail = append(tail, "PAR1"...)
	return &otherTail{r, front, tail}, front + int64(len(tail))
}

// empty reports whether a row group has neither rows nor values.
func empty(g format.RowGroup) bool {
	return g.NumRows == 0 && !slices.ContainsFunc(g.Columns, func(c format.ColumnChunk) bool { return c.MetaData.NumValues != 0 })
}

// otherTail is a file of which the bytes from front on are others.
type otherTail struct {
	io.ReaderAt
	front int64
	tail  []byte
}

// ReadAt implements io.ReaderAt.
func (o *otherTail) ReadAt(p []byte, at int64) (n int, err error) {
	if at < o.front {
		n, err = o.ReaderAt.ReadAt(p[:min(int64(len(p)), o.front-at)], at)
		if n == len(p) || err != nil && err != io.EOF {
			return n, err
		}
	}
	if at += int64(n) - o.front; at < 0 || at > int64(len(o.tail)) {
		return n, io.EOF
	}
	m := copy(p[n:], o.tail[at:])
	if n += m; n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
