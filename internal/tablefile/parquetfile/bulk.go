package parquetfile

import (
	"bufio"

	"github.com/parquet-go/parquet-go/format"
)

// Numbers stored consecutively in a page, or as consecutive dictionary indexes, need not become a [Value] each:
// [Column.Many] converts them all at once, in place. Rows without a value, other encodings and other types use
// [Column.Cell].

// Room is memory that one column after the other may use. It is not for concurrent use.
type Room[T any] struct {
	in         *bufio.Reader
	stored     []byte
	plain      []byte
	dictionary []T
}

// mostRoom is the maximum number of values of a dictionary whose memory is kept for the next column.
const mostRoom = 1 << 20

// acquireBuffers acquires the shared buffers.
func (c *Column[T]) acquireBuffers() {
	if r := c.Room; r != nil && c.pages.in == nil {
		c.pages.in = r.in
		c.pages.stored = r.stored
		c.pages.plain = r.plain
		c.dictionary = r.dictionary
		*r = Room[T]{}
	}
}

// releaseBuffers returns the shared buffers.
func (c *Column[T]) releaseBuffers() {
	if c.Room != nil {
		*c.Room = Room[T]{c.pages.in, c.pages.stored, c.pages.plain, c.dictionary[:0]}
		if cap(c.dictionary) > mostRoom {
			c.Room.dictionary = nil
		}
	}
}

// canReadMany reports whether the values of the page can be converted in bulk.
func (c *Column[T]) canReadMany() bool {
	if c.Many == nil {
		return false
	}
	switch c.values.encoding {
	case format.Plain:
		return true
	case format.RLEDictionary:
		return c.uniform && c.places.src != nil
	}
	return false
}

// readMany reads cells of consecutive rows that all have a value. The number at the start of dst may be 0.
func (c *Column[T]) readMany(dst []T) (n int, err error) {
	n = len(dst)
	if c.Type.Optional {
		var ok bool
		if n, ok = c.levels.skipOnes(n); !ok {
			return 0, ErrDamaged
		}
	}
	if c.values.encoding == format.RLEDictionary {
		err = c.readDictionaryIndexes(dst[:n])
	} else {
		err = c.readPlainNumbers(dst[:n], &c.Tally)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// skipOnes skips the ones of a run, up to a maximum number, and returns how many it skipped.
func (h *hybrid) skipOnes(most int) (n int, ok bool) {
	if len(h.have) == 0 && h.run == 0 && h.groups == 0 && !h.readHeader() {
		return 0, false
	}
	if len(h.have) > 0 || h.value != 1 {
		return 0, true
	}
	n = int(min(h.run, uint64(most)))
	h.run -= uint64(n)
	return n, true
}

// readPlainNumbers converts numbers stored in the page to cells.
func (c *Column[T]) readPlainNumbers(dst []T, tally *[Classes]int) error {
	width := int(c.Type.minBytes())
	for len(dst) > 0 {
		n := min(len(dst), max(len(c.pages.body.buf), sourceBuffer)/width)
		data, ok := c.pages.body.takeBytes(n * width)
		if !ok {
			return ErrDamaged
		}
		c.Many(dst[:n], data, tally)
		dst = dst[n:]
	}
	return nil
}

// readDictionaryIndexes converts indexes into a dictionary whose values are all of one class to cells.
func (c *Column[T]) readDictionaryIndexes(dst []T) error {
	var places [batch]uint32
	c.Tally[c.class] += len(dst)
	dictionary := c.dictionary
	for len(dst) > 0 {
		part := places[:min(len(dst), batch)]
		if !c.places.next(part) {
			return ErrDamaged
		}
		for k, at := range part {
			if uint64(at) >= uint64(len(dictionary)) {
				return ErrDamaged
			}
			dst[k] = dictionary[at]
		}
		dst = dst[len(part):]
	}
	return nil
}

// makeMany converts a dictionary of numbers to cells, and reports whether all have the same class. If not, the
// page is back at its previous position.
func (c *Column[T]) makeMany(values int) (ok bool, err error) {
	if c.Many == nil || c.pages.body.stream != nil {
		return false, nil
	}
	at := c.pages.body.buf
	if cap(c.dictionary) < values {
		c.dictionary = make([]T, values)
	}
	c.dictionary = c.dictionary[:values]
	var tally [Classes]int
	if err := c.readPlainNumbers(c.dictionary, &tally); err != nil {
		return false, err
	}
	for class, n := range tally {
		if n == values {
			c.class = uint8(class)
			return true, nil
		}
	}
	c.pages.body.buf = at
	c.dictionary = c.dictionary[:0]
	return false, nil
}
