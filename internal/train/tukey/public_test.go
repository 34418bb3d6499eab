package tukey

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// publicTable reads columns of a public data set, the target last.
func publicTable(t testing.TB, file string, names ...string) *dataset.Table {
	t.Helper()
	path := testkit.PublicData(t, "regression", file)
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	for _, name := range append(names, header[len(header)-1]) {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// publicSets are the data sets of the paper on which the mechanism is expected to work, with the five columns that
// Kendall's tau ranks first and the raw R2 that the median of ten runs must reach.
var publicSets = []struct {
	file    string
	columns []string
	least   float64
}{
	{
		"361096_diamonds.csv.gz",
		[]string{"carat", "y", "x", "z", "clarity_VS2"},
		.75,
	},
	{
		"361096_diamonds.csv.gz",
		[]string{"y", "depth", "x", "carat", "z"},
		.75,
	},
	{
		"361087_MiamiHousing2016.csv.gz",
		[]string{"TOT_LVG_AREA", "SUBCNTR_DI", "SPEC_FEAT_VAL", "LND_SQFOOT", "HWY_DIST"},
		.55,
	},
	{
		"361104_SGEMM.csv.gz",
		[]string{"Run2_ms_", "Run4_ms_", "Run3_ms_", "SA_0", "SA_1"},
		.55,
	},
	{
		"361078_houses.csv.gz",
		[]string{"median_income", "total_rooms", "latitude", "households", "longitude"},
		.15,
	},
	{
		"361078_houses.csv.gz",
		[]string{"median_income", "latitude", "total_bedrooms", "housing_median_age",
			"total_rooms"},
		.15,
	},
}

// TestPublicData trains at (ln 3, 1e-5) on 90% of the records and predicts the others. The mechanism gets .85 and .9
// of the budget, the ranges get the rest.
func TestPublicData(t *testing.T) {
	for _, c := range publicSets {
		t.Run(c.file[7:12]+c.columns[1], func(t *testing.T) {
			tab := publicTable(t, c.file, c.columns...)
			columns := tab.Schema().Columns
			last := len(columns) - 1
			trainer := Tukey{}
			facts := method.Facts{
				Columns: columns,
				Epsilon: .85 * math.Log(3),
				Delta:   9e-6,
			}
			private := scaling.Private{Columns: columns, Target: last}
			model, err := trainer.Plan(facts)
			if err != nil {
				t.Fatal(err)
			}
			ranges, _ := private.Plan()
			priced, err := budget.Calibrate(
				budget.Sequence("fit", ranges, model),
				budget.Target{Epsilon: math.Log(3), Delta: 1e-5},
			)
			if err != nil {
				t.Fatal(err)
			}
			var scores []float64
			for range 10 {
				s, err := mechanism.NewSession(priced.Again())
				if err != nil {
					t.Fatal(err)
				}
				coins := s.Coins("split")
				parts := tab.View().Split(2, func(id uint64) int {
					return min(coins.Uniform(id, 10), 1)
				})
				held := parts[0]
				train := parts[1]
				r, err := private.Run(
					context.Background(),
					s.Sub("scaling"),
					memory.NewRecords(train),
				)
				if err != nil {
					t.Fatal(err)
				}
				fit, err := trainer.Fit(
					context.Background(),
					s,
					dataOf(facts, train, train.Len(), r),
				)
				if err != nil {
					t.Fatal(err)
				}
				if err := fit.Linear().Validate(); err != nil {
					t.Fatal(err)
				}
				scores = append(scores, rawR2(t, fit.Model, held))
			}
			slices.Sort(scores)
			median := (scores[4] + scores[5]) / 2
			t.Logf(
				"%d records: R2 %.3f, from %.3f to %.3f; at least %d records needed",
				tab.Len(),
				median,
				scores[0],
				scores[9],
				trainer.Records(facts),
			)
			if !(median >= c.least) {
				t.Errorf(
					"median R2 %.3f, want at least %.2f",
					median, c.least,
				)
			}
		})
	}
}

// rawR2 returns the raw R2 of a model on a view of numeric columns.
func rawR2(t testing.TB, m regression.Model, v dataset.View) float64 {
	t.Helper()
	last := len(v.Schema().Columns) - 1
	all := v.Block(0, v.Len())
	rows := regression.Rows{
		N:       v.Len(),
		Numeric: map[string][]float64{},
	}
	for j, c := range v.Schema().Columns[:last] {
		rows.Numeric[c.Name] = all.Float(j, nil)
	}
	prediction, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	y := all.Float(last, nil)
	centre := meanOf(y)
	errors := 0.
	total := 0.
	for i := range y {
		errors += (y[i] - prediction[i]) * (y[i] - prediction[i])
		total += (y[i] - centre) * (y[i] - centre)
	}
	return 1 - errors/total
}
