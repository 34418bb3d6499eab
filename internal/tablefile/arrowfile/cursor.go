package arrowfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// cursor iterates over the cells of one column of a batch.
type cursor struct {
	of   *Field
	rows *Rows
	full bool // see [AsFullText]

	valid, data, offsets *bufio.Reader // nil if absent
	validByte            byte
	dataByte             byte
	row                  int64
	before               int64 // the last offset
	views                [][]byte
	values               *dictionary
	ends, run            *cursor // for runs: the end of each run, and its value
	end                  int64   // of the run that contains the next cell
	same                 []byte  // its text
	value                [32]byte
	text                 []byte // of the last cell of a record
}

// dictionary holds the values of a dictionary as text.
type dictionary struct {
	text []byte
	ends []int
}

// place is where a column starts among the nodes, buffers and views of a body.
type place struct{ node, buffer, view int }

// nextBuffer returns the place after a column.
func (b *body) nextBuffer(p place, of layout) (place, error) {
	p.node += of.nodes
	p.buffer += of.buffers
	for range of.views {
		n := int64(-1)
		if p.view < len(b.views) {
			n = b.views[p.view]
		}
		if n < 0 || n > int64(len(b.buffers)) {
			return p, ErrDamaged
		}
		p.view++
		p.buffer += int(n)
	}
	return p, nil
}

// columnCursor opens a column of a body.
func (r *Rows) columnCursor(
	b *body,
	p place,
	of *Field,
	want Want,
) (c *cursor, err error) {
	if 2*p.node+1 >= len(b.nodes) || b.nodes[2*p.node] != b.rows {
		return nil, ErrDamaged
	}
	full := want == AsFullText
	if of.kind == runs {
		if c, err = r.runCursor(b, p, of); err == nil {
			c.run.full = full
		}
		return c, err
	}
	if c, err = r.valueCursor(b, p, of); err == nil {
		c.full = full
	}
	return c, err
}

// runCursor opens a run-encoded column: the column of run ends and the column of values. Only the latter has
// its length stored with it.
func (r *Rows) runCursor(b *body, p place, of *Field) (c *cursor, err error) {
	c = &cursor{of: of, rows: r}
	p.node++
	if c.ends, err = r.valueCursor(b, p, of.index); err != nil {
		return nil, err
	}
	if p, err = b.nextBuffer(p, of.index.skip); err != nil {
		return nil, err
	}
	c.run, err = r.valueCursor(b, p, of.values)
	return c, err
}

// valueCursor opens a column of values.
func (r *Rows) valueCursor(b *body, p place, of *Field) (c *cursor, err error) {
	c = &cursor{of: of, rows: r}
	if 2*p.node+1 >= len(b.nodes) {
		return nil, ErrDamaged
	}
	if of.kind == null {
		return c, nil
	}
	if b.nodes[2*p.node+1] != 0 {
		if c.valid, _, err = r.streams.openBuffer(b, p.buffer); err != nil {
			return nil, err
		}
	}
	next := p.buffer + 1
	if of.kind == text {
		if c.offsets, _, err = r.streams.openBuffer(b, next); err != nil {
			return nil, err
		}
		next++
		if c.offsets != nil {
			if c.before, err = c.nextOffset(); err != nil {
				return nil, err
			}
		}
	}
	if c.data, _, err = r.streams.openBuffer(b, next); err != nil {
		return nil, err
	}
	switch of.kind {
	case text:
		return c, c.discardBytes(c.before)
	case view:
		end, err := b.nextBuffer(p, of.skip)
		for k := next + 1; err == nil && k < end.buffer; k++ {
			var text []byte
			text, err = r.streams.readBuffer(b, k)
			c.views = append(c.views, text)
		}
		return c, err
	case coded:
		if c.values = r.dictionaries[of.dict]; c.values == nil {
			c.values = &dictionary{}
		}
	}
	return c, nil
}

// decodeError converts an error of a decoder to damage and keeps system errors. A decoder's own text may quote data.
func decodeError(err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return system
	}
	return ErrDamaged
}

// takeBytes reads the next n bytes of a buffer.
func (c *cursor) takeBytes(r *bufio.Reader, n int) ([]byte, error) {
	if r == nil {
		return nil, ErrDamaged
	}
	if _, err := io.ReadFull(r, c.value[:n]); err != nil {
		return nil, decodeError(err)
	}
	return c.value[:n], nil
}

func (c *cursor) discardBytes(n int64) error {
	if n == 0 {
		return nil
	}
	if n < 0 || c.data == nil {
		return ErrDamaged
	}
	if _, err := io.CopyN(io.Discard, c.data, n); err != nil {
		return decodeError(err)
	}
	return nil
}

// nextOffset reads the next offset.
func (c *cursor) nextOffset() (int64, error) {
	b, err := c.takeBytes(c.offsets, c.of.width)
	if err != nil {
		return 0, err
	}
	return decodeInteger(b, true), nil
}

// nextBit reads the next bit of a buffer.
func (c *cursor) nextBit(r *bufio.Reader, current *byte) (bool, error) {
	if c.row%8 == 0 {
		b, err := c.takeBytes(r, 1)
		if err != nil {
			return false, err
		}
		*current = b[0]
	}
	return *current>>(c.row%8)&1 != 0, nil
}

// nextValid reads whether the next cell has a value.
func (c *cursor) nextValid() (bool, error) {
	if c.valid != nil {
		return c.nextBit(c.valid, &c.validByte)
	}
	return c.of.kind != null, nil
}

// nextNumber reads the next cell of a column with [Field.Stored]. ok is false for a cell without a
// value.
func (c *cursor) nextNumber() (v float64, ok bool, err error) {
	if ok, err = c.nextValid(); err != nil {
		return 0, false, err
	}
	if c.of.kind == boolean {
		on, err := c.nextBit(c.data, &c.dataByte)
		if on {
			v = 1
		}
		c.row++
		return v, ok, err
	}
	b, err := c.takeBytes(c.data, c.of.width)
	c.row++
	if err != nil || !ok {
		return 0, false, err
	}
	return c.of.numberOf(b), true, nil
}

// appendCell appends the text of the next cell.
func (c *cursor) appendCell(to []byte) ([]byte, error) {
	has, err := c.nextValid()
	if err != nil {
		return nil, err
	}
	to, err = c.appendValue(to, has)
	c.row++
	return to, err
}

// appendValue appends the text of a cell if it has a value.
func (c *cursor) appendValue(to []byte, has bool) ([]byte, error) {
	switch c.of.kind {
	case null:
		return to, nil
	case runs:
		return c.sameRun(to)
	case boolean:
		on, err := c.nextBit(c.data, &c.dataByte)
		if has && err == nil {
			to = strconv.AppendBool(to, on)
		}
		return to, err
	case text:
		return c.appendText(to, has)
	}
	b, err := c.takeBytes(c.data, c.of.width)
	if err != nil || !has {
		return to, err
	}
	switch c.of.kind {
	case view:
		return c.appendView(to, b)
	case coded:
		k := decodeInteger(b, c.of.index.kind == signed)
		if k < 0 || k >= int64(len(c.values.ends)) {
			return nil, ErrDamaged
		}
		start := 0
		if k > 0 {
			start = c.values.ends[k-1]
		}
		return append(to, c.values.text[start:c.values.ends[k]]...), nil
	}
	text := c.of.formatValue(b, c.full)
	if c.rows.comma {
		text = strings.Replace(text, ".", ",", 1)
	}
	return append(to, text...), nil
}

// sameRun appends the value of the run that a cell is in.
func (c *cursor) sameRun(to []byte) ([]byte, error) {
	for c.row >= c.end {
		b, err := c.ends.takeBytes(c.ends.data, c.ends.of.width)
		if err != nil {
			return nil, err
		}
		end := decodeInteger(b, true)
		if end <= c.end {
			return nil, ErrDamaged
		}
		c.end = end
		if c.same, err = c.run.appendCell(c.same[:0]); err != nil {
			return nil, err
		}
	}
	return append(to, c.same...), nil
}

// appendText reads a text.
func (c *cursor) appendText(to []byte, has bool) ([]byte, error) {
	end, err := c.nextOffset()
	if err != nil {
		return nil, err
	}
	n := end - c.before
	c.before = end
	if n < 0 {
		return nil, ErrDamaged
	}
	if !has {
		return to, c.discardBytes(n)
	}
	kept := min(n, int64(c.rows.most))
	for left := kept; left > 0; { // in pieces: the claimed bytes may be missing
		piece := int(min(left, 1<<16))
		to = append(to, make([]byte, piece)...)
		if c.data == nil {
			return nil, ErrDamaged
		}
		if _, err := io.ReadFull(c.data, to[len(to)-piece:]); err != nil {
			return nil, decodeError(err)
		}
		left -= int64(piece)
	}
	return to, c.discardBytes(n - kept)
}

// appendView reads a text of a view, which contains a short text itself and the position of a long one.
func (c *cursor) appendView(to, b []byte) ([]byte, error) {
	const mostInline = 12 // bytes of a text that is kept in the view itself
	field := func(offset int) int64 {
		return int64(int32(binary.LittleEndian.Uint32(b[offset:])))
	}
	size := field(0)
	if size >= 0 && size <= mostInline {
		return append(to, b[4:4+size]...), nil
	}
	index := field(8)
	start := field(12)
	if size < 0 || index < 0 || index >= int64(len(c.views)) {
		return nil, ErrDamaged
	}
	view := c.views[index]
	if start < 0 || start+size > int64(len(view)) {
		return nil, ErrDamaged
	}
	end := start + min(size, int64(c.rows.most))
	return append(to, view[start:end]...), nil
}

// decodeInteger reads an integer of up to 8 bytes.
func decodeInteger(b []byte, signed bool) int64 {
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	if free := 64 - 8*len(b); signed && free > 0 {
		return int64(x<<free) >> free
	}
	return int64(x)
}

// formatValue formats a value as in a CSV file. full is as in [AsFullText].
func (x *Field) formatValue(b []byte, full bool) string {
	switch x.kind {
	case signed:
		return strconv.FormatInt(decodeInteger(b, true), 10)
	case unsigned:
		return strconv.FormatUint(uint64(decodeInteger(b, false)), 10)
	case float:
		return x.formatFloat(b, full)
	case decimal:
		return x.formatDecimal(b)
	case truth:
		return strconv.FormatBool(b[0] != 0)
	case uuid:
		return string(cell.AppendUUID(nil, b))
	case date:
		days := floorDiv(decodeInteger(b, true), x.unit)
		return time.Unix(days*24*60*60, 0).UTC().Format(time.DateOnly)
	case clock:
		count := decodeInteger(b, true)
		return time.Unix(floorDiv(count, x.unit),
			(count-floorDiv(count, x.unit)*x.unit)*(1e9/x.unit)).UTC().Format(cell.ClockLayout)
	}
	count := decodeInteger(b, true) // a timestamp
	second := floorDiv(count, x.unit)
	at := time.Unix(second, (count-second*x.unit)*(1e9/x.unit))
	if x.zone != nil {
		return at.In(x.zone).Format(cell.TimeLayout + "-07:00")
	}
	return cell.TimeText(at.UTC())
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// decodeFloat reads a floating-point number.
func (x *Field) decodeFloat(b []byte) float64 {
	switch x.width {
	case 2:
		return cell.Float16(binary.LittleEndian.Uint16(b))
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// numberOf returns the number of a value of a column with [Field.Stored]. A negative zero is 0, as in the text of
// [Field.formatFloat].
func (x *Field) numberOf(b []byte) float64 {
	switch x.kind {
	case signed:
		return float64(decodeInteger(b, true))
	case unsigned:
		return float64(uint64(decodeInteger(b, false)))
	case truth:
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	return x.decodeFloat(b) + 0 // -0 + 0 is 0
}

// formatFloat formats a number with the fewest digits that identify it among those of its width or, in full, among those of
// 64 bits.
func (x *Field) formatFloat(b []byte, full bool) string {
	bits := 8 * x.width
	if full {
		bits = 64
	}
	return string(cell.AppendFloat(nil, x.decodeFloat(b), bits))
}

// formatDecimal writes a little-endian integer with its point.
func (x *Field) formatDecimal(b []byte) string {
	digits := make([]byte, len(b))
	for i, c := range b {
		digits[len(b)-1-i] = c
	}
	v := new(big.Int).SetBytes(digits)
	if digits[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	s := v.String()
	sign := ""
	scale := int(x.scale)
	if s[0] == '-' {
		sign = "-"
		s = s[1:]
	}
	if scale <= 0 {
		return sign + s + strings.Repeat("0", -scale)
	}
	if short := scale + 1 - len(s); short > 0 {
		s = strings.Repeat("0", short) + s
	}
	return sign + s[:len(s)-scale] + "." + s[len(s)-scale:]
}
