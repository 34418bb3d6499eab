package dataset

import (
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/dptrain/dptrain/internal/tablefile"
)

// source decodes the bytes of a CSV file as they arrive and converts every failure to a FileError.
type source struct {
	path   string
	r      io.Reader
	coding string
}

// newSource wraps r in a source.
func (rd *reader) newSource(r io.Reader) (*source, error) {
	rd.begins = &head{r: r}
	s := &source{path: rd.path, r: rd.begins}
	if rd.format.decode == nil {
		s.r = rd.decodedText(s.r)
		return s, nil
	}
	decoded, err := rd.format.decode(s)
	if err != nil {
		err = damagedError(rd.path, rd.format.coding, err)
		if !errors.Is(err, ErrCorrupt) {
			return nil, err
		}
		return nil, rd.notCoded(err)
	}
	rd.begins = &head{r: decoded}
	return &source{
		path:   rd.path,
		r:      rd.decodedText(rd.begins),
		coding: rd.format.coding,
	}, nil
}

// notCoded returns the error for a file that lacks the encoding its name implies, which is err if the file is
// damaged. Without a header line the error does not depend on the first bytes, which may belong to a record.
func (rd *reader) notCoded(err error) error {
	if rd.opts.Names != nil || rd.format.json {
		return err
	}
	first := rd.firstBytes()
	switch c, ok := tablefile.ContentOf(first); {
	case ok && c.Kind.Coding == rd.format.coding:
		return err
	case ok:
		return contentMismatch(rd.path, c)
	case tablefile.IsText(first):
		return &FileError{
			Path: rd.path,
			Msg:  "is not compressed, although its name ends in .gz",
			Hint: "name it without .gz",
			Err:  ErrFormat,
		}
	}
	return err
}

// firstBytes returns the first bytes of the file, before its character set is decoded, once some have been read.
func (rd *reader) firstBytes() []byte {
	if rd.begins == nil {
		return nil
	}
	return rd.begins.first
}

// decodedText returns a reader of the record lines in decoded bytes.
func (rd *reader) decodedText(r io.Reader) io.Reader {
	r = rd.opts.Format.utf8(r)
	if rd.format.json {
		return newJSONLines(
			r,
			rd.opts.Names,
			rd.opts.Format.Decimal == ',',
			rd.opts.maxLine(),
		)
	}
	return r
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return n, err
	case s.coding != "":
		return n, damagedError(s.path, s.coding, err)
	}
	return n, unreadableError(s.path, err)
}

// damagedError converts an error of a decoder. The message does not contain any of the content.
func damagedError(path, coding string, err error) error {
	var known *FileError
	e := &FileError{
		Path: path,
		Hint: "copy or compress it again",
		Err:  ErrCorrupt,
	}
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, gzip.ErrHeader):
		e.Msg = "is not a gzip file, or is damaged"
	case errors.Is(err, gzip.ErrChecksum):
		e.Msg = "fails its gzip checksum"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		e.Msg = "ends early: the " + coding + " data is truncated"
	default:
		e.Msg = "holds damaged " + coding + " data"
	}
	return e
}

// pump reads in a separate goroutine, so that a context can end the wait for a reader that blocks (a terminal,
// a pipe).
type pump struct {
	ctx    context.Context
	filled chan piece
	free   chan []byte
	buf    []byte // being consumed; returned to free when rest is empty
	rest   []byte
	err    error
}

// piece is the outcome of one Read.
type piece struct {
	buf []byte
	n   int
	err error
}

// newPump starts reading r. The goroutine ends with r or, after the current read, with ctx.
func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{
		ctx:    ctx,
		filled: make(chan piece),
		free:   make(chan []byte, 2),
	}
	p.free <- make([]byte, 1<<18)
	p.free <- make([]byte, 1<<18)
	go p.copyFrom(r)
	return p
}

func (p *pump) copyFrom(r io.Reader) {
	for {
		var next piece
		select {
		case next.buf = <-p.free:
		case <-p.ctx.Done():
			return
		}
		next.n, next.err = r.Read(next.buf)
		select {
		case p.filled <- next:
		case <-p.ctx.Done():
			return
		}
		if next.err != nil {
			return
		}
	}
}

// Read implements io.Reader.
func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.buf != nil {
			p.free <- p.buf
			p.buf = nil
		}
		if p.err != nil {
			return 0, p.err
		}
		select {
		case next := <-p.filled:
			p.buf = next.buf
			p.rest = next.buf[:next.n]
			p.err = next.err
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
