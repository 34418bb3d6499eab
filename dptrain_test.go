package dptrain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/svm"
	"github.com/dptrain/dptrain/tukey"
)

const houses = "testdata/houses.csv"

// Train on a table and save the model with its report.
func Example() {
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
	}
	plan, err := run.Plan(table)
	check(err)
	fmt.Println(plan.Guarantee())

	fit, err := plan.Fit(context.Background(), table)
	check(err)
	fmt.Println("better than the mean:", fit.R2.Value > 0)

	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	check(fit.Save(filepath.Join(dir, "out")))
	// Output:
	// epsilon 1, delta 1e-06 (relation add-remove)
	// better than the mean: true
}

// Predict one house.
func ExampleFit_Predictor() {
	table, err := dptrain.Open("testdata/houses.csv")
	check(err)
	plan, err := dptrain.Run{
		Target:  "price",
		Epsilon: 2,
		Columns: map[string]dptrain.Column{
			"age": dptrain.Range(0, 90),
			"ocean": dptrain.Categories(
				"inland", "near bay", "near ocean",
				"island",
			),
		},
	}.Plan(table)
	check(err)
	fit, err := plan.Fit(context.Background(), table)
	check(err)
	predictor, err := fit.Predictor()
	check(err)
	price, err := predictor.PredictRecord(map[string]any{
		"area":      120,
		"rooms":     4,
		"age":       30,
		"distance":  5,
		"latitude":  0,
		"longitude": 0,
		"quality":   5,
		"garden":    200,
		"ocean":     "inland",
	})
	check(err)
	fmt.Println("a price:", price > 0)
	// Output:
	// a price: true
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](x T, err error) T {
	check(err)
	return x
}

// TestPlanReadsNoRow checks that a header is enough to price a run, and that only Fit reads the rows.
func TestPlanReadsNoRow(t *testing.T) {
	header := must(dptrain.Open(houses)).Header
	table := &dptrain.Table{
		Path:   filepath.Join(t.TempDir(), "absent.csv"),
		Header: header,
	}
	plan, err := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
	}.Plan(table)
	if err != nil ||
		plan.Guarantee().Epsilon != 1 ||
		len(plan.Steps()) == 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := plan.Fit(t.Context(), table); !errors.Is(err, dataset.ErrUnreadable) {
		t.Errorf("fit: %v", err)
	}
	if _, err := plan.Fit(t.Context(), table); !errors.Is(err, mechanism.ErrOpened) {
		t.Errorf("second fit: %v", err)
	}
	_, err = plan.Fit(
		t.Context(),
		&dptrain.Table{Path: houses, Header: header[1:]},
	)
	if !errors.Is(
		err, pipeline.ErrSchema) {
		t.Errorf("another header: %v", err)
	}
}

// TestDefaults checks that a run without settings is the starter recipe of `dptrain init`, as published, for
// every task. None denotes 0.
func TestDefaults(t *testing.T) {
	for name, classes := range map[string][]string{"price": nil, "repaid": {"no", "yes"}} {
		path := map[string]string{
			"price":  houses,
			"repaid": "testdata/loans.csv",
		}[name]
		table := must(dptrain.Open(path))
		starter, problems := recipe.Parse(
			"starter",
			must(recipe.Init(table.Header, path, name, recipe.Names{List: classes})),
		)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		starter.Data.Header = table.Header
		plan, err := dptrain.Run{
			Target:  name,
			Epsilon: 1,
			Classes: classes,
		}.Plan(table)
		if err != nil {
			t.Fatal(err)
		}
		got := string(plan.Recipe())
		want := string(must(starter.Public()))
		if got != want {
			t.Errorf(
				"the recipe of the run:\n%s\nof `dptrain init`:\n%s",
				got, want,
			)
		}
	}
	plan, err := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Holdout: dptrain.None,
	}.Plan(must(dptrain.Open(houses)))
	if err != nil ||
		slices.Contains(plan.Stages(), "held-out metric") ||
		!strings.Contains(string(plan.Recipe()), "\nholdout: 0\n") {
		t.Errorf(
			"%s, %v",
			plan.Recipe(), err,
		)
	}
}

// TestInvalidSettingsAreRejectedBeforeReading checks that missing and invalid settings are rejected with the messages
// of the recipe, before the file is opened.
func TestInvalidSettingsAreRejectedBeforeReading(t *testing.T) {
	table := &dptrain.Table{
		Path:   "absent.csv",
		Header: []string{"x", "y"},
	}
	book := dptrain.OpenLedger(filepath.Join(t.TempDir(), "l"))
	for want, run := range map[string]dptrain.Run{
		"Epsilon is required":                   {Target: "y"},
		"Epsilon must be greater than 0":        {Target: "y", Epsilon: -1},
		"Target is required":                    {Epsilon: 1},
		`the target "z" is not in the header`:   {Target: "z", Epsilon: 1},
		"Holdout must be from 0 to 0.5, not -2": {Target: "y", Epsilon: 1, Holdout: -2},
		"Delta": {
			Target:  "y",
			Epsilon: 1,
			Delta:   2,
		},
		"Dataset is required": {
			Target:  "y",
			Epsilon: 1,
			Ledger:  book,
		},
		"need a Ledger": {
			Target:  "y",
			Epsilon: 1,
			Dataset: "houses",
		},
		`the declared column "w" is not in the hea`: {
			Target:  "y",
			Epsilon: 1,
			Columns: map[string]dptrain.Column{"w": dptrain.Range(0, 1)},
		},
	} {
		plan, err := run.Plan(table)
		if plan != nil ||
			err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf(
				"%+v: %v, %v, want %q",
				run, plan, err, want,
			)
		}
	}
	_, err := dptrain.Open("absent.csv")
	if !errors.Is(err, dataset.ErrUnreadable) {
		t.Errorf("open: %v", err)
	}
}

// TestLedger checks that a run is entered in the ledger before a row is read, and marked as ended afterwards;
// that its release is consistent with the ledger; and that a second run beyond the total is rejected.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dptrain.ledger")
	book := dptrain.OpenLedger(path)
	check(book.Register(
		t.Context(),
		"houses",
		budget.Total{
			Epsilon:  1.2,
			Delta:    1e-6,
			BlackBox: 1e-7,
		},
	))
	inner := ledger.New(path, ledger.Options{})
	table := must(dptrain.Open(houses))
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Ledger:  book,
		Dataset: "houses",
		Note:    "the first",
	}
	fit := must(must(run.Plan(table)).Fit(t.Context(), table))
	account := must(must(inner.Read(t.Context())).Account("houses"))
	if len(account.Runs) != 1 ||
		account.Reserved.Cost != 0 ||
		account.Committed.Cost == 0 {
		t.Errorf("after a run: %+v", account)
	}
	out := filepath.Join(dir, "out")
	if err := fit.Save(out); err != nil {
		t.Fatal(err)
	}
	v := must(
		report.Verify(
			t.Context(),
			filepath.Join(out, "release"),
			report.VerifyOptions{Ledger: inner},
		))
	if v.Err() != nil {
		t.Errorf("verify: %+v", v)
	}
	if slices.ContainsFunc(fit.Warnings, func(w dptrain.Warning) bool {
		return w.Code == "no-ledger"
	}) {
		t.Error("a run in a ledger warns that there is none")
	}
	absent := &dptrain.Table{
		Path:   filepath.Join(dir, "absent.csv"),
		Header: table.Header,
	}
	var spent *dptrain.SpentError
	_, err := must(run.Plan(absent)).Fit(t.Context(), absent)
	if !errors.As(err, &spent) ||
		!strings.Contains(err.Error(), "the largest epsilon that fits is") {
		t.Errorf(
			"over the total, before the file was touched: %v",
			err,
		)
	}
}

// TestLedgerIsBusy checks that Fit returns the result that was paid for if the end of the run cannot be
// entered, and that Save does not publish before it can be.
func TestLedgerIsBusy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dptrain.ledger")
	book := dptrain.OpenLedger(path)
	check(book.Register(
		t.Context(),
		"houses",
		budget.Total{
			Epsilon:  5,
			Delta:    1e-5,
			BlackBox: 1e-6,
		},
	))
	table := must(dptrain.Open(houses))
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Ledger:  book,
		Dataset: "houses",
	}
	run.Progress = func(share float64, _ string) {
		if share == 1 {
			check(os.Rename(path, path+".away"))
		}
	}
	fit, err := must(run.Plan(table)).Fit(t.Context(), table)
	if fit == nil ||
		!errors.Is(err, ledger.ErrUnreadable) ||
		!strings.Contains(err.Error(), "remains spent") {
		t.Fatalf("%v, %v", fit, err)
	}
	out := filepath.Join(dir, "out")
	later := filepath.Join(dir, "later")
	err = fit.Save(out)
	if err == nil || !strings.Contains(err.Error(), "ledger commit") {
		t.Errorf("save: %v", err)
	}
	got := filesIn(out)
	if len(got) == 0 || slices.ContainsFunc(got, func(s string) bool {
		return !strings.HasPrefix(s, "pending/")
	}) {
		t.Errorf("kept: %v", got)
	}
	check(os.Rename(path+".away", path))
	err = fit.Save(later)
	if err != nil ||
		!slices.Contains(filesIn(later), "release/model.json") {
		t.Errorf(
			"save: %v, %v",
			filesIn(later), err,
		)
	}
}

// TestSave checks that the files are those of `dptrain fit`, are consistent and are never replaced. The printed
// form of a result contains no exact count.
func TestSave(t *testing.T) {
	table := must(dptrain.Open("testdata/loans.csv"))
	var shares []float64
	var stages []string
	run := dptrain.Run{
		Target:  "repaid",
		Epsilon: 1,
		Classes: []string{"no", "yes"},
		Exclude: []string{"rating", "home", "purpose"},
		Progress: func(share float64, stage string) {
			shares = append(shares, share)
			stages = append(stages, stage)
		},
	}
	plan := must(run.Plan(table))
	fit := must(plan.Fit(t.Context(), table))
	if fit.Confusion == nil || fit.R2 != nil {
		t.Errorf("%+v", fit)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := fit.Save(out); err != nil {
		t.Fatal(err)
	}
	want := []string{"curator/run.json", "release/model.json", "release/recipe.yaml",
		"release/report.html", "release/report.json"}
	got := filesIn(out)
	if !slices.Equal(got, want) {
		t.Errorf("files: %v", got)
	}
	v := must(
		report.Verify(
			t.Context(),
			filepath.Join(out, "release"),
			report.VerifyOptions{},
		))
	if v.Err() != nil {
		t.Errorf("verify: %+v", v)
	}
	err := fit.Save(out)
	if !errors.Is(err, report.ErrExists) {
		t.Errorf("a second save: %v", err)
	}
	fit.Curator.TrainRows = 2109876543 // digits that no other number contains
	for _, printed := range []string{
		string(must(json.Marshal(fit))),
		fmt.Sprintf("%+v", fit),
		fmt.Sprintf("%#v", fit),
		fmt.Sprintln(*fit),
	} {
		for _, exact := range []string{"2109876543", "TrainRows", "train_rows"} {
			if strings.Contains(printed, exact) {
				t.Errorf("%s is in: %s", exact, printed)
			}
		}
	}
	if !slices.IsSorted(shares) ||
		shares[0] != 0 ||
		shares[len(shares)-1] != 1 {
		t.Errorf("shares: %v", shares)
	}
	slices.Sort(stages)
	planned := slices.Sorted(slices.Values(append(
		plan.Stages(), "read", "done",
	)))
	if !slices.Equal(stages, planned) {
		t.Errorf(
			"stages: %v, planned: %v",
			stages, planned,
		)
	}
}

// TestAbstainedRunHasNoPredictor checks that a run without a model has no predictor.
func TestAbstainedRunHasNoPredictor(t *testing.T) {
	p, err := new(dptrain.Fit).Predictor()
	if p != nil || !errors.Is(err, dptrain.ErrAbstained) {
		t.Errorf("%v, %v", p, err)
	}
}

// TestPrivateColumns checks the relation that protects only the listed columns: the other columns are public in
// the plan and in the ledger, and the ledger rejects a run that uses a protected column as public.
func TestPrivateColumns(t *testing.T) {
	table := must(dptrain.Open(houses))
	book := dptrain.OpenLedger(filepath.Join(t.TempDir(), "dptrain.ledger"))
	total := budget.Total{
		Epsilon:  2,
		Delta:    1e-5,
		Relation: budget.SubstitutePrivateColumns,
	}
	check(book.Register(
		t.Context(), "houses", total,
		"area", "garden",
	))
	run := dptrain.Run{
		Target:   "price",
		Epsilon:  1,
		Exclude:  []string{"ocean"},
		Relation: total.Relation,
		Ledger:   book,
		Dataset:  "houses",
		Columns:  map[string]dptrain.Column{"area": {Private: true}},
	}
	_, err := must(run.Plan(table)).Fit(t.Context(), table)
	if !errors.Is(err, ledger.ErrPublic) {
		t.Errorf("the garden is public: %v", err)
	}
	run.Columns["garden"] = dptrain.Column{Private: true}
	plan := must(run.Plan(table))
	fit := must(plan.Fit(t.Context(), table))
	if fit.Guarantee.Relation != total.Relation || fit.Unprotected == nil {
		t.Errorf(
			"%v, %+v",
			fit.Guarantee, fit.Unprotected,
		)
	}
}

// TestPrivateTarget checks a run that protects only the target: the features are public in the plan and in the
// ledger, and the model is trained. A run without any public column is rejected.
func TestPrivateTarget(t *testing.T) {
	table := must(dptrain.Open(houses))
	book := dptrain.OpenLedger(filepath.Join(t.TempDir(), "dptrain.ledger"))
	total := budget.Total{
		Epsilon:  2,
		Delta:    1e-5,
		Relation: budget.SubstitutePrivateColumns,
	}
	check(book.Register(t.Context(), "houses", total, "price"))
	run := dptrain.Run{
		Target:   "price",
		Epsilon:  1,
		Exclude:  []string{"ocean"},
		Relation: total.Relation,
		Ledger:   book,
		Dataset:  "houses",
		Columns:  map[string]dptrain.Column{"price": {Private: true}},
	}
	fit := must(must(run.Plan(table)).Fit(t.Context(), table))
	if fit.Guarantee.Relation != total.Relation ||
		fit.R2 == nil ||
		fit.R2.Value < .4 {
		t.Errorf(
			"%v, R² %+v",
			fit.Guarantee, fit.R2,
		)
	}
	for _, name := range table.Header {
		run.Columns[name] = dptrain.Column{Private: true}
	}
	delete(run.Columns, "ocean")
	_, err := run.Plan(table)
	if err == nil ||
		!strings.Contains(err.Error(), "no column of the run is public") {
		t.Errorf("nothing is public: %v", err)
	}
}

// TestStreamedRunRemovesScratch checks that a run removes its scratch file, and that a run that needs all records in
// memory is rejected before its plan is used.
func TestStreamedRunRemovesScratch(t *testing.T) {
	table := must(dptrain.Open(houses))
	folder := t.TempDir()
	run := dptrain.Run{
		Target:  "price",
		Epsilon: 1,
		Exclude: []string{"ocean"},
		Engine:  "stream",
		Scratch: folder,
	}
	fit := must(must(run.Plan(table)).Fit(t.Context(), table))
	rows := must(os.ReadFile(houses))
	if fit.Curator.Rows != bytes.Count(rows, []byte("\n"))-1 ||
		fit.R2 == nil ||
		fit.Curator.Seconds["read"] <= 0 {
		t.Errorf(
			"%d rows, R² %v",
			fit.Curator.Rows, fit.R2,
		)
	}
	left := must(os.ReadDir(folder))
	if len(left) > 0 {
		t.Errorf("%d folders are left", len(left))
	}
	for _, engine := range []string{"memory", "auto"} {
		run.Engine = engine
		must(must(run.Plan(table)).Fit(t.Context(), table))
	}
	run.Engine = "disk"
	_, err := must(run.Plan(table)).Fit(t.Context(), table)
	if err == nil {
		t.Error("an engine of another name")
	}
	loans := must(dptrain.Open("testdata/loans.csv"))
	run = dptrain.Run{
		Target:  "repaid",
		Classes: []string{"no", "yes"},
		Epsilon: 1,
		Exclude: []string{"home", "purpose", "rating"},
		Engine:  "stream",
		Model:   svm.SVM{},
	}
	plan := must(run.Plan(loans))
	for range 2 {
		_, err := plan.Fit(t.Context(), loans)
		if !errors.Is(err, pipeline.ErrEngine) {
			t.Errorf("the minimiser of all rows: %v", err)
		}
	}
}

// TestForeignSelectorAndTrainerAreNamed checks that selectors and trainers of other packages replace the default, and
// that the release names them.
func TestForeignSelectorAndTrainerAreNamed(t *testing.T) {
	table := must(dptrain.Open(houses))
	run := dptrain.Run{
		Target:   "price",
		Epsilon:  3,
		Exclude:  []string{"ocean"},
		Holdout:  dptrain.None,
		Selector: selection.Kendall{K: 5},
		Model:    tukey.Tukey{Buckets: 400},
	}
	plan := must(run.Plan(table))
	if plan.Method() != "tukey" || plan.Recipe() != nil {
		t.Errorf(
			"method %s, recipe %s",
			plan.Method(), plan.Recipe(),
		)
	}
	fit := must(plan.Fit(t.Context(), table))
	if fit.R2 != nil || len(fit.Selected) != 5 {
		t.Errorf("%+v", fit)
	}
	out := t.TempDir()
	check(fit.Save(out))
	v := must(
		report.Verify(
			t.Context(),
			filepath.Join(out, "release"),
			report.VerifyOptions{},
		))
	if v.Err() != nil {
		t.Errorf("verify: %+v", v)
	}
	r := must(
		report.Decode(
			bytes.NewReader(must(os.ReadFile(filepath.Join(
				out,
				"release",
				"report.json",
			))))))
	if r.Model.Method != "tukey" {
		t.Errorf("%+v", r.Model)
	}
}

// filesIn lists the files below a folder.
func filesIn(dir string) []string {
	var out []string
	for _, list := range []string{"*/*", "*/*/*"} {
		for _, path := range must(filepath.Glob(filepath.Join(dir, list))) {
			info := must(os.Stat(path))
			if !info.IsDir() {
				out = append(out, filepath.ToSlash(must(filepath.Rel(dir, path))))
			}
		}
	}
	slices.Sort(out)
	return out
}
