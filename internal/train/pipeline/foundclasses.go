package pipeline

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Classes that are found privately. Their number is known only after the vocabulary has been released, and the
// best way to train depends on it: there are methods for two classes, and one-versus-rest divides its budget by
// the number of classes. So the training is planned for several numbers of classes, between which the number
// found chooses:
//
//	train (one of): 2-classes:       the stages, planned for two classes
//	                3-to-32-classes: the stages, planned for 32 classes
//
// Numbers with the same plan share a branch, the one of the largest number: a method whose price does not depend
// on the number has one branch from three classes on, as above. A method that needs as many classes as were
// planned gets additional ones without records. The price of the choice is that of its most expensive branch at
// each epsilon ([budget.Branches]).

// DefaultMostClasses is the default maximum number of classes that are found.
const DefaultMostClasses = 32

const (
	// leastClasses is the smallest number of classes of a model.
	leastClasses = 2
	// numberFound is the informer of the choice. It makes no release of its own, because the vocabulary has
	// been released.
	numberFound = "found"
)

// numberOfClasses matches the names of branches for numbers of classes.
var numberOfClasses = regexp.MustCompile(`^[0-9]+(-to-[0-9]+)?-classes$`)

// IsNumberOfClasses reports whether a name in a report belongs to a branch for a number of classes.
func IsNumberOfClasses(name string) bool {
	return numberOfClasses.MatchString(name)
}

// nameOfCount returns the name of the branch for from to n classes.
func nameOfCount(from, n int) string {
	if from == n {
		return fmt.Sprintf("%d-classes", n)
	}
	return fmt.Sprintf("%d-to-%d-classes", from, n)
}

// MostClassesFound returns the maximum number of classes that the run finds: MostClasses, or the default, which
// is two for stages that support two classes only.
func (p *Pipeline) MostClassesFound() int {
	switch {
	case p.MostClasses > 0:
		return p.MostClasses
	case p.needsTwoClasses():
		return leastClasses
	}
	return DefaultMostClasses
}

// needsTwoClasses reports whether a stage of the run, or of a candidate of its search, takes two classes only.
func (p *Pipeline) needsTwoClasses() bool {
	if slices.ContainsFunc(p.stages(), stage.Stage.TwoClasses) {
		return true
	}
	for _, t := range p.trainings() {
		names := []string{t.ModelName(), nameOf(t.Fallback)}
		if t.Selector != nil {
			names = append(names, t.Selector.Name())
		}
		if slices.ContainsFunc(names, TwoClasses) {
			return true
		}
	}
	return false
}

// classesOf returns the number of classes of a target, the largest if they are to be found.
func (p *Pipeline) classesOf(target dataset.Column) int {
	if target.Found && len(target.Categories) == 0 {
		return p.MostClassesFound()
	}
	return len(target.Categories)
}

// withClasses returns the facts with n classes whose names are not known.
func withClasses(f selection.Facts, n int) selection.Facts {
	f.Target.Categories = stage.Placeholders("class", n)
	return f
}

// classCounts returns the numbers of classes for which the training is planned, in increasing order, or nil if
// it is planned once. The last one is that of f.
func (p *Pipeline) classCounts(f selection.Facts) []int {
	most := len(f.Target.Categories)
	if !f.Target.Found || p.PaddedClasses || most <= leastClasses {
		return nil
	}
	var out []int
	for n := leastClasses; ; n = nextCount(n) {
		n = min(n, most)
		if last := len(out) - 1; last >= 0 &&
			p.sameTrees(withClasses(f, out[last]), withClasses(f, n)) {
			out[last] = n
		} else {
			out = append(out, n)
		}
		if n == most {
			break
		}
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

// nextCount returns the number of classes after n that has a plan: 2, 3, 4, 6, 8, 12, 16 and so on, so that
// a method that divides its budget by the number planned leaves at most a third of it to classes without records.
func nextCount(n int) int {
	if n&(n-1) == 0 {
		return max(n+n/2, n+1)
	}
	return n / 3 * 4
}

// planByClasses plans the training for each of several numbers of classes. path is the path of the choice.
func (p *Pipeline) planByClasses(
	ctx context.Context,
	plan *Plan,
	path string,
	counts []int,
) (budget.Node, error) {
	branches := make([]budget.Node, len(counts))
	from := leastClasses
	for i, n := range counts {
		name := nameOfCount(from, n)
		from = n + 1
		way := &Plan{
			of:      plan.of,
			facts:   withClasses(plan.facts, n),
			columns: plan.columns,
			name:    name,
		}
		tree, err := p.trainingOf(ctx, way, path+"/"+name)
		if err != nil {
			return budget.Node{}, err
		}
		tree.Name = name
		branches[i] = tree.WithRole(budget.RoleBranch)
		plan.byClasses = append(plan.byClasses, way)
	}
	return budget.Branches(trainNode, budget.Sequence(numberFound), branches...).
		WithRole(budget.RolePart), nil
}

// forClasses returns the plan for a number of classes.
func (p *Plan) forClasses(n int) *Plan {
	for _, way := range p.byClasses {
		if n <= len(way.facts.Target.Categories) {
			return way
		}
	}
	return p.byClasses[len(p.byClasses)-1]
}

// completeClasses adds classes without records to those that were found, until there are at least two and as
// many as the branch for their number was planned for. If the plan for fewer classes equals that of the branch,
// leaf by leaf and distribution by distribution, no more are added. It depends on releases and public facts
// only.
func (r *runner) completeClasses(target *dataset.Column) {
	found := target.Categories
	facts := r.plan.facts
	branches := r.pipeline.allClassCounts(facts)
	for n := max(leastClasses, len(found), r.plan.forcedClasses); ; n++ {
		target.Categories = slices.Clone(found)
		for _, name := range stage.Placeholders("class", len(found)+n) {
			if len(target.Categories) < n && !slices.Contains(found, name) {
				target.Categories = append(target.Categories, name)
			}
		}
		facts.Target = *target
		if n >= r.pipeline.MostClassesFound() || r.pipeline.fitsBranch(facts, branches) {
			return
		}
	}
}

// trainWithClasses runs the training part. If fewer than two classes were found the run abstains: it makes no further
// release. The decision depends on the released vocabulary only.
func (r *runner) trainWithClasses(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
) (*trained, error) {
	if r.lacksClasses() {
		return &trained{method: r.plan.Method(), abstained: true}, nil
	}
	return r.trainOrSearch(ctx, s, v)
}

// lacksClasses reports whether the classes were to be found and fewer than two were. A rehearsal has as many as it was
// planned for.
func (r *runner) lacksClasses() bool {
	return r.plan.forcedClasses == 0 && lacksClasses(r.Findings, r.pipeline.Target)
}

// LacksClasses reports whether the run abstained because fewer than two classes were found.
func (res *Result) LacksClasses() bool {
	return res.Abstained && lacksClasses(res.Findings, res.Target)
}

// lacksClasses reports whether fewer than two classes of the target were found. It is false if they are declared.
func lacksClasses(found stage.Findings, target string) bool {
	return slices.ContainsFunc(found.Vocabulary, func(v stage.Vocabulary) bool {
		return v.Column == target && len(v.Words) < leastClasses
	})
}

// allClassCounts returns the numbers of classes that each of [Pipeline.trainings] is planned for.
func (p *Pipeline) allClassCounts(f selection.Facts) [][]int {
	var out [][]int
	for _, t := range p.trainings() {
		counts := t.classCounts(f)
		if len(counts) == 0 {
			counts = []int{len(f.Target.Categories)}
		}
		out = append(out, counts)
	}
	return out
}

// fitsBranch reports whether the training for the classes of f is planned like the branch for their number, in
// every branch of the run. counts are those of [Pipeline.allClassCounts].
func (p *Pipeline) fitsBranch(f selection.Facts, counts [][]int) bool {
	for i, t := range p.trainings() {
		k := slices.IndexFunc(counts[i], func(n int) bool {
			return len(f.Target.Categories) <= n
		})
		if !t.sameTrees(f, withClasses(f, counts[i][k])) {
			return false
		}
	}
	return true
}

// sameTrees reports whether the training of a run is planned alike for two targets, in every way in which it
// may train.
func (p *Pipeline) sameTrees(f, g selection.Facts) bool {
	for _, way := range p.trainings() {
		a := way.planBranches(f)
		b := way.planBranches(g)
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

// findsClasses reports whether the classes of the target are to be found.
func (p *Pipeline) findsClasses() bool {
	j := p.Schema.Index(p.Target)
	return p.isClassification() && j >= 0 && p.Schema.Columns[j].Found
}

// AsIfFound returns the run with columns as they might be found: a few categories, two classes or MostClasses,
// and numbers for undeclared columns. It is for synthetic tables, and pays for no search for words.
func (p *Pipeline) AsIfFound() *Pipeline {
	if !slices.ContainsFunc(p.Schema.Columns, func(c dataset.Column) bool {
		return c.Found
	}) {
		return p
	}
	const few = 5
	out := *p
	out.Schema = p.Schema.Clone()
	for j := range out.Schema.Columns {
		c := &out.Schema.Columns[j]
		switch {
		case !c.Found:
		case c.Name == p.Target:
			c.Categories = stage.Placeholders("class", max(p.MostClasses, leastClasses))
		case c.Kind == dataset.Category:
			c.Categories = stage.Placeholders("word", few)
		}
		c.Found = false
	}
	return &out
}
