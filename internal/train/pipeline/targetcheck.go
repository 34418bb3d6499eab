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
	"github.com/dptrain/dptrain/internal/train/method"
)

// Before any other release, a run counts the records with a usable target, on all records and with noise. If
// the counts show that hardly any target is usable, for example because the task or the decimal mark was not
// set, the run stops: no further releases are made, and the ledger gets back the unspent budget
// (docs/proofs/prices.md, "A run that stops").
//
//	fit (par): all: target       on all records, the lead of the plan
//	           train: …
//	           holdout: …
//
// Under private columns a public target's cells are counted exactly.

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
	// mostText, mostEmpty, mostUnlisted and fewReadable.
	stopByChance = 1e-6
	// A numeric target is accepted if at most mostText cells contain text, and at most mostEmpty contain text
	// or are missing, per cell with a number: many tables have a target for few of their records.
	mostText  = 2.
	mostEmpty = 99.
	// A class target is accepted if at most mostUnlisted cells contain no listed class per cell with one.
	mostUnlisted = 9.
	// Any target is accepted if enoughReadable cells of it can be read, in scales of the noise. If the released number is
	// below fewReadable scales, and that of the others above enoughReadable scales, there is nothing to train on: with
	// epsilon 1, less than 140 targets and more than 600 records without one. By the tail of a Laplace variable, exp(-x)/2
	// beyond x scales, this happens to a table with enoughReadable targets with a probability of at most
	// exp(fewReadable-enoughReadable)/2 = 2e-7.
	fewReadable    = 4.
	enoughReadable = 19.
)

// A Stop is the reason why a run stopped before training. It is computed from released counts and public facts.
type Stop struct {
	Target string
	Task   string
	// Readable is the number of records with a usable target: a number, or one of the classes. Text is the
	// number with text instead of a number, or with an unlisted class; Empty is the number with a missing
	// target. With declared classes, Text includes the missing targets.
	Readable, Text, Empty float64
	// Scale is the scale of the Laplace noise in each number; 0 if they are exact because the target is public.
	Scale float64
	// Epsilon is the budget that the run spent: the epsilon of the counts.
	Epsilon float64
	// Found reports that the classes were to be found privately.
	Found bool
}

// Cause describes the problem of the target in one sentence.
func (x *Stop) Cause() string {
	count := func(n float64) string {
		return "about " + groupDigits(math.Max(0, math.Round(n)))
	}
	if x.Scale == 0 {
		count = groupDigits
	}
	switch {
	case x.Found:
		return fmt.Sprintf(
			"the target %q contains no class names: %s records are empty or have a text longer than 64 bytes, and %s have a name",
			x.Target,
			count(x.Empty),
			count(x.Readable),
		)
	case x.isClassification():
		return fmt.Sprintf(
			"the target %q has none of the declared classes: %s records have another value or none, and %s have a declared class",
			x.Target,
			count(x.Text),
			count(x.Readable),
		)
	}
	return fmt.Sprintf(
		"the target %q contains no numbers: %s values are text, %s are missing and %s are numbers",
		x.Target,
		count(x.Text),
		count(x.Empty),
		count(x.Readable),
	)
}

// Cure describes the remedy, in terms of the command line and of the recipe.
func (x *Stop) Cure() string {
	switch {
	case !x.isClassification() && x.Empty > x.Text:
		return "name another column with --target (data.target), or use a table whose target has values"
	case x.Found:
		return "name another column with --target, or declare long names with --classes (data.classes)"
	case x.isClassification():
		return "correct --classes (data.classes), which must match exactly, or add --fold case if only upper and lower case differ; for a numeric target, omit --task classification"
	}
	return `if it contains class names, add --task classification (task: classification); if its numbers are written 1,5 add --decimal , (data.format.decimal: ","); if they are written 1,500 add --thousands , (data.format.thousands: ",")`
}

// Advice describes the problem of the target and the remedy.
func (x *Stop) Advice() string {
	return x.Cause() + "; " + x.Cure()
}

func (x *Stop) isClassification() bool {
	return (&Pipeline{Task: x.Task}).isClassification()
}

// toSentence makes a clause a sentence.
func toSentence(clause string) string {
	return strings.ToUpper(clause[:1]) + clause[1:] + "."
}

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
func (p *Pipeline) checksTarget() bool {
	return !p.Budget.Earlier
}

func (p *Pipeline) paysForCheck() bool {
	j := p.Schema.Index(p.Target)
	return p.checksTarget() &&
		!(j >= 0 && method.PublicTarget(p.Budget.Relation, p.Schema.Columns[j]))
}

// targetCheckNode is the release of the counts: a fixed fraction of epsilon.
func targetCheckNode() budget.Node {
	return budget.Sequence(
		allNode,
		budget.PureLeaf(targetLeaf, checkShare, 1).WithStatistic(mechanism.StatCells).
			WithRole(budget.RoleStage),
	).WithRole(budget.RolePart)
}

// checkTarget releases the counts and returns the reason why the run stops, or nil. The decision depends on the
// released counts and public facts only. A rehearsal never stops.
func (r *runner) checkTarget(
	ctx context.Context,
	s *mechanism.Session,
	all mechanism.Records,
) (*Stop, error) {
	p := r.pipeline
	if !p.checksTarget() {
		return nil, nil
	}
	defer r.startStage(checkStage)()
	target := r.Facts.Target
	x := targetStatistic{
		Column:  len(r.Facts.Columns),
		Classes: -1,
		Public:  !p.paysForCheck(),
	}
	if target.Kind == dataset.Category {
		x.Classes = len(target.Categories)
		x.Found = target.Found
	}
	stop := &Stop{
		Target: p.Target,
		Task:   p.taskName(),
		Found:  target.Found,
	}
	counts, err := stop.releaseCounts(ctx, s.Sub(allNode), all, x)
	if err != nil {
		return nil, err
	}
	stop.Readable = counts[readableCell]
	stop.Text = counts[textCell]
	stop.Empty = counts[emptyCell]
	if stop.isNeeded() && !s.KeepsColumns() {
		return stop, nil
	}
	return nil, nil
}

// releaseCounts releases the counts, and notes their noise and their price.
func (x *Stop) releaseCounts(
	ctx context.Context,
	s *mechanism.Session,
	all mechanism.Records,
	of targetStatistic,
) ([]float64, error) {
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

// isNeeded reports whether the counts show that the target cannot be read. On a table with a target that is fine it is
// true with probability at most stopByChance.
func (x *Stop) isNeeded() bool {
	const chance = stopByChance / 3
	switch {
	case x.Readable < fewReadable*x.Scale && x.Text+x.Empty > enoughReadable*x.Scale:
		return true
	case x.isClassification():
		return x.exceedsBy(mostUnlisted, chance)
	case x.Text > mostText*x.Readable+noiseOf(x.Scale, mostText, 1, chance):
		return true
	}
	return x.exceedsBy(mostEmpty, chance)
}

// exceedsBy reports whether the records without a target are more than times as many as those with one, after
// allowing for noise that occurs with a probability of at most chance.
func (x *Stop) exceedsBy(times, chance float64) bool {
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

// stoppedResult is the result of a run that stops.
func (r *runner) stoppedResult(
	ctx context.Context,
	s *mechanism.Session,
	stop *Stop,
	from recordSource,
) (*Result, error) {
	p := r.pipeline
	plan := r.plan
	res := &Result{
		Task:        p.taskName(),
		Target:      p.Target,
		Transform:   p.Transform,
		Method:      plan.Method(),
		Stopped:     stop,
		Guarantee:   plan.Guarantee(),
		Addition:    plan.Addition(),
		Considered:  plan.Columns(),
		Events:      s.Events(),
		Unprotected: p.unprotectedFacts(),
	}
	res.addUntried(plan)
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

// targetStatistic counts records by the kind of their target cell.
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
		p.bins = make([]uint16, n)
		p.floats = make([]float64, n)
		p.codes = make([]int32, n)
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

// classCells writes the cell of each class. Codes of found words start with 1; 0 is text that is not one of the
// words.
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
