package dptrain_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/tukey"
)

// The header of a file is enough to price a run.
func ExampleOpen() {
	table, err := dptrain.Open("testdata/houses.csv", "price")
	check(err)
	fmt.Println(table.Header)
	// Output:
	// [area rooms age distance latitude longitude quality garden ocean price]
}

// Read a table whose numbers have a decimal comma.
func ExampleOpenAs() {
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "houses.csv")
	check(os.WriteFile(path, []byte("area;price\n70,5;200000\n"), 0o600))
	table, err := dptrain.OpenAs(
		path,
		dataset.Format{Separator: ';', Decimal: ','},
		"price",
	)
	check(err)
	fmt.Println(table.Header)
	// Output:
	// [area price]
}

// A table with a list of columns has a price before it exists.
func ExampleTable() {
	table := &dptrain.Table{Header: []string{"area", "rooms", "price"}}
	plan, err := dptrain.Run{Target: "price", Epsilon: 1}.Plan(table)
	check(err)
	fmt.Println(plan.Guarantee())
	// Output:
	// epsilon 1, delta 1e-06 (relation add-remove)
}

// Columns in memory are a table too.
func ExampleHold() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "dose"}, {Name: "response"}}}
	records, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{1, 2, 3}}, {Floats: []float64{2, 4, 6}}},
		nil,
	)
	check(err)
	fmt.Println(dptrain.Hold(records).Header)
	// Output:
	// [dose response]
}

// Structs are the records of a table.
func ExampleHoldRows() {
	type flat struct {
		Area   float64 `dptrain:"area"`
		Street string  `dptrain:"street"`
		Rent   float64 `dptrain:"rent"`
	}
	flats := make([]flat, 9000)
	for i := range flats {
		area := 30 + float64(i%71)
		flats[i] = flat{area, []string{"Elm", "Oak"}[i%2], 10 * area}
	}
	table, err := dptrain.HoldRows(flats)
	check(err)
	run := dptrain.Run{
		Target:  "rent",
		Epsilon: 3,
		Columns: map[string]dptrain.Column{
			"area":   dptrain.Range(0, 200),
			"street": dptrain.Categories("Elm", "Oak", "Fir"),
		},
	}
	plan, err := run.Plan(table)
	check(err)
	fit, err := plan.Fit(context.Background(), table)
	check(err)
	predictor, err := fit.Predictor()
	check(err)
	rent, err := predictor.PredictStruct(flat{Area: 60, Street: "Oak"})
	check(err)
	fmt.Println("about 600:", rent > 500 && rent < 700)
	// Output:
	// about 600: true
}

// Declare the public facts about a column.
func ExampleColumn() {
	columns := map[string]dptrain.Column{
		"age":     dptrain.Range(0, 120),
		"ocean":   dptrain.Categories("inland", "island"),
		"street":  {FindCategories: true},
		"zip":     {Hash: 64},
		"sold":    {Date: "2006-01-02", Between: []string{"2020-01-01", "2024-12-31"}},
		"garden":  {Missing: &dptrain.Missing{Number: 0}},
		"balcony": {Missing: &dptrain.Missing{Indicator: true}},
	}
	fmt.Println(len(columns), *columns["age"].Upper, columns["ocean"].Categories)
	// Output:
	// 7 120 [inland island]
}

// A range replaces a private search.
func ExampleRange() {
	age := dptrain.Range(0, 90)
	fmt.Println(*age.Lower, *age.Upper)
	// Output:
	// 0 90
}

// All values that are not listed form one more category.
func ExampleCategories() {
	fmt.Println(dptrain.Categories("inland", "near bay").Categories)
	// Output:
	// [inland near bay]
}

// A missing garden has no area.
func ExampleMissing() {
	garden := dptrain.Column{Missing: &dptrain.Missing{Number: 0}}
	fmt.Println(garden.Missing.Number)
	// Output:
	// 0
}

// Choose the methods, the privacy unit and how much measures the model.
func ExampleRun() {
	run := dptrain.Run{
		Target:   "price",
		Epsilon:  3,
		Exclude:  []string{"ocean"},
		Columns:  map[string]dptrain.Column{"age": dptrain.Range(0, 90)},
		Holdout:  0.1,
		Selector: selection.Kendall{K: 3},
		Model:    adassp.JointGram{},
		Shares:   map[string]float64{"selection": 0.2},
	}
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	plan, err := run.Plan(table)
	check(err)
	fmt.Println(plan.Method(), plan.Guarantee())
	// Output:
	// joint-gram epsilon 3, delta 1e-06 (relation add-remove)
}

// The price of every step is known before a row is read.
func ExamplePlan() {
	table := &dptrain.Table{Header: []string{"area", "price"}}
	run := dptrain.Run{
		Target:     "price",
		Epsilon:    1,
		Model:      adassp.JointGram{},
		Undeclared: "numbers",
		Columns:    map[string]dptrain.Column{"area": dptrain.Range(0, 300)},
	}
	plan, err := run.Plan(table)
	check(err)
	fmt.Println(plan.Guarantee())
	for _, step := range plan.Steps() {
		fmt.Println(step.Place.Part, step.Place.Stage, step.Law.Kind)
	}
	// Output:
	// epsilon 1, delta 1e-06 (relation add-remove)
	// all target pure
	// train scaling gaussian
	// train scaling gaussian
	// train scaling gaussian
	// train model gaussian
	// holdout r2 gaussian
	// holdout r2 gaussian
}

// A plan pays for one run. Another run at the same price adds to it.
func ExamplePlan_Again() {
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Model:   adassp.JointGram{},
	}
	plan, err := run.Plan(table)
	check(err)
	_, err = plan.Fit(context.Background(), table)
	check(err)
	_, err = plan.Fit(context.Background(), table)
	fmt.Println(errors.Is(err, dptrain.ErrOpened))
	_, err = plan.Again().Fit(context.Background(), table)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// The result has the model, its quality with an interval, and warnings.
func ExampleFit() {
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 3,
		Exclude: []string{"ocean"},
		Model:   adassp.JointGram{},
	}
	plan, err := run.Plan(table)
	check(err)
	fit, err := plan.Fit(context.Background(), table)
	check(err)
	fmt.Println(fit.Task, fit.Model.Kind() != "", fit.R2.Lower <= fit.R2.Value)
	for _, w := range fit.Warnings {
		if w.Severity == "theoretical" && w.Code == "no-ledger" {
			fmt.Println("the run is in no ledger")
		}
	}
	fmt.Println(fit.Curator) // exact facts are not printed
	// Output:
	// regression true true
	// the run is in no ledger
	// (exact facts for the owner of the data)
}

// The quality of a regression.
func ExampleR2() {
	r := dptrain.R2{
		Estimate: dptrain.Estimate{
			Value: 0.834,
			Lower: 0.808,
			Upper: 0.857,
			Level: 0.95,
		},
		MAE: dptrain.Estimate{
			Value: 33_900,
			Lower: 27_600,
			Upper: 40_200,
			Level: 0.95,
		},
	}
	fmt.Println(r)
	fmt.Printf("errors of %.0f on average\n", r.MAE.Value)
	// Output:
	// 0.834, 95% interval 0.808 to 0.857
	// errors of 33900 on average
}

// A difference whose interval includes 0 may be noise.
func ExampleEstimate() {
	difference := dptrain.Estimate{
		Value: 0.02,
		Lower: -0.01,
		Upper: 0.05,
		Level: 0.95,
	}
	fmt.Println(difference.Lower > 0 || difference.Upper < 0)
	// Output:
	// false
}

// The quality of a classifier, by groups of records too.
func ExampleConfusion() {
	table, err := dptrain.Open("testdata/loans.csv")
	check(err)
	run := dptrain.Run{
		Target:     "repaid",
		Classes:    []string{"no", "yes"},
		Epsilon:    3,
		Exclude:    []string{"purpose", "rating"},
		EvaluateBy: "home",
		Columns:    map[string]dptrain.Column{"home": dptrain.Categories("rent", "own")},
	}
	plan, err := run.Plan(table)
	check(err)
	fit, err := plan.Fit(context.Background(), table)
	check(err)
	c := fit.Confusion
	fmt.Println(c.Classes, len(c.Counts), c.Accuracy.Value > 0.5)
	for _, g := range c.Groups {
		fmt.Printf("%q %v\n", g.Name, g.Other)
	}
	// Output:
	// [no yes] 3 true
	// "rent" false
	// "own" false
	// "" true
}

// A target of text is no target of a regression. The run stops before it trains.
func ExampleStoppedError() {
	table, err := dptrain.Open("testdata/loans.csv")
	check(err)
	plan, err := dptrain.Run{Target: "home", Epsilon: 1}.Plan(table)
	check(err)
	_, err = plan.Fit(context.Background(), table)
	var stopped *dptrain.StoppedError
	if errors.As(err, &stopped) {
		fmt.Println(stopped.Target, stopped.Usable < stopped.Text)
	}
	// Output:
	// home true
}

// Every mistake is named with its field.
func ExampleProblems() {
	table := &dptrain.Table{Header: []string{"area", "price"}}
	_, err := dptrain.Run{Target: "prize", Epsilon: -1}.Plan(table)
	var problems dptrain.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Println(p)
		}
	}
	// Output:
	// Epsilon must be greater than 0, not -1
}

// Mistakes in a recipe have a line.
func ExampleParseRecipe() {
	_, err := dptrain.ParseRecipe(
		"houses.yaml",
		[]byte("data: {target: price}\nprivacy: {epsilon: 0}\n"),
	)
	var problems dptrain.Problems
	if errors.As(err, &problems) {
		p := problems[len(problems)-1]
		fmt.Println(p.Line, p.Key)
	}
	// Output:
	// 2 privacy.epsilon
}

// Run a recipe.
func ExampleReadRecipe() {
	run, err := dptrain.ReadRecipe("examples/houses.yaml")
	check(err)
	table, err := run.Open()
	check(err)
	plan, err := run.Plan(table)
	check(err)
	fmt.Println(run.Target, plan.Guarantee().Epsilon == run.Epsilon)
	fmt.Println(strings.Contains(string(plan.Recipe()), "target: "+run.Target))
	// Output:
	// price true
	// true
}

// A trainer is a value of a package of methods.
func ExampleTrainer() {
	for _, t := range []dptrain.Trainer{
		adassp.JointGram{},
		boosting.Kernel{},
		tukey.Tukey{Buckets: 400},
	} {
		fmt.Println(t.Name())
	}
	// Output:
	// joint-gram
	// boosted-kernel
	// tukey
}

// Try two models and keep the better one.
func ExampleSearch() {
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 3,
		Exclude: []string{"ocean"},
		Search: &dptrain.Search{
			Runs:    2,
			Holdout: 0.1,
			Candidates: []dptrain.Candidate{
				{Model: adassp.JointGram{}},
				{Model: boosting.Additive{}},
			},
		},
	}
	plan, err := run.Plan(table)
	check(err)
	fit, err := plan.Fit(context.Background(), table)
	check(err)
	fmt.Println(fit.Winner == 0 || fit.Winner == 1)
	// Output:
	// true
}

// Keep all runs on a data set within a total.
func ExampleLedger() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	book := dptrain.OpenLedger(filepath.Join(dir, "dptrain.ledger"))
	total := budget.Total{
		Epsilon:  1.2,
		Delta:    1e-5,
		BlackBox: 5e-6,
	}
	check(book.Register(ctx, "houses", total))

	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Model:   adassp.JointGram{},
		Ledger:  book,
		Dataset: "houses",
		Note:    "first model",
	}
	plan, err := run.Plan(table)
	check(err)
	_, err = plan.Fit(ctx, table)
	check(err)
	account, err := book.Account(ctx, "houses")
	check(err)
	fmt.Println(account.Total.EpsilonOf(account.Spent) < 1.2)

	_, err = plan.Again().Fit(ctx, table)
	var spent *dptrain.SpentError
	fmt.Println(errors.As(err, &spent), errors.Is(err, dptrain.ErrSpent))
	// Output:
	// true
	// true true
}

// Register the total of a data set once.
func ExampleOpenLedger() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	book := dptrain.OpenLedger(filepath.Join(dir, "dptrain.ledger"))
	total := budget.Total{
		Epsilon:  3,
		Delta:    1e-5,
		BlackBox: 5e-6,
	}
	fmt.Println(book.Register(ctx, "houses", total))
	fmt.Println(errors.Is(book.Register(ctx, "houses", total), dptrain.ErrRegistered))
	// Output:
	// <nil>
	// true
}

// Charge a release of another program.
func ExampleSpending() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	book := dptrain.OpenLedger(filepath.Join(dir, "dptrain.ledger"))
	check(book.Register(
		ctx,
		"houses",
		budget.Total{Epsilon: 1, Delta: 1e-5, BlackBox: 5e-6},
	))
	fmt.Println(book.Spend(
		ctx,
		"houses",
		dptrain.Spending{Epsilon: 0.1, Note: "a mean price"},
	))
	err = book.Spend(ctx, "houses", dptrain.Spending{Epsilon: 2})
	fmt.Println(errors.Is(err, dptrain.ErrSpent))
	// Output:
	// <nil>
	// true
}

// Read a saved release again: predict, print the report and check it.
func ExampleVerify() {
	ctx := context.Background()
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Model:   adassp.JointGram{},
	}
	plan, err := run.Plan(table)
	check(err)
	fit, err := plan.Fit(ctx, table)
	check(err)
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	check(fit.Save(dir))
	fmt.Println(errors.Is(fit.Save(dir), dptrain.ErrExists))

	release := filepath.Join(dir, "release")
	model, err := dptrain.ReadModel(filepath.Join(release, "model.json"))
	check(err)
	predictions, err := dptrain.Predict(ctx, model, table)
	check(err)
	fmt.Println(len(predictions))

	report, err := dptrain.ReadReport(filepath.Join(release, "report.json"))
	check(err)
	var text strings.Builder
	check(report.WriteText(&text))
	fmt.Println(strings.Contains(text.String(), "joint-gram"))

	found, err := dptrain.Verify(ctx, release, nil)
	check(err)
	fmt.Println(len(found.Checks) > 5, found.Err())
	// Output:
	// true
	// 6000
	// true
	// true <nil>
}
