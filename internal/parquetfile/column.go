package parquetfile

import (
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/parquet-go/parquet-go/format"
)

// MaxDictionary is how many values a dictionary may have that has more of them than its column
// chunk has rows.
const MaxDictionary = 1 << 25

// Type says how the values of a column are stored: one a row.
type Type struct {
	Kind     format.Type
	Width    int // bytes of a value of FixedLenByteArray
	Optional bool
}

// least is how many bytes a value takes in a dictionary, at least.
func (t Type) least() int64 {
	switch t.Kind {
	case format.Int32, format.Float, format.ByteArray: // the length of bytes takes four
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray:
		return int64(t.Width)
	}
	return 1
}

// Value is a value as it is stored: the lowest bits of Bits for a boolean or a number, or bytes,
// which are valid during the call that they are handed to.
type Value struct {
	Bits  uint64
	Bytes []byte
}

// Classes is how many classes of cells there may be.
const Classes = 5

// Column reads the cells of a column, chunk by chunk. Memory is what a page of WholePage bytes
// takes, the window of its compression and the dictionary, whatever the pages hold. It is not for
// concurrent use.
type Column[T any] struct {
	Type Type
	File File
	// Cell makes a cell of a value, and says of which class it is. It is called once for each
	// value of a dictionary.
	Cell func(Value) (T, uint8)
	// Made, if it is not nil, is called when the cells of a dictionary are made.
	Made func()
	// Null is the cell of a row without a value, and NullClass its class.
	Null      T
	NullClass uint8
	// Text is how many bytes of a text are read; the rest is passed over.
	Text int
	// Long is held while a text is looked at that has to be put together, one for all columns.
	Long sync.Locker

	// Tally counts the cells of each class that were read.
	Tally [Classes]int

	pages  pages
	rows   int64 // of the chunk, less those of pages that were begun
	left   int   // values of the page
	values valueReader
	levels hybrid
	places hybrid // in the dictionary

	dictionary []T
	classes    []uint8 // of the dictionary
	loaded     bool
}

// batch is how many cells are read at a time.
const batch = 1024

// Open goes to the beginning of the chunk of so many rows.
func (c *Column[T]) Open(chunk Chunk, rows int64) error {
	c.pages.file, c.pages.nulls = c.File, c.Type.Optional
	if c.Type.least() < 1 {
		return ErrDamaged
	}
	c.values.typ, c.values.most, c.values.long = c.Type, c.Text, c.Long
	c.rows, c.left, c.loaded = rows, 0, false
	c.dictionary, c.classes = c.dictionary[:0], c.classes[:0]
	return c.pages.open(chunk)
}

// Close frees what the column holds.
func (c *Column[T]) Close() {
	c.pages.close()
	c.dictionary, c.classes, c.pages, c.values = nil, nil, pages{}, valueReader{}
}

// Read reads up to len(dst) cells, at least one. The error is io.EOF after the last row of the
// chunk, once it is known that there are no others. No cell of a row after an error was read.
func (c *Column[T]) Read(dst []T) (int, error) {
	for c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	dst = dst[:min(len(dst), c.left, batch)]
	if len(c.values.last) > sourceBuffer { // what each may cost
		dst = dst[:1]
	}
	var levels [batch]uint32
	there := len(dst)
	if c.Type.Optional {
		if !c.levels.next(levels[:len(dst)]) {
			return 0, ErrDamaged
		}
		there = 0
		for _, level := range levels[:len(dst)] {
			if level > 1 {
				return 0, ErrDamaged
			}
			there += int(level)
		}
	}
	if err := c.read(dst[:there]); err != nil {
		return 0, err
	}
	if there < len(dst) {
		c.spread(dst, levels[:len(dst)], there)
	}
	c.left -= len(dst)
	return len(dst), nil
}

// spread moves the cells that are there to their rows.
func (c *Column[T]) spread(dst []T, levels []uint32, there int) {
	c.Tally[c.NullClass] += len(dst) - there
	for k := len(dst) - 1; k >= 0; k-- {
		if levels[k] == 0 {
			dst[k] = c.Null
			continue
		}
		there--
		dst[k] = dst[there]
	}
}

// next goes to the next page, and reads it if it is a dictionary.
func (c *Column[T]) next() error {
	switch err := c.pages.next(); {
	case err == io.EOF && c.rows > 0:
		return ErrDamaged
	case err != nil:
		return err
	}
	head := &c.pages.head
	if head.kind == format.DictionaryPage {
		return c.readDictionary(head)
	}
	if head.values > c.rows {
		return ErrDamaged
	}
	c.rows -= head.values
	c.left = int(head.values)
	c.levels.start(&c.pages.levels, 1, head.values)
	switch head.encoding {
	case plainDictionary, format.RLEDictionary:
		width := c.pages.body.upTo(1)
		if !c.loaded || len(width) == 1 && width[0] > 32 {
			return ErrDamaged
		}
		if c.places.src = nil; len(width) == 1 { // else there is no value
			c.places.start(&c.pages.body, uint(width[0]), head.values)
		}
		c.values.encoding = format.RLEDictionary
		return nil
	}
	if !c.values.start(&c.pages.body, head.encoding, int(head.values)) {
		return ErrDamaged
	}
	return nil
}

// readDictionary reads a dictionary; a second one is passed over.
func (c *Column[T]) readDictionary(head *header) error {
	size := max(head.compressed, head.expanded)
	switch {
	case c.loaded:
		return nil
	case head.encoding != format.Plain && head.encoding != plainDictionary, head.values > size/c.Type.least():
		return ErrDamaged
	case head.values > max(MaxDictionary, c.rows):
		return ErrDictionary
	}
	c.values.start(&c.pages.body, format.Plain, int(head.values))
	c.loaded = true
	var some [batch]T
	tally := c.Tally
	for left := int(head.values); left > 0; {
		part := some[:min(left, batch)]
		classes, err := c.cells(part)
		if err != nil {
			return err
		}
		c.dictionary, c.classes = append(c.dictionary, part...), append(c.classes, classes[:len(part)]...)
		left -= len(part)
	}
	c.Tally = tally
	if c.Made != nil {
		c.Made()
	}
	return nil
}

// read reads cells that are there.
func (c *Column[T]) read(dst []T) error {
	if c.values.encoding != format.RLEDictionary {
		_, err := c.cells(dst)
		return err
	}
	if len(dst) == 0 {
		return nil
	}
	var places [batch]uint32
	if c.places.src == nil || !c.places.next(places[:len(dst)]) {
		return ErrDamaged
	}
	for k, at := range places[:len(dst)] {
		if int64(at) >= int64(len(c.dictionary)) {
			return ErrDamaged
		}
		dst[k] = c.dictionary[at]
		c.Tally[c.classes[at]]++
	}
	return nil
}

// cells makes cells of values, and returns their classes.
func (c *Column[T]) cells(dst []T) (classes [batch]uint8, err error) {
	for done := 0; done < len(dst); {
		part := dst[done:]
		vals, ok := c.values.next(len(part))
		if ok {
			for k, v := range vals {
				part[k], classes[done+k] = c.Cell(v)
				c.Tally[classes[done+k]]++
			}
			done += len(vals)
		}
		c.values.release()
		if !ok {
			return classes, ErrDamaged
		}
	}
	return classes, nil
}

// valueReader reads the values of a page that are not places in a dictionary.
type valueReader struct {
	typ      Type
	src      *source
	encoding format.Encoding
	most     int
	long     sync.Locker
	locked   bool

	vals   [batch]Value
	bits   hybrid // booleans
	bools  [batch]uint32
	deltas delta
	ints   [batch]int64

	at              int     // of lengths or split
	lengths, begins []int32 // of texts, and of what each shares with the one before
	last            []byte  // such a text, as far as it is read
	lastLen         int
	split           []byte // a page of streams, one for each byte of a value
	text            []byte // of such values, put together
}

// start begins a page of at most most values.
func (v *valueReader) start(src *source, encoding format.Encoding, most int) (ok bool) {
	v.src, v.encoding, v.at, v.last, v.lastLen = src, encoding, 0, nil, 0
	text := v.typ.Kind == format.ByteArray
	if !src.has(1) { // no value, whatever the encoding
		v.encoding = format.Plain
	}
	switch v.encoding {
	case format.Plain:
		v.bits.start(src, 1, int64(most))
		v.bits.groups = uint64(most+7) / 8
		return true
	case format.RLE:
		if _, ok = src.length(); ok {
			v.bits.start(src, 1, int64(most))
		}
		return ok && v.typ.Kind == format.Boolean
	case format.DeltaBinaryPacked:
		return v.deltas.start(src, most) && (v.typ.Kind == format.Int32 || v.typ.Kind == format.Int64)
	case format.DeltaLengthByteArray:
		v.lengths, ok = v.deltas.lengths(v.lengths, src, most)
		return ok && text
	case format.DeltaByteArray:
		if v.begins, ok = v.deltas.lengths(v.begins, src, most); ok {
			v.lengths, ok = v.deltas.lengths(v.lengths, src, most)
		}
		return ok && len(v.begins) == len(v.lengths) && (text || v.typ.Kind == format.FixedLenByteArray)
	case format.ByteStreamSplit:
		width := int(v.typ.least())
		most = min(most, (1<<31-1)/width) * width
		v.split = v.split[:0]
		for ok = !text && v.typ.Kind != format.Boolean; ok && len(v.split) <= most && src.has(1); {
			v.split, ok = src.appendText(v.split, len(src.buf), most+1)
		}
		return ok && len(v.split)%width == 0 && len(v.split) <= most
	}
	return false
}

// next returns at most n values, at least one, until it is called again.
func (v *valueReader) next(n int) (vals []Value, ok bool) {
	vals = v.vals[:n]
	switch v.encoding {
	case format.DeltaBinaryPacked:
		if ok = v.deltas.next(v.ints[:n]); ok {
			for k, x := range v.ints[:n] {
				vals[k] = Value{Bits: uint64(x)}
			}
		}
		return vals, ok
	case format.DeltaLengthByteArray:
		if v.at == len(v.lengths) {
			return nil, false
		}
		v.at++
		vals[0].Bytes, ok = v.textOf(int(v.lengths[v.at-1]))
		return vals[:1], ok
	case format.DeltaByteArray:
		ok = v.follow()
		vals[0] = Value{Bytes: v.last}
		return vals[:1], ok
	case format.ByteStreamSplit:
		return v.joined(vals)
	}
	switch v.typ.Kind {
	case format.Boolean:
		if ok = v.bits.next(v.bools[:n]); ok {
			for k, x := range v.bools[:n] {
				vals[k] = Value{Bits: uint64(x)}
			}
		}
		return vals, ok
	case format.ByteArray:
		return v.texts(vals)
	}
	return v.fixed(vals)
}

// fixed reads values that all take the same number of bytes.
func (v *valueReader) fixed(vals []Value) ([]Value, bool) {
	width := int(v.typ.least())
	vals = vals[:min(len(vals), sourceBuffer/width)]
	data, ok := v.src.take(len(vals) * width)
	if !ok {
		return nil, false
	}
	for k := range vals {
		switch {
		case v.typ.Kind == format.FixedLenByteArray:
			vals[k] = Value{Bytes: data[width*k:][:width]}
		case width == 4:
			vals[k] = Value{Bits: uint64(binary.LittleEndian.Uint32(data[4*k:]))}
		default:
			vals[k] = Value{Bits: binary.LittleEndian.Uint64(data[8*k:])}
		}
	}
	return vals, true
}

// texts reads texts with their lengths before them: those that are at hand, or one.
func (v *valueReader) texts(vals []Value) ([]Value, bool) {
	buf := v.src.buf
	for k := range vals {
		if len(buf) < 4 {
			return v.one(vals, k)
		}
		n := int(binary.LittleEndian.Uint32(buf))
		if n > len(buf)-4 {
			return v.one(vals, k)
		}
		vals[k] = Value{Bytes: buf[4 : 4+min(n, v.most)]}
		buf = buf[4+n:]
		v.src.buf = buf
	}
	return vals, true
}

// one returns the values that were read, or reads the one that is not at hand.
func (v *valueReader) one(vals []Value, done int) ([]Value, bool) {
	if done > 0 {
		return vals[:done], true
	}
	n, ok := v.src.length()
	if ok {
		vals[0].Bytes, ok = v.textOf(n)
	}
	return vals[:1], ok
}

// textOf reads the beginning of a text of n bytes, and passes over the rest.
func (v *valueReader) textOf(n int) ([]byte, bool) {
	if v.src.stream == nil || n <= sourceBuffer {
		b, ok := v.src.take(n)
		return b[:min(len(b), v.most)], ok
	}
	v.lock()
	return v.src.appendText(nil, n, v.most)
}

// lock is called before a text is put together that may be long.
func (v *valueReader) lock() {
	if v.long != nil && !v.locked {
		v.long.Lock()
		v.locked = true
	}
}

// release lets go of a long text.
func (v *valueReader) release() {
	if v.locked {
		v.long.Unlock()
		v.locked = false
	}
}

// follow reads a text that shares its beginning with the one before.
func (v *valueReader) follow() (ok bool) {
	if v.at == len(v.lengths) {
		return false
	}
	begin, size := int(v.begins[v.at]), int(v.lengths[v.at])
	if v.at++; begin > v.lastLen || size > math.MaxInt32-begin {
		return false
	}
	if begin+size > sourceBuffer {
		v.lock()
	}
	v.lastLen = begin + size
	v.last, ok = v.src.appendText(v.last[:min(begin, len(v.last))], size, v.most)
	return ok && (v.typ.Kind == format.ByteArray || v.lastLen == v.typ.Width)
}

// joined puts values together of which each byte stands in a stream of its own.
func (v *valueReader) joined(vals []Value) ([]Value, bool) {
	width := int(v.typ.least())
	stride := len(v.split) / width
	vals = vals[:min(len(vals), stride-v.at, sourceBuffer/width)]
	data := room(&v.text, int64(len(vals)*width+8)) // read eight bytes at a time
	for j := range width {
		for k, b := range v.split[j*stride+v.at:][:len(vals)] {
			data[k*width+j] = b
		}
	}
	for k := range vals {
		b := data[k*width:]
		vals[k] = Value{Bits: binary.LittleEndian.Uint64(b), Bytes: b[:width]} // of four bytes the lowest
	}
	v.at += len(vals)
	return vals, len(vals) > 0
}
