package dataset

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
)

// The fast reader makes two passes over a file. The first pass only finds where lines start and how many
// records each chunk holds. The columns are then allocated once, at their final size, and the second pass
// parses every chunk directly into its place. Reading bytes again that the operating system has just cached is
// cheap, and the peak memory is the table plus one chunk per worker.

// run is a range of whole lines.
type run struct {
	start, end int64 // in the file; start < 0 if no line starts in the chunk
	rows       int
}

// fileRows reads the records of the bytes [start, size) of a file.
func (rd *reader) fileRows(
	ctx context.Context,
	at io.ReaderAt,
	start, size int64,
	lay layout,
) (slab, *Stats, error) {
	runs, total, err := rd.findRuns(ctx, at, start, size)
	if err != nil {
		return slab{}, nil, err
	}
	if total > maxRows {
		return slab{}, nil, tooLarge(rd.path)
	}
	rows := newSlab(rd.cols, rd.hasUnit(), int(total))
	first := make([]int, len(runs)+1)
	for i := range runs {
		first[i+1] = first[i] + runs[i].rows
	}
	workers := max(1, min(rd.opts.workerCount(), len(runs)))
	stores := make([]*store, workers)
	bufs := make([][]byte, workers)
	for w := range stores {
		stores[w] = rd.newStore(lay)
	}
	var long sync.Mutex // one long run at a time, for any number of workers
	err = runTasks(ctx, workers, len(runs), func(w, i int) error {
		stores[w].dst = rows.subSlab(first[i], first[i+1])
		if runs[i].end-runs[i].start > int64(rd.opts.chunkBytes()+rd.opts.maxLine()) {
			return rd.longRun(ctx, at, runs[i], stores[w])
		}
		isLong := runs[i].end-runs[i].start > 2*int64(rd.opts.chunkBytes())
		if isLong {
			long.Lock()
			defer long.Unlock()
		}
		data, err := rd.readAt(at, bufs[w], runs[i].start, runs[i].end)
		if err != nil {
			return err
		}
		if !isLong {
			bufs[w] = data
		}
		if !stores[w].parseLines(data) {
			return changedError(rd.path)
		}
		return nil
	})
	if err != nil {
		return slab{}, nil, err
	}
	for _, st := range stores[1:] {
		stores[0].stats.addStats(st.stats)
	}
	return rows, stores[0].stats, nil
}

// longRun reads a run line by line, if it ends with a line that is too long to be held as a whole.
func (rd *reader) longRun(
	ctx context.Context,
	at io.ReaderAt,
	r run,
	st *store,
) error {
	section := io.NewSectionReader(at, r.start, r.end-r.start)
	recs := lineRecords{
		lines: lineReader{
			r:   bufio.NewReaderSize(section, 1<<18),
			max: st.max,
		},
		each: &rd.each,
	}
	for row := 0; ; row++ {
		line, err := recs.beginRecord()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF && row == st.dst.rows:
			return nil
		case err == io.EOF, row == st.dst.rows:
			return changedError(rd.path)
		case err != nil:
			return unreadableError(rd.path, err)
		}
		st.parseAnyLine(line, row)
	}
}

// findRuns cuts [start, size) into runs of about a chunk each and counts their
// records.
func (rd *reader) findRuns(
	ctx context.Context,
	at io.ReaderAt,
	start, size int64,
) ([]run, int64, error) {
	step := int64(rd.opts.chunkBytes())
	chunks := int((max(0, size-start) + step - 1) / step)
	found := make([]run, chunks)
	bufs := make([][]byte, rd.opts.workerCount())
	err := runTasks(ctx, len(bufs), chunks, func(w, i int) error {
		lo := start + int64(i)*step
		hi := min(lo+step, size)
		from := lo
		if i > 0 {
			from-- // the byte that determines whether a line starts at lo
		}
		data, err := rd.readAt(at, bufs[w], from, min(hi+1, size))
		if err != nil {
			return err
		}
		bufs[w] = data
		found[i] = scanChunk(data, from, lo, hi, rd.each)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	var runs []run
	var total int64
	for _, r := range found {
		if r.start < 0 {
			continue
		}
		if len(runs) > 0 {
			runs[len(runs)-1].end = r.start
		}
		r.end = size
		runs = append(runs, r)
		total += int64(r.rows)
	}
	return runs, total, nil
}

// scanChunk finds the lines that start in [lo, hi) of the file. data starts at offset from, which is lo if a
// line is known to start there and lo-1 otherwise, and extends one byte beyond hi unless the file ends. That
// suffices to recognise an empty line, which is a record if each is set.
func scanChunk(data []byte, from, lo, hi int64, each bool) run {
	r := run{start: -1}
	p := 0
	if from < lo {
		p = bytes.IndexByte(data, '\n') + 1
		if p == 0 {
			return r
		}
	}
	for from+int64(p) < hi {
		if r.start < 0 {
			r.start = from + int64(p)
		}
		rest := data[p:]
		if empty := rest[0] == '\n' ||
			rest[0] == '\r' && (len(rest) == 1 || rest[1] == '\n'); !empty || each {
			r.rows++
		}
		k := bytes.IndexByte(rest, '\n')
		if k < 0 {
			break
		}
		p += k + 1
	}
	return r
}

// readAt reads bytes [lo, hi) into buf, grown when too small.
func (rd *reader) readAt(
	at io.ReaderAt,
	buf []byte,
	lo, hi int64,
) ([]byte, error) {
	n := int(hi - lo)
	if int64(n) != hi-lo {
		return nil, tooLarge(rd.path)
	}
	if cap(buf) < n {
		buf = make([]byte, n, n+n/8)
	}
	buf = buf[:n]
	switch _, err := io.ReadFull(io.NewSectionReader(at, lo, hi-lo), buf); err {
	case nil:
		return buf, nil
	case io.EOF, io.ErrUnexpectedEOF:
		return nil, changedError(rd.path)
	default:
		return nil, unreadableError(rd.path, err)
	}
}
