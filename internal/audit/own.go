package audit

import (
	"context"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// DefaultRecords is the default number of records that [OwnTable] removes or replaces.
const DefaultRecords = 6

// OwnTable audits a run on a table of the data owner: it compares the published results on that table with
// those on neighbours of it. The neighbours lack a record, or have an additional extreme one; if the number of
// records is public, they have an extreme one instead of another; and for privacy units they lack a whole unit,
// or have an additional one. The records are the most extreme ones, the first ones, and randomly drawn
// ones; o.Records is their number. Steps of the plan are not measured separately: they do not depend on a
// table, and [Pipeline] measures them.
//
// The numbers of the verdict and the names of its pairs depend on the records without protection: they are for
// the owner only. A bound below the claim does not prove privacy. Errors do not depend on a
// record.
func OwnTable(
	ctx context.Context,
	p *pipeline.Pipeline,
	t *dataset.Table,
	o Options,
) (Verdict, error) {
	return ownTable(ctx, p, t, o, p.FitPlan)
}

func ownTable(
	ctx context.Context,
	p *pipeline.Pipeline,
	t *dataset.Table,
	o Options,
	fit fit,
) (Verdict, error) {
	o, err := o.filled()
	if err != nil {
		return Verdict{}, err
	}
	plan, err := p.Plan()
	if err != nil {
		return Verdict{}, err
	}
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		return Verdict{}, err
	}
	if o.Progress == nil {
		o.Progress = func(float64) {}
	}
	lots := s.Lots("own table")
	changes := (&owner{
		pipeline: p,
		table:    t,
		ends:     endsOf(t),
	}).changes(o.Records, func(i int) uint64 {
		return lots.Draw(uint64(i), [32]byte{}, 0)
	})
	cache := &neighbourCache{at: -1}
	var pairs []sides
	for i, c := range changes {
		pairs = append(pairs, sides{c.name, func(side int) (*dataset.Table, error) {
			if side == 0 {
				return t, nil
			}
			return cache.get(i, c.make)
		}})
	}
	out := Verdict{
		Claim:      plan.Guarantee(),
		Confidence: o.Confidence,
	}
	out.Whole, out.Pairs, err = measureWhole(
		ctx,
		p.Budget.Delta,
		pairs,
		fitPublisher(fit, plan),
		o,
	)
	return out, err
}

// neighbourCache holds one neighbour at a time, because each is as large as the table, and pairs are processed
// one after the other.
type neighbourCache struct {
	mu    sync.Mutex
	at    int
	table *dataset.Table
}

func (c *neighbourCache) get(
	i int,
	build func() (*dataset.Table, error),
) (*dataset.Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == i {
		return c.table, nil
	}
	c.at = -1
	c.table = nil
	t, err := build()
	if err == nil {
		c.at = i
		c.table = t
	}
	return t, err
}

// change makes a neighbour of the owner's table.
type change struct {
	name string
	make func() (*dataset.Table, error)
}

// owner chooses the neighbours of a table.
type owner struct {
	pipeline *pipeline.Pipeline
	table    *dataset.Table
	ends     map[string][2]float64 // of columns without a declared range
}

// changes lists neighbours: those without one of the selected records (or units), or with it replaced, and
// those with an additional extreme one.
func (w *owner) changes(records int, lot func(i int) uint64) []change {
	rel := w.pipeline.Budget.Relation
	var out []change
	picked := chooseStandouts(w.scoreUnits(), records, lot)
	for _, g := range picked {
		at := int(g.first)
		switch {
		case w.table.Schema().Unit != "":
			out = append(out,
				change{fmt.Sprintf("the unit of record %d removed, %s", at+1, g.why),
					func() (*dataset.Table, error) {
						return rebuild(
							w.table,
							func(id uint64) bool {
								return id == g.id
							},
							nil,
						)
					}})
		case rel == budget.AddRemove:
			out = append(out,
				change{fmt.Sprintf("record %d removed, %s", at+1, g.why),
					func() (*dataset.Table, error) {
						return editTable(w.table, at, true, nil)
					}})
		default:
			out = append(out,
				change{fmt.Sprintf("record %d replaced, %s", at+1, g.why),
					func() (*dataset.Table, error) {
						return editTable(w.table, at, true, w.opposite(at))
					}})
		}
	}
	if rel != budget.AddRemove {
		return out
	}
	for _, agrees := range []bool{true, false} {
		name := "an extreme record added"
		if !agrees {
			name += ", whose target disagrees"
		}
		out = append(out, change{name, func() (*dataset.Table, error) {
			return w.add(extreme(w.pipeline, 1, agrees, w.columnRange))
		}})
	}
	if len(picked) > 0 {
		at := int(picked[0].first)
		out = append(out,
			change{fmt.Sprintf("a copy of record %d added", at+1), func() (*dataset.Table, error) {
				return w.add(recordOf(w.table, at))
			}})
	}
	return out
}

// add returns the table with a record more, at its end, or with a unit more of as many
// such records as are kept.
func (w *owner) add(record []cell) (*dataset.Table, error) {
	t := w.table
	if t.Schema().Unit == "" {
		return editTable(t, t.Len(), false, record)
	}
	many := make([]placed, w.pipeline.Budget.Unit.MaxRows)
	id := unusedID(t)
	for i := range many {
		many[i] = placed{t.Len(), id, record}
	}
	return rebuild(t, func(uint64) bool {
		return false
	}, many)
}

// opposite returns the replacement of a record: every column that may change has the value at the end that is
// farther away.
func (w *owner) opposite(at int) []cell {
	t := w.table
	out := make([]cell, len(t.Schema().Columns))
	for j, c := range t.Schema().Columns {
		lo, hi := w.columnRange(c)
		last := int32(max(len(c.Categories)-1, 0))
		if c.Found && c.Kind == dataset.Category {
			last = int32(len(t.Data(j).Words) - 1)
		}
		switch {
		case c.Kind == dataset.Category && t.Codes(j)[at] != last:
			out[j].code = last
		case c.Kind == dataset.Category:
		case t.Float(j)[at] > lo/2+hi/2:
			out[j].float = lo
		default: // a missing value too
			out[j].float = hi
		}
	}
	if w.pipeline.Budget.Relation == budget.SubstitutePrivateColumns {
		keepPublic(out, t, at)
	}
	return out
}

// columnRange returns the ends of a column: those declared, or those of the table.
func (w *owner) columnRange(c dataset.Column) (lo, hi float64) {
	if !c.Ranged && c.Kind == dataset.Numeric {
		return w.ends[c.Name][0], w.ends[c.Name][1]
	}
	return columnEnds(c)
}

// recordOf returns the cells of a record.
func recordOf(t *dataset.Table, at int) []cell {
	out := make([]cell, len(t.Schema().Columns))
	for j := range out {
		out[j] = cellOf(t.Data(j), at)
	}
	return out
}
