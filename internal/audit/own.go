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

// DefaultRecords is the number of records that [OwnTable] takes out or replaces,
// unless the options say otherwise.
const DefaultRecords = 6

// OwnTable audits a run on a table of the data's owner: what is published on that
// table against what is published on neighbours of it. The neighbours lack a record,
// or have an extreme one more; where the number of records is public they have an
// extreme one in place of another; and where persons are protected they lack a whole
// unit, or have one more. The records are those that stand out most, the first, and
// some that are drawn; o.Records says how many. Steps of the plan are not measured by
// themselves: they do not depend on a table, and [Pipeline] does that.
//
// Every number of the verdict, and the names of its pairs, depend on the records by no
// mechanism: they are for the owner alone, and worth nothing as evidence (a bound
// below the claim certifies nothing). Errors do not depend on a record.
func OwnTable(ctx context.Context, p *pipeline.Pipeline, t *dataset.Table, o Options) (Verdict, error) {
	return ownTable(ctx, p, t, o, p.FitPlan)
}

func ownTable(ctx context.Context, p *pipeline.Pipeline, t *dataset.Table, o Options, fit fit) (Verdict, error) {
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
	changes := (&owner{pipeline: p, table: t, ends: endsOf(t)}).changes(o.Records, func(i int) uint64 { return lots.Draw(uint64(i), [32]byte{}, 0) })
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
	out := Verdict{Claim: plan.Guarantee(), Confidence: o.Confidence}
	out.Whole, out.Pairs, err = whole(ctx, p.Budget.Delta, pairs, fitted(fit, plan), o)
	return out, err
}

// neighbourCache holds the neighbour that is run on: one at a time, because each is as
// large as the table, and pairs are run on one after the other.
type neighbourCache struct {
	mu    sync.Mutex
	at    int
	table *dataset.Table
}

func (c *neighbourCache) get(i int, build func() (*dataset.Table, error)) (*dataset.Table, error) {
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

// changes lists neighbours: those that lack, or have another record in place of, one
// of the picked records (or units), and those with an extreme one more.
func (w *owner) changes(records int, lot func(i int) uint64) []change {
	rel := w.pipeline.Budget.Relation
	var out []change
	picked := choose(w.standouts(), records, lot)
	for _, g := range picked {
		at := int(g.first)
		switch {
		case w.table.Schema().Unit != "":
			out = append(out, change{fmt.Sprintf("the unit of record %d removed, %s", at+1, g.why), func() (*dataset.Table, error) {
				return rebuild(w.table, func(id uint64) bool { return id == g.id }, nil)
			}})
		case rel == budget.AddRemove:
			out = append(out, change{fmt.Sprintf("record %d removed, %s", at+1, g.why), func() (*dataset.Table, error) {
				return edit(w.table, at, true, nil)
			}})
		default:
			out = append(out, change{fmt.Sprintf("record %d replaced, %s", at+1, g.why), func() (*dataset.Table, error) {
				return edit(w.table, at, true, w.opposite(at))
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
		out = append(out, change{name, func() (*dataset.Table, error) { return w.add(extreme(w.pipeline, 1, agrees, w.reach)) }})
	}
	if len(picked) > 0 {
		at := int(picked[0].first)
		out = append(out, change{fmt.Sprintf("a copy of record %d added", at+1), func() (*dataset.Table, error) { return w.add(recordOf(w.table, at)) }})
	}
	return out
}

// add returns the table with a record more, at its end, or with a unit more of as many
// such records as are kept.
func (w *owner) add(record []cell) (*dataset.Table, error) {
	t := w.table
	if t.Schema().Unit == "" {
		return edit(t, t.Len(), false, record)
	}
	many := make([]placed, w.pipeline.Budget.Unit.MaxRows)
	id := unusedID(t)
	for i := range many {
		many[i] = placed{t.Len(), id, record}
	}
	return rebuild(t, func(uint64) bool { return false }, many)
}

// opposite is what takes the place of a record: every column that may change at the
// end that is farther away.
func (w *owner) opposite(at int) []cell {
	t := w.table
	out := make([]cell, len(t.Schema().Columns))
	for j, c := range t.Schema().Columns {
		lo, hi := w.reach(c)
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

// reach returns the ends of a column: those declared, or those of the table.
func (w *owner) reach(c dataset.Column) (lo, hi float64) {
	if !c.Ranged && c.Kind == dataset.Numeric {
		return w.ends[c.Name][0], w.ends[c.Name][1]
	}
	return reach(c)
}

// recordOf returns the cells of a record.
func recordOf(t *dataset.Table, at int) []cell {
	out := make([]cell, len(t.Schema().Columns))
	for j := range out {
		out[j] = cellOf(t.Data(j), at)
	}
	return out
}
