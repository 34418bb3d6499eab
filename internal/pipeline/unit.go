package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// checkUnit compares the unit that the budget protects with the schema and the
// relation.
func (p *Pipeline) checkUnit() error {
	unit := p.Budget.Unit
	switch {
	case p.Schema.Unit != unit.Column && unit.Column == "":
		return fmt.Errorf("%w: the schema names the unit column %q, and the budget protects records; set Budget.Unit", ErrUnit, p.Schema.Unit)
	case p.Schema.Unit != unit.Column:
		return fmt.Errorf("%w: the budget protects units of column %q, and the schema has %q as its unit column", ErrUnit, unit.Column, p.Schema.Unit)
	case unit != budget.Unit{} && p.Budget.Relation != budget.AddRemove:
		return fmt.Errorf("%w: a unit of several records needs %v; under %v the number of records is public, and a unit that is replaced may change it",
			ErrUnit, budget.AddRemove, p.Budget.Relation)
	}
	return nil
}

// limitUnits keeps of every unit at most as many records as the plan allows, and of
// records without a unit none. It comes before the split: everything after it,
// and every bound for a unit, is about the records that are left.
func (r *runner) limitUnits(s *mechanism.Session, all dataset.View) dataset.View {
	unit := r.plan.Target().Unit // that of the session, which widens every bound
	if unit == (budget.Unit{}) {
		return all
	}
	defer r.stage("unit")()
	return all.Cap(unit.MaxRows, s.Lots("unit").Draw)
}
