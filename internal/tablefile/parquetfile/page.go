package parquetfile

import (
	"bufio"
	"bytes"
	"hash"
	"hash/crc32"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// WholePage is the maximum size, in bytes, with and without compression, of a page that is read into memory as
// a whole. A larger page is read as a stream.
const WholePage = 1 << 22

// fileBuffer is the size of the read buffer of a file in bytes, enough for the header of a page. The page
// itself is read separately.
const fileBuffer = 1 << 12

// largePage is larger than any page that writers produce, unless it contains a cell of that size.
const largePage = 1 << 24

// zstdWindow is the largest window of zstd, in whole pages: 128 MiB, which no compression level exceeds.
const zstdWindow = 32

// Readable reports whether pages of a codec can be read.
func Readable(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return true
	}
	return false
}

// File is the source of pages.
type File struct {
	At   io.ReaderAt
	Size int64
	// Whole is WholePage; tests reduce it.
	Whole int
	// Large, if set, is called before a page is read as a stream whose window may be large.
	Large func()
}

// pages reads the pages of one column chunk after the other.
type pages struct {
	file  File
	codec format.CompressionCodec
	nulls bool // levels mark the present values

	in      *bufio.Reader
	section *io.SectionReader
	end     int64 // of the chunk in the file

	head   header
	levels source // of the page
	body   source // its values

	stored, plain []byte    // of a whole page
	long          []byte    // levels of a page that is read as a stream
	rest          io.Reader // unread part of a stream, as stored in the file
	sum           hash.Hash32
	closer        func()
}

// openChunk moves to the start of a chunk.
func (p *pages) openChunk(c Chunk) error {
	if c.Offset < 4 || c.Size < 0 || c.Offset > p.file.Size || c.Size > p.file.Size-c.Offset {
		return ErrDamaged
	}
	p.codec = c.Codec
	p.end = c.Offset + c.Size
	p.section = io.NewSectionReader(p.file.At, c.Offset, c.Size)
	if p.in == nil {
		p.in = bufio.NewReaderSize(nil, fileBuffer)
	}
	p.in.Reset(p.section)
	return nil
}

// nextPage moves to the next page. The error is io.EOF after the last one.
func (p *pages) nextPage() error {
	if err := p.finishPage(); err != nil {
		return err
	}
	if _, err := p.in.Peek(1); err == io.EOF {
		return io.EOF
	}
	var ok bool
	if p.head, ok = readHeader(p.in); !ok || p.head.compressed > p.end-p.offset() ||
		p.head.definition+p.head.repetition > p.head.compressed {
		return ErrDamaged
	}
	if max(p.head.compressed, p.head.expanded) <= int64(p.file.Whole) {
		return p.loadPage()
	}
	return p.streamPage()
}

// offset is the position of the next byte in the file.
func (p *pages) offset() int64 {
	_, start, _ := p.section.Outer()
	at, _ := p.section.Seek(0, io.SeekCurrent)
	return start + at - int64(p.in.Buffered())
}

// resizeBuffer returns n bytes of a buffer that is reused.
func resizeBuffer(buf *[]byte, n int64) []byte {
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}

// loadPage reads a page into memory.
func (p *pages) loadPage() error {
	data := resizeBuffer(&p.stored, p.head.compressed)
	if _, err := io.ReadFull(p.in, data); err != nil {
		return ErrDamaged
	}
	if p.head.crc != 0 && crc32.ChecksumIEEE(data) != p.head.crc {
		return ErrDamaged
	}
	levels := p.head.repetition + p.head.definition
	p.levels = source{buf: data[p.head.repetition:levels]}
	if data = data[levels:]; p.codec != format.Uncompressed && !p.head.stored {
		var err error
		if data, err = p.decompressPage(data); err != nil {
			return ErrDamaged
		}
	}
	p.body.buf = data
	p.body.stream = nil
	p.body.failed = false
	return p.levels1()
}

// levels1 finds the levels of a data page of version 1, which precede its values and are preceded by their length.
func (p *pages) levels1() error {
	if !p.nulls || p.head.kind != format.DataPage {
		return nil
	}
	n, ok := p.body.readLength()
	if !ok || p.head.levelEncoding != format.RLE {
		return ErrDamaged
	}
	return p.holdLevels(&p.body, int64(n))
}

// holdLevels keeps the next n bytes of src as the levels of the page. No writer needs more than two bytes per
// value.
func (p *pages) holdLevels(src *source, n int64) error {
	if src.stream == nil {
		b, ok := src.takeBytes(int(n))
		if p.levels = (source{buf: b}); !ok {
			return ErrDamaged
		}
		return nil
	}
	if n > 3*p.head.values+sourceBuffer {
		return ErrDamaged
	}
	var ok bool
	p.long, ok = src.appendText(p.long[:0], int(n), int(n))
	if p.levels = (source{buf: p.long}); !ok {
		return ErrDamaged
	}
	return nil
}

// decodeAll reads whole pages of zstd, for all columns.
var decodeAll = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(
		nil,
		zstd.WithDecoderConcurrency(0),
		zstd.WithDecodeAllCapLimit(true),
	)
})

// decompressPage decompresses a whole page into at most as many bytes as its header states.
func (p *pages) decompressPage(data []byte) ([]byte, error) {
	out := resizeBuffer(&p.plain, p.head.expanded+bytes.MinRead)[:p.head.expanded]
	switch p.codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(data); err != nil || n > len(out) {
			return nil, ErrDamaged
		}
		return snappy.Decode(out, data)
	case format.Zstd:
		z, err := decodeAll()
		if err != nil {
			return nil, err
		}
		return z.DecodeAll(data, out[:0:len(out)])
	}
	r, err := p.newDecompressor(bytes.NewReader(data), 0)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(out[:0])
	_, err = b.ReadFrom(&bounded{r, p.head.expanded})
	return b.Bytes(), err
}

// newDecompressor returns a reader of a compressed page; at is its position in the file, for Snappy.
func (p *pages) newDecompressor(r io.Reader, at int64) (io.Reader, error) {
	switch p.codec {
	case format.Gzip:
		return gzip.NewReader(r)
	case format.Brotli:
		return brotli.NewReader(r), nil
	case format.Lz4Raw:
		return newLZ4(r), nil
	case format.Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow*uint64(max(p.file.Whole, WholePage/16))))
		if err == nil {
			p.closer = z.Close
		}
		return z, err
	case format.Snappy:
		levels := p.head.repetition + p.head.definition
		reach, err := snappyReach(io.NewSectionReader(p.file.At, at, p.head.compressed-levels),
			p.head.expanded)
		if err != nil {
			return nil, err
		}
		return newSnappy(r, reach)
	}
	return nil, ErrDamaged
}

// streamPage starts to read a page that is not held in memory.
func (p *pages) streamPage() error {
	if max(p.head.compressed, p.head.expanded) > largePage && p.file.Large != nil {
		p.file.Large()
	}
	p.stored = nil
	p.plain = nil
	at := p.offset()
	p.rest = io.LimitReader(p.in, p.head.compressed)
	if p.sum = nil; p.head.crc != 0 {
		p.sum = crc32.NewIEEE()
		p.rest = io.TeeReader(p.rest, p.sum)
	}
	r := p.rest
	most := p.head.expanded
	if levels := p.head.repetition + p.head.definition; levels > 0 { // of version 2, not compressed
		var part source
		part.start(io.LimitReader(r, levels))
		if _, ok := part.appendText(nil, int(p.head.repetition), 0); !ok {
			return ErrDamaged
		}
		if err := p.holdLevels(&part, p.head.definition); err != nil {
			return err
		}
		at += levels
	}
	if p.codec == format.Uncompressed || p.head.stored {
		most = p.head.compressed
	} else {
		var err error
		if r, err = p.newDecompressor(bufio.NewReaderSize(r, sourceBuffer), at); err != nil {
			return ErrDamaged
		}
	}
	p.body.start(&bounded{r, most})
	return p.levels1()
}

// bounded reads a stream and returns an error if it exceeds a number of bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrDamaged
	}
	return n, err
}

// finishPage ends a page. A page that was read as a stream is read to its end, to verify its checksums.
func (p *pages) finishPage() error {
	if p.rest == nil {
		return nil
	}
	for p.body.hasBytes(1) {
		p.body.buf = nil
	}
	p.close()
	_, err := io.Copy(io.Discard, p.rest)
	p.rest = nil
	if err != nil || p.body.failed || p.sum != nil && p.sum.Sum32() != p.head.crc {
		return ErrDamaged
	}
	return nil
}

// close frees the resources of a page other than buffers.
func (p *pages) close() {
	if p.closer != nil {
		p.closer()
		p.closer = nil
	}
}
