package dptrain

import (
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A Table is the table of a run. [Open] and [OpenAs] return a file after reading its header; [Hold] and [HoldRows] return a
// table in memory. A Table with a Header only, without a Path, can be used for a plan.
type Table struct {
	Path     string         // of the file: .csv, .tsv, .jsonl (also .gz), .parquet, .xlsx, .arrow or .feather
	Header   []string       // all columns, in the order of the file
	Format   dataset.Format // how the text of the file is written
	NoHeader bool           // the file has no header line: Header names its columns
	Notes    []dataset.Note // settings inferred from the header, and warnings about it

	held *dataset.Table // nil for a file
}

// Open opens the table in a file and reads its header. known are names of columns that must be in the header,
// such as the target: without them, a header that consists of numbers is rejected, because it may be a record.
// The error wraps an error of package dataset: [dataset.ErrUnreadable], [dataset.ErrNoHeader] and others.
func Open(path string, known ...string) (*Table, error) {
	return open(path, dataset.ReadOptions{Known: known})
}

// OpenAs is [Open] for a table in another format.
func OpenAs(
	path string,
	format dataset.Format,
	known ...string,
) (*Table, error) {
	return open(path, dataset.ReadOptions{
		Format: format,
		Known:  known,
	})
}

// open reads the header of a file.
func open(path string, o dataset.ReadOptions) (*Table, error) {
	heading, err := dataset.ReadHeading(path, o)
	if err != nil {
		return nil, goError(err)
	}
	return &Table{
		Path:     path,
		Header:   heading.Names,
		Format:   o.Format,
		NoHeader: o.Names != nil,
		Notes:    heading.Notes,
	}, nil
}

// reading returns how the file is read.
func (t *Table) reading() dataset.ReadOptions {
	o := dataset.ReadOptions{Format: t.Format}
	if t.NoHeader {
		o.Names = t.Header
	}
	return o
}

// Hold returns a table that is in memory, such as one of [dataset.NewTable] or of adapter/golearn. The
// declarations of its schema are public, as if they were in [Run].Columns: ranges, categories, and for a
// category target the classes. If both declare a column, [Run].Columns takes precedence, but cannot change
// categories. Text of columns with [dataset.Column.Found] is found privately, as for a file. Missing cells of a
// target are distinguished from labels outside its categories if it has [dataset.Column.Labels].
func Hold(records *dataset.Table) *Table {
	s := records.Schema()
	t := &Table{Header: s.Names(), held: records}
	if s.Unit != "" {
		t.Header = append(t.Header, s.Unit)
	}
	return t
}

// declared adds the declarations of the schema of a table in memory to a run.
func (t *Table) declared(r *Run) {
	if t.held == nil {
		return
	}
	columns := map[string]Column{}
	found := false
	for _, c := range t.held.Schema().Columns {
		switch {
		case c.Name == r.Target && c.Kind == dataset.Category:
			if len(r.Classes) == 0 {
				r.Classes = c.Categories
			}
			if r.Task == "" {
				r.Task = regression.TaskClassification
			}
		case c.Name != r.Unit.Column && !slices.Contains(r.Exclude, c.Name):
			columns[c.Name] = columnOf(c)
			found = found || c.Found
		}
	}
	if r.Undeclared == "" && !found {
		r.Undeclared = asNumbers // the schema declares which columns may be text
	}
	for name, c := range r.Columns {
		columns[name] = c
	}
	r.Columns = columns
}

// columnOf returns the declaration that a recipe would have.
func columnOf(c dataset.Column) Column {
	out := Column{Private: c.Private}
	switch {
	case c.Kind == dataset.Category && c.Found:
		out.FindCategories = true
	case c.Kind == dataset.Category:
		out.Categories = c.Categories
		out.Other = &c.Other
	case c.Ranged:
		out.Lower = &c.Lower
		out.Upper = &c.Upper
	}
	switch {
	case c.Indicator:
		out.Missing = &Missing{Indicator: true}
	case c.HasMissing:
		out.Missing = &Missing{Number: c.Missing}
	}
	return out
}

// fits returns [ErrSchema] if a table in memory does not match the schema.
func (t *Table) fits(s dataset.Schema) error {
	if t.held == nil {
		return nil
	}
	held := t.held.Schema()
	if s.Unit != "" && s.Unit != held.Unit {
		return fmt.Errorf("%w: it has no unit %q of its records", ErrSchema,
			s.Unit)
	}
	for _, c := range s.Columns {
		j := slices.Index(held.Names(), c.Name)
		if c.Part != "" {
			return fmt.Errorf("%w: column %q is derived from dates, which only a table in a file has", ErrSchema,
				c.Name)
		}
		h := held.Columns[j]
		if h.Found && h.Kind == dataset.Category && c.Kind == dataset.Category {
			continue // its texts are read under the declaration
		}
		if h.Kind != c.Kind || !slices.Equal(h.Categories, c.Categories) {
			return fmt.Errorf(
				"%w: column %q is declared with a different type or different categories", ErrSchema,
				c.Name)
		}
	}
	return nil
}

// read returns the records under a schema that fits, and the reader's counts if the table is a file.
func (t *Table) read(
	ctx context.Context,
	s dataset.Schema,
) (*dataset.Table, *dataset.Stats, error) {
	if t.held == nil {
		return dataset.Read(ctx, t.Path, s, t.reading())
	}
	held := t.held.Schema()
	cells := make([]dataset.ColumnData, len(s.Columns))
	for i, c := range s.Columns {
		j := slices.Index(held.Names(), c.Name)
		cells[i] = t.held.Data(j)
		switch {
		case c.Kind == dataset.Numeric && !c.Found: // its text is missing
			cells[i] = dataset.ColumnData{Floats: cells[i].Floats}
		case c.Kind == dataset.Category && !c.Found && held.Columns[j].Found:
			cells[i] = dataset.ColumnData{Codes: declaredCodes(cells[i], &c)}
		}
	}
	var ids []uint64
	if s.Unit == held.Unit {
		ids = make([]uint64, t.held.Len())
		for i := range ids {
			ids[i] = t.held.ID(i)
		}
	}
	out, err := dataset.NewTable(s, cells, ids)
	return out, nil, err
}

// declaredCodes returns the codes of cells of text under a column with declared categories.
func declaredCodes(cells dataset.ColumnData, c *dataset.Column) []int32 {
	of := c.CodesOf(cells.Words)
	out := make([]int32, len(cells.Codes))
	for row, code := range cells.Codes {
		out[row] = c.MissingCode()
		if code >= 0 {
			out[row] = of[code]
		}
	}
	return out
}

// ErrSchema is returned for a table that has other columns than the plan, or declares them otherwise.
var ErrSchema = pipeline.ErrSchema
