package dataset

import (
	"bytes"
	"context"
	"io"
	"slices"
)

// Limits of a batch: cells of the declared columns, and rows. Lines may be short and columns many, so a limit
// on rows alone would not bound the memory.
const (
	batchCells = 1 << 19
	mostRows   = 1 << 14
	leastRows  = 1 << 5
)

// batchRows returns the maximum number of rows of a batch.
func (rd *reader) batchRows() int {
	if rd.opts.BatchRows > 0 {
		return rd.opts.BatchRows
	}
	return min(max(batchCells/max(1, len(rd.cols)), leastRows), mostRows)
}

// batchBytes is the number of bytes of text that are examined for a batch. It is exceeded only for a single
// longer line.
func (o ReadOptions) batchBytes() int {
	return min(o.chunkBytes(), 1<<18)
}

// lineSegment is whole lines of a stream: the records of a batch, and empty lines.
type lineSegment struct {
	index int
	data  []byte
	line  int         // number of the first line
	done  int64       // bytes of the file read so far
	home  chan []byte // where data is returned to
}

func (s lineSegment) segmentIndex() int {
	return s.index
}

// lineCutter splits a stream into segments.
type lineCutter struct {
	rows  int
	chunk int
	eager bool // do not wait for more input if a line is complete
	line  int
	index int
	done  *int64 // of the underlying reader of src
	free  chan []byte
	out   chan lineSegment
	long  chan []byte // the same for segments longer than a chunk, with room for one
}

// cutLines splits src up to its end.
func (c *lineCutter) cutLines(ctx context.Context, src io.Reader) error {
	in := make([]byte, 0, c.chunk)
	var marks lineMarks
	for ended := false; !ended; {
		if len(in) == cap(in) { // one line is longer
			in = append(make([]byte, 0, 2*cap(in)), in...)
		}
		n, err := src.Read(in[len(in):cap(in)])
		in = in[:len(in)+n]
		ended = err == io.EOF
		sent := 0
		for {
			marks.countLines(in, c.rows, ended)
			enough := marks.lines == c.rows || c.eager || len(in) == cap(in) || err != nil
			if marks.lines == 0 || !enough {
				break
			}
			if err := c.sendSegment(ctx, in[sent:marks.end], marks.lines); err != nil {
				return err
			}
			sent = marks.end
			marks.lines = 0
		}
		in = in[:copy(in, in[sent:])]
		marks.end -= sent
		marks.searched -= sent
		if err != nil && !ended {
			return err
		}
	}
	return nil
}

// lineMarks counts the complete lines of a growing buffer. It searches each byte for a newline once, even if
// the buffer grows by a line at a time, as for a workbook.
type lineMarks struct {
	lines    int // number of complete lines not sent yet, at most those of a batch
	end      int // end of these lines
	searched int // there is no newline between end and searched
}

// countLines counts further lines of data until it has counted most lines, and returns how many bytes it searched.
// The text after the last newline is a line if the file has ended.
func (m *lineMarks) countLines(data []byte, most int, ended bool) int {
	from := m.searched
	for m.lines < most && m.searched < len(data) {
		k := bytes.IndexByte(data[m.searched:], '\n')
		if k < 0 {
			m.searched = len(data)
			break
		}
		m.searched += k + 1
		m.end = m.searched
		m.lines++
	}
	looked := m.searched - from
	if ended && m.lines < most && m.end < len(data) {
		m.end = len(data)
		m.searched = len(data)
		m.lines++
	}
	return looked
}

// sendSegment waits until the last long segment has been processed before it sends the next, so that the memory for
// long lines does not grow with the number of workers.
func (c *lineCutter) sendSegment(
	ctx context.Context,
	data []byte,
	lines int,
) error {
	home := c.free
	if len(data) > c.chunk {
		home = c.long
	}
	select {
	case buf := <-home:
		seg := lineSegment{
			index: c.index,
			data:  append(buf[:0], data...),
			line:  c.line,
			done:  *c.done,
			home:  home,
		}
		select {
		case c.out <- seg:
		case <-ctx.Done():
			return ctx.Err()
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	c.index++
	c.line += lines
	return nil
}

// parseBatch parses a segment. room holds the records of this worker; it grows to the size of the largest batch.
func (s lineSegment) parseBatch(rd *reader, st *store, room *slab) *Batch {
	rows := st.parseRecords(s.data)
	if room.rows < rows {
		*room = newSlab(rd.cols, rd.hasUnit(), rows)
	}
	st.nextBatch(room.subSlab(0, rows), newStats(rd.schema))
	st.parseLines(s.data)
	return &Batch{
		Table: st.dst.newBatchTable(rd.schema, listsOf(st.words)),
		Stats: st.stats,
		Done:  s.done,
		First: -1,
		text:  lineText{s, st},
	}
}

// lineText is the text of a segment.
type lineText struct {
	seg lineSegment
	st  *store
}

func (t lineText) eachRecord(do func(line int, fields []string) error) error {
	data := t.seg.data
	for at := t.seg.line; len(data) > 0; at++ {
		var line []byte
		if line, data = cutLine(data, t.st.max); len(line) == 0 && !t.st.each {
			continue
		}
		if err := do(at, t.st.cut.firstFields(line, t.st.lay.keptFields())); err != nil {
			return err
		}
	}
	return nil
}

// slowBatches reads the remaining records one after the other, if they do not end with lines. A batch ends
// where reading the next record may block.
func slowBatches[T any](
	ctx context.Context, rd *reader, recs records, lay layout, read *counter, to Consumer[T],
) error {
	var waits func() bool
	switch r := recs.(type) {
	case *quotedRecords:
		r.most = lay.keptFields()
		waits = func() bool { return r.lines.r.Buffered() == 0 }
	case *slowRecords:
		waits = func() bool { return r.lines.r.Buffered() == 0 }
	case *lineRecords:
		waits = func() bool { return r.lines.r.Buffered() == 0 }
	}
	st := rd.newBatchStore(lay)
	st.dst = newSlab(rd.cols, rd.hasUnit(), rd.batchRows())
	whole := st.dst
	var kept keptText
	flush := func() error {
		st.dst = whole.subSlab(0, len(kept.fields))
		b := &Batch{
			Table: st.dst.newBatchTable(rd.schema, listsOf(st.words)),
			Stats: st.stats,
			Done:  read.n,
			First: -1,
			text:  &kept,
		}
		result, err := to.Work(b)
		if err == nil {
			err = to.Emit(result)
		}
		kept = keptText{}
		st.nextBatch(whole, newStats(rd.schema))
		return err
	}
	for {
		fields, err := recs.next()
		if err == nil {
			st.storeRecord(fields, len(kept.fields))
			kept.addLine(recs.line(), fields)
			if len(kept.fields) < whole.rows && kept.bytes < 1<<20 && !waits() {
				continue
			}
		}
		if len(kept.fields) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// keptText is the text of records that were read one by one.
type keptText struct {
	lines  []int
	fields [][]string
	bytes  int
}

func (t *keptText) addLine(line int, fields []string) {
	for _, f := range fields {
		t.bytes += len(f) + 16
	}
	t.lines = append(t.lines, line)
	t.fields = append(t.fields, slices.Clone(fields))
}

func (t *keptText) eachRecord(do func(line int, fields []string) error) error {
	for k, fields := range t.fields {
		if err := do(t.lines[k], fields); err != nil {
			return err
		}
	}
	return nil
}
