package parquetfile

import "encoding/binary"

// unpackBits reads len(dst) numbers of width bits each, lowest bits first, from data that has nine more bytes than they
// take.
func unpackBits[T uint32 | uint64](dst []T, data []byte, width uint) {
	mask := uint64(1)<<width - 1
	at := uint(0)
	for k := range dst {
		from := data[at>>3:]
		v := binary.LittleEndian.Uint64(from) >> (at & 7)
		if at&7+width > 64 {
			v |= uint64(from[8]) << (64 - at&7)
		}
		dst[k] = T(v & mask)
		at += width
	}
}

// packedGroups is the number of groups of eight packed values that are unpacked at a time.
const packedGroups = 16

// hybrid reads small numbers of a fixed width: runs of one value, and groups of eight packed
// ones.
type hybrid struct {
	src    *source
	width  uint
	run    uint64 // remaining values of a run
	value  uint32 // of the run
	groups uint64 // remaining packed groups
	room   uint64 // maximum number of values of further runs and groups
	have   []uint32
	vals   [8 * packedGroups]uint32
	data   [4*8*packedGroups + 9]byte
}

// runSlack is the number of values by which runs may exceed a page: groups of packed values are padded to
// eight, and some writers pad more.
const runSlack = 512

// start starts a list with the given number of values of at most 32 bits.
func (h *hybrid) start(src *source, width uint, values int64) {
	h.src = src
	h.width = width
	h.run = 0
	h.groups = 0
	h.have = nil
	h.room = uint64(values) + runSlack
}

// next fills dst with the next numbers.
func (h *hybrid) next(dst []uint32) bool {
	for len(dst) > 0 {
		n := 0
		switch {
		case len(h.have) > 0:
			n = copy(dst, h.have)
			h.have = h.have[n:]
		case h.run > 0:
			n = int(min(h.run, uint64(len(dst))))
			for k := range dst[:n] {
				dst[k] = h.value
			}
			h.run -= uint64(n)
		case h.groups > 0:
			if !h.unpackRun() {
				return false
			}
		default:
			if !h.readHeader() {
				return false
			}
		}
		dst = dst[n:]
	}
	return true
}

// unpackRun unpacks values into the buffer. There may be fewer groups than declared, if there are enough
// values.
func (h *hybrid) unpackRun() bool {
	n := int(min(h.groups, packedGroups))
	width := int(h.width)
	b := h.src.upTo(n * width)
	if n = min(n, len(b)/max(1, width)); width == 0 {
		n = packedGroups
	}
	if n == 0 {
		return false
	}
	copy(h.data[:], b)
	h.have = h.vals[:8*n]
	unpackBits(h.have, h.data[:], h.width)
	h.groups -= uint64(n)
	return true
}

// readHeader reads the header of the next run.
func (h *hybrid) readHeader() bool {
	u, ok := h.src.readUvarint()
	if !ok {
		return false
	}
	count := u >> 1
	if u&1 != 0 {
		h.groups = count
		count = min(count, h.room) * 8
	}
	if count > h.room {
		return false
	}
	if h.room -= count; u&1 != 0 {
		return true
	}
	b, ok := h.src.takeBytes(int(h.width+7) / 8)
	h.run = u >> 1
	h.value = 0
	for k := range b {
		h.value |= uint32(b[k]) << (8 * k)
	}
	return ok
}

// deltaStep is the number of differences that are unpacked at a time.
const deltaStep = 32

// delta reads delta-encoded integers: blocks with the least difference and, in miniblocks of one width each, the
// excess of the others over it.
type delta struct {
	src    *source
	left   uint64 // number of values that follow
	last   int64
	first  bool   // last was not returned yet
	minis  int    // miniblocks of a block
	each   uint64 // values of a miniblock
	least  int64
	widths []byte // of the miniblocks that follow in the block
	width  uint
	mini   uint64 // remaining values of the miniblock, including those beyond the end
	have   []uint64
	vals   [deltaStep]uint64
	data   [8*deltaStep + 9]byte
}

// start reads the header of a list of at most the given number of integers.
func (d *delta) start(src *source, most int) bool {
	block, ok1 := src.readUvarint()
	minis, ok2 := src.readUvarint()
	total, ok3 := src.readUvarint()
	first, ok4 := src.readVarint()
	if !ok1 || !ok2 || !ok3 || !ok4 || minis == 0 || block == 0 || block > 1<<16 ||
		block%128 != 0 || block%minis != 0 ||
		block/minis%deltaStep != 0 || total > uint64(most) {
		return false
	}
	d.src = src
	d.left = total
	d.last = first
	d.first = total > 0
	d.minis, d.each, d.widths, d.mini, d.have = int(minis), block/minis, d.widths[:0], 0, nil
	return true
}

// next fills dst with the next integers.
func (d *delta) next(dst []int64) bool {
	if uint64(len(dst)) > d.left {
		return false
	}
	d.left -= uint64(len(dst))
	for k := range dst {
		if d.first {
			d.first = false
		} else {
			if len(d.have) == 0 && !d.unpackBlock() {
				return false
			}
			d.last += d.least + int64(d.have[0])
			d.have = d.have[1:]
		}
		dst[k] = d.last
	}
	return true
}

// unpackBlock unpacks differences into the buffer. A list may end within its last miniblock.
func (d *delta) unpackBlock() bool {
	if d.mini == 0 {
		if len(d.widths) == 0 && !d.readBlockHeader() {
			return false
		}
		d.width = uint(d.widths[0])
		d.widths = d.widths[1:]
		d.mini = d.each
		if d.width > 64 {
			return false
		}
	}
	b := d.src.upTo(deltaStep / 8 * int(d.width))
	if len(b) == 0 && d.width > 0 {
		return false
	}
	clear(d.data[copy(d.data[:], b):])
	d.have = d.vals[:]
	unpackBits(d.have, d.data[:], d.width)
	d.mini -= deltaStep
	return true
}

// readBlockHeader reads the start of a block.
func (d *delta) readBlockHeader() bool {
	least, ok := d.src.readVarint()
	if !ok {
		return false
	}
	widths, ok := d.src.takeBytes(d.minis)
	d.least = least
	d.widths = append(d.widths[:0], widths...)
	return ok
}

// readLengths reads a list of lengths, at most the given number, into dst.
func (d *delta) readLengths(
	dst []int32,
	src *source,
	most int,
) ([]int32, bool) {
	dst = dst[:0]
	if !d.start(src, most) {
		return dst, false
	}
	var some [deltaStep]int64
	for d.left > 0 {
		part := some[:min(d.left, deltaStep)]
		if !d.next(part) {
			return dst, false
		}
		for _, v := range part {
			if int32(v) < 0 {
				return dst, false
			}
			dst = append(dst, int32(v))
		}
	}
	src.appendText(nil, int(d.mini)/8*int(d.width), 0) // padding of the last miniblock
	return dst, true
}
