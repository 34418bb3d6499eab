package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// computedTolerance is the relative difference allowed between numbers computed on two processors.
const computedTolerance = 1e-9

// nearlyEqual compares a number in the report with a recomputed one.
func nearlyEqual(a, b float64) bool {
	return a == b || math.Abs(a-b) <= computedTolerance*math.Max(math.Abs(a), math.Abs(b))
}

// lawOf returns the noise distribution of a step.
func lawOf(e Event) (budget.Law, error) {
	law := budget.Law{
		Draws:   e.Draws,
		Mu:      e.Mu,
		Epsilon: e.Epsilon,
		Delta:   e.Delta,
	}
	for _, kind := range []budget.Kind{budget.Gaussian, budget.Laplace, budget.Exponential,
		budget.Pure, budget.Approximate} {
		if e.Law == kind.String() {
			law.Kind = kind
			return law, law.Validate()
		}
	}
	return law, fmt.Errorf("unknown noise distribution %.40q", e.Law)
}

// steps checks each step separately.
func (v *verifier) steps() {
	var problems []string
	seen := map[string]bool{}
	for _, e := range v.report.Events {
		for _, what := range stepProblems(e) {
			problems = append(problems, fmt.Sprintf("%s: %s", printableName(e.ID), what))
		}
		if seen[e.ID] {
			problems = append(problems, printableName(e.ID)+": it is listed twice")
		}
		seen[e.ID] = true
	}
	if v.report.HasStopped() {
		problems = append(problems, stopProblems(v.report)...)
	} else {
		problems = append(problems, branchProblems(v.report)...)
	}
	v.add(
		"steps",
		fmt.Sprintf(
			"each of the %d has the noise scale that its noise distribution and sensitivity require",
			len(v.report.Events)),
		problems,
	)
}

// stepProblems lists the contradictions within a step.
func stepProblems(e Event) []string {
	var out []string
	law, err := lawOf(e)
	if err != nil {
		out = append(out, err.Error())
	}
	if at := placeOf(e.ID); at.Stage != e.Stage || at.Part != e.Part {
		out = append(out, "its stage or its records contradict its place in the plan")
	}
	nothing := e.Released == 0
	least := 0.
	switch law.Kind {
	case budget.Gaussian:
		least = e.Sensitivity / law.Mu
	case budget.Laplace:
		least = e.Sensitivity / law.Epsilon
	case budget.Pure: // with noise if it has a scale; counts of all records have one
		if e.Scale > 0 || e.Part == pipeline.AllName {
			least = e.Sensitivity / law.Epsilon
		}
	}
	switch {
	case e.Released < 0 || e.Released > e.Draws:
		out = append(out, fmt.Sprintf("%d draws were made, but %d were paid for", e.Released, e.Draws))
	case !(e.Sensitivity >= 0 && e.Scale >= 0 && !math.IsInf(e.Sensitivity, 1) &&
		!math.IsInf(e.Scale, 1)):
		out = append(out, "its sensitivity or its noise scale is invalid")
	case nothing && (e.Sensitivity != 0 || e.Scale != 0):
		out = append(out, "nothing was released, but it has a sensitivity or a noise scale")
	case err == nil && !nothing && e.Sensitivity == 0:
		out = append(out, "it has no sensitivity")
	case err == nil && e.Scale < least*(1-computedTolerance):
		out = append(out,
			fmt.Sprintf("the noise scale is %v, but its noise distribution requires at least %v", e.Scale, least))
	}
	if e.Taken != nil && (*e.Taken || !nothing) {
		out = append(out, "its branch was not taken, but it made a release")
	}
	return out
}

// branchProblems checks that in a run that chose between branches, all but one are marked as not taken. The steps of
// a search do not reveal the losing tries.
func branchProblems(r *Report) []string {
	if !r.hasChecksum() {
		return nil
	}
	if problem := choiceProblem(r, r.Events, 0); problem != "" {
		return []string{problem}
	}
	return nil
}

// choiceProblem is [branchProblems] for the steps after the first made choices.
func choiceProblem(r *Report, events []Event, made int) string {
	kids := map[string][]Event{}
	taken := map[string]bool{}
	search := r.training().Search
	for _, e := range events {
		at := placeOf(e.ID)
		names := choices(at.Branch)
		switch {
		case len(names) <= made && e.Taken != nil:
			return printableName(e.ID) + ": it is marked as not taken, but belongs to no branch"
		case len(names) <= made:
		case search != nil && at.Candidate != pipeline.CandidateName(search.Chosen-1):
			if e.Taken != nil {
				return printableName(e.ID) + ": it reveals what a losing try did"
			}
		default:
			name := names[made]
			kids[name] = append(kids[name], e)
			taken[name] = taken[name] || e.Taken == nil
		}
	}
	var next []Event
	left := 0
	for name, steps := range kids {
		if taken[name] {
			next = steps
		} else {
			left++
		}
	}
	abstained := made == 0 && left == len(kids) && r.lacksClasses() // before it chose a branch
	if len(kids) > 0 && left != len(kids)-1 && !abstained {
		return fmt.Sprintf(
			"of %d training branches, %d are marked as not taken",
			len(kids),
			left,
		)
	}
	if len(next) == 0 {
		return ""
	}
	return choiceProblem(r, next, made+1)
}

// guarantee recomputes the sum of the steps.
func (v *verifier) guarantee() {
	const name = "guarantee"
	g := v.report.Guarantee
	target, err := targetOf(g)
	if err == nil {
		err = target.Validate()
	}
	if err != nil {
		v.add(name, "", []string{err.Error()})
		return
	}
	again, problems, err := v.sumSteps(g, target)
	if err != nil {
		v.add(name, "", []string{overTargetText(v.report, target, err)})
		return
	}
	if !v.predatesChecksums() {
		if a := g.AttackOf(); g.Attack == nil || g.Attack.FalseAlarms != a.FalseAlarms ||
			!nearlyEqual(g.Attack.Found, a.Found) {
			problems = append(problems, "attack contradicts the other numbers")
		}
		if g.Meaning != g.MeaningOf() && g.Meaning != g.formerMeaningOf() {
			problems = append(problems, "meaning contradicts the numbers")
		}
	}
	v.add(
		name,
		fmt.Sprintf("recomputed from the steps: epsilon %s at delta %s, mu and profile",
			strconv.FormatFloat(again.Spent, 'g', 6, 64), number(g.Delta)),
		problems,
	)
}

// sumSteps adds the steps up and compares the sum with the guarantee. The first versions of dptrain charged a higher
// price: a report that states such a price is treated as one of theirs.
func (v *verifier) sumSteps(
	g Guarantee,
	target budget.Target,
) (again Guarantee, problems []string, err error) {
	add := func(target budget.Target) (Guarantee, []string, error) {
		priced, err := repriced(v.report, target)
		if err != nil {
			return Guarantee{}, nil, err
		}
		again := GuaranteeOf(priced.Guarantee())
		again.unnudge(g)
		problems := guaranteeProblems(g, again, "when recomputed from the steps")
		if v.report.isCurrent() {
			problems = append(problems,
				v.report.Accounting.problems(
					accountingOf(priced.Addition(), target.Relation, target.Unit))...)
		}
		return again, problems, nil
	}
	again, problems, err = add(target)
	if err == nil && len(problems) == 0 {
		return again, nil, nil
	}
	target.Earlier = true
	if before, differ, bad := add(target); bad == nil && len(differ) == 0 {
		v.before = true
		return before, nil, nil
	}
	return again, problems, err
}

// targetOf returns the budget target of a guarantee.
func targetOf(g Guarantee) (budget.Target, error) {
	t := budget.Target{Epsilon: g.Epsilon, Delta: g.Delta}
	if g.Unit != nil {
		t.Unit = budget.Unit{
			Column:  g.Unit.Column,
			MaxRows: g.Unit.MaxRows,
		}
	}
	var err error
	if t.Relation, err = budget.ParseRelation(g.Relation); err != nil {
		return t, err
	}
	t.Composition, err = budget.ParseComposition(g.Composition)
	return t, err
}

// guaranteeProblems compares a guarantee with a recomputed one. source ends each message: it
// describes where the recomputed value comes from.
func guaranteeProblems(g, again Guarantee, source string) []string {
	var out []string
	differ := func(what string, a, b float64) {
		if !nearlyEqual(a, b) {
			out = append(out, fmt.Sprintf("%s is %s in the report, but %s %s", what, number(a), number(b), source))
		}
	}
	differ("epsilon", g.Epsilon, again.Epsilon)
	differ("delta", g.Delta, again.Delta)
	differ("spent", g.Spent, again.Spent)
	switch {
	case (g.Mu == nil) != (again.Mu == nil):
		out = append(out, "mu is missing, or stated although the run has none")
	case g.Mu != nil:
		differ("mu", *g.Mu, *again.Mu)
	}
	if g.Relation != again.Relation {
		out = append(out,
			fmt.Sprintf("relation is %s in the report, but %s %s", printableName(g.Relation), again.Relation,
				source))
	}
	if g.Composition != again.Composition {
		out = append(out,
			fmt.Sprintf("composition is %s in the report, but %s %s", printableName(g.Composition),
				again.Composition, source))
	}
	if (g.Unit == nil) != (again.Unit == nil) || g.Unit != nil && *g.Unit != *again.Unit {
		out = append(out, "the privacy unit differs")
	}
	if len(g.Profile) != len(again.Profile) {
		return append(out,
			fmt.Sprintf("profile has %d points, not %d", len(g.Profile), len(again.Profile)))
	}
	for i, p := range g.Profile {
		if p.Epsilon != again.Profile[i].Epsilon {
			out = append(out,
				fmt.Sprintf("point %d of profile is at epsilon %s, not %s", i+1, number(p.Epsilon),
					number(again.Profile[i].Epsilon)))
			continue
		}
		differ(
			"delta of profile at epsilon "+number(p.Epsilon),
			p.Delta,
			again.Profile[i].Delta,
		)
	}
	return out
}

// repriced recomputes the price of the steps of a report, without changing them.
func repriced(r *Report, target budget.Target) (*budget.Priced, error) {
	tree, err := treeOf(r)
	if err != nil {
		return nil, err
	}
	priced, err := budget.Calibrate(tree, target)
	if err != nil {
		// The distributions were chosen as the largest that fit; their recomputed sum may differ in the last bits.
		target.Epsilon *= 1 + nudge
		return budget.Calibrate(tree, target)
	}
	return priced, err
}

// overTargetText describes the problem with steps that exceed a target.
func overTargetText(r *Report, target budget.Target, err error) string {
	over := target
	over.Epsilon = 1e6
	tree, bad := treeOf(r)
	if bad == nil && errors.Is(err, budget.ErrOverspent) {
		if priced, bad := budget.Calibrate(tree, over); bad == nil {
			return fmt.Sprintf("epsilon is %s, but the steps cost %s at delta %s",
				number(target.Epsilon),
				strconv.FormatFloat(priced.Epsilon(target.Delta), 'g', 6, 64), number(target.Delta))
		}
	}
	return "the privacy cost of the steps cannot be computed: " + err.Error()
}

// nudge is the relative amount by which repriced may have to raise epsilon, and muTolerance the resulting change of
// mu, which is computed to one part in 1e4.
const (
	nudge       = 1e-10
	muTolerance = 1e-3
)

// unnudge removes the increase by repriced of the epsilon of want from a guarantee.
func (g *Guarantee) unnudge(want Guarantee) {
	at := slices.IndexFunc(g.Profile, func(p Point) bool {
		return p.Epsilon == g.Epsilon
	})
	if g.Epsilon == want.Epsilon || at < 0 {
		return
	}
	g.Profile[at].Epsilon = want.Epsilon
	if at > 0 && g.Profile[at-1].Epsilon == want.Epsilon {
		g.Profile = slices.Delete(g.Profile, at-1, at)
	}
	if g.Mu != nil && want.Mu != nil && math.Abs(*g.Mu-*want.Mu) <= muTolerance**want.Mu {
		g.Mu = want.Mu
	}
}

// treeOf rebuilds the plan from the names of the steps (package pipeline): the root and the candidates of a search
// run on disjoint records, except for the first steps of the root, which run on all records; a count chooses between
// branches, candidates and sizes are tried, and every other node is a sequence.
func treeOf(r *Report) (budget.Node, error) {
	root := &budget.Node{Op: budget.OpParallel}
	for _, e := range r.Events {
		law, err := lawOf(e)
		if err != nil {
			return *root, fmt.Errorf("%s: %w", printableName(e.ID), err)
		}
		names := strings.Split(e.ID, "/")
		if root.Name = names[0]; len(names) < 3 || len(names) > maxDepth {
			return *root, fmt.Errorf("%s is not a step of a plan", printableName(e.ID))
		}
		at := root
		for _, name := range names[1 : len(names)-1] {
			at = kidOf(at, name)
		}
		at.Kids = append(at.Kids, budget.FixedLeaf(names[len(names)-1], law))
	}
	shapeTree(root, r)
	parts := len(root.Kids)
	if parts > 1 && root.Kids[0].Name == pipeline.AllName {
		root.Lead = true
		parts--
	}
	if share := shareHeldOut(r); parts == 2 && share > 0 {
		root.Coin = mechanism.Odds(share)
	}
	return *root, nil
}

// shareHeldOut returns the share of held-out records stated in a report.
func shareHeldOut(r *Report) float64 {
	for _, f := range r.Unprotected {
		if share, ok := f.Value.(float64); ok && f.Name == pipeline.HoldoutFact && share <= .5 {
			return share
		}
	}
	return 0
}

// maxDepth is the maximum number of names in the path of a step.
const maxDepth = 20

// kidOf returns the inner node with that name beneath n, and creates it if needed.
func kidOf(n *budget.Node, name string) *budget.Node {
	for i := range n.Kids {
		if n.Kids[i].Name == name && n.Kids[i].Op != budget.OpLeaf {
			return &n.Kids[i]
		}
	}
	n.Kids = append(n.Kids, budget.Node{
		Op:   budget.OpSequence,
		Name: name,
	})
	return &n.Kids[len(n.Kids)-1]
}

// shapeTree sets the composition of the children of the nodes beneath n, based on their names.
func shapeTree(n *budget.Node, r *Report) {
	for i := range n.Kids {
		if n.Kids[i].Op == budget.OpLeaf {
			continue
		}
		if pipeline.IsCandidate(n.Kids[i].Name) {
			n.Kids[i].Op = budget.OpParallel
			if x := r.training().Search; x != nil {
				n.Op = budget.OpSelect
				n.Select = &budget.Selection{
					Eta:   x.Eta,
					Gamma: x.Gamma,
				}
			}
		}
		if x := r.training().Sizes; x != nil && slices.ContainsFunc(x.Sizes, func(size int) bool {
			return n.Kids[i].Name == pipeline.SizeName(size)
		}) {
			n.Op = budget.OpSelect
			n.Select = &budget.Selection{
				Eta:   x.Eta,
				Gamma: x.Gamma,
			}
		}
		shapeTree(&n.Kids[i], r)
	}
	chosen := func(kid budget.Node) bool {
		return kid.Op != budget.OpLeaf &&
			(vocabulary.IsBranch(kid.Name) || pipeline.IsNumberOfClasses(kid.Name))
	}
	if slices.ContainsFunc(n.Kids, chosen) {
		n.Op, n.Kids = budget.OpBranches,
			append([]budget.Node{budget.Sequence(pipeline.CountName)}, n.Kids...)
		return
	}
	isWay := func(kid budget.Node) bool {
		return pipeline.IsBranch(kid.Name) && kid.Op != budget.OpLeaf
	}
	if n.Name != pipeline.TrainName && !pipeline.IsNumberOfClasses(n.Name) ||
		!slices.ContainsFunc(n.Kids, isWay) {
		return
	}
	n.Op = budget.OpBranches
	if pipeline.IsBranch(n.Kids[0].Name) { // chosen by a public count
		n.Kids = append([]budget.Node{budget.Sequence(pipeline.CountName)}, n.Kids...)
	}
}
