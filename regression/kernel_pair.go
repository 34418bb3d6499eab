package regression

import (
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
)

const (
	pairPoints = 48 // number of landmarks over which the effect of a pair is averaged
	pairBands  = 7  // number of bands into which the range of a numeric column is divided
	pairLevels = 12 // maximum number of categories of a column
)

// An InteractionTable holds numbers for the levels of two columns of a [Kernel].
type InteractionTable struct {
	Rows, Columns []string    // names of levels
	Values        [][]float64 // one row per level of Rows
}

// center subtracts the means of rows and columns from the values.
func (t *InteractionTable) center() {
	whole := 0.
	columns := make([]float64, len(t.Columns))
	for _, row := range t.Values {
		for j, v := range row {
			columns[j] += v / float64(len(t.Rows))
			whole += v / float64(len(t.Rows)*len(row))
		}
	}
	for _, row := range t.Values {
		mean := 0.
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for j := range row {
			row[j] += whole - mean - columns[j]
		}
	}
}

// Together returns the interaction of two columns in the kernel terms, beyond their separate effects. Rows are
// bands or categories of the first column, columns those of the second. Values are means over landmarks in
// units of the prediction, and each row and column has mean 0. The table is empty if a column occurs in no
// term. The bands divide the part of a column's range that shown returns, or the whole range if shown is nil.
func (m *Kernel) Together(first, second string, shown func(Column) (lower, upper float64)) InteractionTable {
	if shown == nil {
		shown = func(c Column) (lower, upper float64) {
			return c.Lower, c.Upper
		}
	}
	rows := m.columnLevels(first, shown)
	columns := m.columnLevels(second, shown)
	if len(rows) == 0 || len(columns) == 0 {
		return InteractionTable{}
	}
	bins := m.landmarkBins(min(len(m.Landmarks), pairPoints))
	var out InteractionTable
	for _, c := range columns {
		out.Columns = append(out.Columns, c.name)
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, r.name)
		values := make([]float64, len(columns))
		for j, c := range columns {
			for _, v := range m.kernelAt(c.replaceBins(r.replaceBins(bins))) {
				values[j] += v / float64(len(bins[0]))
			}
		}
		out.Values = append(out.Values, values)
	}
	out.center()
	return out
}

// A columnLevel is a band of a numeric column, or a category: its bins in the inputs that use the column.
type columnLevel struct {
	name string
	bins map[int]uint8 // by input
}

// replaceBins returns bins with the entries of l replaced.
func (l columnLevel) replaceBins(bins [][]uint8) [][]uint8 {
	out := slices.Clone(bins)
	for j, b := range l.bins {
		out[j] = slices.Repeat([]uint8{b}, len(bins[j]))
	}
	return out
}

// columnLevels returns the levels of a column, or nil if no term uses it. Numbers have bands between the ends that shown
// returns.
func (m *Kernel) columnLevels(name string, shown func(Column) (lower, upper float64)) []columnLevel {
	var out []columnLevel
	for j, in := range m.Cells {
		c := &m.Columns[in.Column]
		if c.Name != name {
			continue
		}
		switch in.Of {
		case kernelmap.Value:
			lower, upper := shown(*c)
			whole := c.Upper - c.Lower
			for k := range pairBands {
				at := (float64(k) + .5) / pairBands
				middle := lower + at*(upper-lower)
				bin := 256 * ((lower-c.Lower)/whole + at*((upper-lower)/whole))
				out = append(out,
					columnLevel{strconv.FormatFloat(middle, 'g', 3, 64),
						map[int]uint8{j: uint8(min(max(bin, 0), 255))}})
			}
		case kernelmap.Categories:
			for k, name := range c.Categories[:min(len(c.Categories), pairLevels)] {
				out = append(out, columnLevel{name, map[int]uint8{j: in.Bins[k]}})
			}
		}
	}
	for j, in := range m.Cells {
		if in.Of != kernelmap.Missing || m.Columns[in.Column].Name != name {
			continue
		}
		if len(out) == 0 {
			out = []columnLevel{{"there", map[int]uint8{}}, {"missing", map[int]uint8{j: 1}}}
		}
		for _, l := range out {
			l.bins[j] += 0 // bin 0, of nonmissing cells, unless set above
		}
	}
	return out
}
