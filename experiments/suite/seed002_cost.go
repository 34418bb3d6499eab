package suite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/astc"
	"github.com/dptrain/dptrain/internal/train/costtree"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

const (
	costTrials = 3
	// costHeld is the share of test records.
	costHeld  = .1
	costDelta = 1e-6
	// costDepth is the depth at which the exact methods are compared.
	costDepth = 2
)

// costBudgets are the numbers of new features that a node may buy, with 0 for all.
var costBudgets = [...]int{1, 2, 5, 10, 0}

// costEpsilons are the epsilons of the private trees.
var costEpsilons = [...]float64{3, 1, .3}

// costPrices are the penalties of CSTC on a unit of cost.
var costPrices = [...]float64{.0001, .001, .005, .02, .1}

// logisticPrices are the penalties of table 2.1, with the values printed in the thesis.
var logisticPrices = []struct {
	lambda   float64
	err      float64
	features int
}{
	{2.5, .071, 54},
	{5, .073, 53},
	{7.5, .073, 51},
	{10, .074, 48},
	{25, .082, 39},
	{50, .091, 31},
	{75, .097, 27},
	{100, .103, 25},
	{250, .130, 13},
	{500, .192, 4},
}

// A costSet is a table of the experiment.
type costSet struct {
	name       string // prefix of the file name
	drop       []string
	categories []string
}

func costSets() []costSet {
	return []costSet{
		{
			name:       "credit_default",
			drop:       []string{"ID"},
			categories: []string{"SEX", "EDUCATION", "MARRIAGE"},
		},
		{name: "adult"},
		{name: "spambase"},
	}
}

// The methods of the experiment.
const (
	costHard     = "astc"
	costSoft     = "astc, soft"
	costCSTC     = "cstc"
	costPrivate  = "cost-tree"
	costSoftly   = "cost-tree, soft"
	costLogistic = "l1 logistic"
)

// A costConstant is a penalty on the constant in table 2.1, which the thesis does not specify.
type costConstant struct {
	method  string
	caption string
	penalty float64 // on the constant, relative to the penalty on a weight
}

func costConstants() []costConstant {
	return []costConstant{
		{costLogistic, "free constant", 0},
		{costLogistic + ", penalised constant", "penalised constant", 1},
		{costLogistic + ", no constant", "no constant", math.Inf(1)},
	}
}

// tableOne is table 2.1.
const tableOne = "spambase, all records"

// The metrics of the experiment.
const (
	metricPaid    = "paid"           // mean number of features that a tested record pays
	metricTrained = "training_error" // share of the training records that are misclassified
)

// costPart is chapter 2 of the thesis.
func costPart() thesisPart {
	return thesisPart{
		name:     "cost",
		title:    "Features that cost: trees of linear models",
		tasks:    costTasks,
		sections: costSections,
		lead: []string{
			"Chapter 2: a record pays for the features on its way down a tree. Exact trees (ASTC, hard and soft, " +
				"and the baseline CSTC) are not private; cost-tree is, with private ranges that it pays for.",
			fmt.Sprintf(
				"Every feature costs 1. A tenth of the records tests; delta %g, add-remove. The tables of the thesis "+
					"but spambase are not public here (Yahoo LTR, CIFAR features, MiniBooNE).",
				costDelta),
		},
	}
}

// costCell returns the cell of a method, whose name includes the depth.
func costCell(data, method string, depth, k int, epsilon, lambda float64) Cell {
	if depth > 0 {
		method = fmt.Sprintf("%s, depth %d", method, depth)
	}
	s := Setting{
		K:       k,
		Epsilon: epsilon,
		Lambda:  lambda,
	}
	if epsilon > 0 {
		s.Delta = costDelta
	}
	return Cell{
		Data:    data,
		Method:  method,
		Setting: s,
	}
}

func costTasks(o Options) ([]Task, error) {
	tables, err := listTables(partFolder(o.Data, "classification"))
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, set := range costSets() {
		file, err := tableNamed(tables, set.name)
		if err != nil {
			return nil, err
		}
		x := &costs{
			set:  set,
			path: file.path,
			seed: o.Seed,
		}
		var cells []Cell
		for _, w := range costWays(set.name) {
			cells = append(cells, w.cell)
		}
		tasks = append(tasks,
			Task{
				Name:   set.name,
				Cells:  cells,
				Trials: o.trials(costTrials),
				Run:    x.run,
			})
		if set.name == "spambase" {
			var cells []Cell
			for _, p := range logisticPrices {
				for _, c := range costConstants() {
					cells = append(cells, costCell(tableOne, c.method, 0, 0, 0, p.lambda))
				}
			}
			tasks = append(tasks, Task{
				Name:   tableOne,
				Cells:  cells,
				Trials: 1,
				Run:    x.run,
			})
		}
	}
	return tasks, nil
}

// A costWay is a training method for a tree.
type costWay struct {
	cell    Cell
	depth   int
	soft    bool
	private bool
}

// costWays lists the training methods for a table.
func costWays(data string) []costWay {
	var out []costWay
	for depth := 1; depth <= 3; depth++ {
		for _, k := range costBudgets {
			out = append(out,
				costWay{costCell(data, costHard, depth, k, 0, 0), depth, false, false})
			for _, epsilon := range costEpsilons {
				out = append(out,
					costWay{costCell(data, costPrivate, depth, k, epsilon, 0), depth, false, true})
			}
		}
	}
	for _, k := range costBudgets {
		out = append(out,
			costWay{costCell(data, costSoft, costDepth, k, 0, 0), costDepth, true, false},
			costWay{costCell(data, costSoftly, costDepth, k, 1, 0), costDepth, true, true})
	}
	for _, price := range costPrices {
		out = append(out,
			costWay{costCell(data, costCSTC, costDepth, 0, 0, price), costDepth, false, false})
	}
	return out
}

// costs runs the experiment on one table.
type costs struct {
	set  costSet
	path string
	seed uint64

	once  sync.Once
	table *dataset.Table
	err   error
}

func (x *costs) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() {
		x.table, x.err = readClassTable(ctx, x.path, x.set.drop, x.set.categories, false)
	})
	if x.err != nil {
		return x.err
	}
	return forEachTrial(ctx, todo, x.trial, emit)
}

func (x *costs) trial(ctx context.Context, k Key) Outcome {
	if k.Data == tableOne {
		return x.logistic(ctx, k)
	}
	ways := costWays(x.set.name)
	i := slices.IndexFunc(ways, func(w costWay) bool {
		return w.cell == k.Cell
	})
	if i < 0 {
		return failed(fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
	}
	order := newGenerator(seed002+" cost "+k.Data, x.seed,
		uint64(k.Trial)).permutation(x.table.Len())
	held := int(costHeld * float64(len(order)))
	train := x.rows(order[held:])
	test := x.rows(order[:held])
	var predictions, paid []float64
	var err error
	if ways[i].private {
		predictions, paid, err = ways[i].privately(ctx, train, test)
	} else {
		predictions, paid, err = ways[i].trainExactTree(ctx, train, test)
	}
	if err != nil {
		return failed(err)
	}
	truth := test.Codes(len(test.Schema().Columns) - 1)
	wrongs := 0.
	sum := 0.
	for i, p := range predictions {
		if sum += paid[i]; int32(p) != truth[i] {
			wrongs++
		}
	}
	n := float64(len(predictions))
	return Outcome{
		Status: OK,
		Values: map[string]float64{
			metricError: wrongs / n,
			metricPaid:  sum / n,
		},
	}
}

func (x *costs) rows(order []int) *dataset.Table {
	index := make([]int32, len(order))
	for i, at := range order {
		index[i] = int32(at)
	}
	slices.Sort(index)
	return x.table.Select(index).Compact()
}

// privately trains a private tree and returns classes and costs.
func (w costWay) privately(
	ctx context.Context,
	train, test *dataset.Table,
) (classes, paid []float64, err error) {
	s := w.cell.Setting
	job := fitJob{
		target: budget.Target{
			Epsilon: s.Epsilon,
			Delta:   s.Delta,
		},
		model: costtree.CostTree{
			Depth:  w.depth,
			Budget: float64(s.K),
			Soft:   w.soft,
		},
	}
	result, err := job.fit(ctx, train)
	if err != nil {
		return nil, nil, err
	}
	rows := pipeline.RowsOf(test.View())
	if classes, err = result.Model.Predict(nil, rows); err != nil {
		return nil, nil, err
	}
	paid, err = result.Model.(*regression.Classifier).CostsOf(nil, rows)
	return classes, paid, err
}

// trainExactTree trains an exact tree and returns classes and costs.
func (w costWay) trainExactTree(
	ctx context.Context,
	train, test *dataset.Table,
) (classes, paid []float64, err error) {
	enc := astc.Scaled(train, features(train))
	x := enc.Table(train)
	s := w.cell.Setting
	x.Y = signsOf(train)
	var f *astc.Tree
	if s.Lambda > 0 {
		f, err = astc.CSTC(ctx, x, astc.CSTCOptions{
			Depth:  w.depth,
			Lambda: s.Lambda,
		})
	} else {
		f, err = astc.Fit(
			ctx,
			x,
			astc.Options{
				Depth:  w.depth,
				Budget: float64(s.K),
				Soft:   w.soft,
				Ridge:  1e-3,
			},
		)
	}
	if err != nil {
		return nil, nil, err
	}
	classes, paid = f.Predict(enc.Table(test).Rows)
	for i, score := range classes {
		classes[i] = 0
		if score > 0 {
			classes[i] = 1
		}
	}
	return classes, paid, nil
}

// logistic computes a cell of table 2.1. All records are used for both training and testing.
func (x *costs) logistic(ctx context.Context, k Key) Outcome {
	t := astc.Standardised(x.table, features(x.table)).Table(x.table)
	t.Y = signsOf(x.table)
	for _, c := range costConstants() {
		if c.method == k.Method {
			t.Constant = c.penalty
		}
	}
	beta, err := astc.Logistic(ctx, t, k.Setting.Lambda, nil)
	if err != nil {
		return failed(err)
	}
	missed, features := t.Judge(beta)
	return Outcome{
		Status: OK,
		Values: map[string]float64{
			metricTrained: missed,
			metricPaid:    float64(features),
		},
	}
}

// features returns all columns but the last.
func features(t *dataset.Table) []int {
	out := make([]int, len(t.Schema().Columns)-1)
	for j := range out {
		out[j] = j
	}
	return out
}

// signsOf returns +1 for the second class and -1 for the first.
func signsOf(t *dataset.Table) []float64 {
	codes := t.Codes(len(t.Schema().Columns) - 1)
	y := make([]float64, len(codes))
	for i, c := range codes {
		y[i] = 2*float64(min(c, 1)) - 1
	}
	return y
}
