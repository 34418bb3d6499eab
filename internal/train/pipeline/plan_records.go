package pipeline

import (
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/selection"
)

// answered is the probability with which a table of Plan.Records rows gets a
// model from a method that may abstain.
const answered = .95

// Records returns how many rows a table needs so that a method that may abstain
// answers about 95% of the time, held-out part included; 0 for a method that
// always answers. Rows that a cap on units leaves out do not count, nor do those without a
// target that can be read.
func (p *Plan) Records() int { return p.records }

// recordsFor computes Records from the priced plan.
func (p *Pipeline) recordsFor(f selection.Facts, b branch) int {
	t, ok := b.trainer.(method.Abstainer)
	if !ok {
		return 0
	}
	need := float64(t.Records(p.factsOf(b, b.columns)))
	if !publicCount(f) {
		// n_lo reaches need with probability answered when the records exceed it
		// by the margin that n_lo keeps and the lower tail of its noise.
		scale := float64(p.Budget.Unit.Records()) / (p.countShare() * p.Budget.Epsilon)
		need += scale * (p.countMargin() + math.Log(1/(2*(1-answered))))
	}
	return int(math.Ceil(need / (1 - p.Holdout)))
}

// MostRecords returns how many records a table may have that no engine holds in memory: a public fact of the
// plan, by the widths of its sums ([mechanism.MostOf]). A plan that protects units has the least, because names of units
// have 64 bits and must not meet. A branch that few records take does not count: with more than [mechanism.MostNarrow] it would
// take noise of some thousand scales, by what [Plan.fewCells] may be.
func (p *Plan) MostRecords() int64 {
	most := int64(mechanism.MostRecords)
	if p.Target().Unit != (budget.Unit{}) {
		most = mechanism.MostNarrow
	}
	var few []string
	for _, x := range append([]*Plan{p}, p.byClasses...) {
		if len(x.branches) > 1 && x.fewCells() <= mechanism.FewBytes {
			few = append(few, x.root+"/"+x.branches[1].name+"/")
		}
	}
	for _, leaf := range p.Leaves() {
		if slices.ContainsFunc(few, func(path string) bool { return strings.HasPrefix(leaf.Path, path) }) {
			continue
		}
		most = min(most, mechanism.MostOf(leaf.Statistic))
	}
	return most
}
