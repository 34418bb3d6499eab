package docs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/recipe"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/report"
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
	if err := declared(t.Context()); err != nil {
		t.Fatal(err)
	}
	predictions, err := predict(t.Context(), "out/release/model.json", "testdata/houses.csv")
	if err != nil || len(predictions) != 6000 {
		t.Errorf("%d predictions, %v", len(predictions), err)
	}
	result, err := fromRecipe(t.Context(), "examples/classes.yaml")
	if err != nil || result.Confusion == nil {
		t.Errorf("%+v, %v", result, err)
	}
}

// declared is the program of README.md and of docs/start/go.md.
func declared(ctx context.Context) error {
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "area"},
			{Name: "age", Ranged: true, Lower: 0, Upper: 90},
			{Name: "ocean", Kind: dataset.Category, Categories: []string{"inland", "near bay", "near ocean", "island"}},
			{Name: "price"},
		}},
		Target:  "price",
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
		Holdout: pipeline.DefaultHoldout,
	}
	plan, err := p.Plan() // the price; no row is read
	if err != nil {
		return err
	}
	fmt.Println(plan.Guarantee().Mu)

	table, stats, err := dataset.Read(ctx, "testdata/houses.csv", p.Schema, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	result, err := p.Fit(ctx, table, pipeline.Options{})
	if err != nil {
		return err
	}
	fmt.Println(result.R2.Value, result.R2.Lower, result.R2.Upper)
	return report.Write(ctx, "out", report.Files{
		Model:  result.Model,
		Report: report.New(result),
		Run:    report.NewRun(result, stats), // for the owner of the data only
	}, false)
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
