package dataset

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// The fast reader of streams (gzip, standard input) cannot make two passes. One goroutine splits the stream
// into pieces of whole lines; workers count the records of a piece, parse it to a slab of that size, and the
// slabs are joined at the end.

// segment is a numbered piece of a stream.
type segment struct {
	index int
	data  []byte
	long  bool // a line is longer than a piece; there is only one such segment at a time
}

// streamRows reads the records of a stream up to its end.
func (rd *reader) streamRows(
	ctx context.Context,
	src io.Reader,
	lay layout,
) (slab, *Stats, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := rd.opts.workerCount()
	c := cutter{
		chunk: rd.opts.chunkBytes(),
		free:  make(chan []byte, workers+2), // one per worker, one being filled, the next
		out:   make(chan segment),
		long:  make(chan struct{}, 1),
	}
	for range cap(c.free) {
		c.free <- nil
	}
	sink := segments{limit: maxRows}
	stats := make([]*Stats, workers)
	wg := parallel.Group{Panicked: func() {
		cancel(nil)
	}}
	wg.Go(func() {
		defer close(c.out)
		if err := c.cutStream(within,
			&lineLimit{
				r:    src,
				max:  rd.opts.maxLine(),
				drop: !rd.each,
			}); err != nil {
			cancel(err)
		}
	})
	for w := range workers {
		st := rd.newStore(lay)
		stats[w] = st.stats
		wg.Go(func() {
			for seg := range c.out {
				st.dst = newSlab(rd.cols, rd.hasUnit(), st.parseRecords(seg.data))
				st.parseLines(seg.data)
				if !sink.putSlab(seg.index, st.dst) {
					cancel(tooLarge(rd.path))
				}
				c.releaseBuffer(seg)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return slab{}, nil, err
	}
	if err := context.Cause(within); err != nil {
		return slab{}, nil, err
	}
	for _, s := range stats[1:] {
		stats[0].addStats(s)
	}
	if len(sink.parts) == 0 {
		return newSlab(rd.cols, rd.hasUnit(), 0), stats[0], nil
	}
	rows, err := joinSlabs(ctx, workers, rd.cols, rd.hasUnit(), sink.parts)
	return rows, stats[0], err
}

// segments collects slabs by number.
type segments struct {
	mu    sync.Mutex
	parts []slab
	rows  int64
	limit int64
}

// putSlab keeps a slab; it returns false when the rows exceed the limit.
func (s *segments) putSlab(index int, part slab) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) <= index {
		s.parts = append(s.parts, slab{})
	}
	s.parts[index] = part
	s.rows += int64(part.rows)
	return s.rows <= s.limit
}

// lineLimit passes a stream on without the excess of overlong lines.
type lineLimit struct {
	r    io.Reader
	max  int  // at least 1
	have int  // bytes of the current line so far, at most max
	drop bool // drops most empty lines too, unless they are records
}

// Read implements io.Reader.
func (l *lineLimit) Read(p []byte) (int, error) {
	for {
		n, err := l.r.Read(p)
		kept := l.trimLines(p[:n])
		if kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

// trimLines moves the kept bytes of p to its front and returns their number.
func (l *lineLimit) trimLines(p []byte) int {
	kept := 0
	for at := 0; at < len(p); {
		if l.drop && l.have == 0 {
			if at = emptyLines(p, at); at == len(p) {
				break
			}
		}
		k := bytes.IndexByte(p[at:], '\n')
		ended := k >= 0
		if !ended {
			k = len(p) - at
		}
		most := min(k, l.max-l.have)
		copy(p[kept:], p[at:at+most])
		kept += most
		l.have += most
		at += k
		if ended {
			p[kept] = '\n'
			kept++
			at++
			l.have = 0
		}
	}
	return kept
}

// emptyLines returns the end of the empty lines that start at index at of p. A small, highly compressed file
// may consist of empty lines only, and each would otherwise be scanned three times.
func emptyLines(p []byte, at int) int {
	for at < len(p) {
		switch {
		case p[at] == '\n':
			at++
		case p[at] == '\r' && at+1 < len(p) && p[at+1] == '\n':
			at += 2
		default:
			return at
		}
	}
	return at
}

// cutter splits a stream at newlines into pieces of about chunk bytes. A piece is longer only if its last line
// extends beyond that.
type cutter struct {
	chunk int
	free  chan []byte
	out   chan segment
	long  chan struct{} // holds a token while there is a long segment
}

// releaseBuffer returns the buffer of a segment.
func (c *cutter) releaseBuffer(s segment) {
	if !s.long {
		c.free <- s.data
		return
	}
	c.free <- nil
	<-c.long
}

// cutStream sends pieces until the stream or the context ends.
func (c *cutter) cutStream(ctx context.Context, src io.Reader) error {
	buf, err := c.takeBuffer(ctx)
	for index := 0; err == nil; index++ {
		var ended, long bool
		var cut int
		buf, cut, ended, long, err = c.fillBuffer(ctx, src, buf)
		if err != nil {
			return err
		}
		var next []byte
		if !ended {
			if next, err = c.takeBuffer(ctx); err != nil {
				return err
			}
			next = append(next, buf[cut:]...)
		}
		select {
		case c.out <- segment{index, buf[:cut], long}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if ended {
			return nil
		}
		buf = next
	}
	return err
}

// takeBuffer takes an empty buffer of at least chunk bytes from the free list.
func (c *cutter) takeBuffer(ctx context.Context) ([]byte, error) {
	select {
	case buf := <-c.free:
		if cap(buf) < c.chunk {
			buf = make([]byte, 0, c.chunk)
		}
		return buf[:0], nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fillBuffer reads until buf is full and holds a newline, growing it if a line is longer, or until the stream ends.
// buf[:cut] is whole lines. Before it grows buf it waits until the last grown buffer has been processed, so
// that the memory for long lines does not grow with the number of workers.
func (c *cutter) fillBuffer(
	ctx context.Context,
	src io.Reader,
	buf []byte,
) (full []byte, cut int, ended, long bool, err error) {
	for {
		if len(buf) == cap(buf) {
			if cut = bytes.LastIndexByte(buf, '\n') + 1; cut > 0 {
				return buf, cut, false, long, nil
			}
			if !long {
				select {
				case c.long <- struct{}{}:
					long = true
				case <-ctx.Done():
					return nil, 0, false, long, ctx.Err()
				}
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		if err := ctx.Err(); err != nil {
			return nil, 0, false, long, err
		}
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, len(buf), true, long, nil
		}
		if err != nil {
			return nil, 0, false, long, err
		}
	}
}
