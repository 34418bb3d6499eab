package parquetfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Snappy and LZ4 compress a page as one block, and their libraries need it in memory. Here a block is read as a
// stream. It consists of literal bytes and of copies of earlier output, so the memory needed is the longest distance
// of a copy: 64 KiB for LZ4, by its format, and for Snappy as its usual writers make it. Snappy's format lets a copy
// reach back to the start of the block, and some writers use that; the distance is determined beforehand.

var errBlock = errors.New("damaged block")

// blockReach is the maximum distance of copies in LZ4, and the usual one in Snappy.
const blockReach = 1 << 16

// blockReader expands one block.
type blockReader struct {
	in   *bufio.Reader
	step func(b *blockReader) error // reads the next step; io.EOF at the end

	left   int64 // remaining bytes of the step
	offset int64 // distance of a copy; 0 for literal bytes
	match  int64 // LZ4: length of the copy after the literal bytes, less 4; -1 if there is no copy

	total, size int64  // bytes so far; for Snappy, bytes of the whole block
	ring        []byte // the last bytes
	at          int64  // position of the next byte
}

// newSnappy reads a block whose copies reach back at most reach bytes.
func newSnappy(in io.Reader, reach int64) (*blockReader, error) {
	b := &blockReader{
		in:   bufio.NewReader(in),
		step: (*blockReader).readSnappyElement,
		ring: make([]byte, reach),
	}
	size, err := binary.ReadUvarint(b.in)
	if err != nil || size > 1<<32-1 {
		return nil, errBlock
	}
	b.size = int64(size)
	return b, nil
}

// newLZ4 reads a block without a frame.
func newLZ4(in io.Reader) *blockReader {
	return &blockReader{
		in:    bufio.NewReader(in),
		step:  (*blockReader).lz4,
		match: -1,
		ring:  make([]byte, blockReach),
	}
}

// snappyReach returns the maximum distance of the copies in a block of at most most bytes, at least
// [blockReach].
func snappyReach(in io.Reader, most int64) (int64, error) {
	b, err := newSnappy(in, 0)
	if err != nil || b.size > most {
		return 0, errBlock
	}
	reach := int64(blockReach)
	for {
		if err := b.step(b); err == io.EOF {
			return reach, nil
		} else if err != nil {
			return 0, err
		}
		reach = max(reach, b.offset)
		if b.offset == 0 {
			if _, err := io.CopyN(io.Discard, b.in, b.left); err != nil {
				return 0, errBlock
			}
		}
		b.total += b.left
		b.left = 0
	}
}

// Read implements io.Reader.
func (b *blockReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if b.left == 0 {
			if err := b.step(b); err != nil {
				return n, err
			}
			if b.offset > min(b.total, int64(len(b.ring))) {
				return n, errBlock
			}
			continue
		}
		count := min(b.left, int64(len(p)-n), int64(len(b.ring))-b.at)
		if b.offset == 0 {
			if _, err := io.ReadFull(b.in, b.ring[b.at:b.at+count]); err != nil {
				return n, errBlock
			}
		} else {
			from := b.at - b.offset
			if from < 0 {
				from += int64(len(b.ring))
			}
			count = min(count, b.offset, int64(len(b.ring))-from)
			copy(b.ring[b.at:b.at+count], b.ring[from:])
		}
		n += copy(p[n:], b.ring[b.at:b.at+count])
		b.left -= count
		b.total += count
		b.at += count
		if b.at == int64(len(b.ring)) {
			b.at = 0
		}
	}
	return n, nil
}

// readNumber reads a little-endian number of the given number of bytes.
func (b *blockReader) readNumber(bytes int) (v int64, err error) {
	for k := range bytes {
		c, err := b.in.ReadByte()
		if err != nil {
			return 0, errBlock
		}
		v |= int64(c) << (8 * k)
	}
	return v, nil
}

// readSnappyElement reads the next element of a Snappy block.
func (b *blockReader) readSnappyElement() error {
	tag, err := b.in.ReadByte()
	switch {
	case err == io.EOF && b.total == b.size:
		return io.EOF
	case err != nil:
		return errBlock
	}
	short := int64(tag >> 2)
	if tag&3 == 0 {
		if b.left = short; short >= 60 {
			b.left, err = b.readNumber(int(short) - 59)
		}
		b.left++
		b.offset = 0
	} else {
		if b.left = short + 1; tag&3 == 1 {
			b.left = short&7 + 4
		}
		b.offset, err = b.readNumber(1 << (tag&3 - 1))
		if tag&3 == 1 {
			b.offset |= short >> 3 << 8
		}
		if b.offset == 0 || b.offset > b.total {
			return errBlock
		}
	}
	if b.left > b.size-b.total {
		return errBlock
	}
	return err
}

// lz4 reads the next half of a sequence: literal bytes, or the copy that follows them.
func (b *blockReader) lz4() (err error) {
	if b.match >= 0 {
		if _, err := b.in.Peek(1); err == io.EOF {
			return io.EOF // the last sequence has no copy
		}
		if b.offset, err = b.readNumber(2); err != nil || b.offset == 0 {
			return errBlock
		}
		b.left, err = b.extendLength(b.match)
		b.left += 4
		b.match = -1
		return err
	}
	token, err := b.in.ReadByte()
	if err != nil {
		return errBlock
	}
	b.offset = 0
	b.match = int64(token & 15)
	b.left, err = b.extendLength(int64(token >> 4))
	return err
}

// extendLength adds to a length of 15 the bytes that follow, up to one that is not 255.
func (b *blockReader) extendLength(n int64) (int64, error) {
	for more := n == 15; more; {
		c, err := b.in.ReadByte()
		if err != nil || n > 1<<32 {
			return 0, errBlock
		}
		n += int64(c)
		more = c == 255
	}
	return n, nil
}
