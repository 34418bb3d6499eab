package pipeline

import (
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// answered is the probability with which a table of Plan.Records rows gets a
// model from a method that may abstain.
const answered = .95

// Records returns the number of rows with which a method that may abstain produces a model about 95% of the
// time, including the held-out part; 0 for a method that never abstains. Rows left out by the cap on units, and
// rows without a usable target, do not count.
func (p *Plan) Records() int {
	return p.records
}

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

// MostRecords returns the maximum number of records of a table that is not held in memory: a public fact of the
// plan that follows from the widths of its sums ([mechanism.MostOf]). It is smallest for a plan that protects
// units, because names of units have 64 bits and must not collide. A branch for few records is ignored: with
// more than [mechanism.MostNarrow] records it would be chosen only by noise of some thousand scales, according
// to [Plan.fewCells].
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
		if slices.ContainsFunc(few, func(path string) bool {
			return strings.HasPrefix(leaf.Path, path)
		}) {
			continue
		}
		most = min(most, mechanism.MostOf(leaf.Statistic))
	}
	return most
}
