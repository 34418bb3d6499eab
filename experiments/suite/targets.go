package suite

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
)

// Targets is the name of the experiment on other kinds of targets: counts, ordered classes and quantiles, each with
// a method made for it against what `auto` does today. The candidates are simulated with noise from a public seed. They
// are told ranges exactly and for free, so a real form would be no better.
const Targets = "targets"

// The budget of every trial, and the number of trials.
const (
	targetsEpsilon = 1.
	targetsDelta   = 1e-5
	targetsTrials  = 5
	targetsTest    = .2 // share of the rows that test
)

// Kinds of targets.
const (
	countTarget    = "counts"
	orderedTarget  = "ordered classes"
	quantileTarget = "quantiles"
)

// A targetSource is a table with a target of a kind.
type targetSource struct {
	kind   string
	name   string
	file   string // in the data folder; empty for a synthetic table
	target string
	drop   []string
	// levels returns the level of an ordered class, from 0; nil for numbers.
	levels []string
	// prefix joins the 0/1 columns that start with it to the ordered classes levels.
	prefix string
}

// targetSources lists the tables of the experiment. The levels of ordered classes are public.
func targetSources() []targetSource {
	const regression, more = "regression/", "more/"
	out := []targetSource{
		{kind: countTarget, name: "bike", file: regression + "361099_Bike_Sharing_Demand.csv.gz", target: "target"},
		{kind: countTarget, name: "bikers", file: more + "islp_bikeshare.csv.gz", target: "bikers"},
		{kind: countTarget, name: "week_nights", file: more + "hotel_rates_cat.csv.gz", target: "stays_in_week_nights"},
		{kind: countTarget, name: "lead_time", file: more + "hotel_rates_cat.csv.gz", target: "lead_time"},
		{kind: countTarget, name: "accounts", file: more + "lending_club_cat.csv.gz", target: "num_il_tl"},
		{kind: countTarget, name: "claims", target: "claims"},
		{
			kind:   orderedTarget,
			name:   "wine",
			file:   regression + "361076_wine_quality.csv.gz",
			target: "target",
			levels: []string{"3", "4", "5", "6", "7", "8", "9"},
		},
		{
			kind:   orderedTarget,
			name:   "satisfaction",
			file:   more + "stackoverflow_cat.csv.gz",
			target: "CareerSatisfaction",
			levels: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"},
		},
		{
			kind:   orderedTarget,
			name:   "grade",
			file:   more + "lending_club_cat.csv.gz",
			target: "sub_grade",
			drop:   []string{"int_rate"}, // determines the grade
			levels: []string{"A", "B", "C", "D", "E", "F", "G"},
		},
		{
			kind:   orderedTarget,
			name:   "cut",
			file:   regression + "361096_diamonds.csv.gz",
			prefix: "cut_",
			levels: []string{"Fair", "Good", "Very_Good", "Premium", "Ideal"},
		},
		{
			kind:   orderedTarget,
			name:   "clarity",
			file:   regression + "361096_diamonds.csv.gz",
			prefix: "clarity_",
			levels: []string{"I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"},
		},
	}
	for _, file := range []string{
		"361072_cpu_act", "361074_elevators", "361076_wine_quality", "361078_houses",
		"361087_MiamiHousing2016", "361089_california", "361096_diamonds", "361099_Bike_Sharing_Demand",
		"uci_kin8nm", "uci_power_plant", "uci_protein_CASP",
	} {
		_, name, _ := strings.Cut(file, "_")
		out = append(out, targetSource{
			kind:   quantileTarget,
			name:   name,
			file:   regression + file + ".csv.gz",
			target: "target",
		})
	}
	return out
}

// A targetTable is a table in memory with its target.
type targetTable struct {
	source   targetSource
	columns  []dataset.Column
	cells    []dataset.ColumnData
	y        []float64 // levels of ordered classes are their positions
	exposure []float64 // of counts; nil for 1
}

// readTargetTable reads a table. Text columns are categories with all their values declared.
func readTargetTable(
	s targetSource,
	dir string,
	seed uint64,
) (*targetTable, error) {
	if s.file == "" {
		return newClaims(s, seed), nil
	}
	header, rows, err := readCells(filepath.Join(dir, s.file))
	if err != nil {
		return nil, err
	}
	t := &targetTable{source: s}
	if s.prefix != "" {
		t.y = make([]float64, len(rows))
	}
	for j, name := range header {
		level, joined := strings.CutPrefix(name, s.prefix)
		switch {
		case slices.Contains(s.drop, name):
		case s.prefix != "" && joined:
			k := slices.Index(s.levels, level)
			for i, row := range rows {
				if row[j] == "1" {
					t.y[i] = float64(k)
				}
			}
		case name == s.target:
			for _, row := range rows {
				t.y = append(t.y, s.value(row[j]))
			}
		default:
			t.addColumn(name, rows, j)
		}
	}
	return t, nil
}

// value returns the number of a target cell.
func (s targetSource) value(text string) float64 {
	if s.levels == nil {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	if k := slices.Index(s.levels, text); k >= 0 {
		return float64(k)
	}
	if text != "" { // a grade such as B4
		return float64(slices.Index(s.levels, text[:1]))
	}
	return math.NaN()
}

// readCells reads a gzipped CSV file.
func readCells(path string) (header []string, rows [][]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	all, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	return all[0], all[1:], nil
}

// addColumn adds column j: numbers if all its cells are numbers or empty, else categories.
func (t *targetTable) addColumn(name string, rows [][]string, j int) {
	numbers := make([]float64, len(rows))
	for i, row := range rows {
		v, err := strconv.ParseFloat(row[j], 64)
		switch {
		case err == nil:
			numbers[i] = v
		case row[j] == "":
			numbers[i] = math.NaN()
		default:
			t.addCategories(name, rows, j)
			return
		}
	}
	t.columns = append(t.columns, dataset.Column{Name: name})
	t.cells = append(t.cells, dataset.ColumnData{Floats: numbers})
}

func (t *targetTable) addCategories(name string, rows [][]string, j int) {
	var values []string
	for _, row := range rows {
		values = append(values, row[j])
	}
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	codes := make([]int32, len(rows))
	for i, row := range rows {
		k, _ := slices.BinarySearch(values, row[j])
		codes[i] = int32(k)
	}
	t.columns = append(t.columns,
		dataset.Column{
			Name:       name,
			Kind:       dataset.Category,
			Categories: values,
			Other:      true,
		})
	t.cells = append(t.cells, dataset.ColumnData{Codes: codes})
}

// newClaims returns a synthetic table of insurance claims: counts with a mean of exposure times a rate.
func newClaims(s targetSource, seed uint64) *targetTable {
	const rows = 30000
	g := newGenerator(s.name, seed, 0)
	t := &targetTable{source: s}
	age := make([]float64, rows)
	power := make([]float64, rows)
	bonus := make([]float64, rows)
	density := make([]float64, rows)
	fuel := make([]float64, rows)
	for i := range rows {
		age[i] = 18 + 62*g.uniform()
		power[i] = 4 + 8*g.uniform()
		bonus[i] = 50 + 100*g.uniform()*g.uniform()
		density[i] = math.Exp(3 + 4*g.uniform())
		fuel[i] = math.Round(g.uniform())
		exposure := .05 + .95*g.uniform()
		rate := math.Exp(-2.2 + 1.2*math.Exp(-(age[i]-18)/8) + .012*(bonus[i]-50) +
			.15*math.Log(density[i]/100) + .04*(power[i]-8) + .15*fuel[i])
		t.exposure = append(t.exposure, exposure)
		t.y = append(t.y, g.poisson(exposure*rate))
	}
	add := func(name string, numbers []float64) {
		t.columns = append(t.columns, dataset.Column{Name: name})
		t.cells = append(t.cells, dataset.ColumnData{Floats: numbers})
	}
	add("age", age)
	add("power", power)
	add("bonus", bonus)
	add("density", density)
	add("fuel", fuel)
	add("exposure", t.exposure)
	return t
}

// poisson returns a Poisson number with a small mean, by inversion.
func (g *generator) poisson(mean float64) float64 {
	u := g.uniform()
	p := math.Exp(-mean)
	k := 0.
	for u > p && k < 1000 {
		u -= p
		k++
		p *= mean / k
	}
	return k
}

// A targetTrial is a split of a table.
type targetTrial struct {
	*targetTable
	g     *generator
	train []int
	test  []int
}

// newTrial splits a table. Rows without a target are left out.
func (t *targetTable) newTrial(seed, trial uint64) *targetTrial {
	x := &targetTrial{
		targetTable: t,
		g:           newGenerator(t.source.kind+" "+t.source.name, seed, trial),
	}
	var rows []int
	for _, i := range x.g.permutation(len(t.y)) {
		if t.y[i] == t.y[i] {
			rows = append(rows, i)
		}
	}
	cut := int(targetsTest * float64(len(rows)))
	x.test = rows[:cut]
	x.train = rows[cut:]
	return x
}

// truth returns the targets of rows.
func (t *targetTable) truth(rows []int) []float64 {
	return valuesAt(t.y, rows)
}

func valuesAt[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}

// tableOf returns a table of rows for dptrain. classes are those of the target, or nil for numbers.
func (t *targetTable) tableOf(
	rows []int,
	classes []string,
) (*dptrain.Table, error) {
	columns := slices.Clone(t.columns)
	cells := make([]dataset.ColumnData, len(t.cells))
	for j, c := range t.cells {
		if c.Floats != nil {
			cells[j].Floats = valuesAt(c.Floats, rows)
			continue
		}
		cells[j].Codes = valuesAt(c.Codes, rows)
	}
	target := dataset.Column{Name: "the target"}
	y := dataset.ColumnData{Floats: t.truth(rows)}
	if classes != nil {
		target.Kind = dataset.Category
		target.Categories = classes
		codes := make([]int32, len(rows))
		for k, v := range y.Floats {
			codes[k] = int32(v)
		}
		y = dataset.ColumnData{Codes: codes}
	}
	records, err := dataset.NewTable(
		dataset.Schema{Columns: append(columns, target)},
		append(cells, y),
		nil,
	)
	if err != nil {
		return nil, err
	}
	return dptrain.Hold(records), nil
}

// fitAuto trains `auto` on rows with a share of the squared budget, and predicts others.
func (t *targetTable) fitAuto(
	ctx context.Context,
	rows, predicted []int,
	transform string,
	classes []string,
	share float64,
) ([]float64, error) {
	table, err := t.tableOf(rows, classes)
	if err != nil {
		return nil, err
	}
	run := dptrain.Run{
		Target:  "the target",
		Epsilon: epsilonOf(share),
		Delta:   targetsDelta,
		Holdout: dptrain.None,
	}
	if classes != nil {
		run.Classes = classes
	}
	if transform != "" {
		run.Columns = map[string]dptrain.Column{run.Target: {Transform: transform}}
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	fit, err := plan.Fit(ctx, table)
	if err != nil {
		return nil, err
	}
	other, err := t.tableOf(predicted, classes)
	if err != nil {
		return nil, err
	}
	return dptrain.Predict(ctx, fit.Model, other)
}

// epsilonOf returns the epsilon for a share of the squared budget.
func epsilonOf(share float64) float64 {
	if share == 1 {
		return targetsEpsilon
	}
	low, high := 0., targetsEpsilon
	for range 50 {
		middle := (low + high) / 2
		if budget.GaussianMu(middle, targetsDelta) < muOf(share) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// muOf returns the Gaussian privacy parameter of a share of the squared budget.
func muOf(share float64) float64 {
	return budget.GaussianMu(targetsEpsilon, targetsDelta) * math.Sqrt(share)
}

// A targetMethod returns the metrics of a trial.
type targetMethod struct {
	kind string
	name string
	run  func(ctx context.Context, x *targetTrial) (map[string]float64, error)
}

func targetMethods() []targetMethod {
	var out []targetMethod
	out = append(out, countMethods()...)
	out = append(out, orderedMethods()...)
	return append(out, quantileMethods()...)
}

// targetsPlan is the experiment. The data folder has the folders regression and more.
func targetsPlan(o Options) (*Plan, error) {
	if o.Data == "" {
		return nil, fmt.Errorf("%w is missing: name the one with the folders regression and more", ErrData)
	}
	p := &Plan{Page: targetsPage}
	for _, s := range targetSources() {
		var cells []Cell
		for _, m := range targetMethods() {
			if m.kind == s.kind {
				cells = append(cells, targetCell(s, m.name))
			}
		}
		p.Tasks = append(p.Tasks,
			Task{
				Name:   s.kind + ": " + s.name,
				Cells:  cells,
				Trials: o.trials(targetsTrials),
				Run:    targetsRun(s, o),
			})
	}
	return p, nil
}

func targetCell(s targetSource, method string) Cell {
	return Cell{s.kind + ": " + s.name, method, Setting{
		Epsilon: targetsEpsilon,
		Delta:   targetsDelta,
	}}
}

func targetsRun(
	s targetSource,
	o Options,
) func(context.Context, []Key, func(Key, Outcome)) error {
	return func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
		t, err := readTargetTable(s, o.Data, o.Seed)
		if err != nil {
			return err
		}
		return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
			for _, m := range targetMethods() {
				if m.kind != s.kind || m.name != k.Method {
					continue
				}
				values, err := m.run(ctx, t.newTrial(o.Seed, uint64(k.Trial)))
				if err != nil {
					return failed(err)
				}
				return Outcome{Status: OK, Values: values}
			}
			return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
		}, emit)
	}
}
