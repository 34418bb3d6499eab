package dataset

import (
	"context"
	"io"

	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// A stream is a file that is read once, from the start, batch by batch, in memory that does not grow with the
// file. It is for tables of new records, to which a model is applied; training makes many passes over its
// table.

// Head describes a stream before its first record.
type Head struct {
	Names []string // the header, without the blanks around names
	Comma rune     // the field separator; 0 for Parquet
	Size  int64    // bytes of the file, 0 if unknown
	Notes []Note   // about the header
}

// Batch holds consecutive records of a stream. It is valid during the call that it is passed to; see
// [Batch.Lasts].
type Batch struct {
	Table *Table // the declared columns
	Stats *Stats // of these records
	Done  int64  // bytes read from the file, at least up to the end of the batch
	First int64  // number of records of the table before the batch; negative if not known yet

	lasts bool
	text  text
}

// Lasts reports whether the cells of the table remain valid until Emit has returned with the result of Work for
// the batch.
func (b *Batch) Lasts() bool {
	return b.lasts
}

// text is a batch as text.
type text interface {
	eachRecord(do func(line int, fields []string) error) error
}

// Text calls do for each record of a CSV batch with the line on which it starts, counted from 1, and its
// fields, valid during the call. It may omit all but the first of the fields beyond the header's width. It
// returns the first error of do. A Parquet batch has no text.
func (b *Batch) Text(do func(line int, fields []string) error) error {
	if b.text == nil {
		return nil
	}
	return b.text.eachRecord(do)
}

// Consumer processes a stream.
type Consumer[T any] struct {
	// Begin is called first.
	Begin func(Head) error
	// Work is called for each batch, from several goroutines at once.
	Work func(*Batch) (T, error)
	// Emit is called with the result of each batch, in the order of the file, from one goroutine. Its first
	// error ends the stream.
	Emit func(T) error
}

// Stream reads the declared columns of a file like [Read], but passes them on in batches of bounded size. If
// Work fails, the batches before are emitted first. Errors are those of [Read] and those of the consumer. For a
// pipe or a terminal, a batch has the records that have arrived so far.
func Stream[T any](
	ctx context.Context,
	path string,
	schema Schema,
	opts ReadOptions,
	to Consumer[T],
) error {
	fm, err := formatOf(path)
	if err != nil {
		return err
	}
	rd, err := newReader(path, fm, schema, opts)
	if err != nil {
		return err
	}
	f, size, regular, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case fm.needsOffsets():
		err = streamAt(ctx, rd, f, size, to)
	case regular:
		err = streamCSV(ctx, rd, func(context.Context) io.Reader {
			return f
		}, size, to)
	default:
		return streamCSV(ctx, rd, pumpReader(f), 0, to)
	}
	if err != nil {
		return err
	}
	return checkUnchanged(path, f, size)
}

// StreamFrom is [Stream] for the formats of [ReadFrom].
func StreamFrom[T any](
	ctx context.Context,
	r io.Reader,
	name string,
	schema Schema,
	opts ReadOptions,
	to Consumer[T],
) error {
	rd, err := streamReader(name, schema, opts)
	if err != nil {
		return err
	}
	if !rd.format.needsOffsets() {
		return streamCSV(ctx, rd, pumpReader(r), 0, to)
	}
	held, err := rd.holdTable(ctx, r)
	if err != nil {
		return err
	}
	return streamAt(ctx, rd, held, held.Size(), to)
}

// streamAt is Stream for a table that is read at offsets. f has the given number of bytes.
func streamAt[T any](
	ctx context.Context,
	rd *reader,
	f io.ReaderAt,
	size int64,
	to Consumer[T],
) error {
	switch {
	case rd.format.parquet:
		return streamParquet(ctx, rd, f, size, to)
	case rd.format.packed == tablefile.Arrow && rd.opts.noText && !rd.opts.ForceSlow:
		return streamArrow(ctx, rd, f, size, to)
	}
	return streamPacked(ctx, rd, f, size, to)
}

// pumpReader reads r as long as a context lasts, even while r blocks.
func pumpReader(r io.Reader) func(context.Context) io.Reader {
	return func(ctx context.Context) io.Reader {
		return newPump(ctx, r)
	}
}

// streamCSV reads a CSV file. size is 0 for a source that may block.
func streamCSV[T any](
	ctx context.Context,
	rd *reader,
	from func(context.Context) io.Reader,
	size int64,
	to Consumer[T],
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	counted := &counter{r: &stoppable{within, from(within)}}
	src, err := rd.newSource(counted)
	if err != nil {
		return err
	}
	return streamLines(ctx, within, cancel, rd, src, counted, size, to)
}

// streamPacked reads a file that is converted to lines.
func streamPacked[T any](
	ctx context.Context,
	rd *reader,
	f io.ReaderAt,
	size int64,
	to Consumer[T],
) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	counted := &counterAt{at: f, most: size}
	lines, err := rd.unpackLines(within, counted, size, true)
	if err != nil {
		return err
	}
	return streamLines(ctx, within, cancel, rd, lines, counted.counter(), size, to)
}

// streamLines reads decoded lines. size is 0 for a source that may block.
func streamLines[T any](
	ctx, within context.Context, cancel func(), rd *reader, src io.Reader, counted *counter, size int64, to Consumer[T],
) error {
	recs := rd.newRecords(src)
	head, err := rd.readHeader(recs)
	if err != nil {
		return err
	}
	lay, err := rd.bindColumns(head)
	if err != nil {
		return err
	}
	if err := to.Begin(
		Head{
			Names: head.names,
			Comma: rune(rd.dialect.comma),
			Size:  size,
			Notes: rd.notes,
		}); err != nil {
		return err
	}
	lines, ok := recs.(*lineRecords)
	if !ok || rd.opts.ForceSlow {
		return slowBatches(ctx, rd, recs, lay, counted, to)
	}
	c := &lineCutter{
		rows:  rd.batchRows(),
		chunk: rd.opts.batchBytes(),
		eager: size == 0,
		line:  recs.line() + 1,
		done:  &counted.n,
		free:  make(chan []byte, 2*rd.opts.workerCount()+2),
		out:   make(chan lineSegment),
		long:  make(chan []byte, 1),
	}
	for range cap(c.free) {
		c.free <- nil
	}
	c.long <- nil
	return inOrder(ctx, cancel, rd.opts.workerCount(), c.out,
		func() error {
			return c.cutLines(within, &lineLimit{
				r:   lines.lines.r,
				max: rd.opts.maxLine(),
			})
		},
		func() func(lineSegment) (T, error) {
			st := rd.newBatchStore(lay)
			room := newSlab(rd.cols, rd.hasUnit(), 0)
			return func(seg lineSegment) (T, error) {
				return to.Work(seg.parseBatch(rd, st, &room))
			}
		},
		func(seg lineSegment, result T) error {
			seg.home <- seg.data
			return to.Emit(result)
		})
}

// worked is the result of a worker for a segment.
type worked[S, T any] struct {
	seg    S
	result T
	err    error
}

// numbered is a piece of a stream with its position.
type numbered interface{ segmentIndex() int }

// inOrder runs three functions: produce sends segments numbered from 0 to out, work processes them on several
// goroutines, and emit is called in the calling goroutine, in order. inOrder returns the error of the first
// segment that has one, once those before are emitted, else the error of produce; cancel ends produce.
func inOrder[S numbered, T any](
	ctx context.Context,
	cancel func(),
	workers int,
	out chan S,
	produce func() error,
	worker func() func(S) (T, error),
	emit func(S, T) error,
) error {
	var produced error
	results := make(chan worked[S, T], workers)
	wg := parallel.Group{Panicked: cancel}
	wg.Go(func() {
		defer close(out)
		produced = produce()
	})
	all := parallel.Group{Panicked: cancel}
	for range workers {
		all.Go(func() {
			work := worker()
			for seg := range out {
				result, err := work(seg)
				results <- worked[S, T]{seg, result, err}
			}
		})
	}
	ended := make(chan *parallel.Panic, 1)
	go func() {
		ended <- parallel.Catch(all.Wait)
		close(results)
	}()
	err := collectInOrder(ctx, results, emit)
	cancel()
	for range results { // those being processed
	}
	(<-ended).Rethrow()
	wg.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	return produced
}

// collectInOrder emits results in order until there are no more, or one is an error.
func collectInOrder[S numbered, T any](
	ctx context.Context,
	results <-chan worked[S, T],
	emit func(S, T) error,
) error {
	waiting := map[int]worked[S, T]{}
	next := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o, more := <-results:
			if !more {
				return nil
			}
			waiting[o.seg.segmentIndex()] = o
		}
		for o, ok := waiting[next]; ok; o, ok = waiting[next] {
			delete(waiting, next)
			next++
			if o.err != nil {
				return o.err
			}
			if err := emit(o.seg, o.result); err != nil {
				return err
			}
		}
	}
}

// streamReader returns the reader of a named stream.
func streamReader(
	name string,
	schema Schema,
	opts ReadOptions,
) (*reader, error) {
	fm, err := formatOf(name)
	if err != nil {
		fm = fileKind{comma: ','}
	}
	return newReader(name, fm, schema, opts)
}
