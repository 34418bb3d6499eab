package pipeline

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// limitUnits keeps at most as many records of every unit as the plan allows, and no records without a unit. It
// precedes the split: all later stages, and all bounds for a unit, concern the remaining records.
func (r *runner) limitUnits(
	s *mechanism.Session,
	all dataset.View,
) dataset.View {
	unit := r.plan.Target().Unit // that of the session, which widens every bound
	if unit == (budget.Unit{}) {
		return all
	}
	defer r.startStage("unit")()
	return cappedRecords(all, s, unit)
}
