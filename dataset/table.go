package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/engine/colblock"
)

// Table holds records column by column. It is immutable: the slices its methods
// return must not be modified, and it is safe for concurrent use.
type Table struct {
	schema Schema
	rows   int
	floats [][]float64        // per column; nil for categories and for compact columns
	small  []*colblock.Packed // per column; nil for columns that are not compact, or altogether
	codes  [][]int32          // per column; nil for numbers
	ids    []uint64           // nil: first plus the row position
	first  uint64
	words  [][]string // per column; nil for a column without text categories to find

	cells func(j int) ColumnData // for a piece, whose floats and codes are nil; see [Schema.Piece]
}

// ColumnData is one column of an in-memory table: Floats for a numeric column, Codes (positions in
// Column.Categories) for a category column. Codes of a column with [Column.Found] are positions in Words; a
// numeric column with [Column.Found] may have them in addition to Floats, for cells that are text.
type ColumnData struct {
	Floats []float64
	Codes  []int32
	Words  []string
}

// NewTable builds a table from memory by the rules of the readers: infinite values are missing, missing values
// take the column's declared value, and codes outside the declared list become len(Categories). In a column of
// [Column.Labels] a negative code and len(Categories)+1 mean a missing cell. NewTable keeps the slices it is
// given if no cell has to change, and copies them otherwise; do not modify them afterwards.
//
// cols is in the order of schema.Columns. ids holds the privacy unit of every record, [NoUnit] for a record
// without a unit. If ids is nil, the position of a row is its identity; that is an error if the schema names a
// unit column. Without a unit column identities must differ: a record that shares one has no coin of its own. A
// table without columns has len(ids) rows.
//
// Errors wrap [ErrSchema] and concern shapes only, never the content of a cell.
func NewTable(schema Schema, cols []ColumnData, ids []uint64) (*Table, error) {
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	if len(cols) != len(schema.Columns) {
		return nil,
			fmt.Errorf("%w: %d columns of data for %d declared", ErrSchema, len(cols),
				len(schema.Columns))
	}
	if schema.Unit != "" && ids == nil {
		return nil,
			fmt.Errorf("%w: the unit column %q needs the identity of every record", ErrSchema,
				schema.Unit)
	}
	if schema.Unit == "" && hasRepeats(ids) {
		return nil,
			fmt.Errorf(
				"%w: two records have one identity; name the unit column, or give each its own",
				ErrSchema)
	}
	t := newTable(schema.Clone(), rowsOf(cols, ids), ids)
	for j := range cols {
		c := &t.schema.Columns[j]
		used := len(cols[j].Floats)
		unused := len(cols[j].Codes)
		if c.Kind == Category {
			used, unused = unused, used
		}
		if used != t.rows || unused != 0 && (unused != used || !c.Found) {
			return nil, c.errorf("does not have one %s cell for every row", c.Kind)
		}
		switch {
		case c.Kind == Numeric:
			t.floats[j] = totalFloats(c, cols[j].Floats)
			if c.Found {
				t.words[j], t.floats[j] = foundFloats(t.floats[j], cols[j], c)
			}
		case c.Found:
			t.words[j], t.codes[j] = foundCodes(cols[j], c)
		default:
			t.codes[j] = totalCodes(c, cols[j].Codes)
		}
	}
	if ids != nil && len(ids) != t.rows {
		return nil, fmt.Errorf("%w: the identities are not as many as the rows", ErrSchema)
	}
	if int64(t.rows) > maxRows {
		return nil, fmt.Errorf("%w: a table holds at most %d rows", ErrSchema, int64(maxRows))
	}
	return t, nil
}

// NoUnit is the identity of a record without a privacy unit, if the schema has a unit column: [View.Cap] leaves
// it out.
const NoUnit uint64 = math.MaxUint64

// maxRows is the maximum number of rows of a table: views index rows by int32.
const maxRows = math.MaxInt32

// hasRepeats reports whether an identity occurs twice.
func hasRepeats(ids []uint64) bool {
	seen := make(map[uint64]struct{}, len(ids))
	for _, id := range ids {
		seen[id] = struct{}{}
	}
	return len(seen) < len(ids)
}

// newTable returns a table of empty columns, for readers and NewTable to fill.
func newTable(schema Schema, rows int, ids []uint64) *Table {
	return &Table{
		schema: schema,
		rows:   rows,
		ids:    ids,
		floats: make([][]float64, len(schema.Columns)),
		codes:  make([][]int32, len(schema.Columns)),
		words:  make([][]string, len(schema.Columns)),
	}
}

// foundCodes returns the text categories of a column in memory and the code of each cell.
func foundCodes(d ColumnData, c *Column) (list []string, codes []int32) {
	list, of := heldWords(d.Words, c)
	codes = make([]int32, len(d.Codes))
	for i, k := range d.Codes {
		codes[i] = noText
		if k >= 0 && int(k) < len(of) {
			codes[i] = of[k]
		}
	}
	return list, codes
}

// foundFloats is foundCodes for a numeric column: a cell without a number holds the text category of its code,
// if it has one.
func foundFloats(
	numbers []float64,
	d ColumnData,
	c *Column,
) (list []string, out []float64) {
	list, codes := foundCodes(d, c)
	out = slices.Clone(numbers)
	for i, x := range out {
		if math.IsNaN(x) {
			out[i] = math.NaN()
			if len(codes) > 0 && codes[i] != noText {
				out[i] = colblock.TextNumber(codes[i])
			}
		}
	}
	return list, out
}

// rowsOf returns the number of rows implied by the first column or the identities.
func rowsOf(cols []ColumnData, ids []uint64) int {
	if len(cols) == 0 {
		return len(ids)
	}
	return max(len(cols[0].Floats), len(cols[0].Codes))
}

// totalFloats applies the missing rule, copying x only when a cell changes.
func totalFloats(c *Column, x []float64) []float64 {
	var out []float64
	for i, v := range x {
		if isFinite(v) || (math.IsNaN(v) && !c.HasMissing) {
			continue
		}
		if out == nil {
			out = append(make([]float64, 0, len(x)), x...)
		}
		out[i] = c.missingValue()
	}
	if out == nil {
		return x
	}
	return out
}

// totalCodes replaces codes outside the list by len(Categories), or by the code of a missing
// label, copying x only when a cell changes.
func totalCodes(c *Column, x []int32) []int32 {
	other := int32(len(c.Categories))
	absent := c.MissingCode()
	var out []int32
	for i, v := range x {
		if v >= 0 && v <= absent {
			continue
		}
		if out == nil {
			out = append(make([]int32, 0, len(x)), x...)
		}
		out[i] = other
		if v < 0 {
			out[i] = absent
		}
	}
	if out == nil {
		return x
	}
	return out
}

// Mapped returns the table with f applied to every number of the numeric column j. c declares the new column.
// All other columns are shared.
func (t *Table) Mapped(j int, c Column, f func(float64) float64) *Table {
	out := *t
	out.schema = t.schema.Clone()
	out.schema.Columns[j] = c
	out.floats = slices.Clone(t.floats)
	out.small = slices.Clone(t.small)
	if out.small != nil {
		out.small[j] = nil
	}
	out.floats[j] = make([]float64, t.rows)
	for i, x := range t.floatColumn(j) {
		out.floats[j][i] = f(x)
	}
	return &out
}

// Len returns the number of records. Under add-remove neighbours it is private.
func (t *Table) Len() int {
	return t.rows
}

// Schema returns the declared columns. The result must not be modified.
func (t *Table) Schema() Schema {
	return t.schema
}

// Float returns numeric column j, one value per record in the column's own units,
// NaN where missing; nil for a category column. It must not be modified.
func (t *Table) Float(j int) []float64 {
	return t.floatColumn(j)
}

// Codes returns category column j: positions in Column.Categories, or
// len(Categories) for any other cell; nil for a numeric column. It must not be
// modified.
func (t *Table) Codes(j int) []int32 {
	codes := t.codeColumn(j)
	if !t.tellsMissing(j) || codes == nil {
		return codes
	}
	return mergeMissing(
		make([]int32, len(codes)),
		codes,
		len(t.schema.Columns[j].Categories),
	)
}

// Labels is like Codes, except that missing cells of a column with [Column.Labels] have the code
// len(Categories)+1.
func (t *Table) Labels(j int) []int32 {
	return t.codeColumn(j)
}

// tellsMissing reports whether the codes of column j distinguish missing cells from others. Without categories
// the codes are positions in a list of texts that were not resolved yet.
func (t *Table) tellsMissing(j int) bool {
	c := &t.schema.Columns[j]
	return c.Labels && len(c.Categories) > 0
}

// mergeMissing copies codes to dst and replaces every code of at least categories by categories.
func mergeMissing(dst, codes []int32, categories int) []int32 {
	for i, code := range codes {
		dst[i] = min(code, int32(categories))
	}
	return dst
}

// ID returns the identity of the unit that record i belongs to: the key of its
// coins. Records with equal identities belong to one unit.
func (t *Table) ID(i int) uint64 {
	if t.ids == nil {
		return t.first + uint64(i)
	}
	return t.ids[i]
}

// View returns the view of every row and column.
func (t *Table) View() View {
	return View{table: t, all: true}
}

// Select returns the view of the given rows; see [View.Select].
func (t *Table) Select(rows []int32) View {
	return t.View().Select(rows)
}
