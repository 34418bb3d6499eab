package coverage

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// mostSplits is the number of fits of a split.
const mostSplits = 20

// leastRecords is the least number of records of a table on which coverage is measured.
const leastRecords = 8000

// publicTables returns the names of the public tables for regression.
func publicTables(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(testkit.PublicData(t, *folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".csv.gz")
		if ok && isWanted(name) {
			names = append(names, name)
		}
	}
	return names
}

// readTable reads the numbers of a table as `fit` does with default settings: without declared ranges, and with the
// last column as the target. Columns without any number in the file, which is public, are left out.
func readTable(t *testing.T, name string) *dataset.Table {
	t.Helper()
	path := testkit.PublicData(t, *folder, name+".csv.gz")
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	for _, column := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: column})
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	var numeric []int
	for j := range header {
		cells := tab.View().Block(0, tab.Len()).Float(j, nil)
		if slices.ContainsFunc(cells, func(x float64) bool { return !math.IsNaN(x) }) {
			numeric = append(numeric, j)
		}
	}
	if len(numeric) == len(header) {
		return tab
	}
	kept := dataset.Schema{}
	columns := make([]dataset.ColumnData, 0, len(numeric))
	for _, j := range numeric {
		kept.Columns = append(kept.Columns, schema.Columns[j])
		columns = append(
			columns,
			dataset.ColumnData{Floats: slices.Clone(tab.View().Block(0, tab.Len()).Float(j, nil))},
		)
	}
	if tab, err = dataset.NewTable(kept, columns, nil); err != nil {
		t.Fatal(err)
	}
	return tab
}

// planDefaults prices a run with default settings.
func planDefaults(
	t *testing.T,
	tab *dataset.Table,
	epsilon float64,
) (*pipeline.Pipeline, *pipeline.Plan) {
	t.Helper()
	columns := tab.Schema().Columns
	p := &pipeline.Pipeline{
		Schema:  tab.Schema(),
		Target:  columns[len(columns)-1].Name,
		Holdout: pipeline.DefaultHoldout,
		Budget:  budget.Target{Epsilon: epsilon, Delta: delta},
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// splitRows returns a table for each list of rows.
func splitRows(t *testing.T, tab *dataset.Table, rows ...[]int) []*dataset.Table {
	t.Helper()
	var parts []*dataset.Table
	all := tab.View().Block(0, tab.Len())
	for _, list := range rows {
		columns := make([]dataset.ColumnData, len(tab.Schema().Columns))
		for j := range columns {
			cells := all.Float(j, nil)
			columns[j].Floats = make([]float64, len(list))
			for k, i := range list {
				columns[j].Floats[k] = cells[i]
			}
		}
		part, err := dataset.NewTable(tab.Schema(), columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	return parts
}

// fitRows executes a run on some rows. It also returns the other rows with their predictions.
func fitRows(
	t *testing.T,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	tab *dataset.Table,
	train, rest []int,
) (*pipeline.Result, fresh) {
	t.Helper()
	parts := splitRows(t, tab, train, rest)
	res, err := p.FitPlan(
		context.Background(), plan.Again(),
		parts[0], pipeline.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := res.Model.Predict(
		nil,
		pipeline.RowsOf(parts[1].View()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return res,
		fresh{
			parts[1].View().Block(0, parts[1].Len()).Float(
				len(tab.Schema().Columns)-1,
				nil,
			),
			predicted,
		}
}

// TestTables checks that the interval of a whole run covers the R² of the records that it never saw. By default one
// small table is fitted 12 times: with a coverage of .9 fewer than 3 hits have probability below 1e-7.
func TestTables(t *testing.T) {
	done := finishedKeys(t)
	number := *runs
	names := publicTables(t)
	if number == 0 {
		number = 12
		names = []string{"uci_power_plant"}
	}
	for _, name := range names {
		tab := readTable(t, name)
		if tab.Len() < leastRecords {
			continue
		}
		used := min(tab.Len(), *most)
		n := int(*share * float64(used))
		for _, epsilon := range parseFloats(t, *epsilons) {
			sum := tally{line: line{
				Kind:    "tables",
				Name:    name,
				N:       n,
				Epsilon: epsilon,
			}}
			if done[sum.key()] {
				continue
			}
			p, plan := planDefaults(t, tab, epsilon)
			for i := range number {
				order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(tab.Len())[:used]
				res, f := fitRows(
					t, p, plan, tab, order[:n],
					order[n:],
				)
				sum.add(*res.R2, f, pipeline.DefaultHoldout*float64(n))
			}
			result := sum.result()
			appendLine(t, result)
			if *runs == 0 && result.Covered < .2 {
				t.Errorf("%+v", result)
			}
		}
	}
}

// TestSplit fits on 80% of a table and compares the reported R² with that of predictions for the other 20%. It prints
// one Markdown table row per data set.
func TestSplit(t *testing.T) {
	names := publicTables(t)
	if *runs == 0 {
		names = names[:1]
	}
	done := finishedKeys(t)
	t.Log("| table | records | epsilon | reported | interval | of new records | all errors at least | of new records, uncut | far |")
	for _, name := range names {
		tab := readTable(t, name)
		order := rand.New(rand.NewPCG(80, 20)).Perm(tab.Len())
		n := tab.Len() * 4 / 5
		for _, epsilon := range parseFloats(t, *epsilons) {
			sum := tally{line: line{
				Kind:    "split",
				Name:    name,
				N:       n,
				Epsilon: epsilon,
			}}
			if done[sum.key()] {
				continue
			}
			p, plan := planDefaults(t, tab, epsilon)
			for range min(max(*runs, 1), mostSplits) {
				res, f := fitRows(
					t, p, plan, tab,
					slices.Clone(order[:n]),
					order[n:],
				)
				r := *res.R2
				sum.add(r, f, pipeline.DefaultHoldout*float64(n))
				t.Logf(
					"| %s | %d | %g | %.3f | %.3f to %.3f | %.3f | %.3f | %.3f | %v |",
					name,
					n,
					epsilon,
					r.Value,
					r.Lower,
					r.Upper,
					f.measuresOf(r).r2,
					r.AllErrorsLower,
					f.clampedMeasures(
						math.Inf(-1),
						math.Inf(1), math.Inf(1),
					).r2,
					r.Far,
				)
			}
			appendLine(t, sum.result())
		}
	}
}

// A holdoutLine is what models lose by a larger hold-out.
type holdoutLine struct {
	Kind    string  `json:"kind"` // holdout
	Name    string  `json:"name"`
	N       int     `json:"n"` // records of a fit
	Epsilon float64 `json:"epsilon"`
	Runs    int     `json:"runs"`

	Smaller float64 `json:"smaller"` // mean R² of new records where smallerHoldout of the records are held out
	Default float64 `json:"default"` // the same with pipeline.DefaultHoldout
	Loss    float64 `json:"loss"`    // mean difference
	Spread  float64 `json:"spread"`  // standard error of Loss
}

// smallerHoldout is the share of test records that the default is compared with.
const smallerHoldout = .1

// TestHoldout measures the R² of new records that models lose because 20% of the records and not 10% are held out. Both
// models of a pair have the same records and the same budget. It is skipped without -runs, because the loss is smaller than
// the noise of a few pairs.
func TestHoldout(t *testing.T) {
	if *runs == 0 {
		t.Skip("needs -runs")
	}
	done := finishedKeys(t)
	for _, name := range publicTables(t) {
		tab := readTable(t, name)
		used := min(tab.Len(), *most)
		l := holdoutLine{
			Kind: "holdout",
			Name: name,
			N:    used * 4 / 5,
			Runs: *runs,
		}
		for _, l.Epsilon = range parseFloats(t, *epsilons) {
			if done[line{
				Kind:    l.Kind,
				Name:    l.Name,
				N:       l.N,
				Epsilon: l.Epsilon,
			}.key()] {
				continue
			}
			p, _ := planDefaults(t, tab, l.Epsilon)
			var reached [2][]float64
			for i := range *runs {
				order := rand.New(rand.NewPCG(uint64(i), 3)).Perm(tab.Len())[:used]
				for k, share := range []float64{smallerHoldout, pipeline.DefaultHoldout} {
					p.Holdout = share
					plan, err := p.Plan()
					if err != nil {
						t.Fatal(err)
					}
					_, f := fitRows(
						t,
						p,
						plan,
						tab,
						slices.Clone(order[:l.N]),
						order[l.N:],
					)
					r2 := f.clampedMeasures(
						math.Inf(-1),
						math.Inf(1), math.Inf(1),
					).r2
					reached[k] = append(reached[k], r2)
				}
			}
			n := float64(*runs)
			squares := 0.
			l.Smaller = 0
			l.Default = 0
			l.Loss = 0
			for i, smaller := range reached[0] {
				l.Smaller += smaller / n
				l.Default += reached[1][i] / n
			}
			l.Loss = l.Smaller - l.Default
			for i, smaller := range reached[0] {
				squares += math.Pow(smaller-reached[1][i]-l.Loss, 2)
			}
			l.Spread = math.Sqrt(squares / (n * max(n-1, 1)))
			appendLine(t, l)
		}
	}
}

// poolFits is the number of models per table whose predictions make up its pools.
const poolFits = 3

// poolRecords is the number of records that these models are fitted with, test records included.
const poolRecords = 6400

// TestPools measures intervals for a known truth. The records that a model never saw are the population, and the test
// records of each release are drawn from them with replacement. One small table is tried by default, with 20
// releases: with a coverage of .9 fewer than 10 hits have probability below 1e-6.
func TestPools(t *testing.T) {
	done := finishedKeys(t)
	number := *runs
	names := publicTables(t)
	if number == 0 {
		number = 20
		names = []string{"uci_power_plant"}
	}
	for _, name := range names {
		tab := readTable(t, name)
		if tab.Len() < leastRecords {
			continue
		}
		for _, epsilon := range parseFloats(t, *epsilons) {
			sum := tally{line: line{
				Kind:    "pools",
				Name:    name,
				N:       poolRecords,
				Epsilon: epsilon,
			}}
			if done[sum.key()] {
				continue
			}
			trained := epsilon
			if *fits > 0 {
				trained = *fits
			}
			p, fitPlan := planDefaults(t, tab, trained)
			_, releasePlan := planDefaults(t, tab, epsilon)
			heldOut := int(math.Round(*held * poolRecords))
			for i := range poolFits {
				r := rand.New(rand.NewPCG(uint64(i), 2))
				order := r.Perm(tab.Len())
				res, f := fitRows(
					t,
					p,
					fitPlan,
					tab,
					order[:poolRecords],
					order[poolRecords:min(len(order), poolRecords+*most)],
				)
				model := regression.LinearPart(res.Model)
				frame := evaluate.Pairs{
					Lower:  model.Lower,
					Upper:  model.Upper,
					Center: res.R2.TargetLower/2 + res.R2.TargetUpper/2,
				}
				priced := heldOutPlan(t, releasePlan)
				for range (number + poolFits - 1 - i) / poolFits {
					sum.add(
						measureR2(
							t,
							priced,
							f.drawRecords(r, heldOut).testPairs(t, frame),
						),
						f,
						float64(heldOut),
					)
				}
			}
			result := sum.result()
			appendLine(t, result)
			if *runs == 0 && result.Covered < .5 {
				t.Errorf("%+v", result)
			}
		}
	}
}

// heldOutPlan returns the part of a plan that measures the model, on its own and with the same noise.
func heldOutPlan(t *testing.T, plan *pipeline.Plan) *budget.Priced {
	t.Helper()
	node := evaluate.Regression{}.Plan()
	for i, leaf := range node.Kids {
		law, ok := plan.Priced.Law("fit/holdout/r2/" + leaf.Name)
		if !ok {
			t.Fatalf("the plan has no leaf %q", leaf.Name)
		}
		node.Kids[i] = budget.FixedLeaf(leaf.Name, law).WithStatistic(leaf.Leaf.Statistic)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("r2", append(
			node.Kids,
			budget.GaussianLeaf("rest", 1, 1),
		)...),
		budget.Target{Epsilon: 50, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	return priced
}
