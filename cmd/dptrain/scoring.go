package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// scoring applies a scorer to a table.
type scoring struct {
	in     *input
	scorer *scorer
	append bool
	strict bool
	json   bool // one JSON object per line
	safe   bool // make texts safe for spreadsheets; those of the scorer are safe already
	watch  *terminal.Watch
	notes  io.Writer // receives notes about the header

	out     io.Writer
	head    dataset.Head
	quoted  []column // of the scorer, for output without the columns of the table
	records int      // number of records written
	uneven  uneven   // lines of the table
	cells   []dataset.ColumnStats
}

// scored is the output of a batch.
type scored struct {
	text    []byte
	records int
	done    int64
	uneven  uneven
	cells   []dataset.ColumnStats // counts of missing cells by column
}

// uneven counts the lines of a CSV table that have more or fewer values than the header, and those of JSON Lines that are
// not objects.
type uneven struct {
	long, short int
	line        int // the first of them, counted from 1
}

// unevenLines returns the uneven lines of a batch of a table with the given number of columns.
func unevenLines(batch *dataset.Batch, columns int) uneven {
	out := uneven{long: batch.Stats.Long, short: batch.Stats.Short}
	if out.long+out.short == 0 {
		return uneven{}
	}
	_ = batch.Text(func(line int, fields []string) error {
		if out.line == 0 && len(fields) != columns {
			out.line = line
		}
		return nil
	})
	if out.line == 0 { // another format, whose records may lack values
		return uneven{}
	}
	return out
}

// plus returns the lines of two batches, u before v.
func (u uneven) plus(v uneven) uneven {
	return uneven{u.long + v.long, u.short + v.short, cmp.Or(u.line, v.line)}
}

// note describes the lines. It returns "" for even lines only. multiline is whether quoted values may contain line breaks.
func (u uneven) note(columns int, multiline bool) string {
	var parts []string
	for _, x := range []struct {
		lines   int
		problem string
	}{{u.short, "fewer"}, {u.long, "more"}} {
		if x.lines > 0 {
			parts = append(parts, fmt.Sprintf("%s with %s", plural(x.lines, "line", "lines"), x.problem))
		}
	}
	if parts == nil {
		return ""
	}
	text := fmt.Sprintf("%s than %s; absent values count as missing, extra ones are ignored",
		strings.Join(parts, " and "), plural(columns, "value", "values"))
	if !multiline {
		text += ". If quoted values contain line breaks, use --multiline-quotes"
	}
	return text
}

// run writes a line for each record, batch by batch.
func (s *scoring) run(
	ctx context.Context,
	schema dataset.Schema,
	w io.Writer,
) error {
	s.out = w
	for _, c := range s.scorer.columns {
		if s.json {
			s.quoted = append(s.quoted, c.quotedJSON())
			continue
		}
		s.quoted = append(s.quoted, c.quoted())
	}
	err := s.in.stream(
		ctx,
		schema,
		dataset.Consumer[*scored]{
			Begin: s.begin,
			Work:  s.work,
			Emit:  s.emit,
		},
	)
	if s.in.isJSON() {
		return s.noteObjects(err)
	}
	multiline := s.in.reading.Format.MultilineQuotes || s.in.isPacked()
	if note := s.uneven.note(len(s.head.Names), multiline); note != "" && err == nil {
		place := fmt.Sprintf("%s:%d", s.in.path, s.uneven.line)
		printNotes(s.notes, place, []dataset.Note{{Text: note}})
	}
	return err
}

// noteObjects prints notes about JSON Lines that were read without err, which it returns: lines that are not objects, and
// columns of the model that no record has.
func (s *scoring) noteObjects(err error) error {
	if err != nil {
		return err
	}
	var notes []dataset.Note
	if n := s.uneven.long + s.uneven.short; n > 0 {
		notes = append(notes, dataset.Note{Text: fmt.Sprintf(
			"%s, the first in record %d; all their values count as missing",
			plural(n, "line is not a JSON object", "lines are not JSON objects"), s.uneven.line)})
	}
	var absent []string
	for _, c := range s.cells {
		if s.records > 0 && c.Missing == s.records {
			absent = append(absent, strconv.Quote(c.Name))
		}
	}
	if absent != nil {
		notes = append(notes, dataset.Note{Text: "no record has a value for " + strings.Join(absent, ", ") +
			"; names must match exactly, including upper and lower case"})
	}
	printNotes(s.notes, s.in.path, notes)
	return nil
}

// begin prepares the output columns and writes the header line.
func (s *scoring) begin(head dataset.Head) error {
	s.head = head
	printNotes(s.notes, s.in.path, head.Notes)
	var names []string
	for i, c := range s.scorer.columns {
		if !s.append {
			names = append(names, s.quoted[i].name)
			continue
		}
		if slices.Contains(head.Names, c.name) {
			return usagef(
				"%s already has a column named %s; rename it, or predict without --append",
				s.in.path, c.name)
		}
		names = append(names, c.name)
	}
	if s.append {
		var line bytes.Buffer
		w := csv.NewWriter(&line)
		w.Comma = head.Comma
		copied := slices.Clone(head.Names)
		s.makeSafe(copied)
		_ = w.Write(append(copied, names...)) // a Buffer never fails
		w.Flush()
		_, err := s.out.Write(line.Bytes())
		return err
	}
	if s.json {
		return nil
	}
	_, err := io.WriteString(s.out, strings.Join(names, ",")+"\n")
	return err
}

// line appends the output for record k.
func (s *scoring) line(dst []byte, values [][]float64, k int) []byte {
	if s.json {
		dst = append(dst, '{')
	}
	for i := range s.quoted {
		if i > 0 {
			dst = append(dst, ',')
		}
		if s.json {
			dst = append(append(dst, s.quoted[i].name...), ':')
		}
		dst = s.quoted[i].appendCell(dst, values[i][k])
	}
	if s.json {
		dst = append(dst, '}')
	}
	return append(dst, '\n')
}

// work formats the lines of a batch.
func (s *scoring) work(batch *dataset.Batch) (*scored, error) {
	if s.strict {
		if err := s.in.refuse(batch, s.head.Names); err != nil {
			return nil, err
		}
	}
	rows := pipeline.RowsOf(batch.Table.View())
	values, err := s.scorer.values(rows)
	if err != nil {
		return nil, err
	}
	out := &scored{
		records: rows.N,
		done:    batch.Done,
		uneven:  unevenLines(batch, len(s.head.Names)),
		cells:   slices.Clone(batch.Stats.Columns),
	}
	if s.append {
		out.text, err = s.appended(batch, values)
		return out, err
	}
	out.text = make([]byte, 0, rows.N*len(values)*20)
	for k := range rows.N {
		out.text = s.line(out.text, values, k)
	}
	return out, nil
}

// appended copies the records of a batch and appends the values. Each line has as many fields as the header.
func (s *scoring) appended(
	batch *dataset.Batch,
	values [][]float64,
) ([]byte, error) {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Comma = s.head.Comma
	width := len(s.head.Names)
	row := make([]string, width+len(values))
	var cell []byte
	k := 0
	err := batch.Text(func(_ int, fields []string) error {
		clear(row)
		copy(row[:width], fields)
		s.makeSafe(row[:width])
		for i := range s.scorer.columns {
			cell = s.scorer.columns[i].appendCell(cell[:0], values[i][k])
			row[width+i] = string(cell)
		}
		k++
		return w.Write(row)
	})
	w.Flush()
	return text.Bytes(), err
}

// makeSafe makes copied cells safe for spreadsheets if s.safe is set.
func (s *scoring) makeSafe(cells []string) {
	if !s.safe {
		return
	}
	for i, text := range cells {
		cells[i] = spreadsheetSafe(text)
	}
}

// emit writes the lines of a batch. It returns an error if it is the first one, and no line of it is JSON where it should be.
func (s *scoring) emit(b *scored) error {
	if s.records == 0 && b.records > 0 && s.in.isJSON() && b.uneven.long+b.uneven.short == b.records {
		return fault.WithKind(fault.Data, &placeError{
			s.in.path,
			`no line is a JSON object; write each record as one object in a line of its own, such as {"age": 41}`,
		})
	}
	if _, err := s.out.Write(b.text); err != nil {
		return err
	}
	s.records += b.records
	s.uneven = s.uneven.plus(b.uneven)
	s.addCells(b.cells)
	s.watch.Show(s.records, b.done, s.head.Size)
	return nil
}

// addCells adds the counts of missing cells of a batch.
func (s *scoring) addCells(cells []dataset.ColumnStats) {
	if s.cells == nil {
		s.cells = cells
		return
	}
	for j, c := range cells {
		s.cells[j].Missing += c.Missing
	}
}

// broken adds the number of printed lines to an error that occurred after the output started.
func (s *scoring) broken(err error) error {
	if err == nil || s.records == 0 {
		return err
	}
	return &partial{err, s.records}
}

// partial is the error of an incomplete output.
type partial struct {
	error
	records int
}

func (e *partial) Error() string {
	return fmt.Sprintf(
		"%v; predictions for the first %d records were printed",
		e.error,
		e.records,
	)
}

func (e *partial) Unwrap() error {
	return e.error
}

// progressDisplay returns a display of the progress of predict. It is active only if shown is set and standard error is
// a terminal.
func (a *app) progressDisplay(shown bool) *terminal.Watch {
	if !shown || !a.terminal {
		return terminal.NewWatch(nil)
	}
	return terminal.NewWatch(a.screen)
}
