// Package testrows makes tables and sessions for the tests of trainers. No program imports it.
package testrows

import (
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Points is a small generator for tests: a fixed linear congruential sequence mapped to (-1, 1).
type Points uint64

// Next returns the next number.
func (p *Points) Next() float64 {
	*p = *p*6364136223846793005 + 1442695040888963407
	return float64(int64(*p)>>11) / (1 << 52)
}

// Linear returns n records of y = 3 + 2a - b + .5 [c is x] + noise in the columns a, b, c, of x and y, and y. a
// is in (-1, 1), b in (0, 2), and noise at most that large.
func Linear(
	t testing.TB,
	columns []dataset.Column,
	n int,
	noise float64,
) *dataset.Table {
	t.Helper()
	data := make([]dataset.ColumnData, 4)
	p := Points(7)
	for range n {
		a := p.Next()
		b := 1 + p.Next()
		k := int32(0)
		if p.Next() > 0 {
			k = 1
		}
		data[0].Floats, data[1].Floats, data[2].Codes = append(data[0].Floats, a),
			append(data[1].Floats, b), append(data[2].Codes, k)
		data[3].Floats = append(data[3].Floats, 3+2*a-b+.5*float64(1-k)+noise*p.Next())
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// Ranges returns the declared ranges of columns.
func Ranges(columns []dataset.Column) []scaling.Range {
	out := make([]scaling.Range, len(columns))
	for j, c := range columns {
		if c.Ranged {
			out[j] = scaling.Range{
				Lower:    c.Lower,
				Upper:    c.Upper,
				Declared: true,
			}
		}
	}
	return out
}

// Session prices a single node, at delta 1e-6, and opens a session for it.
func Session(
	t testing.TB,
	node budget.Node,
	epsilon float64,
	rel budget.Relation,
) *mechanism.Session {
	t.Helper()
	priced, err := budget.Calibrate(budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: rel,
		})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
