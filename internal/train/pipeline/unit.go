package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

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
