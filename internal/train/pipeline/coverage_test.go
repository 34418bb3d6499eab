package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// publicTable reads one of the public data sets stored next to the project. All columns are numeric and undeclared,
// and the last one is the target.
func publicTable(t testing.TB, name string) (*Pipeline, *dataset.Table) {
	t.Helper()
	path := testkit.PublicData(t, "regression", name)
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	for _, name := range header {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return &Pipeline{
		Schema:  schema,
		Target:  header[len(header)-1],
		Holdout: DefaultHoldout,
		Budget:  budget.Target{Epsilon: math.Log(3), Delta: 1e-5},
	}, tab
}

// TestIntervalOnRealData checks that a model that is fit on a random half of a table has its R² on the other, unseen
// half within the interval that it reports. 60 fits that each cover with probability .93 cover fewer than 43 times
// with odds below 1e-6.
func TestIntervalOnRealData(t *testing.T) {
	for _, name := range []string{"361074_elevators.csv.gz", "361089_california.csv.gz",
		"uci_protein_CASP.csv.gz"} {
		t.Run(name, func(t *testing.T) {
			p, tab := publicTable(t, name)
			p.Model = adassp.JointGram{}
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			const fits = 60
			covered := 0
			widths := make([]float64, fits)
			for i := range widths {
				half, fresh := splitHalves(t, tab, uint64(i))
				res, err := p.FitPlan(
					context.Background(), plan.Again(), half,
					Options{},
				)
				if err != nil {
					t.Fatal(err)
				}
				exact := exactR2(t, res, fresh)
				if exact >= res.R2.Lower && exact <= res.R2.Upper {
					covered++
				}
				widths[i] = res.R2.Upper - res.R2.Lower
			}
			slices.Sort(widths)
			t.Logf(
				"%d of %d intervals cover; widths: median %.3f, largest %.3f",
				covered,
				fits,
				widths[fits/2],
				widths[fits-1],
			)
			if covered < 43 {
				t.Errorf("%d of %d intervals cover", covered, fits)
			}
		})
	}
}

// splitHalves assigns the records of a table of numbers to two tables at random.
func splitHalves(
	t *testing.T,
	tab *dataset.Table,
	seed uint64,
) (first, second *dataset.Table) {
	t.Helper()
	order := rand.New(rand.NewPCG(seed, 1)).Perm(tab.Len())
	table := func(rows []int) *dataset.Table {
		columns := make([]dataset.ColumnData, len(tab.Schema().Columns))
		for j := range columns {
			all := tab.View().Block(0, tab.Len()).Float(j, nil)
			for _, i := range rows {
				columns[j].Floats = append(columns[j].Floats, all[i])
			}
		}
		out, err := dataset.NewTable(tab.Schema(), columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	return table(order[:len(order)/2]), table(order[len(order)/2:])
}

// exactR2 returns the R² that a run estimates, computed exactly on other records.
func exactR2(t *testing.T, res *Result, fresh *dataset.Table) float64 {
	t.Helper()
	prediction, err := res.Model.Predict(nil, RowsOf(fresh.View()))
	if err != nil {
		t.Fatal(err)
	}
	m := res.Model.(*regression.Linear)
	for i, x := range prediction {
		prediction[i] = min(max(x, m.Lower), m.Upper)
	}
	return evaluate.Exact(
		fresh.Float(len(fresh.Schema().Columns)-1),
		prediction,
		res.R2.TargetLower,
		res.R2.TargetUpper,
		res.R2.ErrorLimit,
	)
}
