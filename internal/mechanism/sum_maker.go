package mechanism

import "github.com/dptrain/dptrain/budget"

// A Maker makes accumulators: private sums with the sensitivity that the relation of the
// run gives them. It has no key and no budget, so it cannot release anything. The workers of
// an [Engine] get one, and every [Session] is one.
type Maker struct {
	relation budget.Relation
	tap      tap
}

// NewMaker returns a maker for runs under a relation.
func NewMaker(r budget.Relation) Maker { return Maker{relation: r} }

// Relation returns the neighbouring relation of the run.
func (m Maker) Relation() budget.Relation {
	return m.tap.declaredRelation(m.relation)
}
