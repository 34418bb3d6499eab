package dataset

import (
	"math/bits"
	"slices"
)

// View is a table seen through a subset of its rows and columns. It copies no
// cell. A view holds a record at most once, in table order, so that adding one
// record to the table changes any view by at most that record. The zero View has
// no rows and no columns.
type View struct {
	table *Table
	all   bool
	rows  []int32 // unless all is set: strictly increasing
	mask  []byte  // of these rows; see maskOf
	cols  []int   // nil: every column in order
}

// Select returns the view of the rows at the given positions of v. They must be strictly increasing and below
// v.Len(), otherwise Select panics: rows come from coins, drawn in row order, and a repeated row would count
// one person twice. Nil selects no rows, like any other empty slice. The slice is not copied if v is a whole
// table, and must not be modified.
func (v View) Select(rows []int32) View {
	last := int32(-1)
	for _, r := range rows {
		if r <= last {
			panic("dataset: Select: rows are not strictly increasing")
		}
		last = r
	}
	if int(last) >= v.Len() {
		panic("dataset: Select: row out of range")
	}
	if !v.all {
		global := make([]int32, len(rows))
		for k, r := range rows {
			global[k] = v.rows[r]
		}
		rows = global
	}
	return View{
		table: v.table,
		rows:  rows,
		mask:  maskOf(v.table, rows),
		cols:  v.cols,
	}
}

// Columns returns the view of the given columns of v, renumbered from 0 in the
// order given.
func (v View) Columns(cols []int) View {
	picked := make([]int, len(cols))
	for k, j := range cols {
		picked[k] = v.tableColumn(j)
	}
	v.cols = picked
	return v
}

// Split divides the records of v into parts views by the coin of each record's identity. coin is called once
// per row in row order. The views are disjoint and together hold every record, as parallel composition
// requires. coin must return a number in [0, parts), and the same number for the same identity.
func (v View) Split(parts int, coin func(id uint64) int) []View {
	of := make([]int32, v.Len())
	sizes := make([]int, parts)
	for k := range of {
		p := coin(v.ID(k))
		if p < 0 || p >= parts {
			panic("dataset: Split: coin out of range")
		}
		of[k] = int32(p)
		sizes[p]++
	}
	views := make([]View, parts)
	for p, n := range sizes {
		views[p] = View{
			table: v.table,
			rows:  make([]int32, 0, n),
			cols:  v.cols,
		}
	}
	for k, p := range of {
		views[p].rows = append(views[p].rows, v.tableRow(k))
	}
	for p := range views {
		views[p].mask = maskOf(v.table, views[p].rows)
	}
	return views
}

// Part returns the records of v whose side is 0, and those whose side is 1. sides has one entry per record, in
// row order; Part panics otherwise. The views are disjoint and together hold every record.
func (v View) Part(sides []uint8) (first, second View) {
	if len(sides) != v.Len() {
		panic("dataset: Part: not one side per record")
	}
	ones := 0
	for _, side := range sides {
		ones += int(side & 1)
	}
	rows := [2][]int32{make([]int32, len(sides)-ones+1), make([]int32, ones+1)} // including one place for discarded values
	var n [2]int
	for k, side := range sides { // without a branch that depends on a coin
		row := v.tableRow(k)
		rows[0][n[0]] = row
		rows[1][n[1]] = row
		one := int(side & 1)
		n[0] += 1 - one
		n[1] += one
	}
	part := func(p int) View {
		rows := slices.Clip(rows[p][:n[p]])
		return View{
			table: v.table,
			rows:  rows,
			mask:  maskOf(v.table, rows),
			cols:  v.cols,
		}
	}
	return part(0), part(1)
}

// Mark sets bit r%8 of byte r/8 for each row r of the table that is in the view.
func (v View) Mark(marks []byte) {
	for k := range v.Len() {
		r := v.tableRow(k)
		marks[r/maskRows] |= 1 << (r % maskRows)
	}
}

// MarkSides sets the bits that [View.Mark] sets: those of records whose side is 0 in zeros and of records whose
// side is 1 in ones. sides has one entry per record, in row order; MarkSides panics otherwise.
func (v View) MarkSides(sides []uint8, zeros, ones []byte) {
	if len(sides) != v.Len() {
		panic("dataset: MarkSides: not one side per record")
	}
	for k, side := range sides { // without a branch that depends on a coin
		r := v.tableRow(k)
		side &= 1
		ones[r/maskRows] |= side << (r % maskRows)
		zeros[r/maskRows] |= (1 - side) << (r % maskRows)
	}
}

// Marked returns the view of the rows whose bits are set, as [View.Mark] sets them. v must be a view of a whole
// table; otherwise Marked panics. The rows are stored in room if it has space, and are returned; neither they
// nor the marks may be modified while the view is used.
func (v View) Marked(marks []byte, room []int32) (View, []int32) {
	if !v.all {
		panic("dataset: Marked: not all rows of a table")
	}
	marks = marks[:(v.table.rows+maskRows-1)/maskRows]
	rows := slices.Grow(room[:0], v.table.rows)[:v.table.rows]
	n := 0
	for i, eight := range marks {
		for ; eight != 0; eight &= eight - 1 {
			rows[n] = int32(maskRows*i + bits.TrailingZeros8(eight))
			n++
		}
	}
	rows = rows[:n]
	out := View{
		table: v.table,
		rows:  rows,
		cols:  v.cols,
	}
	if usesMask(v.table, rows) {
		out.mask = marks
	}
	return out, rows
}

// Len returns the number of rows of the view.
func (v View) Len() int {
	if v.all {
		return v.table.rows
	}
	return len(v.rows)
}

// Table returns the table behind the view.
func (v View) Table() *Table {
	return v.table
}

// Schema returns the declarations of the view's columns, in the view's order.
// The result must not be modified.
func (v View) Schema() Schema {
	if v.table == nil {
		return Schema{}
	}
	if v.cols == nil {
		return v.table.schema
	}
	s := Schema{
		Columns: make([]Column, len(v.cols)),
		Unit:    v.table.schema.Unit,
	}
	for k, j := range v.cols {
		s.Columns[k] = v.table.schema.Columns[j]
	}
	return s
}

// ID returns the identity of the view's k-th row; see [Table.ID].
func (v View) ID(k int) uint64 {
	return v.table.ID(int(v.tableRow(k)))
}

// Block returns rows [lo, hi) of the view.
func (v View) Block(lo, hi int) Block {
	if lo < 0 || hi < lo || hi > v.Len() {
		panic("dataset: Block: rows out of range")
	}
	return Block{
		view: v,
		lo:   lo,
		hi:   hi,
	}
}

// Compact copies the rows and columns of the view to a table of their own. The
// records keep their identities, and so their coins.
func (v View) Compact() *Table {
	whole := v.Block(0, v.Len())
	ids := make([]uint64, v.Len())
	for k := range ids {
		ids[k] = v.ID(k)
	}
	t := newTable(v.Schema().Clone(), v.Len(), ids)
	for j, c := range t.schema.Columns {
		t.words[j] = v.table.words[v.tableColumn(j)]
		if c.Kind == Numeric {
			t.floats[j] = slices.Clone(whole.Float(j, nil))
		} else {
			t.codes[j] = slices.Clone(whole.Labels(j, nil))
		}
	}
	return t
}

// Recode returns v with its category column j read as the numeric column c: a record with code k has the value
// values[k]. values has one entry per declared category and a last one for every other cell. Recode panics for
// another number of values and for a numeric column. No other cell is copied, and a record's value depends on
// its own code alone, so neighbouring views stay neighbouring.
func (v View) Recode(j int, c Column, values []float64) View {
	at := v.tableColumn(j)
	from := &v.table.schema.Columns[at]
	if from.Kind != Category || c.Kind != Numeric || len(values) != len(from.Categories)+1 {
		panic("dataset: Recode: not a category column, or not one value a category and one for the others")
	}
	t := *v.table
	t.schema.Columns = slices.Clone(t.schema.Columns)
	t.schema.Columns[at] = c
	t.floats = slices.Clone(t.floats)
	t.codes = slices.Clone(t.codes)
	column := make([]float64, t.rows)
	for i, code := range v.table.Codes(at) {
		column[i] = values[code]
	}
	t.floats[at], t.codes[at] = totalFloats(&c, column), nil
	v.table = &t
	return v
}

// tableRow returns the table position of the view's k-th row.
func (v View) tableRow(k int) int32 {
	if v.all {
		return int32(k)
	}
	return v.rows[k]
}

// tableColumn returns the table position of the view's column j.
func (v View) tableColumn(j int) int {
	if v.cols == nil {
		return j
	}
	return v.cols[j]
}
