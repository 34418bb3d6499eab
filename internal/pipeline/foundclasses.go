package pipeline

import (
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/selection"
)

// mostClasses is how many classes are found of a target.
func (p *Pipeline) mostClasses() int { return max(p.MostClasses, leastClasses) }

// classesOf returns the number of classes of a target, the largest if they are to be found.
func (p *Pipeline) classesOf(target dataset.Column) int {
	if target.Found {
		return p.mostClasses()
	}
	return len(target.Categories)
}

// completeClasses adds classes that no record has to those that were found, as many as the plan needs: it was made for
// the largest number. At least two are needed. Where the plan for fewer classes is the same, leaf by leaf and law by law,
// these are enough: each record is in one class at most, so the price of such a method does not depend on their number.
// One that fits every class against the rest has a share for each, and keeps all of them. What is looked at was
// released or is public.
func (r *runner) completeClasses(target *dataset.Column) {
	found, facts := target.Categories, r.plan.facts
	for n := max(leastClasses, len(found)); ; n++ {
		target.Categories = slices.Clone(found)
		for _, name := range standIns("class", len(found)+n) {
			if len(target.Categories) < n && !slices.Contains(found, name) {
				target.Categories = append(target.Categories, name)
			}
		}
		facts.Target = *target
		if n >= r.pipeline.mostClasses() || r.pipeline.sameTrees(facts, r.plan.facts) {
			return
		}
	}
}

// sameTrees reports whether the training of a run is planned alike for two targets, in every way in which it
// may train.
func (p *Pipeline) sameTrees(f, g selection.Facts) bool {
	for _, way := range p.trainings() {
		a, b := way.branches(f), way.branches(g)
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			x, err := way.trainTree(f, &a[i])
			y, other := way.trainTree(g, &b[i])
			if err != nil || other != nil || !reflect.DeepEqual(x, y) {
				return false
			}
		}
	}
	return true
}

// trainings are the run, or those that the candidates of its search would be.
func (p *Pipeline) trainings() []*Pipeline {
	if p.Search == nil {
		return []*Pipeline{p}
	}
	var out []*Pipeline
	for i := range p.Search.Candidates {
		out = append(out, p.candidate(i))
	}
	return out
}
