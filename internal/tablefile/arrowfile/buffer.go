package arrowfile

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codecs of bodies.
const (
	codecNone = -1
	codecLZ4  = 0
	codecZstd = 1
)

// maxWindow is the largest window of Zstandard that its own tools accept by default.
const maxWindow = 1 << 27

// body is a batch, or the values of a dictionary.
type body struct {
	rows    int64
	nodes   []int64 // two per column: its length and its number of nulls
	buffers []int64 // two per buffer: offset and length
	views   []int64 // number of text buffers of each view column
	codec   int
	at      message
}

// readBody reads the metadata of a batch.
func (f *File) readBody(m message, t table) (*body, error) {
	b := &body{
		rows:    t.int64(0),
		nodes:   t.int64s(1, 2),
		buffers: t.int64s(2, 2),
		views:   t.int64s(4, 1),
		codec:   codecNone,
		at:      m,
	}
	if c, ok := t.tableField(3); ok {
		if b.codec = int(c.byteField(0)); b.codec > codecZstd || c.byteField(1) != 0 {
			return nil, ErrForeign
		}
	}
	for i := 0; i+1 < len(b.buffers); i += 2 {
		if off, n := b.buffers[i], b.buffers[i+1]; off < 0 || n < 0 || off > m.bodyBytes ||
			n > m.bodyBytes-off {
			return nil, ErrDamaged
		}
	}
	if b.rows < 0 {
		return nil, ErrDamaged
	}
	return b, nil
}

// streams opens buffers and adds up the memory of their windows. Decoders are reused from batch to batch.
type streams struct {
	f      *File
	window int // bytes of each buffer held in memory
	held   int64

	zstds []*zstd.Decoder
	lz4s  []*lz4.Reader
	usedZ int
	usedL int
}

// reset closes all buffers.
func (s *streams) reset() {
	s.held = 0
	s.usedZ = 0
	s.usedL = 0
}

// holdBytes accounts for bytes that will be held.
func (s *streams) holdBytes(n int64) error {
	if n < 0 || n > freeHeld+heldPerByte*s.f.size-s.held {
		return ErrTooLarge
	}
	s.held += n
	return nil
}

// openBuffer opens a buffer of a body. bytes is its length after decoding; nil for a buffer that is absent.
func (s *streams) openBuffer(
	b *body,
	buffer int,
) (r *bufio.Reader, bytes int64, err error) {
	if 2*buffer+1 >= len(b.buffers) {
		return nil, 0, ErrDamaged
	}
	at := b.at.body + b.buffers[2*buffer]
	n := b.buffers[2*buffer+1]
	if n == 0 {
		return nil, 0, nil
	}
	if b.codec == codecNone {
		return s.rawReader(at, n), n, nil
	}
	head := make([]byte, min(n, 8+24))
	if _, err := s.f.at.ReadAt(head, at); err != nil || len(head) < 8 {
		return nil, 0, ErrDamaged
	}
	bytes = int64(binary.LittleEndian.Uint64(head))
	if at, n = at+8, n-8; bytes == -1 {
		return s.rawReader(at, n), n, nil
	}
	if bytes < 0 {
		return nil, 0, ErrDamaged
	}
	decoder, err := s.frameDecoder(
		b.codec,
		head[8:],
		io.NewSectionReader(s.f.at, at, n),
	)
	if err != nil {
		return nil, 0, err
	}
	return bufio.NewReaderSize(io.LimitReader(decoder, bytes), s.bufferSize(bytes)), bytes, nil
}

func (s *streams) rawReader(at, n int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s.f.at, at, n), s.bufferSize(n))
}

func (s *streams) bufferSize(n int64) int {
	return int(min(int64(s.window), n))
}

// frameDecoder returns a decoder of a frame that starts with head.
func (s *streams) frameDecoder(
	codec int,
	head []byte,
	r io.Reader,
) (io.Reader, error) {
	if codec == codecLZ4 {
		if len(head) < 6 || binary.LittleEndian.Uint32(head) != 0x184d2204 {
			return nil, ErrDamaged
		}
		if err := s.holdBytes(int64(2) << (8 + 2*(head[5]>>4&7))); err != nil { // 4 denotes blocks of 64 KiB
			return nil, err
		}
		if s.usedL == len(s.lz4s) {
			s.lz4s = append(s.lz4s, lz4.NewReader(nil))
		}
		s.usedL++
		d := s.lz4s[s.usedL-1]
		d.Reset(r)
		return d, nil
	}
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable {
		return nil, ErrDamaged
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	if window > maxWindow {
		return nil, ErrTooLarge
	}
	if err := s.holdBytes(int64(window)); err != nil {
		return nil, err
	}
	if s.usedZ == len(s.zstds) {
		d, err := zstd.NewReader(
			nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow),
		)
		if err != nil {
			return nil, err
		}
		s.zstds = append(s.zstds, d)
	}
	s.usedZ++
	d := s.zstds[s.usedZ-1]
	return d, d.Reset(r)
}

// readBuffer reads a buffer into memory.
func (s *streams) readBuffer(b *body, buffer int) ([]byte, error) {
	r, n, err := s.openBuffer(b, buffer)
	if err != nil || r == nil {
		return nil, err
	}
	if err := s.holdBytes(n); err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r) // grows with the actual data, not with the claimed size
	if err != nil {
		return nil, decodeError(err)
	}
	return out, nil
}
