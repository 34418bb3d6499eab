package dataset

import "github.com/dptrain/dptrain/internal/tablefile/parquetfile"

// Stats counts how often cells and records were replaced, cut or dropped while a file was read. Every number
// depends on private rows and is not protected by a mechanism: it may be written to the curator's folder only,
// not to a terminal, a log, an error or an exit code.
type Stats struct {
	Rows    int           `json:"rows"`    // number of records read
	Long    int           `json:"long"`    // number of lines with more fields than the header
	Short   int           `json:"short"`   // number of lines with fewer
	Columns []ColumnStats `json:"columns"` // in schema order
	// NoUnit counts the records without a privacy unit if the schema has a unit column. They are left out of
	// the run.
	NoUnit int `json:"no_unit,omitempty"`
}

// ColumnStats counts the cells of one column that took the declared missing value
// (or became "other").
type ColumnStats struct {
	Name        string `json:"name"`
	Missing     int    `json:"missing"`     // empty, absent, or a marker of a missing value
	Unparseable int    `json:"unparseable"` // numeric column, not a number
	Nonfinite   int    `json:"nonfinite"`   // numeric column, infinite or out of range
	Unlisted    int    `json:"unlisted"`    // category column, not a declared category
}

// newStats returns zero counts for the columns of s.
func newStats(s Schema) *Stats {
	st := &Stats{Columns: make([]ColumnStats, len(s.Columns))}
	for j, name := range s.Names() {
		st.Columns[j].Name = name
	}
	return st
}

// countUnit counts an identity if it is NoUnit, and returns it.
func (s *Stats) countUnit(id uint64) uint64 {
	if id == NoUnit {
		s.NoUnit++
	}
	return id
}

// addTally counts the cells of each class of the column at position target, or of the unit column.
func (s *Stats) addTally(target int, tally *[parquetfile.Classes]int) {
	if target == unitField {
		s.NoUnit += tally[missing]
		return
	}
	c := &s.Columns[target]
	c.Missing += tally[missing]
	c.Unparseable += tally[unparseable]
	c.Nonfinite += tally[nonfinite]
	c.Unlisted += tally[unlisted]
}

// addStats adds the counts of o, of the same schema.
func (s *Stats) addStats(o *Stats) {
	s.Rows += o.Rows
	s.Long += o.Long
	s.Short += o.Short
	s.NoUnit += o.NoUnit
	for j := range s.Columns {
		a, b := &s.Columns[j], &o.Columns[j]
		a.Missing += b.Missing
		a.Unparseable += b.Unparseable
		a.Nonfinite += b.Nonfinite
		a.Unlisted += b.Unlisted
	}
}
