package audit

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A Pair is two neighbouring tables.
type Pair struct {
	Name   string
	Tables [2]*dataset.Table
}

// crowdRows is the number of ordinary records of the pairs that have some.
const crowdRows = 12

// Pairs makes neighbouring tables from the public description of a pipeline: an extreme record by itself, the
// same with a few ordinary ones, and, if the number of records is public, an extreme record instead of the
// opposite one. With privacy units the extreme record is a whole unit of equal records, as many as are kept,
// and each ordinary one is a unit of its own. No row of a real table is needed.
//
// Few records are the worst case for a model: other records do not hide an additional one, only the noise does.
func Pairs(p *pipeline.Pipeline) ([]Pair, error) {
	var out []Pair
	for _, c := range []struct {
		name  string
		rows  int
		apart bool
	}{
		{"an extreme record alone", 0, true},
		{"an extreme record next to a few ordinary ones", crowdRows, true},
		{"an extreme record whose target contradicts a few ordinary ones", crowdRows, false},
	} {
		pair := Pair{Name: c.name}
		for side := range pair.Tables {
			rows := make([][]cell, 0, c.rows+1)
			for i := range c.rows {
				rows = append(rows, ordinary(p, i))
			}
			if v := RecordOn(p.Budget.Relation, side); v != 0 {
				for range max(p.Budget.Unit.MaxRows, 1) {
					rows = append(rows, extreme(p, v, c.apart, columnEnds))
				}
			}
			var err error
			if pair.Tables[side], err = tableOf(p.Schema, rows, c.rows); err != nil {
				return nil, err
			}
		}
		out = append(out, pair)
	}
	return out, nil
}

// columnEnds returns the ends of a column: the declared ones, or numbers that are extreme compared to those of the
// ordinary records.
func columnEnds(c dataset.Column) (lo, hi float64) {
	if c.Ranged {
		return c.Lower, c.Upper
	}
	return -1, 1
}

// foundWords are the words of a column whose words are found privately. The last one is that of the extreme
// record; the others are two classes.
var foundWords = []string{"left", "right", "nobody else"}

// categoryLevels returns the number of values of a category column.
func categoryLevels(c dataset.Column) int {
	if c.Found {
		return len(foundWords)
	}
	return max(len(c.Categories), 1)
}

// ordinary is record i of the crowd: columns that are not aligned with one
// another and a target that leans on the first.
func ordinary(p *pipeline.Pipeline, i int) []cell {
	out := make([]cell, len(p.Schema.Columns))
	for j, c := range p.Schema.Columns {
		if c.Kind == dataset.Category {
			out[j].code = int32((i + j) % categoryLevels(c))
			continue
		}
		lo, hi := columnEnds(c)
		wave := math.Sin(float64((i + 1) * (j + 2)))
		if c.Name == p.Target {
			wave = math.Sin(float64(2 * (i + 1)))
		}
		out[j].float = lo + (hi-lo)*(.5+.35*wave)
	}
	return out
}

// extreme is the record in which the tables differ: every column at one end of its
// reach. If only private columns may change, the others stay at their upper end.
func extreme(
	p *pipeline.Pipeline,
	sign int,
	agrees bool,
	reach func(dataset.Column) (lo, hi float64),
) []cell {
	out := make([]cell, len(p.Schema.Columns))
	for j, c := range p.Schema.Columns {
		s := sign
		if p.Budget.Relation == budget.SubstitutePrivateColumns && !c.Private {
			s = 1
		}
		if c.Name == p.Target && !agrees {
			switch {
			case p.Budget.Relation != budget.SubstitutePrivateColumns:
				s = -1
			case c.Private: // it may be the only column that differs
				s = -sign
			}
		}
		switch lo, hi := reach(c); {
		case c.Kind == dataset.Category && s > 0:
			out[j].code = int32(categoryLevels(c) - 1)
		case c.Kind == dataset.Category:
		case s > 0:
			out[j].float = hi
		default:
			out[j].float = lo
		}
	}
	return out
}

// tableOf makes a table of records; their identities are their positions, so a
// replaced record keeps its own. In a table of units all records after the crowd are
// one unit.
func tableOf(
	schema dataset.Schema,
	rows [][]cell,
	crowd int,
) (*dataset.Table, error) {
	var ids []uint64
	if schema.Unit != "" {
		ids = make([]uint64, len(rows))
		for i := range ids {
			ids[i] = uint64(min(i, crowd))
		}
	}
	columns := make([]dataset.ColumnData, len(schema.Columns))
	for j, c := range schema.Columns {
		if c.Found && c.Kind == dataset.Category {
			columns[j].Words = foundWords
		}
		for _, r := range rows {
			if c.Kind == dataset.Category {
				columns[j].Codes = append(columns[j].Codes, r[j].code)
			} else {
				columns[j].Floats = append(columns[j].Floats, r[j].float)
			}
		}
	}
	return dataset.NewTable(schema, columns, ids)
}
