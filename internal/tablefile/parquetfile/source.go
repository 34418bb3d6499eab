package parquetfile

import (
	"encoding/binary"
	"io"
	"slices"
)

// sourceBuffer is the size of the buffer of a page that is read as a stream. Fixed numbers of bytes are
// requested in steps of at most this size.
const sourceBuffer = 1 << 16

// source is the uncompressed content of a page: in memory, or a stream.
type source struct {
	buf    []byte
	stream io.Reader // the stream after buf; nil if there is no more
	room   []byte    // memory of buf for a stream
	failed bool      // the stream ended with an error
}

// start prepares for reading a stream.
func (s *source) start(r io.Reader) {
	if s.room == nil {
		s.room = make([]byte, sourceBuffer)
	}
	s.buf = s.room[:0]
	s.stream = r
	s.failed = false
}

// hasBytes reports whether n bytes can be buffered, at most sourceBuffer for a stream.
func (s *source) hasBytes(n int) bool {
	if len(s.buf) < n && s.stream != nil {
		s.buf = s.room[:copy(s.room, s.buf)]
		for len(s.buf) < n && s.stream != nil {
			got, err := s.stream.Read(s.room[len(s.buf):])
			s.buf = s.room[:len(s.buf)+got]
			if err != nil {
				s.stream = nil
				s.failed = err != io.EOF
			}
		}
	}
	return len(s.buf) >= n
}

// takeBytes returns the next n bytes, valid until the next call.
func (s *source) takeBytes(n int) (b []byte, ok bool) {
	if !s.hasBytes(n) {
		return nil, false
	}
	b = s.buf[:n:n]
	s.buf = s.buf[n:]
	return b, true
}

// upTo returns the next n bytes, or the remaining ones if there are fewer.
func (s *source) upTo(n int) []byte {
	s.hasBytes(n)
	b, _ := s.takeBytes(min(n, len(s.buf)))
	return b
}

// appendText appends the next n bytes to dst until it has most bytes, and skips the rest.
func (s *source) appendText(dst []byte, n, most int) ([]byte, bool) {
	for n > 0 {
		if !s.hasBytes(1) {
			return dst, false
		}
		b, _ := s.takeBytes(min(n, len(s.buf)))
		n -= len(b)
		if b = b[:min(len(b), most-len(dst))]; len(b) > cap(dst)-len(dst) {
			dst = slices.Grow(dst, min(max(len(dst), len(b)), most-len(dst)))
		}
		dst = append(dst, b...)
	}
	return dst, true
}

// readUvarint reads an unsigned varint of at most ten bytes.
func (s *source) readUvarint() (uint64, bool) {
	s.hasBytes(binary.MaxVarintLen64)
	v, n := binary.Uvarint(s.buf)
	if n <= 0 {
		return 0, false
	}
	s.buf = s.buf[n:]
	return v, true
}

// readVarint reads a signed varint.
func (s *source) readVarint() (int64, bool) {
	u, ok := s.readUvarint()
	return int64(u>>1) ^ -int64(u&1), ok
}

// readLength reads a length of four bytes.
func (s *source) readLength() (int, bool) {
	b, ok := s.takeBytes(4)
	if !ok {
		return 0, false
	}
	n := binary.LittleEndian.Uint32(b)
	return int(n), n <= 1<<31-1
}
