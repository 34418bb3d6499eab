package dataset

import (
	"context"
	"fmt"
	"io"

	"github.com/dptrain/dptrain/internal/tablefile/arrowfile"
)

// Arrow is read row by row by one goroutine. Stored numbers and booleans become cells of numeric
// columns directly. Everything else is read by its text, under the rules for CSV cells. Only the
// readers that need the text of whole records, and the reference reader of [ReadOptions.ForceSlow],
// convert the file to lines.

// openArrow reads the schema of an Arrow file and returns an error if a declared column cannot be
// read. The columns of the file become the names in the options.
func (rd *reader) openArrow(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
) (file *arrowfile.File, declared map[string]bool, err error) {
	rd.opts.Format.Skip = 0
	file, err = arrowfile.Open(stoppableAt{ctx, f}, size)
	if err != nil {
		return nil, nil, rd.openError(ctx, f, size, err)
	}
	if (file.Rows-freeRows)/rowsPerByte > size {
		return nil, nil, tooManyPerByte(rd.path)
	}
	if len(file.Fields) == 0 {
		return nil, nil, &FileError{
			Path: rd.path,
			Msg:  "has no columns",
			Err:  ErrNoHeader,
		}
	}
	declared = map[string]bool{rd.schema.Unit: rd.hasUnit()}
	for j := range rd.schema.Columns {
		declared[rd.schema.Columns[j].dateSource()] = true
	}
	rd.opts.Names = nil
	for i := range file.Fields {
		x := &file.Fields[i]
		rd.opts.Names = append(rd.opts.Names, x.Name)
		if declared[x.Name] && !x.Readable {
			return nil, nil,
				&FileError{Path: rd.path,
					Msg: fmt.Sprintf("column %q has the unsupported Arrow type %s",
						x.Name, x.Type),
					Hint: "store it as a number, a boolean, a date or a string, " +
						"or leave the column out with --exclude",
					Err: ErrColumnType}
		}
	}
	return file, declared, nil
}

// arrowTable is one Arrow file being read.
type arrowTable struct {
	rd    *reader
	names []string // of the columns of the file
	lay   layout
	rows  *arrowfile.Rows
	cells []arrowfile.Cell
	total int64 // number of rows that the file declares
	size  int64 // bytes of the file
}

// openArrowTable prepares the reading of the declared columns.
func (rd *reader) openArrowTable(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
) (*arrowTable, error) {
	file, _, err := rd.openArrow(ctx, f, size)
	if err != nil {
		return nil, err
	}
	head, err := rd.readHeader(nil) // the names are known
	if err != nil {
		return nil, err
	}
	lay, err := rd.bindColumns(head)
	if err != nil {
		return nil, err
	}
	want := make([]arrowfile.Want, len(file.Fields))
	for k, target := range lay.targets {
		if target == skipField {
			continue
		}
		field := &file.Fields[k]
		switch numeric := target >= 0 && rd.cols[target].kind == Numeric; {
		case !numeric:
			want[k] = arrowfile.AsText
		case field.Stored() && (rd.cols[target].words == nil || field.Numeric()):
			want[k] = arrowfile.AsNumber
		default:
			want[k] = arrowfile.AsFullText
		}
	}
	return &arrowTable{
		rd:    rd,
		names: head.names,
		lay:   lay,
		rows:  file.ReadRows(want, rd.opts.Format.Decimal == ',', rd.opts.maxLine()),
		cells: make([]arrowfile.Cell, len(file.Fields)),
		total: file.Rows,
		size:  size,
	}, nil
}

// next reads the next record. The error is io.EOF after the last one.
func (t *arrowTable) next(ctx context.Context) error {
	err := t.rows.Read(t.cells)
	if err != nil && err != io.EOF {
		return t.rd.packedError(ctx, err)
	}
	return err
}

// store stores the record that was read last.
func (t *arrowTable) store(to *store, row int) {
	for k, target := range t.lay.targets {
		if target == skipField {
			continue
		}
		if c := &t.cells[k]; c.IsNumber {
			v, what := to.rule.Typed(c.Number)
			to.storeNumber(target, row, v, what)
		} else {
			to.storeBytes(target, c.Text, row)
		}
	}
	to.stats.Rows++
}

// readArrow reads an Arrow file.
func (rd *reader) readArrow(
	ctx context.Context,
	f io.ReaderAt,
	size int64,
) (*Table, *Stats, error) {
	t, err := rd.openArrowTable(ctx, f, size)
	if err != nil {
		return nil, nil, err
	}
	rows := rowSlabs{rd: rd, st: rd.newStore(t.lay)}
	for {
		err := t.next(ctx)
		if err == io.EOF {
			break
		}
		var row int
		if err == nil {
			row, err = rows.next(ctx)
		}
		if err != nil {
			return nil, nil, err
		}
		t.store(rows.st, row)
	}
	all, err := rows.join(ctx)
	if err != nil {
		return nil, nil, err
	}
	return all.newTable(rd.schema, rd.cols), rows.st.stats, nil
}

// streamArrow is Stream for an Arrow file without the text of its records.
func streamArrow[T any](
	ctx context.Context,
	rd *reader,
	f io.ReaderAt,
	size int64,
	to Consumer[T],
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := rd.openArrowTable(within, f, size)
	if err != nil {
		return err
	}
	if err := to.Begin(Head{
		Names: t.names,
		Size:  size,
	}); err != nil {
		return err
	}
	return streamSegments(ctx, cancel, rd, func(
		free <-chan slab, out chan<- storedSegment,
	) error {
		return t.sendBatches(within, free, out)
	}, to)
}

// sendBatches sends all records to out.
func (t *arrowTable) sendBatches(
	ctx context.Context,
	free <-chan slab,
	out chan<- storedSegment,
) error {
	most := t.rd.batchRows()
	next := most - int(t.rd.opts.before%int64(most)) // number of rows of the next batch
	st := t.rd.newBatchStore(t.lay)
	read := int64(0)
	var s storedSegment
	rows := 0
	send := func() error {
		s.cells, s.words, s.stats = s.room.subSlab(0, rows), listsOf(st.words), st.stats
		s.first = t.rd.opts.before + read
		read += int64(rows)
		s.done = int64(float64(t.size) * min(1, float64(read)/float64(max(1, t.total))))
		select {
		case out <- s:
		case <-ctx.Done():
			return ctx.Err()
		}
		s = storedSegment{index: s.index + 1}
		rows = 0
		next = most
		return nil
	}
	for {
		err := t.next(ctx)
		if err == io.EOF && rows > 0 {
			return send()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rows == 0 {
			select {
			case s.room = <-free:
			case <-ctx.Done():
				return ctx.Err()
			}
			st.nextBatch(s.room, newStats(t.rd.schema))
		}
		t.store(st, rows)
		if rows++; rows == next {
			if err := send(); err != nil {
				return err
			}
		}
	}
}
