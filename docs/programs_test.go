package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/tukey"
)

// TestPrograms runs the programs that README.md and docs/start/go.md show, one after the
// other, in a folder with copies of testdata/ and examples/. TestGoBlocks compares the texts.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"testdata", "examples"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", name))); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if err := first(t.Context()); err != nil {
		t.Fatal(err)
	}
	predictions, err := predict(t.Context(), "out/release/model.json", "testdata/houses.csv")
	if err != nil || len(predictions) != 6000 {
		t.Errorf("%d predictions, %v", len(predictions), err)
	}
	if _, err := ledger.At("dptrain.ledger", ledger.Options{}).Register(t.Context(), "houses", budget.Total{Epsilon: 20, Delta: 1e-5, BlackBox: 5e-6}); err != nil {
		t.Fatal(err)
	}
	table, err := dptrain.Open("testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	if fit, err := expert(t.Context(), table); err != nil || fit.R2 != nil || len(fit.Considered) != 9 {
		t.Errorf("%+v, %v", fit, err)
	}
	result, err := fromRecipe(t.Context(), "examples/classes.yaml")
	if err != nil || result.Confusion == nil {
		t.Errorf("%+v, %v", result, err)
	}
}

// first is the program of README.md and of docs/start/go.md.
func first(ctx context.Context) error {
	table, err := dptrain.Open("testdata/houses.csv") // the names of its columns
	if err != nil {
		return err
	}
	run := dptrain.Run{Target: "price", Epsilon: 1, Exclude: []string{"ocean"}}
	plan, err := run.Plan(table) // the price; no row is read
	if err != nil {
		return err
	}
	fit, err := plan.Fit(ctx, table)
	if err != nil {
		return err
	}
	fmt.Println(fit.R2, fit.Guarantee)
	return fit.Save("out")
}

// expert is the second program of docs/start/go.md.
func expert(ctx context.Context, table *dptrain.Table) (*dptrain.Fit, error) {
	run := dptrain.Run{
		Target: "price", Epsilon: 3,
		Columns: map[string]dptrain.Column{
			"age":   dptrain.Range(0, 90),
			"ocean": dptrain.Categories("inland", "near bay", "near ocean", "island"),
		},
		Selector: selection.Kendall{K: 5},
		Model:    tukey.Tukey{Buckets: 400},
		Holdout:  dptrain.None,
		Ledger:   ledger.At("dptrain.ledger", ledger.Options{}),
		Dataset:  "houses",
		Progress: func(share float64, stage string) { fmt.Printf("%3.0f%% %s\n", 100*share, stage) },
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	return plan.Fit(ctx, table)
}

// fromRecipe trains what a recipe says.
func fromRecipe(ctx context.Context, path string) (*pipeline.Result, error) {
	r, err := recipe.Load(path)
	if err != nil {
		return nil, err
	}
	options := dataset.ReadOptions{MultilineQuotes: r.Data.MultilineQuotes}
	header, err := dataset.Header(r.DataFile(), options)
	if err != nil {
		return nil, err
	}
	p, err := r.Pipeline(header)
	if err != nil {
		return nil, err
	}
	table, _, err := dataset.Read(ctx, r.DataFile(), p.Schema, options)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, table, pipeline.Options{})
}

// predict applies a model file to a table.
func predict(ctx context.Context, modelFile, tableFile string) ([]float64, error) {
	f, err := os.Open(modelFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	model, err := regression.DecodeModel(f)
	if err != nil {
		return nil, err
	}
	var schema dataset.Schema
	for _, c := range model.Inputs() {
		column := dataset.Column{Name: c.Name}
		if c.Type == regression.Category {
			column.Kind, column.Categories, column.Other = dataset.Category, c.Categories, c.Other
		}
		schema.Columns = append(schema.Columns, column)
	}
	table, _, err := dataset.Read(ctx, tableFile, schema, dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return model.Predict(nil, pipeline.RowsOf(table.All()))
}
