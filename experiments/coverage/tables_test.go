package coverage

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/publicdata"
)

// mostSplits is how often a split is fit.
const mostSplits = 20

// leastRecords is that of a table on which coverage is measured.
const leastRecords = 8000

// tables returns the names of the public tables for regression.
func tables(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(publicdata.Path(t, "regression"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".csv.gz"); ok && wanted(name) {
			names = append(names, name)
		}
	}
	return names
}

// readTable reads a table as `fit` with default settings does: every column a number
// without a declared range, the last one the target.
func readTable(t *testing.T, name string) *dataset.Table {
	t.Helper()
	path := publicdata.Path(t, "regression", name+".csv.gz")
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	for _, column := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: column})
	}
	tab, _, err := dataset.Read(context.Background(), path, schema, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// plan prices a run with default settings.
func plan(t *testing.T, tab *dataset.Table, epsilon float64) (*pipeline.Pipeline, *pipeline.Plan) {
	t.Helper()
	columns := tab.Schema().Columns
	p := &pipeline.Pipeline{
		Schema: tab.Schema(), Target: columns[len(columns)-1].Name, Holdout: pipeline.DefaultHoldout,
		Budget: budget.Target{Epsilon: epsilon, Delta: delta},
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// deal returns two tables of the given rows.
func deal(t *testing.T, tab *dataset.Table, rows ...[]int) []*dataset.Table {
	t.Helper()
	var parts []*dataset.Table
	all := tab.All().Block(0, tab.Len())
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

// fit carries out a run on some rows and returns it with the others as it predicts them.
func fit(t *testing.T, p *pipeline.Pipeline, plan *pipeline.Plan, tab *dataset.Table, train, rest []int) (*pipeline.Result, fresh) {
	t.Helper()
	parts := deal(t, tab, train, rest)
	res, err := p.FitPlan(context.Background(), plan.Again(), parts[0], pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := res.Model.Predict(nil, pipeline.RowsOf(parts[1].All()))
	if err != nil {
		t.Fatal(err)
	}
	return res, fresh{parts[1].All().Block(0, parts[1].Len()).Float(len(tab.Schema().Columns)-1, nil), predicted}
}

// TestTables: the interval of a whole run holds the R² of the records it never saw. By default
// one small table is fit 12 times: with a coverage of .9 fewer than 3 hits have odds below 1e-7.
func TestTables(t *testing.T) {
	done := finished(t)
	number, names := *runs, tables(t)
	if number == 0 {
		number, names = 12, []string{"uci_power_plant"}
	}
	for _, name := range names {
		tab := readTable(t, name)
		if tab.Len() < leastRecords {
			continue
		}
		used := min(tab.Len(), *most)
		n := int(*share * float64(used))
		for _, epsilon := range list(t, *epsilons) {
			sum := tally{line: line{Kind: "tables", Name: name, N: n, Epsilon: epsilon}}
			if done[sum.key()] {
				continue
			}
			p, plan := plan(t, tab, epsilon)
			for i := range number {
				order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(tab.Len())[:used]
				res, f := fit(t, p, plan, tab, order[:n], order[n:])
				sum.add(*res.R2, f)
			}
			result := sum.result()
			keep(t, result)
			if *runs == 0 && result.Covered < .2 {
				t.Errorf("%+v", result)
			}
		}
	}
}

// TestSplit: fit on 80% of a table, compare the reported R² with that of predictions for the
// other 20%. It prints a row a table of a page in Markdown.
func TestSplit(t *testing.T) {
	names := tables(t)
	if *runs == 0 {
		names = names[:1]
	}
	done := finished(t)
	t.Log("| table | records | epsilon | reported | interval | cut as stated | all | far | few |")
	for _, name := range names {
		tab := readTable(t, name)
		order := rand.New(rand.NewPCG(80, 20)).Perm(tab.Len())
		n := tab.Len() * 4 / 5
		for _, epsilon := range list(t, *epsilons) {
			sum := tally{line: line{Kind: "split", Name: name, N: n, Epsilon: epsilon}}
			if done[sum.key()] {
				continue
			}
			p, plan := plan(t, tab, epsilon)
			for range min(max(*runs, 1), mostSplits) {
				res, f := fit(t, p, plan, tab, slices.Clone(order[:n]), order[n:])
				r := *res.R2
				sum.add(r, f)
				stated, raw := f.cut(r.TargetLower, r.TargetUpper).r2, f.cut(-1e300, 1e300).r2
				t.Logf("| %s | %d | %g | %.3f | %.3f to %.3f | %.3f | %.3f | %v | %v |", name, n, epsilon, r.Value, r.Lower, r.Upper, stated, raw, r.Far, r.Few)
			}
			keep(t, sum.result())
		}
	}
}
