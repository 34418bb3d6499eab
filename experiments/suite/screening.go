package suite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Seed000 is the name of the experiments of "Feature Selection from
// Differentially Private Correlations", sections 3 and 5.
const Seed000 = "seed-000"

const (
	screeningTrials = 100
	rangedTrials    = 20 // of methods that release ranges
	screeningK      = 5
	syntheticSet    = "synth"
	// qualityK is the k of figure 8, at which the three measures of order statistics differ.
	qualityK = 10
)

// screeningEpsilons are budgets between .1 and 20, the range of the paper's
// figures.
var screeningEpsilons = [...]float64{.1, .5, 1, 2, 5, 10, 20}

// The metrics of the experiment.
const (
	metricOverlap = "overlap" // share of the right k columns among the chosen k
	metricTop     = "top"
	metricGreat   = "great"
	metricGood    = "good"
	metricR2      = "reference_r2"
	metricRows    = "rows"
	metricColumns = "columns"
	metricKept    = "reference_columns" // that the reference lasso keeps
)

// screeningKs returns the numbers of columns to choose among d: 5 and floor(ln d), or for the synthetic set 5 and 8,
// its number of nonzero weights.
func screeningKs(data string, d int) []int {
	second := int(math.Log(float64(d)))
	if data == syntheticSet {
		second = syntheticNonZero
	}
	ks := []int{screeningK}
	if second != screeningK && second > 0 {
		ks = append(ks, second)
	}
	return slices.DeleteFunc(ks, func(k int) bool {
		return k >= d
	})
}

// screeningPlan is the experiment on the tables of a folder, on the synthetic set, and the two stability experiments.
func screeningPlan(o Options) (*Plan, error) {
	tables, err := listTables(o.Data)
	if err != nil {
		return nil, err
	}
	p := &Plan{Page: screeningPage}
	for _, t := range tables {
		header, err := dataset.Header(t.path, dataset.ReadOptions{})
		if err != nil {
			return nil, err
		}
		s := &screening{
			data: t.name,
			path: t.path,
			seed: o.Seed,
		}
		p.Tasks = append(p.Tasks, s.tasks(len(header)-1, o)...)
	}
	s := &screening{data: syntheticSet, seed: o.Seed}
	p.Tasks = append(p.Tasks, s.tasks(syntheticColumns, o)...)
	p.Tasks = append(p.Tasks, stabilityTasks(o)...)
	return p, nil
}

// A screening is the experiment on one table, or on the synthetic set, where every trial draws a fresh table.
type screening struct {
	data string
	path string // empty for the synthetic set
	seed uint64
}

// tasks lists the trials with d columns in three groups: the non-private choices, which need one trial per table, the
// private methods, and the private methods that release ranges.
func (s *screening) tasks(d int, o Options) []Task {
	open := Task{
		Name:   s.data + ", without privacy",
		Trials: 1,
		Run:    s.run,
	}
	private := Task{
		Name:   s.data,
		Trials: o.trials(screeningTrials),
		Run:    s.run,
	}
	ranged := Task{
		Name:   s.data + ", private ranges",
		Trials: o.trials(rangedTrials),
		Run:    s.run,
	}
	if s.path == "" {
		open.Trials = private.Trials
	}
	ks := screeningKs(s.data, d)
	for _, k := range ks {
		for _, m := range []string{plainSIS, plainTau} {
			open.Cells = append(open.Cells, Cell{s.data, m, Setting{K: k}})
		}
	}
	for _, m := range screeningMethods() {
		t := &private
		if m.ranged {
			t = &ranged
		}
		for _, epsilon := range m.epsilons() {
			for _, k := range ks {
				if m.applies(s.data, k) {
					t.Cells = append(t.Cells, screeningCell(s.data, m, k, epsilon))
				}
			}
			if m.quality && qualityK < d && !slices.Contains(ks, qualityK) {
				t.Cells = append(t.Cells, screeningCell(s.data, m, qualityK, epsilon))
			}
		}
	}
	return []Task{open, private, ranged}
}

func screeningCell(
	data string,
	m screeningMethod,
	k int,
	epsilon float64,
) Cell {
	return Cell{data, m.name, Setting{
		K:       k,
		Epsilon: epsilon,
		Delta:   m.delta,
	}}
}

// run reads the table once.
func (s *screening) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	var fixed *screened
	if s.path != "" {
		var err error
		if fixed, err = s.read(ctx); err != nil {
			return err
		}
	}
	return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
		on := fixed
		if on == nil {
			var err error
			if on, err = s.draw(k.Trial); err != nil {
				return failed(err)
			}
		}
		return on.trial(
			ctx,
			k,
			newGenerator(fmt.Sprint(k.Cell), s.seed, uint64(k.Trial)),
		)
	}, emit)
}

// A screened is a table with its reference answer.
type screened struct {
	problem
	x         [][]float64
	y         []float64
	reference reference
	tau       func() ([]float64, error) // computed on first use
}

func newScreened(p problem, r reference) *screened {
	x, y := p.features()
	return &screened{p, x, y, r, sync.OnceValues(func() ([]float64, error) {
		return tauScores(context.Background(), x, y)
	})}
}

// read reads the table, all columns as numbers, and fits the reference.
func (s *screening) read(ctx context.Context) (*screened, error) {
	header, err := dataset.Header(s.path, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	var schema dataset.Schema
	for _, name := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
	}
	t, _, err := dataset.Read(ctx, s.path, schema, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	x, y := problemOf(t).features()
	for j := range x {
		x[j] = filled(x[j])
	}
	p, err := newProblem(header, x, filled(y))
	if err != nil {
		return nil, err
	}
	r, err := newReference(ctx, x, filled(y))
	if err != nil {
		return nil, err
	}
	return newScreened(p, r), nil
}

// draw draws the synthetic set of a trial, which is the same for every method.
func (s *screening) draw(trial int) (*screened, error) {
	x, y, truth := newSyntheticSet(newGenerator(syntheticSet, s.seed, uint64(trial)))
	p, err := newProblem(nil, x, y)
	if err != nil {
		return nil, err
	}
	return newScreened(p, reference{
		order: truth,
		r2:    math.NaN(),
	}), nil
}

// trial makes one choice.
func (s *screened) trial(ctx context.Context, k Key, g *generator) Outcome {
	if k.Setting.Epsilon == 0 {
		return s.open(k, g)
	}
	i := slices.IndexFunc(screeningMethods(), func(m screeningMethod) bool {
		return m.name == k.Method
	})
	if i < 0 {
		return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
	}
	m := screeningMethods()[i]
	picked, err := m.choose(ctx, s, k.Setting, g)
	if err != nil {
		return failed(err)
	}
	o := Outcome{
		Status: OK,
		Picked: fromOne(picked),
		Values: map[string]float64{
			metricOverlap: overlap(picked, s.reference.firstColumns(k.Setting.K), k.Setting.K),
		},
	}
	if m.quality {
		tau, err := s.tau()
		if err != nil {
			return failed(err)
		}
		q := selection.QualityOf(tau, picked)
		o.Values[metricTop], o.Values[metricGreat], o.Values[metricGood] = indicator(q.Top),
			indicator(q.Great), indicator(q.Good)
	}
	return o
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// open returns the choice without noise, and the facts of the table.
func (s *screened) open(k Key, g *generator) Outcome {
	scores := correlationScores(s.x, s.y)
	var err error
	if k.Method == plainTau {
		scores, err = s.tau()
	}
	if err != nil {
		return failed(err)
	}
	picked := largest(scores, k.Setting.K, g)
	values := map[string]float64{
		metricOverlap: overlap(picked, s.reference.firstColumns(k.Setting.K), k.Setting.K),
		metricRows:    float64(len(s.y)),
		metricColumns: float64(len(s.x)),
		metricKept:    float64(len(s.reference.order)),
	}
	if !math.IsNaN(s.reference.r2) {
		values[metricR2] = s.reference.r2
	}
	return Outcome{
		Status: OK,
		Picked: fromOne(picked),
		Values: values,
	}
}
