package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
)

// An Accounting states how the steps add up to the guarantee, with all numbers that another accountant needs.
type Accounting struct {
	// Rule is the composition rule of the parts: "mixture", "largest" or "sum", or "renyi" for the Rényi bounds of
	// the largest part. Formula describes the rule in sentences, one per item.
	Rule    string   `json:"rule"`
	Formula []string `json:"formula"`
	// Epsilon is the result of the rule at the delta of the guarantee.
	Epsilon float64 `json:"epsilon"`
	// SecretSplit is the probability that a record is in the second part, if the price is that of the mixture over
	// this coin; otherwise it is 0 and absent from the file.
	SecretSplit float64 `json:"secret_split,omitempty"`
	// Lead is the plan of the pure steps that come first, on the records of all parts. It is nil, and absent from the
	// file, for a plan without such steps.
	Lead  *AccountingNode  `json:"lead,omitempty"`
	Parts []AccountingPart `json:"parts"`
	Grid  AccountingGrid   `json:"grid"`
}

// The rules of an [Accounting] other than "largest".
const (
	mixtureRule = "mixture"
	renyiRule   = "renyi"
	sumRule     = "sum"
)

// AccountingPart is the plan of one part of the records.
type AccountingPart struct {
	Part string `json:"part"` // as in the events, such as "train"
	// Raised is the factor by which every mu and epsilon of the part exceeds its value without amplification; 1 if
	// there is no amplification.
	Raised float64        `json:"raised"`
	Plan   AccountingNode `json:"plan"`
}

// AccountingNode is a node of the plan of a part.
type AccountingNode struct {
	Op string `json:"op"` // "step", "sequence", "largest" or "best"
	// Step is the id of the event of a step. Delta is the part of delta given to each Gaussian draw of the step under
	// the rule "sum".
	Step  string  `json:"step,omitempty"`
	Delta float64 `json:"delta,omitempty"`
	// Tries is the distribution of the secret number of tries; the best try is kept.
	Tries *AccountingTries `json:"tries,omitempty"`
	Kids  []AccountingNode `json:"kids,omitempty"`
}

// AccountingTries is a truncated negative binomial distribution, or a logarithmic one if Eta is 0.
type AccountingTries struct {
	Mean  float64 `json:"mean"`
	Eta   float64 `json:"eta"`
	Gamma float64 `json:"gamma"`
}

// AccountingGrid is a grid of privacy losses on which the sum can be computed: Cells multiples of Step on either side
// of 0.
type AccountingGrid struct {
	Step  float64 `json:"step"`
	Cells int     `json:"cells"`
}

// accountingOf describes how the steps of a priced plan add up.
func accountingOf(
	a budget.Addition,
	relation budget.Relation,
	unit budget.Unit,
) *Accounting {
	if a.Tree.Name == "" {
		return nil // a result without a plan
	}
	out := &Accounting{
		Rule:        a.Rule,
		Epsilon:     a.Epsilon,
		SecretSplit: a.Coin,
		Grid:        AccountingGrid{a.Step, a.Cells},
	}
	part := func(n budget.Node, path string, raised float64) {
		out.Parts = append(out.Parts, AccountingPart{n.Name, raised, accountingNode(a, n, path)})
	}
	if a.Tree.Op == budget.OpParallel {
		kids := a.Tree.Kids
		if a.Tree.Lead {
			lead := accountingNode(a, kids[0], a.Tree.Name+"/"+kids[0].Name)
			out.Lead = &lead
			kids = kids[1:]
		}
		for i, kid := range kids {
			part(kid, a.Tree.Name+"/"+kid.Name, a.RaiseFactors[i])
		}
	} else {
		part(a.Tree, a.Tree.Name, a.RaiseFactors[0])
	}
	out.Formula = out.formula(relation, unit, lawsOf(a.Tree))
	return out
}

// lawsOf lists the kinds of noise distributions in a tree.
func lawsOf(n budget.Node) []budget.Kind {
	if n.Op == budget.OpLeaf {
		return []budget.Kind{n.Leaf.Kind}
	}
	var out []budget.Kind
	for _, kid := range n.Kids {
		out = append(out, lawsOf(kid)...)
	}
	return out
}

// accountingNode describes the node of a plan at path. A sequence of one node is that node.
func accountingNode(
	a budget.Addition,
	n budget.Node,
	path string,
) AccountingNode {
	if n.Op == budget.OpLeaf {
		return AccountingNode{
			Op:    "step",
			Step:  path,
			Delta: a.Pieces[path],
		}
	}
	var kids []AccountingNode
	for _, kid := range n.Kids {
		kids = append(kids, accountingNode(a, kid, path+"/"+kid.Name))
	}
	switch n.Op {
	case budget.OpBranches:
		chosen := AccountingNode{
			Op:   "largest",
			Kids: kids[1:],
		}
		return sequence([]AccountingNode{kids[0], chosen})
	case budget.OpParallel:
		return AccountingNode{Op: "largest", Kids: kids}
	case budget.OpSelect:
		return AccountingNode{
			Op:    "best",
			Kids:  kids,
			Tries: &AccountingTries{n.Select.Mean(), n.Select.Eta, n.Select.Gamma},
		}
	}
	return sequence(kids)
}

// sequence joins nodes into a sequence, replacing nested sequences by their children.
func sequence(nodes []AccountingNode) AccountingNode {
	out := AccountingNode{Op: "sequence"}
	for _, n := range nodes {
		if n.Op == "sequence" {
			out.Kids = append(out.Kids, n.Kids...)
		} else {
			out.Kids = append(out.Kids, n)
		}
	}
	if len(out.Kids) == 1 {
		return out.Kids[0]
	}
	return out
}

// has reports whether a plan has a node with the given op.
func (n AccountingNode) has(op string) bool {
	return n.Op == op || slices.ContainsFunc(n.Kids, func(kid AccountingNode) bool {
		return kid.has(op)
	})
}

// hasStep reports whether a plan has the step of an event.
func (n AccountingNode) hasStep(id string) bool {
	return n.Step == id || slices.ContainsFunc(n.Kids, func(kid AccountingNode) bool {
		return kid.hasStep(id)
	})
}

// has reports whether the plan of a part has a node with the given op.
func (a *Accounting) has(op string) bool {
	return slices.ContainsFunc(a.Parts, func(p AccountingPart) bool {
		return p.Plan.has(op)
	})
}

// formula describes in sentences how the steps add up.
func (a *Accounting) formula(
	relation budget.Relation,
	unit budget.Unit,
	laws []budget.Kind,
) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf(format, args...))
	}
	if unit.Column != "" {
		say("Sensitivities are for a whole unit: at most %d records with the same value of column %s.",
			unit.MaxRows, printableName(unit.Column))
	}
	if a.Rule == sumRule {
		return append(out, a.sumFormula(laws)...)
	}
	say("The privacy curve of a mechanism is delta as a function of epsilon: the largest delta(epsilon) = E max(0, 1 - e^(epsilon - loss)) over " +
		"neighbouring tables and both directions, the expectation taken over its privacy loss.")
	laws = slices.Compact(slices.Sorted(slices.Values(laws)))
	for _, kind := range laws {
		out = append(out, curveText(kind))
	}
	say("sequence: the composition of its kids, by convolving their privacy losses; a step with n draws is n of them.")
	if a.has("largest") {
		say("largest: at every epsilon the largest curve of its kids. Released values choose one of them, or a record is seen by one of them only.")
	}
	if a.has("best") {
		say("best: a secret number K of tries, each with one of the kids, of which the best is kept. Let d be the largest curve of the kids, " +
			"s(t) and S(t) the probabilities of a likelihood ratio above t without and with the record, and " +
			"c = (1 + eta) max over t of ln((gamma + (1 - gamma) S(t))/(gamma + (1 - gamma) s(t))). The curve is min(1, mean * d(epsilon - c)) from c on, and " +
			"between -x and x the line, in e^epsilon, through its values there, for the x that gives the smallest value at 0.")
	}
	switch a.Rule {
	case mixtureRule:
		say("mixture: a secret coin that is independent of all else decides for each record, with probability q = %v, whether the part %s sees it and not the part %s. "+
			"Let f and g be the curves of the parts %[3]s and %[2]s, L the likelihood ratio of the part %[2]s, and E the expectation over its outputs without the record. Then "+
			"delta(epsilon) = max(there, back), "+
			"there = (1 - q) E f(ln((e^epsilon - q L)/(1 - q))) + q g(infinity), back = E u f(epsilon - ln(u/(1 - q))), u = max(0, 1 - q L e^epsilon). "+
			"For k <= 0 the value of f(ln k) is 1 - k.", number(a.SecretSplit),
			printableName(a.Parts[1].Part), printableName(a.Parts[0].Part))
	default:
		if len(a.Parts) > 1 {
			say("The parts add up to the largest of their curves: a record is in one part.%s",
				noAmplification(relation))
		}
	}
	if a.Lead != nil {
		say("lead: pure steps on the records of all parts, before them. Let e be the sum of their epsilons, once a draw, w = e^e/(1 + e^e), and D the curve of the parts together, " +
			"with D(-x) = 1 - e^-x (1 - D(x)). The curve of the whole is w D(epsilon - e) + (1 - w) D(epsilon + e).")
	}
	say("The epsilon that is spent is the smallest at which the curve of the whole is at most delta.")
	return out
}

// noAmplification explains why the secret split of a run does not raise its budget.
func noAmplification(relation budget.Relation) string {
	if relation == budget.AddRemove {
		return ""
	}
	return fmt.Sprintf(
		" The secrecy of the split does not raise the budget under the relation %v.", relation)
}

// sumFormula describes in sentences how epsilons are added.
func (a *Accounting) sumFormula(laws []budget.Kind) []string {
	out := []string{"sequence: the sum of the epsilons of its kids. A step costs its epsilon once a draw."}
	if slices.Contains(laws, budget.Gaussian) {
		out = append(out,
			"A Gaussian draw costs the epsilon at which its curve, with the mu of the step, is the delta that the plan states for it. These deltas add up to no more than that of the guarantee.")
	}
	if a.has("largest") {
		out = append(out, "largest: the largest of its kids.")
	}
	if a.has("best") {
		out = append(out, "best: 2 + eta times the largest of its kids.")
	}
	if a.Lead != nil {
		out = append(out,
			"lead: steps on the records of all parts; their epsilons are added to those of the parts.")
	}
	if len(a.Parts) > 1 {
		out = append(out,
			"The parts add up to the largest: a record is in one part. The secrecy of the split does not raise the budget when epsilons are added.")
	}
	return out
}

// curveText is the privacy curve of one draw from a noise distribution.
func curveText(kind budget.Kind) string {
	switch kind {
	case budget.Gaussian:
		return "gaussian: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), Phi the normal distribution function."
	case budget.Laplace:
		return "laplace: 1 - e^((epsilon - e)/2) for |epsilon| <= e, e the epsilon of the step."
	case budget.Exponential:
		return "exponential: (e^(e/2) - e^(epsilon/2))^2/(e^e - 1) for |epsilon| <= e, e the epsilon of the step; the curve of every step whose losses lie within an interval of length e."
	case budget.Pure:
		return "pure: (e^e - e^epsilon)/(1 + e^e) for |epsilon| <= e, e the epsilon of the step."
	}
	return "approximate: d + (1 - d) times the curve of a pure step with the same epsilon, d the delta of the step; d alone where that epsilon is 0."
}

// problems compares an accounting with one recomputed from the steps. The grid and the factors are not part of the
// sum.
func (a *Accounting) problems(again *Accounting) []string {
	if a == nil || again == nil {
		return []string{"accounting is missing"}
	}
	var out []string
	if !nearlyEqual(a.Epsilon, again.Epsilon) {
		out = append(out,
			fmt.Sprintf("accounting has epsilon %s, but the steps add up to %s", number(a.Epsilon),
				number(again.Epsilon)))
	}
	if a.Grid.Step <= 0 || a.Grid.Cells < 1 {
		out = append(out, "accounting has no grid")
	}
	if text, want := a.comparable(), again.comparable(); text != want {
		out = append(out, "accounting does not state how the steps add up")
	}
	return out
}

// comparable returns, as one text, the parts that must be equal in two accountings of the same steps. Numbers
// computed with logarithms may differ in their last digits.
func (a *Accounting) comparable() string {
	x := *a
	x.Epsilon = 0
	x.Grid = AccountingGrid{}
	if a.Lead != nil {
		lead := a.Lead.rounded()
		x.Lead = &lead
	}
	x.Parts = slices.Clone(a.Parts)
	for i := range x.Parts {
		x.Parts[i].Raised = 1
		x.Parts[i].Plan = x.Parts[i].Plan.rounded()
	}
	text, _ := json.Marshal(x)
	return string(text)
}

// rounded returns a copy of the plan with numbers rounded to the digits on which two processors agree.
func (n AccountingNode) rounded() AccountingNode {
	n.Delta = rounded(n.Delta)
	if t := n.Tries; t != nil {
		n.Tries = &AccountingTries{rounded(t.Mean), rounded(t.Eta), rounded(t.Gamma)}
	}
	n.Kids = slices.Clone(n.Kids)
	for i := range n.Kids {
		n.Kids[i] = n.Kids[i].rounded()
	}
	return n
}

// rounded rounds a number to eight digits.
func rounded(x float64) float64 {
	var out float64
	_, _ = fmt.Sscan(fmt.Sprintf("%.8g", x), &out)
	return out
}

// factorProblems compares the factors of the parts with those of a recomputed plan.
func (a *Accounting) factorProblems(raised []float64) []string {
	var stated []float64
	for _, p := range a.Parts {
		stated = append(stated, p.Raised)
	}
	// Factors are computed to one part in a million.
	same := func(x, y float64) bool {
		return math.Abs(x-y) <= 1e-5*y
	}
	if !slices.EqualFunc(stated, raised, same) {
		return []string{"the factors of the parts in accounting differ from those in the recipe's plan"}
	}
	return nil
}

// amplificationText describes how much the budget of each part is raised, and why; "" if there is no amplification.
func (a *Accounting) amplificationText() string {
	if a == nil {
		return ""
	}
	var factors []string
	for _, p := range a.Parts {
		if p.Raised > 1.0005 {
			factors = append(factors,
				fmt.Sprintf("%.2f times in the part %s", p.Raised, printableName(p.Part)))
		}
	}
	if len(factors) == 0 {
		return ""
	}
	why := "The choice between branches is priced as a whole"
	if a.SecretSplit > 0 {
		why = fmt.Sprintf(
			"The train/test split is secret: each record is in the part %s with probability %s (amplification by sampling)",
			printableName(a.Parts[1].Part), number(rounded(a.SecretSplit)))
	}
	return why +
		". Therefore mu and epsilon of each step are larger than they could be for that part alone: " +
		strings.Join(factors, ", ") + "."
}
