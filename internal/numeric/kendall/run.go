package kendall

import (
	"encoding/binary"

	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// blockBytes is the size of a block of a run.
const blockBytes = 1 << 18

// run is sorted rows in a scratch file, in blocks of one size, so that the size of the file reveals their number less
// exactly.
type run struct {
	file   *scratch.File
	keys   int // of a row: x and y, or x alone
	block  int // bytes
	rows   int64
	left   int64 // to be read
	data   []byte
	room   []byte
	blocks []scratch.Place
}

// newRun returns a run to be written, with at most most rows.
func newRun(file *scratch.File, keys, most int) *run {
	return &run{
		file:  file,
		keys:  keys,
		block: min(blockBytes, 8*keys*most),
	}
}

func (r *run) writePair(p pair) error {
	r.data = binary.LittleEndian.AppendUint64(r.data, p.x)
	if r.keys > 1 {
		r.data = binary.LittleEndian.AppendUint64(r.data, p.y)
	}
	r.rows++
	if len(r.data) < r.block {
		return nil
	}
	return r.flush()
}

// end writes the remaining rows. Afterwards the run can be read.
func (r *run) end() error {
	r.left = r.rows
	if len(r.data) == 0 {
		r.room = nil
		return nil
	}
	r.data = append(r.data, make([]byte, r.block-len(r.data))...)
	err := r.flush()
	r.data = nil
	r.room = nil
	return err
}

func (r *run) flush() error {
	place := r.file.Reserve(r.block)
	var err error
	r.room, err = r.file.Write(&place, r.data, r.room)
	r.blocks = append(r.blocks, place)
	r.data = r.data[:0]
	return err
}

// nextPair returns the next row, and whether there is one. Blocks that were read are given back.
func (r *run) nextPair() (p pair, ok bool, err error) {
	if r.left == 0 {
		return p, false, nil
	}
	if len(r.data) == 0 {
		if r.data, err = r.file.Read(r.blocks[0], r.room); err != nil {
			return p, false, err
		}
		r.room = r.data
		r.file.Release(r.blocks[0])
		r.blocks = r.blocks[1:]
	}
	p.x = binary.LittleEndian.Uint64(r.data)
	if r.keys > 1 {
		p.y = binary.LittleEndian.Uint64(r.data[8:])
	}
	r.data = r.data[8*r.keys:]
	r.left--
	if r.left == 0 {
		r.data = nil
		r.room = nil
	}
	return p, true, nil
}

// head is the next row of a run.
type head struct {
	pair
	run int
}

func (h head) less(o head) bool {
	switch {
	case h.x != o.x:
		return h.x < o.x
	case h.y != o.y:
		return h.y < o.y
	}
	return h.run < o.run
}

// mergeRuns calls emit with the rows of all runs in order, those of an earlier run first where they are equal.
func mergeRuns(runs []*run, emit func(p pair, run int) error) error {
	var heap []head
	sink := func(i int) {
		for {
			k := 2*i + 1
			if k >= len(heap) {
				return
			}
			if k+1 < len(heap) && heap[k+1].less(heap[k]) {
				k++
			}
			if heap[i].less(heap[k]) {
				return
			}
			heap[i], heap[k] = heap[k], heap[i]
			i = k
		}
	}
	for i, r := range runs {
		p, ok, err := r.nextPair()
		if err != nil {
			return err
		}
		if ok {
			heap = append(heap, head{p, i})
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(i)
	}
	for len(heap) > 0 {
		first := heap[0]
		if err := emit(first.pair, first.run); err != nil {
			return err
		}
		p, ok, err := runs[first.run].nextPair()
		switch {
		case err != nil:
			return err
		case ok:
			heap[0].pair = p
		default:
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		sink(0)
	}
	return nil
}
