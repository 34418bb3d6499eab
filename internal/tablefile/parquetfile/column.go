package parquetfile

import (
	"io"
	"sync"

	"github.com/parquet-go/parquet-go/format"
)

// MaxDictionary limits the size of a dictionary that has more values than its column chunk has rows.
const MaxDictionary = 1 << 25

// Type is the storage type of a column with one value per row.
type Type struct {
	Kind     format.Type
	Width    int // width of a FixedLenByteArray or Int96 value in bytes
	Optional bool
}

// minBytes is the minimum number of bytes of a value in a dictionary.
func (t Type) minBytes() int64 {
	switch t.Kind {
	case format.Int32, format.Float, format.ByteArray: // the length of bytes takes four
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray, format.Int96:
		return int64(t.Width)
	}
	return 1
}

// Value is a stored value: the lowest bits of Bits for a boolean or a number of up to 64 bits, or bytes, which
// are valid during the call that they are passed to.
type Value struct {
	Bits  uint64
	Bytes []byte
}

// Classes is the maximum number of classes of cells.
const Classes = 5

// Column reads the cells of a column, chunk by chunk. It uses memory for a page of WholePage bytes, the compression
// window and the dictionary, whatever the pages contain. It is not safe for concurrent use.
type Column[T any] struct {
	Type Type
	File File
	// Cell converts a value to a cell and its class. It is called once for each value of a dictionary.
	Cell func(Value) (T, uint8)
	// Many, if it is not nil, converts the len(dst) numbers in data, stored one after the other in the format's
	// encoding, to the cells that Cell would return, and counts their classes. It is for types of a fixed width
	// and may replace Cell.
	Many func(dst []T, data []byte, tally *[Classes]int)
	// Made, if it is not nil, is called when a dictionary is converted to cells.
	Made func()
	// Null is the cell of a row without a value, and NullClass its class.
	Null      T
	NullClass uint8
	// Text is the number of bytes read of a text; the rest is skipped.
	Text int
	// Long is held while a text that must be assembled is in use. It is shared by all columns.
	Long sync.Locker
	// Room, if it is not nil, is used from the first Open to Close.
	Room *Room[T]

	// Tally counts the cells of each class that were read.
	Tally [Classes]int

	pages  pages
	rows   int64 // remaining rows of the chunk, except those of pages already started
	left   int   // values of the page
	values valueReader
	levels hybrid
	places hybrid // in the dictionary

	dictionary []T
	classes    []uint8 // of the dictionary
	loaded     bool
	uniform    bool  // all dictionary entries are of one class, and classes is empty
	class      uint8 // that class
}

// batch is the number of cells read at a time.
const batch = 1024

// Open moves to the start of a chunk with the given number of rows.
func (c *Column[T]) Open(chunk Chunk, rows int64) error {
	c.acquireBuffers()
	c.pages.file = c.File
	c.pages.nulls = c.Type.Optional
	if c.Type.minBytes() < 1 {
		return ErrDamaged
	}
	c.values.typ = c.Type
	c.values.most = c.Text
	c.values.long = c.Long
	c.rows = rows
	c.left = 0
	c.loaded = false
	c.uniform = false
	c.dictionary = c.dictionary[:0]
	c.classes = c.classes[:0]
	return c.pages.openChunk(chunk)
}

// Close frees the resources of the column.
func (c *Column[T]) Close() {
	c.pages.close()
	c.releaseBuffers()
	c.dictionary = nil
	c.classes = nil
	c.pages = pages{}
	c.values.close()
}

// Read reads up to len(dst) cells, at least one. The error is io.EOF after the last row of the chunk, once it
// has been verified that there are no more values. If it returns an error, no cell of a later row was read.
func (c *Column[T]) Read(dst []T) (int, error) {
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return 0, err
		}
	}
	dst = dst[:min(len(dst), c.left)]
	if c.canReadMany() {
		if n, err := c.readMany(dst); n > 0 || err != nil {
			c.left -= n
			return n, err
		}
	}
	dst = dst[:min(len(dst), batch)]
	if len(c.values.last) > sourceBuffer { // limits the memory for long values
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
	if err := c.readPresent(dst[:there]); err != nil {
		return 0, err
	}
	if there < len(dst) {
		c.spreadCells(dst, levels[:len(dst)], there)
	}
	c.left -= len(dst)
	return len(dst), nil
}

// spreadCells moves the cells with a value to their rows.
func (c *Column[T]) spreadCells(dst []T, levels []uint32, there int) {
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

// nextPage moves to the next page, and reads it if it is a dictionary.
func (c *Column[T]) nextPage() error {
	switch err := c.pages.nextPage(); {
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

// readDictionary reads a dictionary; a second one is skipped.
func (c *Column[T]) readDictionary(head *header) error {
	size := max(head.compressed, head.expanded)
	switch {
	case c.loaded:
		return nil
	case head.encoding != format.Plain && head.encoding != plainDictionary,
		head.values > size/c.Type.minBytes():
		return ErrDamaged
	case head.values > max(MaxDictionary, c.rows):
		return ErrDictionary
	}
	c.values.start(&c.pages.body, format.Plain, int(head.values))
	c.loaded = true
	var err error
	if c.uniform, err = c.makeMany(int(head.values)); err != nil {
		return err
	}
	if !c.uniform {
		err = c.makeEach(int(head.values))
	}
	if err == nil && c.Made != nil {
		c.Made()
	}
	return err
}

// makeEach converts a dictionary with the given number of values to cells, one by one.
func (c *Column[T]) makeEach(values int) error {
	var some [batch]T
	tally := c.Tally
	for left := values; left > 0; {
		part := some[:min(left, batch)]
		classes, err := c.convertCells(part)
		if err != nil {
			return err
		}
		c.dictionary = append(c.dictionary, part...)
		c.classes = append(c.classes, classes[:len(part)]...)
		left -= len(part)
	}
	c.Tally = tally
	return nil
}

// readPresent reads cells that have a value.
func (c *Column[T]) readPresent(dst []T) error {
	if c.values.encoding != format.RLEDictionary {
		_, err := c.convertCells(dst)
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
		c.Tally[c.classOf(at)]++
	}
	return nil
}

// classOf returns the class of a dictionary index.
func (c *Column[T]) classOf(at uint32) uint8 {
	if c.uniform {
		return c.class
	}
	return c.classes[at]
}

// convertCells converts values to cells, and returns their classes.
func (c *Column[T]) convertCells(dst []T) (classes [batch]uint8, err error) {
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
		c.values.releaseLongText()
		if !ok {
			return classes, ErrDamaged
		}
	}
	return classes, nil
}
