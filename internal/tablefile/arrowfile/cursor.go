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
	of    *Field
	lines *Lines
	left  int64 // cells

	valid, data, offsets *bufio.Reader // nil if absent
	validByte, dataByte  byte
	row                  int64
	before               int64 // the last offset
	views                [][]byte
	values               *dictionary
	ends, run            *cursor // for runs: the end of each run, and its value
	end                  int64   // of the run that contains the next cell
	same                 []byte  // its text
	value                [32]byte
	room                 []byte
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
	p.node, p.buffer = p.node+of.nodes, p.buffer+of.buffers
	for range of.views {
		n := int64(-1)
		if p.view < len(b.views) {
			n = b.views[p.view]
		}
		if n < 0 || n > int64(len(b.buffers)) {
			return p, ErrDamaged
		}
		p.view, p.buffer = p.view+1, p.buffer+int(n)
	}
	return p, nil
}

// columnCursor opens a column of a body.
func (l *Lines) columnCursor(b *body, p place, of *Field) (*cursor, error) {
	if 2*p.node+1 >= len(b.nodes) || b.nodes[2*p.node] != b.rows {
		return nil, ErrDamaged
	}
	if of.kind == runs {
		return l.runCursor(b, p, of)
	}
	return l.valueCursor(b, p, of)
}

// runCursor opens a run-encoded column: the column of run ends and the column of values. Only the latter has
// its length stored with it.
func (l *Lines) runCursor(b *body, p place, of *Field) (c *cursor, err error) {
	c = &cursor{of: of, lines: l, left: b.rows}
	p.node++
	if c.ends, err = l.valueCursor(b, p, of.index); err != nil {
		return nil, err
	}
	if p, err = b.nextBuffer(p, of.index.skip); err != nil {
		return nil, err
	}
	c.run, err = l.valueCursor(b, p, of.values)
	return c, err
}

// valueCursor opens a column of values.
func (l *Lines) valueCursor(b *body, p place, of *Field) (c *cursor, err error) {
	c = &cursor{of: of, lines: l, left: b.rows}
	if 2*p.node+1 >= len(b.nodes) {
		return nil, ErrDamaged
	}
	if of.kind == null {
		return c, nil
	}
	if b.nodes[2*p.node+1] != 0 {
		if c.valid, _, err = l.streams.openBuffer(b, p.buffer); err != nil {
			return nil, err
		}
	}
	next := p.buffer + 1
	if of.kind == text {
		if c.offsets, _, err = l.streams.openBuffer(b, next); err != nil {
			return nil, err
		}
		next++
		if c.offsets != nil {
			if c.before, err = c.nextOffset(); err != nil {
				return nil, err
			}
		}
	}
	if c.data, _, err = l.streams.openBuffer(b, next); err != nil {
		return nil, err
	}
	switch of.kind {
	case text:
		return c, c.discardBytes(c.before)
	case view:
		end, err := b.nextBuffer(p, of.skip)
		for k := next + 1; err == nil && k < end.buffer; k++ {
			var text []byte
			text, err = l.streams.readBuffer(b, k)
			c.views = append(c.views, text)
		}
		return c, err
	case coded:
		if c.values = l.dictionaries[of.dict]; c.values == nil {
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

// appendCell appends the next cell to a line.
func (c *cursor) appendCell(line []byte) ([]byte, error) {
	has := c.of.kind != null
	if c.valid != nil {
		var err error
		if has, err = c.nextBit(c.valid, &c.validByte); err != nil {
			return nil, err
		}
	}
	line, err := c.appendValue(line, has)
	c.row++
	return line, err
}

// appendValue appends the value of a cell if it has one.
func (c *cursor) appendValue(line []byte, has bool) ([]byte, error) {
	switch c.of.kind {
	case null:
		return line, nil
	case runs:
		return c.sameRun(line)
	case boolean:
		on, err := c.nextBit(c.data, &c.dataByte)
		if has && err == nil {
			line = strconv.AppendBool(line, on)
		}
		return line, err
	case text:
		return c.appendText(line, has)
	}
	b, err := c.takeBytes(c.data, c.of.width)
	if err != nil || !has {
		return line, err
	}
	switch c.of.kind {
	case view:
		return c.appendView(line, b)
	case coded:
		k := decodeInteger(b, c.of.index.kind == signed)
		if k < 0 || k >= int64(len(c.values.ends)) {
			return nil, ErrDamaged
		}
		start := 0
		if k > 0 {
			start = c.values.ends[k-1]
		}
		return append(line, c.values.text[start:c.values.ends[k]]...), nil
	}
	return c.lines.appendQuoted(line, c.of.formatValue(b)), nil
}

// sameRun appends the value of the run that a cell is in.
func (c *cursor) sameRun(line []byte) ([]byte, error) {
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
	return append(line, c.same...), nil
}

// appendText reads a text.
func (c *cursor) appendText(line []byte, has bool) ([]byte, error) {
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
		return line, c.discardBytes(n)
	}
	kept := min(n, int64(c.lines.most))
	for c.room = c.room[:0]; int64(len(c.room)) < kept; { // in pieces: the claimed bytes may be missing
		piece := int(min(kept-int64(len(c.room)), 1<<16))
		c.room = append(c.room, make([]byte, piece)...)
		if c.data == nil {
			return nil, ErrDamaged
		}
		if _, err := io.ReadFull(c.data, c.room[len(c.room)-piece:]); err != nil {
			return nil, decodeError(err)
		}
	}
	return cell.AppendCell(line, string(c.room)), c.discardBytes(n - kept)
}

// appendView reads a text of a view, which contains a short text itself and the position of a long one.
func (c *cursor) appendView(line, b []byte) ([]byte, error) {
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	if n >= 0 && n <= 12 {
		return cell.AppendCell(line, string(b[4:4+n])), nil
	}
	k, at := int(int32(binary.LittleEndian.Uint32(b[8:]))),
		int64(int32(binary.LittleEndian.Uint32(b[12:])))
	if n < 0 || k < 0 || k >= len(c.views) || at < 0 || at+n > int64(len(c.views[k])) {
		return nil, ErrDamaged
	}
	return cell.AppendCell(line, string(c.views[k][at:at+min(n, int64(c.lines.most))])), nil
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

// formatValue formats a value as in a CSV file.
func (x *Field) formatValue(b []byte) string {
	switch x.kind {
	case signed:
		return strconv.FormatInt(decodeInteger(b, true), 10)
	case unsigned:
		return strconv.FormatUint(uint64(decodeInteger(b, false)), 10)
	case float:
		return x.formatFloat(b)
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
			(count-floorDiv(count, x.unit)*x.unit)*(1e9/x.unit)).UTC().Format("15:04:05.999999999")
	}
	count := decodeInteger(b, true) // a timestamp
	second := floorDiv(count, x.unit)
	at := time.Unix(second, (count-second*x.unit)*(1e9/x.unit))
	if x.zone != nil {
		return at.In(x.zone).Format("2006-01-02 15:04:05.999999999-07:00")
	}
	return at.UTC().Format("2006-01-02 15:04:05.999999999")
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (x *Field) formatFloat(b []byte) string {
	var v float64
	switch x.width {
	case 2:
		v = cell.Float16(binary.LittleEndian.Uint16(b))
	case 4:
		v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	default:
		v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return string(cell.AppendFloat(nil, v, 64)) // in full: fewer digits would be another number in 64 bits
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
	s, sign, scale := v.String(), "", int(x.scale)
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if scale <= 0 {
		return sign + s + strings.Repeat("0", -scale)
	}
	if short := scale + 1 - len(s); short > 0 {
		s = strings.Repeat("0", short) + s
	}
	return sign + s[:len(s)-scale] + "." + s[len(s)-scale:]
}
