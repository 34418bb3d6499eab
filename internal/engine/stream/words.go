package stream

import (
	"context"
	"errors"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Words to be found are stored by chunk: a cell is an index into the list of the distinct words of its column
// in its chunk, and the lists of a chunk have one place in the scratch file. Words are counted in parts, by a
// hash of their text, so that memory does not grow with the number of words.

// wordGrain is the granularity, in bytes per record, to which the lists of words of a chunk are padded, so that the size
// of the file reveals less about the words.
const wordGrain = 16

// packWords encodes the lists of a chunk and pads them.
func (w *chunkWriter) packWords(cells *colblock.Cells) []byte {
	out, words := cells.AppendTexts(nil)
	w.wordBytes += int64(words*mechanism.WordRoom + len(out))
	grain := wordGrain * w.chunkRows
	return append(out, make([]byte, grain-len(out)%grain)...)
}

// readWords returns the lists of words of chunk i by column, nil for columns without words to be found. The first entry of
// a list is not a word.
func (r *chunkReader) readWords(i int) ([][]string, error) {
	c := &r.chunks[i]
	n := len(c.encodings)
	data, err := r.file.Read(c.row.Place(n, r.sizeBefore(c, n), c.words), nil)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(r.schema.Columns))
	for j, column := range r.columns {
		if !column.HasTexts() {
			continue
		}
		if out[j], data, err = colblock.ReadTexts(data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// wordCells returns the index of the word of each record in column j: 0 for a text that is not a word and for a
// number, and -1 for a missing cell of a category column. It uses out if that has the capacity.
func wordCells(b dataset.Block, j int, out []int32) []int32 {
	if codes := b.Codes(j, out); codes != nil {
		return codes
	}
	out = out[:0]
	for _, x := range b.Float(j, nil) {
		code, _ := colblock.NumberText(x)
		out = append(out, max(code, 0))
	}
	return out
}

// eachChunk calls do for all chunks, concurrently.
func (e *Engine) eachChunk(
	ctx context.Context,
	do func(r *chunkReader, i int) error,
) error {
	workers := max(min(runtime.GOMAXPROCS(0), len(e.chunks)), 1)
	errs := make([]error, workers)
	var next atomic.Int64
	var group parallel.Group
	for w := range workers {
		group.Go(func() {
			r := e.acquireReader()
			for ctx.Err() == nil && errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(e.chunks) {
					return
				}
				errs[w] = do(r, i)
			}
		})
	}
	group.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// Lexicon implements [mechanism.Capabilities.Lexicon].
func (e *Engine) Lexicon(
	ctx context.Context,
	p mechanism.Part,
	columns []int,
) (mechanism.Lexicon, error) {
	parts, count := e.wordCounter(ctx, p, columns)
	return mechanism.LexiconIn(len(columns), parts, count), nil
}

// wordCounter returns the number of parts into which a hash of their text divides the words of columns, and a function that
// counts the words of one part.
func (e *Engine) wordCounter(
	ctx context.Context,
	p mechanism.Part,
	columns []int,
) (parts int, count func(k int) ([]mechanism.WordCounts, error)) {
	parts = int(e.wordBytes/mechanism.WordPart) + 1
	seed := maphash.MakeSeed()
	return parts, func(k int) ([]mechanism.WordCounts, error) {
		return e.countWords(ctx, p, columns, func(word string) bool {
			return parts == 1 || maphash.String(seed, word)%uint64(parts) == uint64(k)
		})
	}
}

// countWords counts the words of columns of a part for which among returns true.
func (e *Engine) countWords(
	ctx context.Context,
	p mechanism.Part,
	columns []int,
	among func(string) bool,
) ([]mechanism.WordCounts, error) {
	var mu sync.Mutex
	counts := make([]map[string]int64, len(columns))
	for k := range counts {
		counts[k] = map[string]int64{}
	}
	err := e.eachChunk(ctx, func(r *chunkReader, i int) error {
		v, err := r.readPart(ctx, p, i)
		if err != nil {
			return err
		}
		words, err := r.readWords(i)
		if err != nil {
			return err
		}
		for k, j := range columns {
			list := words[p.Columns[j]]
			of := make([]int64, len(list))
			for _, code := range wordCells(v.Block(0, v.Len()), j, make([]int32, v.Len())) {
				if code > 0 {
					of[code]++
				}
			}
			mu.Lock()
			for code, n := range of {
				if n > 0 && among(list[code]) {
					counts[k][list[code]] += n
				}
			}
			mu.Unlock()
		}
		return r.err
	})
	out := make([]mechanism.WordCounts, len(columns))
	for k := range out {
		for word, n := range counts[k] {
			out[k].Words = append(out[k].Words, word)
			out[k].Counts = append(out[k].Counts, n)
		}
	}
	return out, err
}

// Resolve implements [mechanism.Capabilities.Resolve]: it writes columns of words again as columns of codes, at new places of
// the same file.
func (e *Engine) Resolve(
	ctx context.Context,
	all []dataset.Column,
) (mechanism.Engine, error) {
	out := e.shareFile()
	out.schema = dataset.Schema{
		Columns: all,
		Unit:    e.schema.Unit,
	}
	out.columns = nil
	out.wordBytes = 0
	var recoded []int
	for j, c := range all {
		if c.Kind == dataset.Category && e.schema.Columns[j].Found {
			recoded = append(recoded, j)
		}
		out.columns = append(out.columns, colblock.NewColumn(c.Kind == dataset.Numeric, false,
			int(c.MissingCode())))
	}
	out.columns = append(out.columns, e.columns[len(all):]...)
	if len(recoded) == 0 {
		return out, nil
	}
	err := e.eachChunk(ctx, func(r *chunkReader, i int) error {
		words, err := r.readWords(i)
		if err != nil {
			return err
		}
		c := &out.chunks[i]
		if c.rewritten = slices.Clone(c.rewritten); c.rewritten == nil {
			c.rewritten = make([]scratch.Place, len(out.columns))
		}
		v, err := r.readChunk(i)
		if err != nil {
			return err
		}
		b := v.Block(0, c.rows)
		for _, j := range recoded {
			of := all[j].CodesOf(words[j])
			codes := make([]int32, c.rows)
			for k, code := range wordCells(b, j, make([]int32, c.rows)) {
				codes[k] = all[j].MissingCode()
				if code >= 0 {
					codes[k] = of[code]
				}
			}
			if r.err != nil {
				return r.err
			}
			encoding := out.columns[j].Encoding()
			cells := make([]byte, 0, encoding.Size(e.chunkRows))
			cells = encoding.AppendCodes(cells, codes)[:cap(cells)]
			c.rewritten[j] = e.file.Reserve(len(cells))
			if r.buffer, err = e.file.Write(&c.rewritten[j], cells, r.buffer); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
