package dataset

import "github.com/dptrain/dptrain/internal/numeric/simd"

// Block is a run of consecutive rows of a [View], the unit of every pass. Its
// rows are numbered from 0 to Len()-1. It is valid as long as its view.
type Block struct {
	view   View
	lo, hi int
}

// Len returns the number of rows.
func (b Block) Len() int {
	return b.hi - b.lo
}

// Start returns the position in the view of the block's first row.
func (b Block) Start() int {
	return b.lo
}

// View returns the view the block is a part of.
func (b Block) View() View {
	return b.view
}

// Columns returns the block with the given columns alone, renumbered from 0 in that order.
func (b Block) Columns(cols []int) Block {
	b.view = b.view.Columns(cols)
	return b
}

// ID returns the identity of row k; see [Table.ID].
func (b Block) ID(k int) uint64 {
	return b.view.ID(b.lo + k)
}

// Row returns the position of row k in the table.
func (b Block) Row(k int) int {
	return int(b.view.tableRow(b.lo + k))
}

// Float returns the cells of the view's numeric column j, Len() values. They are the table's own memory if the
// rows are consecutive there and the column is not compact. Otherwise they are gathered into buf, or into a new
// slice if buf is too small. The result must not be modified, so it must never be passed back as the next buf:
// keep a separate buffer of the block size. Float returns nil for a category column.
func (b Block) Float(j int, buf []float64) []float64 {
	at := b.view.tableColumn(j)
	if c := b.view.table.compactColumn(at); c != nil {
		return compactRows(c, b, buf)
	}
	column := b.view.table.floatColumn(at)
	if len(b.view.mask) > 0 && column != nil {
		return gatherMasked(b, column, buf)
	}
	return gatherRows(b, column, buf)
}

// Codes is [Block.Float] for category columns; nil for a numeric column. Every cell outside Categories has the
// code len(Categories).
func (b Block) Codes(j int, buf []int32) []int32 {
	at := b.view.tableColumn(j)
	codes := gatherRows(b, b.view.table.codeColumn(at), buf)
	if !b.view.table.tellsMissing(at) || codes == nil {
		return codes
	}
	return mergeMissing(
		resizeBuffer(buf, len(codes)),
		codes,
		len(b.view.table.schema.Columns[at].Categories),
	)
}

// Labels is like Codes, except that missing cells of a column with [Column.Labels] have the code
// len(Categories)+1.
func (b Block) Labels(j int, buf []int32) []int32 {
	return gatherRows(b, b.view.table.codeColumn(b.view.tableColumn(j)), buf)
}

// gatherRows collects the block's rows of one column.
func gatherRows[T any](b Block, column, buf []T) []T {
	if column == nil {
		return nil
	}
	if out, ok := consecutiveRows(b, column); ok {
		return out
	}
	buf = resizeBuffer(buf, b.Len())
	for k, r := range b.view.rows[b.lo:b.hi] {
		buf[k] = column[r]
	}
	return buf
}

// consecutiveRows returns the block's rows of a column if they follow one another there.
func consecutiveRows[T any](b Block, column []T) ([]T, bool) {
	if b.view.all {
		return column[b.lo:b.hi:b.hi], true
	}
	rows := b.view.rows[b.lo:b.hi]
	n := len(rows)
	if n == 0 {
		return column[:0:0], true
	}
	first, last := int(rows[0]), int(rows[n-1])
	return column[first : last+1 : last+1][:n:n], last-first == n-1 // strictly increasing, hence consecutive
}

// resizeBuffer returns a slice of length n, which reuses buf if its capacity suffices.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// gatherMasked is gather for a view with a mask.
func gatherMasked(b Block, column, buf []float64) []float64 {
	if out, ok := consecutiveRows(b, column); ok {
		return out
	}
	buf = resizeBuffer(buf, b.Len())
	gatherMaskedFrom(b.view.rows[b.lo:b.hi], b.view.mask, column, 0, buf)
	return buf
}

// gatherMaskedFrom collects rows of a column that starts at row base, a multiple of maskRows, by a mask if
// there is one.
func gatherMaskedFrom(
	rows []int32,
	mask []byte,
	column []float64,
	base int,
	buf []float64,
) {
	k := 0
	if len(mask) > 0 {
		from, to := (int(rows[0])+maskRows-1)/maskRows, int(rows[len(rows)-1])/maskRows // whole bytes of the mask
		for ; k < len(rows) && int(rows[k]) < from*maskRows; k++ {
			buf[k] = column[int(rows[k])-base]
		}
		if from < to {
			k += simd.Pick(buf[k:], column[from*maskRows-base:], mask[from:to])
		}
	}
	for ; k < len(rows); k++ {
		buf[k] = column[int(rows[k])-base]
	}
}

// maskRows is the number of rows per byte of a mask.
const maskRows = 8

// usesMask reports whether a list of rows has a mask. If it is short, it is faster to look at its rows alone.
func usesMask(t *Table, rows []int32) bool {
	return len(rows) > 0 && len(rows) >= t.rows/4
}

// maskOf returns a bit mask of the listed rows: row 8i+k is bit k of byte i. It returns nil if the list has no
// mask.
func maskOf(t *Table, rows []int32) []byte {
	if !usesMask(t, rows) {
		return nil
	}
	mask := make([]byte, (t.rows+maskRows-1)/maskRows)
	for _, r := range rows {
		mask[r/maskRows] |= 1 << (r % maskRows)
	}
	return mask
}
