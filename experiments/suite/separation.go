package suite

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Seed003 is the name of the experiments of "Differentially Private Feature
// Selection Based on Dynamic Relevance for Correlated Data", section 5.
const Seed003 = "seed-003"

const (
	separationTrials = 20 // on a table
	scoreTrials      = 100
	generatedTrials  = 10 // on generated tables, and fewer on large ones
	largeTrials      = 5
	largeRows        = 20000
	generatedTest    = 5000
	separationDelta  = partlyDelta
	// chooseEpsilon is epsilon_1, the budget of the selection.
	chooseEpsilon = .1
	// generatedOf is the suffix of the name of the tables generated from a table.
	generatedOf = ", generated"
	// rangeDeviations is the half-width of the declared ranges in standard deviations.
	rangeDeviations = 3
)

var (
	// separationEpsilons are epsilon_2, the budgets of the model (figures 4, 5).
	separationEpsilons = [...]float64{.01, .05, .1, .5, 1}
	// scoreEpsilons are epsilon_1 (figure 3).
	scoreEpsilons = [...]float64{.01, .05, .1, .2, .5, 1}
	// wholeEpsilons are budgets of selection and model together.
	wholeEpsilons = [...]float64{.1, .2, .5, 1, 2, 5, 10, 20, 50}
	// generatedSizes are the numbers of training rows in addition to that of the table.
	generatedSizes = [...]int{2000, 10000, 30000, 100000}
)

// separationSets are the tables of the paper with two classes. Their last column is the class.
func separationSets() []string {
	return []string{"wdbc", "ionosphere"}
}

// manyClassSets are the tables of the paper with several classes. The experiment runs on those that the folder contains.
func manyClassSets() []string {
	return []string{"dermatology", "semeion"}
}

// paperThresholds returns the largest correlation between columns of the tables with several classes (table 1 of the
// paper).
func paperThresholds() map[string]float64 {
	return map[string]float64{
		"dermatology": .9,
		"semeion":     .7,
	}
}

// These are the metrics in addition to the accuracy.
const (
	metricFeatures   = "features" // that were selected
	metricF          = "f_error"  // mean absolute error of the F-scores
	metricImportance = "importance_error"
	metricMeanF      = "f_mean"     // of the exact F-scores
	metricTotal      = "epsilon"    // of selection and model together
	metricTrainRows  = "train_rows" // of a trial
)

// separationPlan is the experiment on the tables of a folder and on tables that are drawn from normal distributions
// fitted to them.
func separationPlan(o Options) (*Plan, error) {
	tables, err := listTables(o.Data)
	if err != nil {
		return nil, err
	}
	p := &Plan{Page: separationPage}
	for _, name := range separationSets() {
		file, err := tableNamed(tables, name)
		if err != nil {
			return nil, err
		}
		x := &separation{
			name: name,
			path: file.path,
			seed: o.Seed,
		}
		p.Tasks = append(p.Tasks, x.tasks(o)...)
	}
	for _, name := range manyClassSets() {
		file, err := tableNamed(tables, name)
		if err != nil {
			continue
		}
		x := &separation{
			name:        name,
			path:        file.path,
			seed:        o.Seed,
			manyClasses: true,
		}
		p.Tasks = append(p.Tasks, x.tableTask(o))
	}
	return p, nil
}

// separation runs the experiment on one table.
type separation struct {
	name        string
	path        string
	seed        uint64
	manyClasses bool // no tables are generated

	once  sync.Once
	table *dataset.Table // with declared ranges
	law   classLaw
	err   error
}

// slowPublished is the table on which the search of the published code trains ten machines for each of up to 196
// columns a step, which takes about 20 seconds of processor time a trial. The published code is left out there.
const slowPublished = "semeion"

// tableTask lists the trials on a table with several classes.
func (x *separation) tableTask(o Options) Task {
	task := Task{
		Name:   x.name,
		Trials: o.trials(separationTrials),
		Run:    x.run,
	}
	for _, m := range separationMethods() {
		if m.table && (m.name != methodPublishedDR || x.name != slowPublished) {
			task.Cells = append(task.Cells, m.cells(x.name, 0)...)
		}
	}
	return task
}

// tasks lists the trials on the table and on generated tables. For n = 0 a generated table has as many rows as the
// training part of a trial on the table.
func (x *separation) tasks(o Options) []Task {
	scores := Task{
		Name:   x.name + ", F-scores",
		Trials: o.trials(scoreTrials),
		Run:    x.run,
	}
	table := Task{
		Name:   x.name,
		Trials: o.trials(separationTrials),
		Run:    x.run,
	}
	small := Task{
		Name:   x.name + generatedOf,
		Trials: o.trials(generatedTrials),
		Run:    x.run,
	}
	large := Task{
		Name:   x.name + generatedOf + ", many rows",
		Trials: o.trials(largeTrials),
		Run:    x.run,
	}
	for _, m := range separationMethods() {
		switch {
		case m.scores:
			scores.Cells = append(scores.Cells, m.cells(x.name, 0)...)
			small.Cells = append(small.Cells, m.cells(x.name+generatedOf, generatedSizes[1])...)
			large.Cells = append(large.Cells,
				m.cells(x.name+generatedOf, slices.Max(generatedSizes[:]))...)
			continue
		case m.table:
			table.Cells = append(table.Cells, m.cells(x.name, 0)...)
		}
		for _, n := range append([]int{0}, generatedSizes[:]...) {
			t := &small
			switch {
			case !m.generated || m.small && n > largeRows:
				continue
			case n > largeRows:
				t = &large
			}
			t.Cells = append(t.Cells, m.cells(x.name+generatedOf, n)...)
		}
	}
	return []Task{scores, table, small, large}
}

func (x *separation) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() { x.err = x.load(ctx) })
	if x.err != nil {
		return x.err
	}
	return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
		for _, m := range separationMethods() {
			if m.name != k.Method {
				continue
			}
			trial, err := x.trial(k)
			if err != nil {
				return failed(err)
			}
			return m.run(ctx, trial)
		}
		return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
	}, emit)
}

// load reads the table, declares ranges as if they were public, and fits the distribution of generated tables.
func (x *separation) load(ctx context.Context) error {
	t, err := readClassTable(ctx, x.path, nil, nil, true)
	if err != nil {
		return err
	}
	columns := t.Schema().Clone().Columns
	for j := range columns[:len(columns)-1] {
		cells := filled(t.Float(j))
		mean := average(cells)
		reach := rangeDeviations * deviation(cells)
		if reach == 0 {
			reach = 1
		}
		columns[j].Ranged = true
		columns[j].Lower = mean - reach
		columns[j].Upper = mean + reach
	}
	if x.table, err = redeclare(t.View(), columns); err != nil {
		return err
	}
	if !x.manyClasses {
		x.law = fitClassLaw(x.table)
	}
	return nil
}

// A separationTrial is the input of a method.
type separationTrial struct {
	train     dataset.View
	test      dataset.View
	epsilon   float64
	threshold float64 // of correlations between columns in the published code; 0: that of the paper for two classes
}

// trial splits the table, with a tenth for tests, or draws the tables of a trial. Every method gets the same data.
func (x *separation) trial(k Key) (separationTrial, error) {
	if k.Data == x.name {
		n := x.table.Len()
		order := newGenerator(Seed003+" "+x.name, x.seed, uint64(k.Trial)).permutation(n)
		return separationTrial{
			train:     rowsOf(x.table, order[n/10:]),
			test:      rowsOf(x.table, order[:n/10]),
			epsilon:   k.Setting.Epsilon,
			threshold: paperThresholds()[x.name],
		}, nil
	}
	n := k.Setting.N
	if n == 0 {
		n = x.table.Len() - x.table.Len()/10
	}
	g := newGenerator(fmt.Sprint(Seed003, " ", k.Data, " ", n), x.seed, uint64(k.Trial))
	train, err := x.law.draw(n, g)
	if err != nil {
		return separationTrial{}, err
	}
	test, err := x.law.draw(generatedTest, g)
	if err != nil {
		return separationTrial{}, err
	}
	return separationTrial{
		train:   train.View(),
		test:    test.View(),
		epsilon: k.Setting.Epsilon,
	}, nil
}

// facts returns the facts for selectors, including the ranges.
func (x separationTrial) facts() selection.Facts {
	columns := x.train.Schema().Columns
	last := len(columns) - 1
	f := selection.Facts{
		Columns:  columns[:last],
		Target:   columns[last],
		Relation: budget.AddRemove,
	}
	for _, c := range columns {
		f.Ranges = append(f.Ranges,
			scaling.Range{
				Lower:    c.Lower,
				Upper:    c.Upper,
				Declared: c.Ranged,
			})
	}
	return f
}
