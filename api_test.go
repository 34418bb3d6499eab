package dptrain_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/svm"
	"github.com/dptrain/dptrain/tukey"
)

// TestExampleRecipesPlanAsRuns checks that the run of every example recipe is planned step by step as the recipe
// itself, and publishes the same text.
func TestExampleRecipesPlanAsRuns(t *testing.T) {
	examples := must(filepath.Glob("examples/*.yaml"))
	if len(examples) < 20 {
		t.Fatalf("%d examples", len(examples))
	}
	for i, path := range examples {
		run, err := dptrain.ReadRecipe(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		table := must(run.Open())
		plan, err := run.Plan(table)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		r := must(recipe.Load(path))
		// By default a recipe is priced a second time in one of two ways, in turn.
		if testkit.Full() || i%2 == 0 {
			want := must(must(r.Pipeline(table.Header)).Plan())
			if !slices.EqualFunc(plan.Steps(), want.Leaves(), func(a, b budget.PricedLeaf) bool {
				return a.Path == b.Path && a.Law == b.Law
			}) {
				t.Errorf("%s: the steps differ", path)
			}
		}
		r.Data.Header = table.Header
		published := must(r.Public())
		if !bytes.Equal(plan.Recipe(), published) {
			t.Errorf(
				"%s: publishes\n%s\nnot\n%s",
				path, plan.Recipe(), published,
			)
		}
		again, err := dptrain.ParseRecipe("published", plan.Recipe())
		if err != nil {
			t.Errorf("%s: as published: %v", path, err)
			continue
		}
		if again.Ledger != nil {
			again.Ledger = nil
			again.Dataset = "" // its file is not published
		}
		if !testkit.Full() && i%2 == 0 {
			continue
		}
		priced, err := again.Plan(must(again.Open()))
		if err != nil ||
			priced.Guarantee().String() != plan.Guarantee().String() {
			t.Errorf("%s: as published: %v", path, err)
		}
	}
}

// TestRecipeIsChanged checks that fields set after reading override the recipe, and that no other field is
// lost.
func TestRecipeIsChanged(t *testing.T) {
	text := "data: {path: " + houses +
		", target: price, exclude: [ocean]}\nprivacy: {epsilon: 1}\n" +
		"model: {method: tukey, fallback: joint-gram, buckets: 450}\n"
	run := must(dptrain.ParseRecipe("r", []byte(text)))
	table := must(run.Open())
	run.Epsilon = 3
	run.Holdout = dptrain.None
	plan := must(run.Plan(table))
	g := plan.Guarantee()
	if g.Epsilon != 3 ||
		plan.Method() != "tukey" ||
		!strings.Contains(string(plan.Recipe()), "fallback: joint-gram") {
		t.Errorf(
			"%v %s\n%s",
			g, plan.Method(), plan.Recipe(),
		)
	}
	run.Model = adassp.AdaSSP{}
	_, err := run.Plan(table)
	if !errors.Is(err, pipeline.ErrFallback) {
		t.Errorf(
			"the fallback is the recipe's, and adassp never abstains: %v",
			err,
		)
	}
	run.Model = tukey.Tukey{Buckets: 450}
	run.Fallback = adassp.AdaSSP{}
	other := must(run.Plan(table))
	if other.Recipe() != nil ||
		!slices.ContainsFunc(other.Steps(), func(l budget.PricedLeaf) bool {
			return strings.Contains(l.Path, "adassp")
		}) {
		t.Error("the fallback that was set is not planned")
	}
}

// TestRecipeMistakes checks that an invalid recipe is rejected with the places of its mistakes, and that a run
// that names no table cannot be opened.
func TestRecipeMistakes(t *testing.T) {
	var problems dptrain.Problems
	_, err := dptrain.ParseRecipe(
		"r.yaml",
		[]byte("data: {target: y}\nprivacy: {epsilon: -1}\n"),
	)
	if !errors.As(err, &problems) ||
		problems[len(problems)-1].Line == 0 {
		t.Errorf("%v", err)
	}
	_, err = dptrain.ReadRecipe("absent.yaml")
	if !errors.As(err, &problems) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	table, err := (dptrain.Run{Target: "y", Epsilon: 1}).Open()
	if table != nil || err == nil {
		t.Errorf("%v, %v", table, err)
	}
	run := must(
		dptrain.ParseRecipe(
			"r.yaml",
			[]byte("data: {path: absent.csv, target: y}\nprivacy: {epsilon: 1}\n"),
		))
	table, err = run.Open()
	if table != nil || !errors.Is(err, dataset.ErrUnreadable) {
		t.Errorf("%v, %v", table, err)
	}
}

// memoryTable returns a table in memory with a numeric column, a category column, an unused column and classes.
func memoryTable(t *testing.T) *dataset.Table {
	t.Helper()
	const n = 4000
	dose := make([]float64, n)
	noise := make([]float64, n)
	home := make([]int32, n)
	repaid := make([]int32, n)
	for i := range n {
		dose[i] = float64(i%100) / 10
		home[i] = int32(i % 3)
		if dose[i] < 5 {
			repaid[i] = 1
		}
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:       "dose",
			Ranged:     true,
			Lower:      0,
			Upper:      10,
			HasMissing: true,
			Missing:    5,
		},
		{
			Name:       "home",
			Kind:       dataset.Category,
			Categories: []string{"rent", "own"},
			Other:      true,
		},
		{Name: "noise"},
		{
			Name:       "repaid",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}}
	return must(
		dataset.NewTable(
			schema,
			[]dataset.ColumnData{
				{Floats: dose},
				{Codes: home},
				{Floats: noise},
				{Codes: repaid},
			},
			nil,
		))
}

// TestHold checks that a table in memory declares its columns, that columns may be left out, that a release is
// written and that the model predicts the table.
func TestHold(t *testing.T) {
	table := dptrain.Hold(memoryTable(t))
	plan := must(dptrain.Run{
		Target:  "repaid",
		Epsilon: 2,
		Exclude: []string{"noise"},
	}.Plan(table))
	for _, want := range []string{"task: classification", "upper: 10", "missing: 5", "[rent, own]",
		"classes:"} {
		if !strings.Contains(string(plan.Recipe()), want) {
			t.Errorf(
				"no %q in\n%s",
				want, plan.Recipe(),
			)
		}
	}
	fit := must(plan.Fit(t.Context(), table))
	out := filepath.Join(t.TempDir(), "out")
	check(fit.Save(out))
	model := must(dptrain.ReadModel(filepath.Join(out, "release", "model.json")))
	predictions := must(dptrain.Predict(t.Context(), model, table))
	if len(predictions) != 4000 ||
		fit.Confusion == nil ||
		!slices.Equal(fit.Considered, []string{"dose", "home"}) {
		t.Errorf(
			"%d predictions, %+v",
			len(predictions), fit,
		)
	}
	err := must(
		dptrain.Verify(
			t.Context(),
			filepath.Join(out, "release"), nil,
		)).Err()
	if err != nil {
		t.Error(err)
	}
	read := must(dptrain.ReadReport(filepath.Join(out, "release", "report.json")))
	var ofFile, ofFit strings.Builder
	check(read.WriteText(&ofFile))
	check(fit.Report().WriteText(&ofFit))
	if ofFile.String() != ofFit.String() || ofFile.Len() == 0 {
		t.Errorf(
			"the report of the file\n%s\nand of the run\n%s",
			&ofFile, &ofFit,
		)
	}
	if err := fit.Save(out); !errors.Is(err, dptrain.ErrExists) {
		t.Errorf("a second save: %v", err)
	}
	other := dptrain.Run{
		Target:  "dose",
		Epsilon: 2,
		Columns: map[string]dptrain.Column{"home": dptrain.Categories("own")},
	}
	if _, err := other.Plan(table); !errors.Is(err, dptrain.ErrSchema) {
		t.Errorf("other categories: %v", err)
	}
	if _, err := plan.Fit(t.Context(), table); !errors.Is(err, dptrain.ErrOpened) {
		t.Errorf("a second fit: %v", err)
	}
	fit, err = plan.Again().Fit(t.Context(), table)
	if err != nil || fit.Confusion == nil {
		t.Errorf("one run more: %v", err)
	}
}

// TestHoldUnits checks that the units of a table in memory stay with its records, and that a table without
// units is rejected.
func TestHoldUnits(t *testing.T) {
	const n = 3000
	x := make([]float64, n)
	ids := make([]uint64, n)
	for i := range n {
		x[i] = float64(i % 50)
		ids[i] = uint64(i / 3)
	}
	columns := []dataset.Column{
		{
			Name:   "x",
			Ranged: true,
			Upper:  50,
		},
		{
			Name:   "y",
			Ranged: true,
			Upper:  50,
		},
	}
	held := must(
		dataset.NewTable(
			dataset.Schema{Columns: columns, Unit: "person"},
			[]dataset.ColumnData{{Floats: x}, {Floats: x}},
			ids,
		))
	run := dptrain.Run{
		Target:  "y",
		Epsilon: 2,
		Unit:    budget.Unit{Column: "person", MaxRows: 2},
	}
	fit := must(must(run.Plan(dptrain.Hold(held))).Fit(t.Context(), dptrain.Hold(held)))
	kept := fit.Curator.TrainRows + fit.Curator.HoldoutRows
	if kept != n/3*2 {
		t.Errorf(
			"%d records are kept of %d units",
			kept, n/3,
		)
	}
	none := must(
		dataset.NewTable(
			dataset.Schema{Columns: append(columns, dataset.Column{Name: "person"})},
			[]dataset.ColumnData{{Floats: x}, {Floats: x}, {Floats: x}},
			nil,
		))
	_, err := run.Plan(dptrain.Hold(none))
	if !errors.Is(err, dptrain.ErrSchema) {
		t.Errorf("without units: %v", err)
	}
}

// TestDeclaredScaling checks that a column without a range is rejected if ranges may not be found privately.
func TestDeclaredScaling(t *testing.T) {
	run := dptrain.Run{
		Target:          "price",
		Epsilon:         1,
		Exclude:         []string{"ocean"},
		DeclaredScaling: true,
	}
	var problems dptrain.Problems
	_, err := run.Plan(must(dptrain.Open(houses)))
	if !errors.As(err, &problems) ||
		!strings.Contains(err.Error(), "lower") {
		t.Errorf("%v", err)
	}
}

// TestSharesMatchPlanAndRecipe checks that the shares of a run match those of its plan and of its recipe, and that an
// unknown stage is rejected.
func TestSharesMatchPlanAndRecipe(t *testing.T) {
	table := &dptrain.Table{Header: []string{"a", "b", "c", "y"}}
	run := dptrain.Run{
		Target:   "y",
		Epsilon:  2,
		Selector: selection.Kendall{K: 1},
		Shares:   map[string]float64{"selection": .5, "ranges": .2},
	}
	plan, err := run.Plan(table)
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string]float64{}
	for _, l := range plan.Steps() {
		if l.Place.Part == "train" &&
			strings.HasPrefix(l.Place.Branch, "numbers") {
			shares[l.Place.Stage] += l.Share
		}
	}
	got := shares["selection"] / shares["scaling"]
	if math.Abs(got-2.5) > 1e-9 {
		t.Errorf(
			"selection has %v times what the ranges have: %v",
			got, shares,
		)
	}
	run.Selector = nil
	plan, err = run.Plan(
		&dptrain.Table{Header: strings.Split(
			"a,b,c,d,e,f,g,y",
			",",
		)})
	if err != nil ||
		!strings.Contains(
			string(plan.Recipe()),
			"budget:\n  ranges: 0.2\n  selection: 0.5\n",
		) {
		t.Errorf("%v %s", err, plan.Recipe())
	}
	run.Shares = map[string]float64{"choice": .5}
	_, err = run.Plan(table)
	if err == nil || !strings.Contains(err.Error(), `"choice"`) {
		t.Error(err)
	}
	run.Shares = map[string]float64{"selection": 1.5}
	_, err = run.Plan(table)
	if err == nil ||
		!strings.Contains(err.Error(), `Shares["selection"]`) {
		t.Error(err)
	}
}

// TestPureRun checks that a run in code has delta 0 if every stage is pure, whether the recipe or the code
// names the stages. Otherwise the run is rejected with the name of the stage that is not pure.
func TestPureRun(t *testing.T) {
	run := dptrain.Run{
		Target:  "repaid",
		Classes: []string{"no", "yes"},
		Exclude: []string{"home", "purpose", "rating"},
		Epsilon: 3,
		Delta:   dptrain.None,
		Holdout: dptrain.None,
	}
	table := must(dptrain.Open("testdata/loans.csv"))
	for name, change := range map[string]func(*dptrain.Run){
		"auto": func(*dptrain.Run) {},
		"selector": func(r *dptrain.Run) {
			r.Selector = selection.Kendall{K: 2}
		},
		"model": func(r *dptrain.Run) {
			r.Model = svm.SVM{Lambda: 5}
		},
		"both": func(r *dptrain.Run) {
			r.Selector = selection.SIS{K: 2}
			r.Model = boosting.BRC{}
		},
	} {
		r := run
		change(&r)
		plan, err := r.Plan(table)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fit, err := plan.Fit(context.Background(), table)
		if err != nil {
			t.Fatal(err)
		}
		g := plan.Guarantee()
		if g.Delta != 0 || g.Epsilon > 3 || fit.Model == nil {
			t.Errorf(
				"%s: %v, model %v",
				name, g, fit.Model,
			)
		}
	}
	for want, change := range map[string]func(*dptrain.Run){
		"the model (adassp) draws Gaussian noise": func(r *dptrain.Run) {
			r.Model = adassp.AdaSSP{}
		},
		"the selection (greedy-gram) draws Gaussian nois": func(r *dptrain.Run) {
			r.Selector = selection.GreedyGram{K: 2}
		},
	} {
		r := run
		change(&r)
		_, err := r.Plan(table)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCountFailure checks that the failure probability of the noisy count is part of the published recipe.
func TestCountFailure(t *testing.T) {
	table := must(dptrain.Open("testdata/loans.csv"))
	run := dptrain.Run{
		Target:       "repaid",
		Classes:      []string{"no", "yes"},
		Epsilon:      1,
		CountFailure: .2,
	}
	plan, err := run.Plan(table)
	if err != nil ||
		!strings.Contains(
			string(plan.Recipe()),
			"count:\n  failure: 0.2\n",
		) {
		t.Errorf(
			"%v\n%s",
			err, plan.Recipe(),
		)
	}
	run.CountFailure = .7
	_, err = run.Plan(table)
	if err == nil ||
		!strings.Contains(
			err.Error(),
			"CountFailure must be above 0 and at most 0.5, not 0.7",
		) {
		t.Error(err)
	}
}
