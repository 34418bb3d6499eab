package dataset

// Block is a run of consecutive rows of a [View], the unit of every pass. Its
// rows are numbered from 0 to Len()-1. It is valid as long as its view.
type Block struct {
	view   View
	lo, hi int
}

// Len returns the number of rows.
func (b Block) Len() int { return b.hi - b.lo }

// Start returns the position in the view of the block's first row.
func (b Block) Start() int { return b.lo }

// View returns the view the block is a part of.
func (b Block) View() View { return b.view }

// Columns returns the block with the given columns alone, renumbered from 0 in that order.
func (b Block) Columns(cols []int) Block {
	b.view = b.view.Columns(cols)
	return b
}

// ID returns the identity of row k; see [Table.ID].
func (b Block) ID(k int) uint64 { return b.view.ID(b.lo + k) }

// Row returns the position of row k in the table.
func (b Block) Row(k int) int { return int(b.view.row(b.lo + k)) }

// Float returns the cells of the view's numeric column j, Len() values. They are
// the table's own memory when the rows are consecutive there, and otherwise
// gathered into buf (a new slice when buf has no room for them). The result must
// not be modified, and so must never be handed back as the next buf: keep a
// buffer of the block size beside it. Float returns nil for a category column.
func (b Block) Float(j int, buf []float64) []float64 {
	return gather(b, b.view.table.float(b.view.column(j)), buf)
}

// Codes is [Block.Float] for category columns; nil for a numeric column.
func (b Block) Codes(j int, buf []int32) []int32 {
	return gather(b, b.view.table.code(b.view.column(j)), buf)
}

// gather collects the block's rows of one column.
func gather[T any](b Block, column, buf []T) []T {
	if column == nil {
		return nil
	}
	if b.view.all {
		return column[b.lo:b.hi:b.hi]
	}
	rows := b.view.rows[b.lo:b.hi]
	n := len(rows)
	if n == 0 {
		return buf[:0]
	}
	first, last := int(rows[0]), int(rows[n-1])
	if last-first == n-1 { // strictly increasing, hence consecutive
		return column[first : last+1 : last+1]
	}
	if cap(buf) < n {
		buf = make([]T, n)
	}
	buf = buf[:n]
	for k, r := range rows {
		buf[k] = column[r]
	}
	return buf
}
