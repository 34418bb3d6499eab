package pipeline

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Before anything else a run counts, on all records and with noise, how many have a target that can be read. Where
// the counts show that hardly any has one, as when the task or the decimal mark was forgotten, the run stops: nothing
// more is released, and the ledger is given back what was not spent (docs/proofs/prices.md, "A run that stops").
//
//	fit (par): all: target       on all records, the lead of the plan
//	           train: …
//	           holdout: …
//
// Under private columns the target is public, and its cells are counted exactly.

// The name of the node, which names the records that its leaf sees, and of the leaf.
const (
	allNode    = "all"
	targetLeaf = "target"
)

// checkStage is the name of the stage for Options.Progress.
const checkStage = "check"

// The settings. They are public constants.
const (
	// checkShare is the share of epsilon that the counts take. With tight composition that costs the model
	// less than 1.2% of its mu (budget, TestLeadCalibration).
	checkShare = .03
	// stopByChance bounds the probability with which a run stops on a table whose target is fine, by the definitions of
	// mostText and mostUnread.
	stopByChance = 1e-6
	// A target of numbers is fine if at most mostText cells hold text for each that holds a number, and at most mostEmpty
	// hold text or nothing: many tables have a target for few of their records.
	mostText, mostEmpty = 2., 99.
	// A target of classes is fine if at most mostUnlisted cells hold none of the classes for each that holds one.
	mostUnlisted = 9.
)

// A Stop says why a run stopped before it trained anything. It is made of released counts and public facts.
type Stop struct {
	Target string
	Task   string
	// Readable is how many records have a target that can be read: a number, or one of the classes. Text is how many have
	// text where a number is wanted, or something that is none of the classes; Empty how many have nothing there. Of
	// declared classes the last two are one number, in Text.
	Readable, Text, Empty float64
	// Scale is that of the Laplace noise in each number; 0 if they are exact, as the target is public.
	Scale float64
	// Epsilon is what the run spent: the epsilon of the counts.
	Epsilon float64
	// Found says that the classes were to be found privately.
	Found bool
}

// Cause says in one sentence what is wrong with the target.
func (x *Stop) Cause() string {
	count := func(n float64) string { return "about " + groupDigits(math.Max(0, math.Round(n))) }
	if x.Scale == 0 {
		count = groupDigits
	}
	switch {
	case x.Found:
		return fmt.Sprintf("the target %q is empty: %s records have nothing there, and %s have something", x.Target, count(x.Empty), count(x.Readable))
	case x.classification():
		return fmt.Sprintf("the target %q has none of the declared classes: %s records have something else or nothing there, and %s have one of them", x.Target, count(x.Text), count(x.Readable))
	}
	return fmt.Sprintf("the target %q holds no numbers: %s cells hold text, %s hold nothing and %s hold numbers", x.Target, count(x.Text), count(x.Empty), count(x.Readable))
}

// Cure says what to do about it, in the words of the command line and of the recipe.
func (x *Stop) Cure() string {
	switch {
	case x.Found:
		return "name another column with --target"
	case x.classification():
		return "correct --classes (data.classes): they are compared letter by letter, so add --fold case if only upper and lower case differ; for a target of numbers leave out --task classification"
	}
	return `if it holds class names, add --task classification (task: classification); if its numbers have a decimal comma, add --decimal , (data.format.decimal: ",")`
}

// Advice says what is wrong with the target and what to do.
func (x *Stop) Advice() string { return x.Cause() + "; " + x.Cure() }

func (x *Stop) classification() bool { return (&Pipeline{Task: x.Task}).classification() }

// sentence makes a clause a sentence.
func sentence(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }

// groupDigits writes a whole number with separators between thousands.
func groupDigits(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// checksTarget reports whether a run counts the targets, and paysForCheck whether the plan pays for that. Plans of the first
// versions did not.
func (p *Pipeline) checksTarget() bool { return !p.Budget.Earlier }

func (p *Pipeline) paysForCheck() bool {
	return p.checksTarget() && p.Budget.Relation != budget.SubstitutePrivateColumns
}

// targetCheckNode is the release of the counts: a fixed fraction of epsilon.
func targetCheckNode() budget.Node {
	return budget.Seq(allNode, budget.PureLeaf(targetLeaf, checkShare, 1).Of(mechanism.StatCells).As(budget.Stage)).As(budget.Part)
}

// checkTarget releases the counts and returns why the run stops, or nil. What it decides is a function of the released
// counts and of public facts. A rehearsal goes on whatever they are.
func (r *runner) checkTarget(ctx context.Context, s *mechanism.Session, all mechanism.Records) (*Stop, error) {
	p := r.pipeline
	if !p.checksTarget() {
		return nil, nil
	}
	defer r.stage(checkStage)()
	target := r.facts.Target
	x := targetStatistic{Column: len(r.facts.Columns), Classes: -1, Public: !p.paysForCheck()}
	if target.Kind == dataset.Category {
		x.Classes, x.Found = len(target.Categories), target.Found
	}
	stop := &Stop{Target: p.Target, Task: p.task(), Found: target.Found}
	counts, err := stop.count(ctx, s.Sub(allNode), all, x)
	if err != nil {
		return nil, err
	}
	stop.Readable, stop.Text, stop.Empty = counts[readableCell], counts[textCell], counts[emptyCell]
	if stop.needed() && !s.KeepsColumns() {
		return stop, nil
	}
	return nil, nil
}

// count releases the counts, and notes their noise and their price.
func (x *Stop) count(ctx context.Context, s *mechanism.Session, all mechanism.Records, of targetStatistic) ([]float64, error) {
	pass, err := mechanism.Sum[*targetPass](ctx, s, all, of)
	if err != nil {
		return nil, err
	}
	if of.Public {
		exact, err := pass.exact.Exact()
		if err != nil {
			return nil, err
		}
		counts := make([]float64, targetCells)
		for k, n := range exact.Value() {
			counts[k] = float64(n)
		}
		return counts, nil
	}
	released, err := mechanism.LaplaceCells(s, targetLeaf, pass.noisy.CellBound())
	if err != nil {
		return nil, err
	}
	x.Scale, x.Epsilon = s.Scale(targetLeaf), s.Epsilon(targetLeaf)
	return released.Value(), nil
}

// needed reports whether the counts show that the target cannot be read. On a table with a target that is fine it is
// true with probability at most stopByChance.
func (x *Stop) needed() bool {
	switch {
	case x.classification():
		return x.exceeds(mostUnlisted, stopByChance)
	case x.Text > mostText*x.Readable+noiseOf(x.Scale, mostText, 1, stopByChance/2):
		return true
	}
	return x.exceeds(mostEmpty, stopByChance/2)
}

// exceeds reports whether the records without a target are more than so many times those with one, but for noise that is larger with a
// probability of at most chance.
func (x *Stop) exceeds(times, chance float64) bool {
	return x.Text+x.Empty > times*x.Readable+noiseOf(x.Scale, times, 2, chance)
}

// noiseOf bounds S = W_1 + … + W_n + a V, of independent Laplace variables of a scale, a > 1: it is larger than the bound
// with a probability of at most chance. For any w, P(a V > (t - w)) <= exp(-(t-w)/(a scale))/2, so
//
//	P(S > t) <= E exp((W_1 + … + W_n)/(a scale)) exp(-t/(a scale))/2 = (1 - 1/a²)^-n exp(-t/(a scale))/2
//
// by the moment generating function 1/(1-u²) of a Laplace variable of scale 1.
func noiseOf(scale, a float64, n int, chance float64) float64 {
	return a * scale * (-math.Log(2*chance) - float64(n)*math.Log1p(-1/(a*a)))
}

// stopped is the result of a run that stops.
func (r *runner) stopped(ctx context.Context, s *mechanism.Session, stop *Stop, from source) (*Result, error) {
	p, plan := r.pipeline, r.plan
	res := &Result{
		Task: p.task(), Target: p.Target, Transform: p.Transform, Method: plan.Method(), Stopped: stop,
		Guarantee: plan.Guarantee(), Considered: plan.Columns(), Events: s.Events(), Unprotected: p.unprotected(),
	}
	res.Warnings = p.warnings(res)
	var err error
	res.Curator = Curator{Seconds: r.seconds}
	res.Curator.Rows, err = from.rows(ctx)
	return res, err
}

// The cells that the target of a record counts in.
const (
	readableCell = iota
	textCell
	emptyCell
	targetCells
)

// targetStatistic counts records by what their target is.
type targetStatistic struct {
	Column  int  // the target
	Classes int  // the number of its classes; -1 for a target of numbers
	Found   bool // the classes are to be found
	Public  bool // the target is
}

// New implements [mechanism.Statistic].
//
// A record counts in one cell, which its own target decides.
func (x targetStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	p := &targetPass{targetStatistic: x}
	if x.Public {
		p.exact = m.NewPublicCounts(1, targetCells)
	} else {
		p.noisy = m.NewHistogram([]int{1}, targetCells)
	}
	return p
}

type targetPass struct {
	targetStatistic
	noisy  *mechanism.Histogram
	exact  *mechanism.PublicCounts
	bins   []uint16
	floats []float64
	codes  []int32
}

func (p *targetPass) Add(b mechanism.Block) {
	n := b.Len()
	if cap(p.bins) < n {
		p.bins, p.floats, p.codes = make([]uint16, n), make([]float64, n), make([]int32, n)
	}
	bins := p.bins[:n]
	if p.Classes < 0 {
		numberCells(bins, b.Float(p.Column, p.floats[:n]))
	} else {
		p.classCells(bins, b.Codes(p.Column, p.codes[:n]))
	}
	if p.noisy != nil {
		p.noisy.Add([][]uint16{bins})
		return
	}
	for _, bin := range bins {
		p.exact.Add(0, int(bin))
	}
}

// numberCells writes the cell of each number.
func numberCells(bins []uint16, column []float64) {
	for i, x := range column {
		switch {
		case x == x:
			bins[i] = readableCell
		case dataset.IsText(x):
			bins[i] = textCell
		default:
			bins[i] = emptyCell
		}
	}
}

// classCells writes the cell of each class. Codes of words that are to be found begin with 1; 0 is text that is none.
func (p *targetPass) classCells(bins []uint16, column []int32) {
	for i, code := range column {
		switch {
		case p.Found && code > 0, !p.Found && code >= 0 && int(code) < p.Classes:
			bins[i] = readableCell
		case p.Found:
			bins[i] = emptyCell
		default:
			bins[i] = textCell
		}
	}
}

// Cells are those that [targetPass.Add] adds to.
func (p *targetPass) Cells() mechanism.Cells {
	if p.exact != nil {
		return p.exact.Cells()
	}
	return p.noisy.Cells()
}
