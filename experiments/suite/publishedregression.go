package suite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/published"
	"github.com/dptrain/dptrain/internal/bench"
	variants "github.com/dptrain/dptrain/internal/bench/published"
)

// publishedBefore is the prefix of the names of published pipelines.
const publishedBefore = "as-published "

// publishedK is the number of columns that published pipelines choose.
const publishedK = 5

// publishedShare is the share of epsilon for the selection, and also the one for the number of models.
const publishedShare = .05

// A publishedPipeline is a selector and a model as the paper ran them. An empty selector means all columns.
type publishedPipeline struct{ selector, model string }

func (p publishedPipeline) name() string {
	if p.selector == "" {
		return publishedBefore + p.model
	}
	return publishedBefore + p.selector + " + " + p.model
}

// ownMethod returns the method of this program that corresponds to the pipeline, or "" if seed-001 has no such method.
func (p publishedPipeline) ownMethod() string {
	switch p.selector {
	case "":
		return strings.TrimSuffix(p.model, ", calibrated noise")
	case "sublasso", "kendall":
		return fmt.Sprintf("%s:%d+%s", p.selector, publishedK, p.model)
	}
	return ""
}

// trueEpsilon returns the epsilon that the pipeline satisfies at the delta of the experiment, or +Inf.
func (p publishedPipeline) trueEpsilon() float64 {
	if p.selector != "" || p.model == "tukey" {
		return math.Inf(1) // docs/lab/as-published.md has a witness against every other step
	}
	return p.boosted().TrueEpsilon(bench.DefaultEpsilon, bench.DefaultDelta)
}

// calibratedAdaSSP is Boosted AdaSSP with the noise that its claim requires.
const calibratedAdaSSP = "boosted-adassp, calibrated noise"

// boosted returns the settings of Boosted AdaSSP.
func (p publishedPipeline) boosted() published.BoostedAdaSSP {
	return published.BoostedAdaSSP{Calibrated: p.model == calibratedAdaSSP}
}

// publishedPipelines lists the pipelines of the paper, and the selectors of DP-SIS before its best model.
func publishedPipelines() []publishedPipeline {
	return []publishedPipeline{
		{"", "boosted-adassp"},
		{"", "tukey"},
		{"sublasso", "boosted-adassp"},
		{"sublasso", "tukey"},
		{"kendall", "boosted-adassp"},
		{"kendall", "tukey"},
		{"sis", "tukey"},
		{"lipschitz", "tukey"},
		{"", calibratedAdaSSP},
	}
}

func publishedCell(data string, p publishedPipeline) Cell {
	c := Cell{
		Data:   data,
		Method: p.name(),
		Setting: Setting{
			Epsilon: bench.DefaultEpsilon,
			Delta:   bench.DefaultDelta,
		},
	}
	if p.selector != "" {
		c.Setting.K = publishedK
	}
	return c
}

// publishedTask runs the published pipelines on one table.
func publishedTask(t tableFile, o Options) Task {
	x := &publishedTrials{
		name: t.name,
		path: t.path,
		seed: o.Seed,
	}
	task := Task{
		Name:   t.name + ", as published",
		Trials: o.trials(bench.DefaultTrials),
		Run:    x.run,
	}
	for _, p := range publishedPipelines() {
		task.Cells = append(task.Cells, publishedCell(t.name, p))
	}
	return task
}

type publishedTrials struct {
	name string
	path string
	seed uint64

	once  sync.Once
	table *dataset.Table
	err   error
}

func (x *publishedTrials) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() {
		x.table, x.err = readNumbers(ctx, x.path)
	})
	if x.err != nil {
		return x.err
	}
	return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
		for _, p := range publishedPipelines() {
			if p.name() == k.Method {
				return x.trial(ctx, p, k)
			}
		}
		return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
	}, emit)
}

// readNumbers reads a numeric table.
func readNumbers(ctx context.Context, path string) (*dataset.Table, error) {
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	var schema dataset.Schema
	for _, name := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
	}
	t, _, err := dataset.Read(ctx, path, schema, dataset.ReadOptions{})
	return t, err
}

// trial trains on nine tenths of the rows and tests on the rest. The split is the same for every pipeline.
func (x *publishedTrials) trial(
	ctx context.Context,
	p publishedPipeline,
	k Key,
) Outcome {
	n := x.table.Len()
	order := newGenerator(Seed001+" "+x.name, x.seed, uint64(k.Trial)).permutation(n)
	train := rowsOf(x.table, order[n/10:])
	test := rowsOf(x.table, order[:n/10])
	src := source{newGenerator(k.Method+" "+x.name, x.seed, uint64(k.Trial))}
	target := len(x.table.Schema().Columns) - 1
	if p.selector != "" && target <= publishedK {
		return failure(NotApplicable, fmt.Errorf("%w: %d columns", variants.ErrCount, target))
	}
	columns := count(0, target)
	epsilon := bench.DefaultEpsilon
	if p.selector != "" {
		var err error
		if columns, err = p.choose(ctx, src, train, epsilon); err != nil {
			return publishedFailure(err)
		}
		epsilon *= 1 - publishedShare
		if p.selector == "sublasso" {
			epsilon -= publishedShare * bench.DefaultEpsilon
		}
	}
	narrow := append(slices.Clone(columns), target)
	predicted, err := p.fit(
		ctx,
		src,
		train.Columns(narrow),
		test.Columns(narrow),
		epsilon,
	)
	if err != nil {
		return publishedFailure(err)
	}
	_, y := numbersOf(test)
	return Outcome{
		Status: OK,
		Picked: fromOne(columns),
		Values: map[string]float64{bench.MetricR2: max(rSquared(y, predicted), -math.MaxFloat64)},
	}
}

// publishedFailure returns the outcome of a pipeline without a model.
func publishedFailure(err error) Outcome {
	if errors.Is(err, variants.ErrAbstained) || errors.Is(err, variants.ErrTooFew) {
		return failure(Abstained, err)
	}
	return failed(err)
}

// choose selects columns with the share of epsilon that the paper assigns to the selection.
func (p publishedPipeline) choose(
	ctx context.Context,
	src source,
	v dataset.View,
	epsilon float64,
) ([]int, error) {
	spent := publishedShare * epsilon
	if p.selector == "sublasso" {
		x, y := numbersOf(v)
		parts := published.LowerBound(src, len(y), spent) / (publishedK + 1)
		return published.SubLasso{
			K:     publishedK,
			Parts: min(parts, len(y)/2),
		}.Choose(ctx, src, x, y, spent)
	}
	m, err := variants.New("as-published-"+p.selector, variants.Options{K: publishedK})
	if err != nil {
		return nil, err
	}
	fitted, err := m.Fit(
		ctx,
		src,
		v,
		len(v.Schema().Columns)-1,
		spent,
		bench.DefaultDelta,
	)
	return fitted.Columns, err
}

// fit trains the model on the columns of a view and predicts those of another.
func (p publishedPipeline) fit(
	ctx context.Context,
	src source,
	train, test dataset.View,
	epsilon float64,
) ([]float64, error) {
	inputs, _ := numbersOf(test)
	if p.model != "tukey" {
		x, y := numbersOf(train)
		theta, err := p.boosted().Fit(src, x, y, epsilon, bench.DefaultDelta)
		if err != nil {
			return nil, err
		}
		return published.PredictClipped(theta, inputs, test.Len()), nil
	}
	fitted, err := variants.Tukey{}.Fit(
		ctx,
		src,
		train,
		len(inputs),
		epsilon,
		bench.DefaultDelta,
	)
	if err != nil {
		return nil, err
	}
	out := make([]float64, test.Len())
	for i := range out {
		out[i] = fitted.Model.Intercept
		for j, t := range fitted.Model.Terms {
			out[i] += t.Coefficient * inputs[j][i]
		}
	}
	return out, nil
}

// numbersOf returns the columns of a view and, separately, the last one, with 0 for a missing cell.
func numbersOf(v dataset.View) (x [][]float64, y []float64) {
	all := v.Block(0, v.Len())
	last := len(v.Schema().Columns) - 1
	for j := range last + 1 {
		cells := make([]float64, v.Len())
		copy(cells, all.Float(j, make([]float64, v.Len())))
		for i, c := range cells {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				cells[i] = 0
			}
		}
		x = append(x, cells)
	}
	return x[:last], x[last]
}

// rSquared returns the coefficient of determination.
func rSquared(y, predicted []float64) float64 {
	mean := average(y)
	errs := 0.
	total := 0.
	for i, v := range y {
		errs += (v - predicted[i]) * (v - predicted[i])
		total += (v - mean) * (v - mean)
	}
	if !(total > 0) || math.IsNaN(errs) {
		return -math.MaxFloat64
	}
	return 1 - errs/total
}

// paperMedians returns the medians of the paper's table for five columns, by the number of the table at OpenML: in
// the order of the first six pipelines, NaN if there was no model.
func paperMedians() map[string][6]float64 {
	none := math.NaN()
	return map[string][6]float64{
		"361072": {.78, none, -.027, .10, .21, .10},
		"361073": {-3.4, none, -.46, -.023, -.48, -.43},
		"361074": {-4.5e4, -6.6e2, -8.2e2, -1.7e2, -5.6e5, .31},
		"361076": {-3.4, none, -.56, -.25, -4.3, .085},
		"361077": {-2.1e8, none, -1e7, .37, -1.9e8, .66},
		"361078": {-1.1e3, -6.4, -.74, -1.2, -6.1e2, -.95},
		"361079": {-5.4, -10, -13, -2, -9.4, -.68},
		"361085": {-20, .33, -17, .28, -13, .37},
		"361087": {-3.1e3, -8.8e4, -4.7, -1.9e2, -2.8, .66},
		"361089": {-3.0, -15, -1.3, -5.9, -5.9e4, -.26},
		"361094": {.42, -3.8e5, -1.0, -4.2e5, -2.4, -3.0e5},
		"361096": {-9.1e2, -1e8, -4.9, .91, .71, .88},
		"361098": {-29, none, -3.9, -3.1, -.22, -5.6},
		"361099": {-.44, -4.8e10, -.48, -9.8e-3, -.42, .32},
		"361102": {-4.1e2, -1.4e15, .068, -.26, -4, -5.3},
		"361104": {-3.7e3, -6.4e7, -1.5e2, -2.6e5, -.83, -29},
	}
}

// paperMedian returns the median of a pipeline in the paper, or NaN if the paper has no value.
func paperMedian(data string, pipeline int) float64 {
	number, _, _ := strings.Cut(data, "_")
	row, ok := paperMedians()[number]
	if !ok || pipeline >= len(row) {
		return math.NaN()
	}
	return row[pipeline]
}

// publishedSections compare the results of the paper, the published code and our methods.
func (t regressionTable) publishedSections() []Section {
	detail := Table{Head: []string{"table", "pipeline", "the paper", "published code",
		"epsilon that holds", "ours", "epsilon that holds"}}
	shares := Table{Head: []string{"pipeline", "the paper, its 25 tables", "the paper, tables here",
		"published code", "epsilon that holds", "ours at the claimed epsilon"}}
	claimed := short(bench.DefaultEpsilon)
	for i, p := range publishedPipelines() {
		holds := "none"
		if e := p.trueEpsilon(); !math.IsInf(e, 1) {
			holds = fmt.Sprintf("%.4g", e)
		}
		var paper, code, ours tally
		for _, data := range t.data {
			published := t.index.summary(publishedCell(data, p), bench.MetricR2)
			if published.Count+published.Abstained == 0 {
				continue
			}
			figure := paperMedian(data, i)
			row := text(data, p.name(), short(figure))
			row = append(row, medianEntry(published, false), Entry{Text: holds})
			if _, known := paperMedians()[strings.SplitN(data, "_", 2)[0]]; known && i < 6 {
				paper.add(figure)
			}
			code.add(score(published))
			if name := p.ownMethod(); name != "" {
				mine := t.summary(data, name)
				ours.add(score(mine))
				row = append(row, medianEntry(mine, false), Entry{Text: claimed})
			} else {
				row = append(row, text("", "")...)
			}
			detail.Rows = append(detail.Rows, row)
		}
		shares.Rows = append(shares.Rows,
			text(p.name(), paperShare(i), paper.String(), code.String(), holds, ours.String()))
	}
	lines := []string{
		"The pipelines of the paper with its budget: 5% of epsilon for the selection, 5% for the number of models, and five columns. Splits are drawn anew for every trial.",
		"\"None\" means that neighbouring tables exist on which the outputs hardly overlap, whatever epsilon is; docs/lab/as-published.md has them. For Boosted AdaSSP it is the composition of its Gaussian releases.",
	}
	return []Section{
		{
			Title:  "Share of tables with a positive median R², by version",
			Text:   lines,
			Tables: []Table{shares},
		},
		{
			Title:  "Median R², by version",
			Text:   []string{"A dash: no figure, or no model in more than half of the trials."},
			Tables: []Table{detail},
		},
	}
}

// paperShare returns the share of the 25 tables of the paper on which a pipeline has a positive median, counted in
// its table for five columns, which agrees with the shares in its text.
func paperShare(pipeline int) string {
	shares := [...]string{"16%", "4%", "20%", "40%", "28%", "56%"}
	if pipeline >= len(shares) {
		return ""
	}
	return shares[pipeline]
}

// A tally counts positive medians.
type tally struct{ positive, all int }

func (t *tally) add(median float64) {
	t.all++
	if median > 0 {
		t.positive++
	}
}

func (t tally) String() string {
	if t.all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", t.positive, t.all)
}
