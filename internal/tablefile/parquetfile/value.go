package parquetfile

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/parquet-go/parquet-go/format"
)

// valueReader reads the values of a page that does not use a dictionary.
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

	at              int     // for lengths or split values
	lengths, begins []int32 // for texts, and for the length of the prefix shared with the one before
	last            []byte  // such a text, as far as it was read
	lastLen         int
	split           []byte // a page of streams, one for each byte of a value
	text            []byte // such values, reassembled
}

// close releases the resources outside the reader. Its parts are kept: the parts of an unused reader need no memory.
func (v *valueReader) close() {
	v.src = nil
	v.lengths = nil
	v.begins = nil
	v.last = nil
	v.split = nil
	v.text = nil
}

// start prepares for reading a page with at most the given number of values.
func (v *valueReader) start(
	src *source,
	encoding format.Encoding,
	most int,
) (ok bool) {
	v.src = src
	v.encoding = encoding
	v.at = 0
	v.last = nil
	v.lastLen = 0
	text := v.typ.Kind == format.ByteArray
	if !src.hasBytes(1) { // no values, for any encoding
		v.encoding = format.Plain
	}
	switch v.encoding {
	case format.Plain:
		v.bits.start(src, 1, int64(most))
		v.bits.groups = uint64(most+7) / 8
		return true
	case format.RLE:
		if _, ok = src.readLength(); ok {
			v.bits.start(src, 1, int64(most))
		}
		return ok && v.typ.Kind == format.Boolean
	case format.DeltaBinaryPacked:
		return v.deltas.start(src, most) &&
			(v.typ.Kind == format.Int32 || v.typ.Kind == format.Int64)
	case format.DeltaLengthByteArray:
		v.lengths, ok = v.deltas.readLengths(v.lengths, src, most)
		return ok && text
	case format.DeltaByteArray:
		if v.begins, ok = v.deltas.readLengths(v.begins, src, most); ok {
			v.lengths, ok = v.deltas.readLengths(v.lengths, src, most)
		}
		return ok && len(v.begins) == len(v.lengths) &&
			(text || v.typ.Kind == format.FixedLenByteArray)
	case format.ByteStreamSplit:
		width := int(v.typ.minBytes())
		most = min(most, (1<<31-1)/width) * width
		v.split = v.split[:0]
		for ok = !text && v.typ.Kind != format.Boolean; ok && len(v.split) <= most &&
			src.hasBytes(1); {
			v.split, ok = src.appendText(v.split, len(src.buf), most+1)
		}
		return ok && len(v.split)%width == 0 && len(v.split) <= most
	}
	return false
}

// next returns between one and n values, valid until the next call.
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
		ok = v.readPrefixed()
		vals[0] = Value{Bytes: v.last}
		return vals[:1], ok
	case format.ByteStreamSplit:
		return v.joinStreams(vals)
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
		return v.readTexts(vals)
	}
	return v.readFixed(vals)
}

// readFixed reads values of a fixed width.
func (v *valueReader) readFixed(vals []Value) ([]Value, bool) {
	width := int(v.typ.minBytes())
	vals = vals[:min(len(vals), sourceBuffer/width)]
	data, ok := v.src.takeBytes(len(vals) * width)
	if !ok {
		return nil, false
	}
	for k := range vals {
		switch {
		case v.typ.Width > 0:
			vals[k] = Value{Bytes: data[width*k:][:width]}
		case width == 4:
			vals[k] = Value{Bits: uint64(binary.LittleEndian.Uint32(data[4*k:]))}
		default:
			vals[k] = Value{Bits: binary.LittleEndian.Uint64(data[8*k:])}
		}
	}
	return vals, true
}

// readTexts reads texts with their lengths before them: those in the buffer, or a single one.
func (v *valueReader) readTexts(vals []Value) ([]Value, bool) {
	buf := v.src.buf
	for k := range vals {
		if len(buf) < 4 {
			return v.readOne(vals, k)
		}
		n := int(binary.LittleEndian.Uint32(buf))
		if n > len(buf)-4 {
			return v.readOne(vals, k)
		}
		vals[k] = Value{Bytes: buf[4 : 4+min(n, v.most)]}
		buf = buf[4+n:]
		v.src.buf = buf
	}
	return vals, true
}

// readOne returns the values that were read, or reads the one that is not in the buffer.
func (v *valueReader) readOne(vals []Value, done int) ([]Value, bool) {
	if done > 0 {
		return vals[:done], true
	}
	n, ok := v.src.readLength()
	if ok {
		vals[0].Bytes, ok = v.textOf(n)
	}
	return vals[:1], ok
}

// textOf reads the start of a text of n bytes and skips the rest.
func (v *valueReader) textOf(n int) ([]byte, bool) {
	if v.src.stream == nil || n <= sourceBuffer {
		b, ok := v.src.takeBytes(n)
		return b[:min(len(b), v.most)], ok
	}
	v.lockLongText()
	return v.src.appendText(nil, n, v.most)
}

// lockLongText is called before a text that may be long is assembled.
func (v *valueReader) lockLongText() {
	if v.long != nil && !v.locked {
		v.long.Lock()
		v.locked = true
	}
}

// releaseLongText releases the memory of a long text.
func (v *valueReader) releaseLongText() {
	if v.locked {
		v.long.Unlock()
		v.locked = false
	}
}

// readPrefixed reads a text that shares a prefix with the one before.
func (v *valueReader) readPrefixed() (ok bool) {
	if v.at == len(v.lengths) {
		return false
	}
	begin := int(v.begins[v.at])
	size := int(v.lengths[v.at])
	if v.at++; begin > v.lastLen || size > math.MaxInt32-begin {
		return false
	}
	if begin+size > sourceBuffer {
		v.lockLongText()
	}
	v.lastLen = begin + size
	v.last, ok = v.src.appendText(v.last[:min(begin, len(v.last))], size, v.most)
	return ok && (v.typ.Kind == format.ByteArray || v.lastLen == v.typ.Width)
}

// joinStreams reassembles values whose bytes are each stored in a separate stream.
func (v *valueReader) joinStreams(vals []Value) ([]Value, bool) {
	width := int(v.typ.minBytes())
	stride := len(v.split) / width
	vals = vals[:min(len(vals), stride-v.at, sourceBuffer/width)]
	data := resizeBuffer(&v.text, int64(len(vals)*width+8)) // read eight bytes at a time
	for j := range width {
		for k, b := range v.split[j*stride+v.at:][:len(vals)] {
			data[k*width+j] = b
		}
	}
	for k := range vals {
		b := data[k*width:]
		vals[k] = Value{Bits: binary.LittleEndian.Uint64(b), Bytes: b[:width]} // the lowest of four bytes
	}
	v.at += len(vals)
	return vals, len(vals) > 0
}
