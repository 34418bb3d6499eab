package report

import (
	"fmt"
	"io"
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
// script contains only the rules that this plan needs, and the SHA-256 of the file. The error wraps
// [ErrFormat], [ErrContent], [ErrEdited] or [ErrNoScript], or is that of w.
func CheckScript(w io.Writer, data []byte) error {
	r, err := readUnedited(data)
	if err != nil {
		return err
	}
	accounting := r.Accounting
	events := r.Events
	delta := r.Guarantee.Delta
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
	tolerance := `0.01 * min(1, promise["epsilon"])`
	if delta > 0 && delta < slackDelta {
		tolerance = `0.01 * promise["epsilon"]`
	}
	_, err = io.WriteString(w,
		strings.NewReplacer("SHA256", hashOf(data), "TOLERANCE", tolerance).Replace(text))
	return err
}

// slackDelta is the delta below which the rounding allowance of dptrain's accountants, up to 5e-11, may raise epsilon
// by more than the usual tolerance of a script.
const slackDelta = 1e-8

// scriptHead begins every script.
const scriptHead = `# Adds up the privacy cost of a release from its report alone, and fails unless it is the one that the report states.
# pip install ` + CheckLibrary + `    python check.py release/report.json
`

// openReport reads the file that a script checks.
const openReport = `report = json.loads(text := open(sys.argv[1], "rb").read())
account, promise, steps = report["accounting"], report["guarantee"], {e["id"]: e for e in report["events"]}
`

// lastLines compare the result of a script with the report.
const lastLines = `print(f'epsilon {epsilon:.5g} at delta {promise["delta"]}; the report says {account["epsilon"]:.5g}')
assert abs(epsilon - account["epsilon"]) <= TOLERANCE and account["epsilon"] <= promise["epsilon"] * 1.000001
assert hashlib.sha256(text).hexdigest() == "SHA256" and not steps, "the report was edited"
`

// usesOf reports whether a step has this noise distribution.
func usesOf(events []Event, law budget.Kind) bool {
	return slices.ContainsFunc(events, func(e Event) bool {
		return e.Law == law.String()
	})
}

// A script is assembled from the lines that a plan needs.
type script struct{ strings.Builder }

// addIf adds text if it is needed.
func (s *script) addIf(needed bool, text string) {
	if needed {
		s.WriteString(text)
	}
}

// sumScript returns a script that adds epsilons.
func sumScript(a *Accounting, events []Event) string {
	var s script
	gaussian := usesOf(events, budget.Gaussian)
	s.addIf(true, scriptHead+"import hashlib, json, sys\n")
	s.addIf(gaussian, "from dp_accounting.pld import privacy_loss_distribution as pld\n")
	s.addIf(true, openReport)
	s.addIf(true, `def cost(node):  # epsilon and delta
    if node["op"] == "step":
        step = steps.pop(node["step"])
`)
	s.addIf(gaussian, `        if step["law"] == "gaussian":
            step["epsilon"] = pld.from_gaussian_mechanism(1 / step["mu"]).get_epsilon_for_delta(node["delta"])
`)
	s.addIf(true,
		`        return step["draws"] * step["epsilon"], step["draws"] * (node.get("delta", 0) + step.get("delta", 0))
    costs = [cost(kid) for kid in node.get("kids", [])]
`)
	s.addIf(a.has("largest"),
		"    if node[\"op\"] == \"largest\":\n        return tuple(map(max, zip(*costs)))\n")
	s.addIf(a.has("best"),
		"    if node[\"op\"] == \"best\":\n        return (2 + node[\"tries\"][\"eta\"]) * max(costs)[0], 0\n")
	s.addIf(true, `    return tuple(map(sum, zip((0, 0), *costs)))
epsilon, delta = map(max, zip(*[cost(part["plan"]) for part in account["parts"]]))
`)
	s.addIf(a.Lead != nil, `epsilon += cost(account["lead"])[0]
`)
	s.addIf(true, `assert delta <= promise["delta"] * 1.000001
`)
	s.addIf(true, lastLines)
	return s.String()
}

// gaussians reports whether every part is a sequence of Gaussian steps.
func gaussians(a *Accounting, events []Event) bool {
	return !a.has("largest") && !a.has("best") && !slices.ContainsFunc(events, func(e Event) bool {
		return e.Law != budget.Gaussian.String()
	})
}

// curveScript returns a script that composes privacy loss distributions.
func curveScript(a *Accounting, events []Event) string {
	mixes := a.Rule == mixtureRule
	curves := a.has("largest") || a.has("best")
	bounded := usesOf(events, budget.Exponential)
	pure := usesOf(events, budget.Pure) || usesOf(events, budget.Approximate)
	connects := a.has("largest") || a.has("best") || bounded || pure
	var s script
	s.addIf(true,
		scriptHead+
			"import functools, hashlib, json, math, sys, numpy as np, scipy.optimize\nfrom dp_accounting.pld import ")
	s.addIf(connects, "pld_pmf, ")
	s.addIf(true, "privacy_loss_distribution as pld\n"+openReport)
	s.addIf(mixes,
		`h, n, q = account["grid"]["step"], account["grid"]["cells"], account["secret_split"]
`)
	s.addIf(!mixes, `h, n = account["grid"]["step"], account["grid"]["cells"]
`)
	s.addIf(true, `t = np.exp(h * np.arange(-n, n + 1))  # e^loss, on the grid
`)
	if gaussians(a, events) {
		s.addIf(true,
			`def curve(node):  # Gaussian steps are one together, whose mu squared is the sum of theirs
    mu2 = sum(e["mu"] ** 2 * e["draws"] for e in [steps.pop(kid["step"]) for kid in node.get("kids", [node])])
    return pld.from_gaussian_mechanism(mu2**-0.5, value_discretization_interval=h).get_delta_for_epsilon(np.log(t))
curves = [curve(part["plan"]) for part in account["parts"]]
`)
	} else {
		s.laws(events, connects, a.has("best") || bounded || pure)
		s.addIf(a.has("best"), bestText)
		s.compose(a, curves)
	}
	if text := s.String(); mixes {
		s.Reset()
		s.addIf(true, strings.Replace(text, "\ncurves = ", "\nf, g = ", 1)+mixtureText)
	}
	s.addIf(!mixes, `def delta(x):
    return max(np.interp(x, t, curve) for curve in curves)
`)
	s.addIf(a.Lead != nil, leadText)
	whole := "delta"
	if a.Lead != nil {
		whole = "whole"
	}
	s.addIf(true,
		strings.ReplaceAll(
			`epsilon = scipy.optimize.brentq(lambda e: WHOLE(math.exp(e)) - promise["delta"], 0, h * n) if WHOLE(1) > promise["delta"] else 0
`, "WHOLE", whole))
	s.addIf(true, lastLines)
	return s.String()
}

// laws adds one function per noise distribution, which returns the losses of one draw.
func (s *script) laws(events []Event, connects, mirrors bool) {
	s.addIf(connects, `def connect(delta):  # the losses whose curve runs through delta
    return pld.PrivacyLossDistribution(pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(h, -n, n, np.clip(delta, 0, 1)))
`)
	s.addIf(mirrors, `def mirrored(delta):  # neighbours are a symmetric relation
    return np.append(1 - t[:n] * (1 - delta[:n:-1]), delta[n:])
`)
	s.addIf(usesOf(events, budget.Gaussian), `def gaussian(step):
    return pld.from_gaussian_mechanism(1 / step["mu"], value_discretization_interval=h)
`)
	s.addIf(usesOf(events, budget.Laplace), `def laplace(step):
    return pld.from_laplace_mechanism(1 / step["epsilon"], value_discretization_interval=h)
`)
	s.addIf(usesOf(events, budget.Exponential), `def exponential(step):
    root = np.maximum(math.exp(step["epsilon"] / 2) - np.sqrt(t), 0)
    return connect(mirrored(root**2 / math.expm1(step["epsilon"])))
`)
	for _, kind := range []budget.Kind{budget.Pure, budget.Approximate} {
		s.addIf(usesOf(events, kind), `def `+kind.String()+`(step):
    top, lost = math.exp(step.get("epsilon", 0)), step.get("delta", 0)
    return connect(mirrored(lost + (1 - lost) * np.maximum(top - t, 0) / (1 + top)))
`)
	}
}

// compose adds the function that adds up a plan, and the curves of the parts.
func (s *script) compose(a *Accounting, curves bool) {
	s.addIf(true, `def compose(node):
    if node["op"] == "step":
        step = steps.pop(node["step"])
        return globals()[step["law"]](step).self_compose(step["draws"])
    kids = [compose(kid) for kid in node["kids"]]
`)
	sum := "functools.reduce(lambda a, b: a.compose(b), kids)\n"
	s.addIf(!curves, "    return "+sum)
	s.addIf(curves, "    if node[\"op\"] == \"sequence\":\n        return "+sum+
		"    largest = np.max([kid.get_delta_for_epsilon(np.log(t)) for kid in kids], axis=0)\n")
	best := a.has("best")
	s.addIf(best && a.has("largest"),
		"    return connect(best(largest, node[\"tries\"]) if node[\"op\"] == \"best\" else largest)\n")
	s.addIf(best && !a.has("largest"), "    return connect(best(largest, node[\"tries\"]))\n")
	s.addIf(curves && !best, "    return connect(largest)\n")
	s.addIf(true,
		"curves = [compose(part[\"plan\"]).get_delta_for_epsilon(np.log(t)) for part in account[\"parts\"]]\n")
}

// bestText computes the curve of a private selection. c is largest at a likelihood ratio of at least 1, where a
// smaller event has the larger quotient.
const bestText = `def best(d, tries):  # the best of a secret number of tries
    without = -np.diff(d[n:]) / np.diff(t[n:])  # the probabilities of a likelihood ratio above t
    with_it = np.minimum(d[n + 1 :] + t[n + 1 :] * without, 1)
    g, mean = tries["gamma"], tries["mean"]
    c = (1 + tries["eta"]) * np.log((g + (1 - g) * with_it) / (g + (1 - g) * without)).max()
    d = np.where(np.log(t) < c, 1, np.minimum(1, mean * np.interp(t / math.exp(c), t, d)))
    i = n + np.argmin(d[n:] + (1 - d[n:]) * (t[n:] - 1) / (t[n:] + 1))
    return mirrored(np.where(t < t[i], d[i] + (1 - d[i]) * (t[i] - t) / (1 + t[i]), d))
`

// mixtureText computes the curve of two parts, where a secret coin decides which part contains a record, at x =
// e^epsilon. The probabilities of ratios below 1 follow from those above, which the differences give to full
// precision.
const mixtureText = `above = np.diff(np.diff(g[n:]) / np.diff(t[n:]), append=0)  # of each ratio L > 1 without the record; of 1/L it is L times that
mass = np.concatenate([(above * t[n + 1 :])[::-1], [1 - above @ (1 + t[n + 1 :])], above])
def delta(x):
    k = (x - q * t) / (1 - q)
    u = np.maximum(1 - q * t * x, 1e-200)
    return max((1 - q) * mass @ np.where(k > t[0], np.interp(k, t, f), 1 - k) + q * g[-1], mass * u @ np.interp((1 - q) * x / u, t, f))
`

// leadText computes the curve of the steps before all parts, composed with the parts, at x = e^epsilon.
const leadText = `lead = account["lead"]  # pure steps on the records of all parts
top = math.exp(sum(e["epsilon"] * e["draws"] for e in [steps.pop(kid["step"]) for kid in lead.get("kids", [lead])]))
def whole(x):
    return (top * delta(x / top) + delta(x * top)) / (1 + top)
`
