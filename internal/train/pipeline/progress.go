package pipeline

import (
	"slices"

	"github.com/dptrain/dptrain/budget"
)

// Stages lists the stages that a run of the plan announces to Options.Progress, each once. A
// run in which every method abstained leaves out the held-out metric, one that finds more than two classes may leave
// out the count, and one that finds fewer leaves out the training.
func (p *Plan) Stages() []string {
	var out []string
	if p.of.Budget.Unit != (budget.Unit{}) {
		out = append(out, "unit")
	}
	out = append(out, checkStage, "split")
	for _, x := range p.of.namedStages() {
		if x.precedes() {
			out = append(out, x.Node)
		}
	}
	counts := func(x *Plan) bool {
		return len(x.branches) > 1 || x.branches[0].countsRecords()
	}
	switch {
	case len(p.tries) > 0:
		out = append(out, "search")
	case slices.ContainsFunc(p.subplans(), counts):
		out = append(out, "count", "scaling", selectionNode, "model")
	default:
		out = append(out, "scaling", selectionNode, "model")
	}
	if p.of.Holdout > 0 {
		out = append(out, heldOutStage)
	}
	return out
}
