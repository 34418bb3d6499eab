package bench

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/selection"
)

// Bounds of an explanation. They depend on public facts only, so that the same
// question gets the same tables on every machine.
const (
	minTables    = 3
	explainCells = 1 << 25 // of one synthetic table
	usualSeconds = 45      // of one core, for the default sizes
	askedSeconds = 180     // for sizes that were asked for
)

// bound settles the number of tables and the sizes: first fewer tables, then
// fewer sizes, largest first.
func (x *explainer) bound(sizes []int, asked bool) error {
	allowed := float64(usualSeconds)
	if asked {
		allowed = askedSeconds
	}
	fits := func(tables int) bool {
		largest := sizes[len(sizes)-1]
		return (largest+ExplainTestRows)*x.shape.width <= explainCells &&
			float64(tables)*x.shape.seconds(sizes, len(x.pipelines)) <= allowed
	}
	for len(sizes) > 0 && !fits(min(minTables, x.out.Tables)) {
		x.note("tables of %d rows are left out: this shape (%d numbers a row) would take too long or too much memory",
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
		x.note("%d synthetic tables instead of %d, to bound the time: the bands are rough", x.out.Tables, wanted)
	}
	for _, n := range sizes {
		x.out.Sizes = append(x.out.Sizes, ExplainedSize{Rows: n})
	}
	return nil
}

// seconds estimates the work on one table, as measured on one core of a small
// machine: drawing rows, reading them (private selection sorts them), a matrix
// of second moments with its noise and its decomposition, a pass for each curve
// of each epoch, the least squares.
func (s shape) seconds(sizes []int, epsilons int) float64 {
	w, m := float64(s.width), float64(s.model)
	perCell, cubic := 1e-7, 7e-10
	if s.sorts {
		perCell = 4e-7
	}
	if s.slow {
		cubic = 6e-9
	}
	total := 6e-8 * w * float64(sizes[len(sizes)-1]+ExplainTestRows)
	for _, size := range sizes {
		n := float64(size)
		fit := .07 + perCell*n*w + 1e-10*n*m*m + 5e-7*m*m + cubic*m*m*m + (6e-4+4e-7*n)*float64(s.curves)
		total += float64(epsilons)*max(s.tries, 1)*fit + 1.5e-9*n*w*w + 2e-9*w*w*w
	}
	return total
}

// shape is what the time of an explanation depends on.
type shape struct {
	width  int     // numbers in a row: a category has one for each level
	model  int     // of these, the most that a model uses
	curves int     // of an additive model
	sorts  bool    // a private selection may look at every column
	slow   bool    // measured: the matrix work of the AdaSSP methods takes longer
	tries  float64 // of a search, on average; 0 without one
}

// shapeOf measures the rows of a pipeline.
func shapeOf(p *pipeline.Pipeline, method string, features []int, private bool) shape {
	s := shape{width: 2, model: 2} // the constant and the target
	s.slow = method == pipeline.AdaSSP || method == pipeline.BoostedAdaSSP
	if p.Search != nil { // as if every candidate were the slowest
		s.slow, s.tries = true, p.Search.Runs
	}
	facts := selection.Facts{Target: p.Schema.Columns[p.Schema.Index(p.Target)], Relation: p.Budget.Relation}
	for _, j := range features {
		facts.Columns = append(facts.Columns, p.Schema.Columns[j])
		s.width += numbers(p.Schema.Columns[j])
	}
	most := facts.Columns
	s.sorts = private || p.Selector == nil
	if private {
		most = p.Selector.Most(facts)
	}
	for _, c := range most {
		s.model += numbers(c)
		if (method == pipeline.BoostedAdditive || p.Search != nil) && c.Kind == dataset.Numeric {
			s.curves++
		}
	}
	return s
}

// numbers is how many numbers of an encoded row a column takes.
func numbers(c dataset.Column) int {
	if c.Kind == dataset.Numeric {
		return 1
	}
	return levels(c)
}

// fixedChoice is the selector that keeps these columns.
func fixedChoice(schema dataset.Schema, features []int) selection.Selector {
	var names []string
	for _, j := range features {
		names = append(names, schema.Columns[j].Name)
	}
	return selection.Fixed{Features: names}
}
