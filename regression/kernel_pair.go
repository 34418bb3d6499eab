package regression

import (
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
)

const (
	pairPoints = 48 // landmarks over which a pair is averaged
	pairBands  = 7  // of the range of a number
	pairLevels = 12 // categories of a column
)

// Together returns what the terms of all columns together say of two columns beyond what they say of each: rows
// are bands of the first or its categories, columns those of the second. Values are means over landmarks, in units of the
// prediction; each row and column has the mean 0. It is empty for a column that no term has.
func (m *Kernel) Together(first, second string) kernelmap.Table {
	rows, columns := m.levels(first), m.levels(second)
	if len(rows) == 0 || len(columns) == 0 {
		return kernelmap.Table{}
	}
	bins := m.landmarkBins(min(len(m.Landmarks), pairPoints))
	var out kernelmap.Table
	for _, c := range columns {
		out.Columns = append(out.Columns, c.name)
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, r.name)
		values := make([]float64, len(columns))
		for j, c := range columns {
			for _, v := range m.kernelAt(c.at(r.at(bins))) {
				values[j] += v / float64(len(bins[0]))
			}
		}
		out.Values = append(out.Values, values)
	}
	out.Center()
	return out
}

// A level is a band of a number or a category: what the inputs that see the column have there.
type level struct {
	name string
	bins map[int]uint8 // by input
}

// at returns bins with those of a level.
func (l level) at(bins [][]uint8) [][]uint8 {
	out := slices.Clone(bins)
	for j, b := range l.bins {
		out[j] = slices.Repeat([]uint8{b}, len(bins[j]))
	}
	return out
}

// levels returns those of a column; none if no term has it.
func (m *Kernel) levels(name string) []level {
	var out []level
	for j, in := range m.Cells {
		c := &m.Columns[in.Column]
		if c.Name != name {
			continue
		}
		switch in.Of {
		case kernelmap.Value:
			for k := range pairBands {
				middle := c.Lower + (float64(k)+.5)/pairBands*(c.Upper-c.Lower)
				out = append(out, level{strconv.FormatFloat(middle, 'g', 3, 64), map[int]uint8{j: uint8((2*k + 1) * 256 / (2 * pairBands))}})
			}
		case kernelmap.Categories:
			for k, name := range c.Categories[:min(len(c.Categories), pairLevels)] {
				out = append(out, level{name, map[int]uint8{j: in.Bins[k]}})
			}
		}
	}
	for j, in := range m.Cells {
		if in.Of != kernelmap.Missing || m.Columns[in.Column].Name != name {
			continue
		}
		if len(out) == 0 {
			out = []level{{"there", map[int]uint8{}}, {"missing", map[int]uint8{j: 1}}}
		}
		for _, l := range out {
			l.bins[j] += 0 // the bin of cells that are there, if none is set
		}
	}
	return out
}
