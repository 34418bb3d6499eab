package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/regression"
)

// Defaults of an experiment.
const (
	DefaultTrials  = 10
	DefaultEpsilon = 1.0986122886681098 // ln(3)
	DefaultDelta   = 1e-5
	DefaultMethod  = "auto"
)

// MetricR2 is the name of the metric of a regression: the exact coefficient of
// determination on the held-out rows.
const MetricR2 = "r2"

var (
	// ErrNotPublic is returned unless the caller declares that the data are public.
	ErrNotPublic = errors.New(
		"exact held-out metrics are not private; " +
			"confirm that the data are public, or use fit for private data")
	// ErrNoData is returned if no table is named, or a folder contains none.
	ErrNoData = errors.New("no table is given")
	// ErrTrials is returned for a negative number of trials.
	ErrTrials = errors.New("the number of trials must be at least 1")
	// ErrRows is returned for a negative number of rows.
	ErrRows = errors.New("the number of rows must be at least 1")
)

// Config describes an experiment. The zero value of every field except Public and Data means its default.
type Config struct {
	// Public declares that every table is public. Without it no experiment runs.
	Public bool
	// Data lists tables (.csv and .tsv, also with .gz, and .parquet) and folders
	// of tables, which are taken in the order of their names, without
	// subfolders. Empty means the tables that the recipes name; each recipe then
	// runs on its own.
	Data []string
	// Methods lists method names; see [ParseMethod]. Empty means
	// [DefaultMethod], or only the recipes if there are some.
	Methods []string
	// Recipes lists recipe files. They may leave out the table, the target and
	// the budget.
	Recipes []string
	// Target names the column to predict; empty means the last one. A recipe's own target takes precedence.
	Target string
	// Task is "regression", also when it is empty, or "classification". A recipe
	// has its own.
	Task string
	// Classes lists the classes of the target, for classification. Empty means
	// the different values of the target in the table, in order, which is fine
	// for public data only.
	Classes []string
	// Categories makes text columns category columns whose categories are the
	// different values in the table; otherwise they are numbers that are missing.
	// It does not concern recipes, which declare their columns.
	Categories bool
	// Trials is the number of trials for each table; 0 means [DefaultTrials].
	Trials int
	// Rows, if above 0, trains as on a table of that many rows: the training part
	// of a trial is the first of its rows in the order of the seed's permutation,
	// nine tenths of Rows. The rest of the table's fold is tested on as without
	// it, and a table that has no more rows is used whole.
	Rows int
	// Balance drops random rows, by the seed, until every class has as many as the smallest, and drops rows in
	// no class: splits are made of the remaining rows. It depends on the labels of all rows, so it has no
	// private counterpart. It is for classification only.
	Balance bool
	// Budget is the budget of every private method for its training rows. An epsilon of 0 means
	// [DefaultEpsilon] with [DefaultDelta]. Recipes have their own budget.
	Budget budget.Target
	// Seed chooses the splits. It is public.
	Seed uint64
	// Skip, if set, selects trials (counted from 1) to omit because an earlier run has delivered them. The
	// splits of the others are unchanged.
	Skip func(data, method string, trial int) bool
	// Progress, if set, is called with the number of delivered rows and the total. Its calls do not overlap.
	Progress func(done, total int)
}

// A Row is the outcome of one trial of one method on one table.
type Row struct {
	Data   string // name of the table
	Method string
	// Private reports that Epsilon and Delta were guaranteed to the training rows; a method without privacy has
	// neither.
	Private  bool
	Epsilon  float64
	Delta    float64
	Trial    int // from 1
	Metric   string
	Value    float64  // finite; meaningless with an error
	Balanced float64  // balanced accuracy, with MetricAccuracy; see [ScoreClasses]
	Paid     *float64 // mean cost of the features per held-out row; nil if features have no cost
	Seconds  float64  // wall time of training, with other trials running
	Err      error    // why there is no value
}

// A Summary is the distribution of one method's values on one table.
type Summary struct {
	Data    string
	Method  string
	Private bool
	Epsilon float64
	Delta   float64
	Metric  string
	// Median, Q25 and Q75 interpolate linearly between the values of the trials that have one. They are NaN if
	// no trial has a value.
	Median, Q25, Q75 float64
	// Balanced holds the same for the balanced accuracy, with MetricAccuracy.
	Balanced Quartiles
	Paid     *float64 // median over trials of the mean cost per held-out row; nil if features have no cost
	Trials   int      // trials that gave a value
	Failed   int      // trials without a value, including the following
	// Abstained is the number of trials in which the method abstained, NotApplicable that of trials without a
	// plan for the table.
	Abstained, NotApplicable int
	Err                      error   // error of the first failed trial, or nil
	N, D                     int     // rows of the table (no more than Config.Rows), and candidate features
	Seconds                  float64 // median training time of the trials that gave a value
}

// Quartiles are a median and the quartiles around it.
type Quartiles struct{ Median, Q25, Q75 float64 }

// Run carries out an experiment and calls emit for every row, one at a time and in the order table, trial,
// method; emit may be nil. It returns one summary for each table and method, in that order.
//
// Errors that can be detected without reading rows are reported first: an unknown method ([*MethodError]), a
// recipe with problems ([recipe.Problems]), a table that cannot be opened or lacks the target
// ([*dataset.FileError]), an unattainable budget (errors of package budget). If ctx ends, the finished rows are
// still delivered and summarised, and its error is returned with the summaries; the same applies to a table
// that turns out to be damaged.
func Run(ctx context.Context, c Config, emit func(Row)) ([]Summary, error) {
	experiments, err := c.prepareExperiments(ctx)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, x := range experiments {
		x.skip = c.Skip
		x.limit = c.Rows
		x.balance = c.Balance
		total += x.remainingRows(c.trialCount())
	}
	var summaries []Summary
	done := 0
	for _, x := range experiments {
		rows, err := x.runTrials(ctx, c.Seed, c.trialCount(), func(r Row) {
			if done++; emit != nil {
				emit(r)
			}
			if c.Progress != nil {
				c.Progress(done, total)
			}
		})
		if err == nil || len(rows) > 0 {
			summaries = append(summaries, x.summariseRows(rows)...)
		}
		if err != nil {
			return summaries, err
		}
	}
	return summaries, nil
}

// prepareExperiments does everything that needs no row, and reads the classes and categories of
// public tables where they are to come from there.
func (c Config) prepareExperiments(ctx context.Context) ([]*experiment, error) {
	switch {
	case !c.Public:
		return nil, ErrNotPublic
	case c.Trials < 0:
		return nil, fmt.Errorf("%w, not %d", ErrTrials, c.Trials)
	case c.Task != "" && c.Task != regression.TaskRegression &&
		c.Task != regression.TaskClassification,
		c.Task != regression.TaskClassification && (len(c.Classes) > 0 || c.Balance):
		return nil, ErrTask
	case c.Rows < 0:
		return nil, fmt.Errorf("%w, not %d", ErrRows, c.Rows)
	}
	if err := c.budgetTarget().Validate(); err != nil {
		return nil, err
	}
	methods, err := c.allMethods()
	if err != nil {
		return nil, err
	}
	sources, err := c.listSources(methods)
	if err != nil {
		return nil, err
	}
	var experiments []*experiment
	for _, s := range sources {
		x, err := newExperiment(ctx, s, methods, c)
		if err != nil {
			return nil, err
		}
		experiments = append(experiments, x)
	}
	return experiments, nil
}

func (c Config) trialCount() int {
	if c.Trials == 0 {
		return DefaultTrials
	}
	return c.Trials
}

func (c Config) budgetTarget() budget.Target {
	b := c.Budget
	if b.Epsilon == 0 {
		b.Epsilon = DefaultEpsilon
		b.Delta = DefaultDelta
	}
	return b
}
