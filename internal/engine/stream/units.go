package stream

import (
	"context"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// LimitUnits implements [mechanism.Capabilities.LimitUnits]. Which records of a unit are kept depends on the records of this unit only,
// so units can be divided into parts in any way.
func (e *Engine) LimitUnits(
	ctx context.Context,
	columns []int,
	most int,
	lots mechanism.Lots,
) (mechanism.Engine, error) {
	return e.limitIn(ctx, uint64(e.Rows()/mechanism.UnitPart)+1, columns, most, lots)
}

// limitIn is LimitUnits in the given number of parts.
func (e *Engine) limitIn(
	ctx context.Context,
	parts uint64,
	columns []int,
	most int,
	lots mechanism.Lots,
) (mechanism.Engine, error) {
	kept := make([][]byte, len(e.chunks))
	for i := range kept {
		kept[i] = make([]byte, (e.chunkRows+7)/8)
	}
	for part := range parts {
		if err := e.limitPart(ctx, columns, most, lots, kept, func(unit uint64) bool {
			return unit != dataset.NoUnit && unit%parts == part
		}); err != nil {
			return nil, err
		}
	}
	out := e.shareFile()
	out.unitMarks = make([]scratch.Place, len(e.chunks))
	var buffer []byte
	for i, bits := range kept {
		out.unitMarks[i] = e.file.Reserve(len(bits))
		var err error
		if buffer, err = e.file.Write(&out.unitMarks[i], bits, buffer); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// limitPart marks the records that the units of a part keep.
func (e *Engine) limitPart(
	ctx context.Context,
	columns []int,
	most int,
	lots mechanism.Lots,
	kept [][]byte,
	among func(unit uint64) bool,
) error {
	counts := map[uint64]int{}
	var mu sync.Mutex
	err := e.eachChunk(ctx, func(r *chunkReader, i int) error {
		units, err := r.readUnits(&r.chunks[i])
		mu.Lock()
		defer mu.Unlock()
		for _, unit := range units {
			if among(unit) {
				counts[unit]++
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var large []mechanism.Entry
	err = e.eachChunk(ctx, func(r *chunkReader, i int) error {
		some, err := r.findLarge(i, columns, kept[i], func(unit uint64) (few, many bool) {
			n := counts[unit]
			return n > 0 && n <= most, n > most
		})
		mu.Lock()
		defer mu.Unlock()
		large = append(large, some...)
		return err
	})
	for _, row := range lots.Smallest(large, most) {
		chunk := row / int64(e.chunkRows)
		setBit(kept[chunk], int(row-chunk*int64(e.chunkRows)))
	}
	return err
}

// findLarge marks the records of chunk i whose unit has few records, and returns those whose unit has too many.
func (r *chunkReader) findLarge(
	i int,
	columns []int,
	kept []byte,
	is func(unit uint64) (few, many bool),
) ([]mechanism.Entry, error) {
	v, err := r.readChunk(i)
	if err != nil {
		return nil, err
	}
	var content func(int32) [32]byte
	var out []mechanism.Entry
	for k := range v.Len() {
		few, many := is(v.ID(k))
		if few {
			setBit(kept, k)
		}
		if !many {
			continue
		}
		if content == nil {
			var words [][]string
			if r.findsWords() {
				if words, err = r.readWords(i); err != nil {
					return nil, err
				}
			}
			content = v.Columns(columns).Content(words)
		}
		out = append(out, mechanism.Entry{
			Unit:    v.ID(k),
			Row:     int64(r.chunks[i].first) + int64(k),
			Content: content(int32(k)),
		})
	}
	return out, r.err
}

// findsWords reports whether a column has words to be found.
func (e *Engine) findsWords() bool {
	return slices.ContainsFunc(e.columns, colblock.Column.HasTexts)
}
