package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// CheckLibrary is the version of the public library with which check scripts are tested.
const CheckLibrary = "dp-accounting==0.6.0"

// ErrNoScript is returned for a report whose sum has no check script.
var ErrNoScript = fault.New(fault.Usage, "there is no check script for this report")

// CheckScript writes a Python program that adds the steps of a release up from its report file alone, by
// the public library dp-accounting, and fails unless that gives the epsilon of the file. data is the file. The
// script has the lines that the rules of this plan need and no others, and the SHA-256 of the file. The error wraps
// [ErrFormat], [ErrContent], [ErrEdited] or [ErrNoScript], or is that of w.
func CheckScript(w io.Writer, data []byte) error {
	r, err := readUnedited(data)
	if err != nil {
		return err
	}
	accounting := r.Accounting
	events := r.Events
	switch {
	case accounting == nil:
		return fmt.Errorf(
			"%w: it has an earlier version, which does not describe the composition; use `dptrain verify`",
			ErrNoScript)
	case accounting.Rule == renyiRule:
		return fmt.Errorf("%w: its composition uses Rényi bounds; use `dptrain verify`",
			ErrNoScript)
	}
	if accounting.Lead != nil { // its steps have a line of their own
		events = slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
			return accounting.Lead.hasStep(e.ID)
		})
	}
	text := sumScript(accounting, events)
	if accounting.Rule != sumRule {
		text = curveScript(accounting, events)
	}
	tolerance := 0.01 * math.Min(1, r.Guarantee.Epsilon)
	if delta := r.Guarantee.Delta; delta > 0 && delta < slackDelta {
		tolerance = 0.01 * r.Guarantee.Epsilon
	}
	_, err = io.WriteString(w,
		strings.NewReplacer("SHA256", hashOf(data), "TOLERANCE", fmt.Sprintf("%.6g", tolerance)).Replace(text))
	return err
}

// slackDelta is the delta below which the rounding allowance of dptrain's accountants, up to 5e-11, may raise epsilon
// by more than the usual tolerance of a script.
const slackDelta = 1e-8

// A script is assembled from the lines that a plan needs.
type script struct{ strings.Builder }

// add adds lines.
func (s *script) add(lines ...string) {
	for _, line := range lines {
		s.WriteString(line)
		s.WriteByte('\n')
	}
}

// addStart adds the lines that begin every script: the modules, and what is read from the report.
func (s *script) addStart(modules string) {
	s.add(
		"# Adds up the privacy cost of a release: pip install "+CheckLibrary+"; python check.py release/report.json",
		"import "+modules,
		`assert hashlib.sha256(text := open(sys.argv[1], "rb").read()).hexdigest() == "SHA256"`,
		`account, promise, steps = (r := json.loads(text))["accounting"], r["guarantee"], {e["id"]: e for e in r["events"]}`,
	)
}

// addEnd adds the lines that compare the result of a script with the report.
func (s *script) addEnd() {
	s.add(
		`print(f'epsilon {epsilon:.5g} at delta {promise["delta"]}; the report says {account["epsilon"]:.5g}')`,
		`assert abs(epsilon - account["epsilon"]) <= TOLERANCE and account["epsilon"] <= promise["epsilon"] * 1.000001 and not steps`,
	)
}

// A scriptRule is the entry of a noise distribution or of an op of the plan in the dict of rules.
type scriptRule struct{ name, lambda string }

// addRules adds the dict of the rules that a plan needs.
func (s *script) addRules(rules []scriptRule, needs func(name string) bool) {
	var lines []string
	for _, rule := range rules {
		if needs(rule.name) {
			lines = append(lines, fmt.Sprintf("    %q: %s,", rule.name, rule.lambda))
		}
	}
	lines[0] = "rules = {" + strings.TrimSpace(lines[0])
	last := len(lines) - 1
	lines[last] = strings.TrimSuffix(lines[last], ",") + "}"
	s.add(lines...)
}

// usesOf reports whether a step has this noise distribution.
func usesOf(events []Event, law string) bool {
	return slices.ContainsFunc(events, func(e Event) bool {
		return e.Law == law
	})
}

// leadSum returns the expression that takes the steps of a lead and adds up their epsilons.
func leadSum(lead *AccountingNode) string {
	ids := `[account["lead"]["step"]]`
	if lead.Op != "step" {
		ids = `[kid["step"] for kid in account["lead"]["kids"]]`
	}
	return `sum(e["epsilon"] * e["draws"] for e in map(steps.pop, ` + ids + `))`
}

// sumRules lists the rules of basic composition. Each returns epsilon and delta.
func sumRules() []scriptRule {
	other := `lambda e: np.array([e.get("epsilon", 0), e.get("delta", 0)])`
	return []scriptRule{
		{budget.Gaussian.String(), `lambda e: np.array([pld.from_gaussian_mechanism(1 / e["mu"]).get_epsilon_for_delta(e["delta"]), e["delta"]])`},
		{budget.Laplace.String(), other},
		{budget.Exponential.String(), other},
		{budget.Pure.String(), other},
		{budget.Approximate.String(), other},
		{"step", `lambda node: rules[(e := node | steps.pop(node["step"]))["law"]](e) * e["draws"]`},
		{"sequence", `lambda node: sum((rules[kid["op"]](kid) for kid in node.get("kids", [])), np.zeros(2))`},
		{"largest", `lambda node: np.max([rules[kid["op"]](kid) for kid in node["kids"]], axis=0)`},
		{"best", `lambda node: (2 + node["tries"]["eta"]) * rules["largest"](node)`},
	}
}

// sumScript returns a script that adds epsilons.
func sumScript(a *Accounting, events []Event) string {
	var s script
	modules := "hashlib, json, sys, numpy as np"
	if usesOf(events, budget.Gaussian.String()) {
		modules += ", dp_accounting.pld.privacy_loss_distribution as pld"
	}
	s.addStart(modules)
	s.addRules(sumRules(), func(name string) bool {
		return name == "step" || name == "sequence" || name == "largest" ||
			usesOf(events, name) || a.has(name)
	})
	s.add(`epsilon, delta = rules["largest"]({"kids": [part["plan"] for part in account["parts"]]})`)
	if a.Lead != nil {
		s.add("epsilon += " + leadSum(a.Lead))
	}
	s.add(`assert delta <= promise["delta"] * 1.000001`)
	s.addEnd()
	return s.String()
}

// curveRules lists the rules of tight composition. Each returns a privacy loss distribution.
func curveRules() []scriptRule {
	return []scriptRule{
		{budget.Gaussian.String(), `lambda e: pld.from_gaussian_mechanism(1 / e["mu"], value_discretization_interval=h)`},
		{budget.Laplace.String(), `lambda e: pld.from_laplace_mechanism(1 / e["epsilon"], value_discretization_interval=h)`},
		{budget.Exponential.String(), `lambda e: connect(np.maximum(np.exp(e["epsilon"] / 2) - np.sqrt(t), 0) ** 2 / np.expm1(e["epsilon"]))`},
		{budget.Pure.String(), `lambda e: connect(1 - np.minimum(np.minimum(1, t), (1 + t) / (1 + np.exp(e["epsilon"]))))`},
		{budget.Approximate.String(), `lambda e: connect(1 - (1 - e["delta"]) * np.minimum(np.minimum(1, t), (1 + t) / (1 + np.exp(e.get("epsilon", 0)))))`},
		{"step", `lambda node: rules[(e := steps.pop(node["step"]))["law"]](e).self_compose(e["draws"])`},
		{"sequence", `lambda node: functools.reduce(pld.PrivacyLossDistribution.compose, [rules[kid["op"]](kid) for kid in node["kids"]])`},
		{"largest", `lambda node: connect(np.max([rules[kid["op"]](kid).get_delta_for_epsilon(np.log(t)) for kid in node["kids"]], axis=0))`},
		{"best", `lambda node: connect(best(rules["largest"](node).get_delta_for_epsilon(np.log(t)), **node["tries"]))`},
	}
}

// curveScript returns a script that composes privacy loss distributions. t is e^loss on the grid, and connect returns
// the losses whose curve runs through given points.
func curveScript(a *Accounting, events []Event) string {
	mixes := a.Rule == mixtureRule
	needs := func(name string) bool {
		switch name {
		case "step", "sequence":
			return true
		case "largest":
			return !mixes || a.has("largest") || a.has("best")
		case budget.Pure.String():
			return !mixes && a.Lead != nil || usesOf(events, name)
		}
		return usesOf(events, name) || a.has(name)
	}
	var s script
	modules := "functools, hashlib, json, sys, numpy as np"
	if mixes || a.has("best") {
		modules += ", scipy.optimize as opt"
	}
	s.addStart(modules + ", dp_accounting.pld.privacy_loss_distribution as pld")
	if mixes {
		s.add(`h, n, q = account["grid"]["step"], account["grid"]["cells"], account["secret_split"]`)
	} else {
		s.add(`h, n = account["grid"]["step"], account["grid"]["cells"]`)
	}
	s.add("t = np.exp(h * np.arange(-n, n + 1))  # e^loss")
	s.addConnect(needs)
	if needs("best") {
		s.add(bestLines...)
	}
	s.addRules(curveRules(), needs)
	if mixes {
		s.addMixture(a.Lead)
	} else {
		s.addLargest(a.Lead)
	}
	s.addEnd()
	return s.String()
}

// addConnect adds the function that converts a curve into losses, if a rule needs it. Some curves are given at losses from 0
// on only; those below follow, because neighbours are a symmetric relation.
func (s *script) addConnect(needs func(name string) bool) {
	uses := func(names ...string) bool {
		return slices.ContainsFunc(names, needs)
	}
	points := "np.clip(d, 0, 1)"
	if uses("best", budget.Exponential.String()) {
		s.add("mirrored = lambda d: np.where(t < 1, 1 - t * (1 - d[::-1]), d)")
		points = "np.clip(mirrored(d), 0, 1)"
	}
	if uses("best", "largest", budget.Exponential.String(), budget.Pure.String(), budget.Approximate.String()) {
		s.add("connect = lambda d: pld.PrivacyLossDistribution(pld.pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(h, -n, n, " + points + "))")
	}
}

// bestLines compute the curve of a private selection from the largest curve of its kids, at losses from 0 on.
//
// The constant e^c is x^(1+eta), for the largest x = (gamma + (1-gamma) S)/(gamma + (1-gamma) s) over all events. At
// that x, the largest (1-gamma) (S - x s) is gamma (x - 1), and the largest S - x s is d(x).
//
// The value at t of the line through the points at 1/T and T is 1 - (1+t) (1-d(T))/(1+T). The least over all T of at
// least t is this line up to the T of its least value at 1, and d beyond, because d is convex.
var bestLines = []string{
	"def best(d, mean, eta, gamma):",
	"    e_c = opt.brentq(lambda x: (1 - gamma) * np.interp(x, t, d) - gamma * (x - 1), 1, t[-1]) ** (1 + eta)",
	"    d = np.where(t < e_c, 1, mean * np.interp(t / e_c, t, d))",
	"    return 1 - (1 + t) * np.maximum.accumulate(((1 - d) / (1 + t))[::-1])[::-1]",
}

// addMixture adds epsilon of two parts, where a secret coin decides which part contains a record, after a lead.
//
// Let L_A and L_B be the likelihood ratios of the parts, and H(a, b) = E max(0, a L_A - b), the expectation taken without
// the record. Then there(x) = E H(1-q, x - q L_B), and back(x) = E max(0, 1 - x ((1-q) L_A + q L_B)). The distribution
// of a ratio without the record is that of its inverse with the record. So back(x) = E H(L_B - q x, (1-q) x L_B), whose
// argument changes by no more than L_B, so rounding errors stay small. Both are the value of H at the lowest ratio plus the
// sum of its differences times the probability of a higher ratio, which is the negative slope of g. The last L has the
// mass of all ratios beyond the grid.
func (s *script) addMixture(lead *AccountingNode) {
	s.add(
		`f, g = [rules[part["plan"]["op"]](part["plan"]).get_delta_for_epsilon(np.log(t)) for part in account["parts"]]`,
		"L = np.append(t, 1e200)  # likelihood ratios of the second part",
		"H = lambda a, b: np.maximum(np.maximum(a - b, 0), a * np.interp(b / a, t, f))",
		"delta = lambda x: max(p[0] - np.diff(g, append=0) / np.diff(L) @ np.diff(p) for p in (H(1 - q, x - q * L), H(L - q * x, (1 - q) * x * L)))",
	)
	whole := "delta(np.exp(e))"
	if lead != nil {
		s.add("top = np.exp(" + leadSum(lead) + ")")
		whole = "(top * delta(np.exp(e) / top) + delta(np.exp(e) * top)) / (1 + top)"
	}
	s.add("epsilon = max(0, opt.brentq(lambda e: " + whole + ` - promise["delta"], -1, h * n))`)
}

// addLargest adds epsilon of the largest curve of all parts, after a lead.
func (s *script) addLargest(lead *AccountingNode) {
	compose := ""
	if lead != nil {
		s.add(`lead = rules["pure"]({"epsilon": ` + leadSum(lead) + "})")
		compose = ".compose(lead)"
	}
	s.add(`epsilon = rules["largest"]({"kids": [part["plan"] for part in account["parts"]]})` + compose +
		`.get_epsilon_for_delta(promise["delta"])`)
}
