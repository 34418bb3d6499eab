package report_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A private run from start to end: build a pipeline in code, look at its price, fit, predict, and write the two
// folders.
func Example() {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "dose", Ranged: true, Lower: 0, Upper: 10},
		{Name: "response"}, // its range is found privately
	}}
	const n = 20000
	dose := make([]float64, n)
	response := make([]float64, n)
	for i := range dose {
		dose[i] = math.Mod(float64(i)*.618, 10)
		response[i] = 3 + .5*dose[i] + .3*math.Sin(float64(i))
	}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: dose}, {Floats: response}},
		nil,
	)
	check(err)

	p := &pipeline.Pipeline{
		Schema:  schema,
		Target:  "response",
		Holdout: pipeline.DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6, Relation: budget.AddRemove},
	}
	plan, err := p.Plan() // needs no data
	check(err)
	fmt.Println("steps:", len(plan.Leaves()))

	result, err := p.Fit(context.Background(), table, pipeline.Options{})
	check(err)
	y, err := result.Model.Predict(
		nil,
		regression.Rows{N: 1, Numeric: map[string][]float64{"dose": {4}}},
	)
	check(err)
	fmt.Println("about 5:", math.Abs(y[0]-5) < .5)

	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	files := report.Collect(
		report.New(result),
		result.Model,
		result.Curator,
		nil,
		nil,
		"doses.csv",
	)
	check(report.Write(context.Background(), dir, files, false))
	released, err := os.ReadDir(filepath.Join(dir, report.ReleaseDir))
	check(err)
	for _, file := range released {
		fmt.Println(file.Name())
	}
	// Output:
	// steps: 11
	// about 5: true
	// model.json
	// report.html
	// report.json
}

func ExamplePrepare() {
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)

	folder, err := report.Prepare(filepath.Join(dir, "out"), false) // before any row is read
	check(err)
	folder.Close() // without results it leaves no files
	_, err = os.Stat(filepath.Join(dir, "out"))
	fmt.Println(os.IsNotExist(err))
	// Output:
	// true
}

func ExampleDecode() {
	file, err := os.ReadFile("testdata/report-1.json")
	check(err)
	r, err := report.Decode(bytes.NewReader(file))
	check(err)
	fmt.Println(
		r.Guarantee.Epsilon,
		r.Guarantee.Relation,
		r.Events[0].ID,
		r.Metrics.R2.Value,
	)

	_, err = report.Decode(bytes.NewReader([]byte(`{"format": "dptrain.report/9"}`)))
	fmt.Println(err)
	// Output:
	// 1 add-remove fit/train/model/gram 0.7
	// unknown report format: the file has format "dptrain.report/9", but this version reads "dptrain.report/1" to "dptrain.report/4"
}

func ExampleText() {
	mu := .24
	err := report.Text(os.Stdout, &report.Report{
		Guarantee: report.Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: "add-remove",
			Mu:       &mu,
		},
		Training: &report.Training{
			Target: "price",
			Model:  report.Model{Method: "joint-gram", Kind: "linear"},
			Features: report.Features{
				Considered: []string{"area", "rooms"},
				Selected:   []string{"area", "rooms"},
			},
			Metrics: report.Metrics{R2: &report.R2{
				Value:       .71,
				Lower:       .69,
				Upper:       .73,
				Level:       .95,
				TargetLower: 20,
				TargetUpper: 500000,
				Beyond:      .004,
				BeyondUpper: .011,
				ErrorLimit:  142000,
				AllErrors:   &report.AllErrors{Lower: .44, Level: .975},
			}},
		},
	})
	check(err)
	// Output:
	// Privacy    Each record is protected by (epsilon 1, delta 1e-6)-differential
	//            privacy: add/remove neighbours, mu 0.24. Facts stated in the recipe
	//            (column names, ranges, categories) are public; report.json lists
	//            them.
	// Meaning    An attacker who accepts a 5% false-positive rate detects a given
	//            record at most 8.1% of the time (5% without the release), whatever
	//            else they know.
	// Model      joint-gram: price from 2 of 2 features
	// Features   area, rooms
	// R²         0.710 (95% interval 0.690 to 0.730), for a target between 20 and
	//            500,000; about 0.4% of records (at most 1.1%) lie outside; an error
	//            above 142,000 counts as 142,000
	// All errors R² is at least 0.44 if every error counts in full, however large
	//            the few errors are that the noise may hide (97.5% confidence). No
	//            error above 142,000 was detected.
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleRegistry() {
	mu := 0.25
	d := report.Registry(&report.Report{
		Training: &report.Training{
			Task:   "regression",
			Target: "price",
			Model:  report.Model{Method: "joint-gram", Kind: "linear"},
		},
		Guarantee: report.Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: "add-remove",
			Mu:       &mu,
			Spent:    1,
		},
	})
	fmt.Println(d.Deployment.Variant.Name, d.Deployment.Loss.Parameters)
	fmt.Println(d.Deployment.Loss.UnitDetails)
	// Output:
	// Approximate DP {1 1e-06}
	// Neighbouring tables differ by the presence of one record. The number of records is protected.
}

// A file for the data owner, next to the notes of a run.
func ExamplePrepareAudit() {
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	file, err := report.PrepareAudit(dir, false)
	check(err)
	defer file.Close()
	check(file.Commit(context.Background(), func(w io.Writer) error {
		_, err := io.WriteString(w, "{}\n")
		return err
	}))
	info, err := os.Stat(filepath.Join(dir, report.CuratorDir, report.AuditFile))
	check(err)
	fmt.Println(info.Mode())
	// Output: -rw-------
}
