package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A page of a few bytes can expand twice: by its compression, and by encodings that
// write a run of equal values, or the beginning that a text shares with the one
// before, as a number. The Parquet library makes room for whatever comes. So every page
// is decompressed here first, into no more room than its header states, and the
// numbers that say how much follows are added up. What is left to the library is a
// page that holds what its header says.

// plainDictionary is what old writers call the encodings of a dictionary and of places in it.
const plainDictionary format.Encoding = 2

// errPageLimit: a page whose decoded texts are longer than a page may be.
var errPageLimit = errors.New("dataset: page too large")

// errPage: a page that does not hold what its header says.
var errPage = errors.New("dataset: page damaged")

// readable reports whether pages of a codec can be read. LZ4 is not among them: where a
// page has to grow, version 0.32 of the Parquet library drops what it decompressed
// and reads what its buffer held before, and on a damaged page it asks for ever more
// memory.
func readable(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		return true
	}
	return false
}

// pageBody checks the contents of the pages of one column. It is not for concurrent
// use.
type pageBody struct {
	kind   parquet.Kind
	codec  format.CompressionCodec
	levels bool  // nulls are possible
	limit  int64 // of the decoded texts of a page, in bytes

	plain  []byte // a page without its compression
	stored []byte // a page as it stands in the file
	zstd   *zstd.Decoder
}

// newPageBody returns the check of the pages of a column that holds one value a row.
func newPageBody(source *parquet.Column, limit int64) *pageBody {
	b := &pageBody{kind: source.Type().Kind(), levels: source.MaxDefinitionLevel() > 0, limit: limit}
	if c := source.Compression(); c != nil { // a file without row groups has none
		b.codec = c.CompressionCodec()
	}
	return b
}

// room returns n bytes of a buffer that is used again.
func room(buf *[]byte, n int64) []byte {
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}

// check looks at a page of which the header was understood.
func (b *pageBody) check(head *pageSizes, file io.ReaderAt, at int64) error {
	if b.codec == format.Uncompressed && head.encoding == format.Plain && !b.levels {
		return nil // it is its values
	}
	data := room(&b.stored, head.compressed)
	if _, err := file.ReadAt(data, at); err != nil {
		return errPage
	}
	var levels []byte
	if head.version2 { // its levels come first and are not compressed
		n := head.repetition + head.definition
		if head.repetition < 0 || head.definition < 0 || head.nulls < 0 || head.nulls > head.values || n > int64(len(data)) {
			return errPage
		}
		levels, data = data[head.repetition:n], data[n:]
	}
	if !head.version2 || !head.stored {
		var err error
		if data, err = b.expand(data, head.expanded); err != nil {
			return errPage
		}
	}
	if head.dictionary {
		if head.encoding != format.Plain && head.encoding != plainDictionary {
			return errPage
		}
		return nil
	}
	if !head.version2 && b.levels {
		var ok bool
		if levels, data, ok = prefixed(data); !ok {
			return errPage
		}
	}
	if b.levels && (head.version2 || head.levelEncoding == format.RLE) && !runsWithin(levels, 1, head.values) {
		return errPage
	}
	return b.values(head, data)
}

// values checks the encoded values of a data page.
func (b *pageBody) values(head *pageSizes, data []byte) error {
	ok := true
	switch head.encoding {
	case format.Plain, format.ByteStreamSplit:
	case plainDictionary, format.RLEDictionary:
		ok = len(data) == 0 || data[0] <= 32 && runsWithin(data[1:], uint64(data[0]), head.values)
	case format.RLE:
		var runs []byte
		runs, _, ok = prefixed(data)
		ok = ok && b.kind == parquet.Boolean && runsWithin(runs, 1, head.values)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		var d deltaHeader
		ok = d.read(&data) && d.total <= uint64(head.values)
	case format.DeltaByteArray:
		shared, rest, ok1 := deltaSum(data, head.values)
		own, _, ok2 := deltaSum(rest, head.values)
		if ok = ok1 && ok2 && own <= int64(len(data)); ok && shared+own > b.limit {
			return errPageLimit
		}
	default:
		ok = false
	}
	if !ok {
		return errPage
	}
	return nil
}

// expand decompresses a page into at most size bytes.
func (b *pageBody) expand(data []byte, size int64) ([]byte, error) {
	switch b.codec {
	case format.Uncompressed:
		return data, nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(data); err != nil || int64(n) > size {
			return nil, errPage
		}
		return snappy.Decode(room(&b.plain, size), data)
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return b.readAll(z, size)
	case format.Brotli:
		return b.readAll(brotli.NewReader(bytes.NewReader(data)), size)
	case format.Zstd:
		if b.zstd == nil {
			var err error
			if b.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		out := room(&b.plain, size)
		return b.zstd.DecodeAll(data, out[:0:size])
	}
	return nil, errPage
}

// readAll reads a stream of at most size bytes, with room for what came so far.
func (b *pageBody) readAll(r io.Reader, size int64) ([]byte, error) {
	out := bytes.NewBuffer(b.plain[:0])
	n, err := io.Copy(out, io.LimitReader(r, size+1))
	b.plain = out.Bytes()
	if err != nil || n > size {
		return nil, errPage
	}
	return b.plain, nil
}

// close frees what the check holds.
func (b *pageBody) close() {
	b.plain, b.stored = nil, nil
	if b.zstd != nil {
		b.zstd.Close()
	}
}

// prefixed cuts off what a length of four bytes stands before.
func prefixed(data []byte) (part, rest []byte, ok bool) {
	if len(data) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; n > uint64(len(data)) {
		return nil, nil, false
	}
	return data[:n], data[n:], true
}

// runSlack is by how many values the runs of a page may exceed it: groups of packed
// values are filled up to eight, and some writers fill up more.
const runSlack = 512

// runsWithin reports whether a hybrid of runs and packed groups, of values of that
// many bits, stands for about as many values as there are.
func runsWithin(data []byte, width uint64, values int64) bool {
	left := uint64(values) + runSlack
	for len(data) > 0 {
		u, n := binary.Uvarint(data)
		if n <= 0 {
			return false
		}
		data = data[n:]
		count, size := u>>1, (width+7)/8
		if u&1 != 0 { // groups of eight values
			if count > left/8 {
				return false
			}
			count, size = 8*count, count*width
		}
		if count > left {
			return false
		}
		left -= count
		data = data[min(size, uint64(len(data))):]
	}
	return true
}

// deltaHeader begins a list of integers of which differences are stored.
type deltaHeader struct {
	block, minis, total uint64
	first               int64
}

// read takes the header off data.
func (d *deltaHeader) read(data *[]byte) bool {
	for _, v := range []*uint64{&d.block, &d.minis, &d.total} {
		u, n := binary.Uvarint(*data)
		if n <= 0 {
			return false
		}
		*v, *data = u, (*data)[n:]
	}
	first, n := binary.Varint(*data)
	if n <= 0 {
		return false
	}
	d.first, *data = first, (*data)[n:]
	return d.minis > 0 && d.block > 0 && d.block <= 1<<16 && d.block%128 == 0 && d.block/d.minis > 0 && d.block/d.minis%32 == 0
}

// deltaSum adds up a list of lengths, of which there may be most, and returns what
// follows the list. It is false where one is negative.
func deltaSum(data []byte, most int64) (sum int64, rest []byte, ok bool) {
	var d deltaHeader
	if !d.read(&data) || d.total > uint64(most) {
		return 0, nil, false
	}
	if d.total == 0 {
		return 0, data, true
	}
	last := int32(d.first)
	sum = int64(last)
	left, each := d.total-1, d.block/d.minis
	for left > 0 {
		step, n := binary.Varint(data)
		if n <= 0 || last < 0 || uint64(len(data)-n) < d.minis {
			return 0, nil, false
		}
		widths := data[n:][:d.minis]
		data = data[uint64(n)+d.minis:]
		for _, width := range widths {
			count := min(each, left)
			packed := data[:min(each*uint64(width)/8, uint64(len(data)))]
			data = data[len(packed):]
			if width > 32 {
				return 0, nil, false
			}
			for bits := (bitReader{data: packed}); count > 0; count-- {
				if last += int32(step) + int32(bits.next(uint(width))); last < 0 {
					return 0, nil, false
				}
				sum += int64(last)
				left--
			}
			if left == 0 {
				break
			}
		}
	}
	return sum, data, last >= 0
}

// bitReader reads packed numbers, lowest bits first; after the end there are zeros.
type bitReader struct {
	data []byte
	have uint64
	bits uint
}

func (r *bitReader) next(width uint) uint32 {
	for r.bits < width {
		if len(r.data) > 0 {
			r.have |= uint64(r.data[0]) << r.bits
			r.data = r.data[1:]
		}
		r.bits += 8
	}
	v := uint32(r.have & (1<<width - 1))
	r.have >>= width
	r.bits -= width
	return v
}
