package bench

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/prototypes"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
)

// Bounds of an explanation. They depend on public facts only, so that the same
// question gets the same tables on every machine.
const (
	minTables    = 3
	explainCells = 1 << 25 // of one synthetic table
	usualSeconds = 45      // of one core, for the default sizes
	askedSeconds = 180     // for sizes that were asked for
)

// boundWork settles the number of tables and the sizes: first fewer tables, then
// fewer sizes, largest first.
func (x *explainer) boundWork(sizes []int, asked bool) error {
	allowed := float64(usualSeconds)
	if asked {
		allowed = askedSeconds
	}
	fits := func(tables int) bool {
		largest := sizes[len(sizes)-1]
		return (largest+ExplainTestRows)*x.shape.width <= explainCells &&
			float64(tables)*x.shape.estimateSeconds(sizes, len(x.pipelines)) <= allowed
	}
	for len(sizes) > 0 && !fits(min(minTables, x.out.Tables)) {
		x.addNote(
			"tables of %d rows are left out: with %d numbers per row they would take too long or too much memory",
			sizes[len(sizes)-1], x.shape.width)
		sizes = sizes[:len(sizes)-1]
	}
	if len(sizes) == 0 {
		return ErrTooWide
	}
	wanted := x.out.Tables
	for !fits(x.out.Tables) {
		x.out.Tables--
	}
	if x.out.Tables < wanted {
		x.addNote("%d synthetic tables instead of %d, to limit the time, so the ranges are rough",
			x.out.Tables, wanted)
	}
	for _, n := range sizes {
		x.out.Sizes = append(x.out.Sizes, ExplainedSize{Rows: n})
	}
	return nil
}

// estimateSeconds estimates the work on one table, as measured on one core of a small
// machine: drawing rows, reading them (private selection sorts them), a matrix
// of second moments with its noise and its decomposition, a pass for each curve
// of each epoch or for each step of a classifier, the model without privacy.
func (s shape) estimateSeconds(sizes []int, epsilons int) float64 {
	w := float64(s.width)
	m := float64(s.model)
	scores := float64(s.scores)
	fits := float64(s.fits)
	perCell := 1e-7
	cubic := 7e-10
	if s.sorts {
		perCell = 4e-7
	}
	if s.slow {
		cubic = 6e-9
	}
	total := (6e-8 + 2e-9*scores) * w * float64(sizes[len(sizes)-1]+ExplainTestRows)
	for _, size := range sizes {
		n := float64(size)
		curves := fits * (6e-4 + 4e-7*n) * float64(s.curves)
		fit := .07 + perCell*n*w + fits*(1e-10*n*m*m+5e-7*m*m+cubic*m*m*m) +
			max(curves, s.steps.estimateSeconds(n, m, scores))
		open := 1.5e-9*n*w*w + 2e-9*w*w*w
		if s.classes {
			open = scores * (1e-9*n*w*w + 1.4e-7*n*w + 1e-8*w*w*w)
		}
		total += float64(epsilons)*max(s.tries, 1)*fit + open
	}
	return total
}

// steps is the time of a classifier that supports classes, other than for its passes over the rows.
type steps struct {
	once, perCell, perScore float64 // perScore: for each cell and score
	perRow                  float64 // and score
}

func (s steps) estimateSeconds(n, m, scores float64) float64 {
	return s.once + n*m*(s.perCell+scores*s.perScore) + n*scores*s.perRow
}

// stepsOf returns the time of a method, by its name.
func stepsOf(method string) steps {
	switch method {
	case logistic.Logistic{}.Name():
		return steps{perCell: 1.2e-7, perScore: 8e-8}
	case prototypes.Prototypes{}.Name():
		return steps{perCell: 1.2e-7, perScore: 8e-8}
	case svm.SVM{}.Name():
		return steps{once: .12, perScore: 5e-8}
	case boosting.BRC{}.Name():
		return steps{perRow: 2.2e-6}
	}
	return steps{}
}

// shape holds the quantities on which the time of an explanation depends.
type shape struct {
	width   int  // numbers in a row: a category has one for each level
	model   int  // of these, the most that a model uses
	curves  int  // of an additive model
	classes bool // the target has classes
	scores  int  // of the target
	fits    int  // how often a trainer of numbers is run
	sorts   bool // a private selection may look at every column
	slow    bool // measured: the matrix work of the AdaSSP methods takes longer
	steps   steps
	tries   float64 // of a search, on average; 0 without one
}

// shapeOf measures the rows of a pipeline.
func shapeOf(
	p *pipeline.Pipeline,
	method string,
	features []int,
	private bool,
) shape {
	target := p.Schema.Columns[p.Schema.Index(p.Target)]
	s := shape{width: 2, model: 2, scores: scoreCount(target), fits: 1} // the constant and the target
	s.slow = method == adassp.AdaSSP{}.Name() || method == boosting.BoostedAdaSSP{}.Name()
	if p.Search != nil { // as if every candidate were the slowest
		s.slow = true
		s.tries = p.Search.Runs
	}
	if x, ok := p.Selector.(selection.Sizer); ok && x.SizeList() != nil {
		s.tries = max(p.SizeRuns, pipeline.DefaultSizeRuns)
	}
	facts := selection.Facts{
		Target:   target,
		Relation: p.Budget.Relation,
	}
	for _, j := range features {
		facts.Columns = append(facts.Columns, p.Schema.Columns[j])
		s.width += encodedEntries(p.Schema.Columns[j])
	}
	most := facts.Columns
	s.classes = target.Kind != dataset.Numeric
	s.sorts = private || p.Selector == nil && !s.classes
	if private {
		most = p.Selector.Widest(facts)
	}
	for _, c := range most {
		s.model += encodedEntries(c)
		if (method == boosting.Additive{}.Name() || p.Search != nil) && c.Kind == dataset.Numeric {
			s.curves++
		}
	}
	if !s.classes {
		return s
	}
	s.steps = stepsOf(method)
	switch {
	case s.steps != steps{}:
	case method == adassp.JointGram{}.Name(): // one matrix with the scores' targets
		s.model += s.scores - 1
	case s.scores == 1 && p.Model == nil: // one of two methods
		s.steps = stepsOf(logistic.Logistic{}.Name())
	default:
		s.fits = s.scores
	}
	return s
}

// encodedEntries returns the number of entries of an encoded row for a column.
func encodedEntries(c dataset.Column) int {
	if c.Kind == dataset.Numeric {
		return 1
	}
	return levelCount(c)
}

// fixedChoice is the selector that keeps these columns.
func fixedChoice(schema dataset.Schema, features []int) selection.Selector {
	var names []string
	for _, j := range features {
		names = append(names, schema.Columns[j].Name)
	}
	return selection.Fixed{Features: names}
}
