package docs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/tukey"
)

// TestPrograms runs the programs that docs/reference/go.md shows, one after the
// other, in a folder with copies of testdata/ and examples/. TestGoBlocks compares the texts.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"testdata", "examples"} {
		err := os.CopyFS(filepath.Join(dir, name),
			os.DirFS(filepath.Join("..", name)))
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if err := firstProgram(t.Context()); err != nil {
		t.Fatal(err)
	}
	predictions, err := predictTable(t.Context(), "out/release/model.json", "testdata/houses.csv")
	if err != nil || len(predictions) != 6000 {
		t.Errorf("%d predictions, %v", len(predictions), err)
	}
	for range 2 {
		if err := registerDataset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	table, err := dptrain.Open("testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	if fit, err := fitWithSettings(t.Context(), table); err != nil || fit.R2 != nil ||
		len(fit.Considered) != 9 {
		t.Errorf("%+v, %v", fit, err)
	}
	for range 7 {
		_, err = fitWithSettings(t.Context(), table)
	}
	if !refusedByLedger(err) || !strings.Contains(err.Error(), "epsilon fits") {
		t.Errorf("the eighth run of epsilon 3 within a total of 20: %v", err)
	}
	if fit, err := fromRecipe(t.Context(), "examples/classes.yaml"); err != nil ||
		fit.Confusion == nil {
		t.Errorf("%+v, %v", fit, err)
	}
	dose := make([]float64, 5000)
	for i := range dose {
		dose[i] = float64(i%1000) / 100
	}
	if fit, err := fromMemory(t.Context(), dose, dose); err != nil || fit.Winner < 0 ||
		fit.R2 == nil {
		t.Errorf("%+v, %v", fit, err)
	}
	fit, err := fromStructs(t.Context(), manyHouses())
	if err != nil {
		t.Fatal(err)
	}
	predictor, err := fit.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	servePrices(predictor).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/",
		strings.NewReader(`{"area": 80, "ocean": "inland"}`)))
	price, err := strconv.ParseFloat(strings.TrimSpace(answer.Body.String()), 64)
	if err != nil ||
		price < 100_000 || price > 300_000 {
		t.Errorf("%v, %v, want about 200,000", answer, err)
	}
	if err := verifyRelease(t.Context(), "out/release"); err != nil {
		t.Error(err)
	}
}

// firstProgram is the first program of docs/reference/go.md.
func firstProgram(ctx context.Context) error {
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

// fitWithSettings is the second program of docs/reference/go.md.
func fitWithSettings(ctx context.Context, table *dptrain.Table) (*dptrain.Fit, error) {
	run := dptrain.Run{
		Target: "price", Epsilon: 3,
		Columns: map[string]dptrain.Column{
			"age":   dptrain.Range(0, 90),
			"ocean": dptrain.Categories("inland", "near bay", "near ocean", "island"),
		},
		Selector: selection.Kendall{K: 5},
		Model:    tukey.Tukey{Buckets: 400},
		Holdout:  dptrain.None,
		Ledger:   dptrain.OpenLedger("dptrain.ledger"),
		Dataset:  "houses",
		Progress: func(share float64, stage string) {
			fmt.Printf("%3.0f%% %s\n", 100*share, stage)
		},
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	return plan.Fit(ctx, table)
}

// registerDataset enters the total of the data set.
func registerDataset(ctx context.Context) error {
	book := dptrain.OpenLedger("dptrain.ledger")
	err := book.Register(ctx, "houses", budget.Total{Epsilon: 20, Delta: 1e-5, BlackBox: 5e-6})
	if errors.Is(err, dptrain.ErrRegistered) {
		return nil // a total is fixed once
	}
	return err
}

// refusedByLedger reports whether a run was refused by its ledger.
func refusedByLedger(err error) bool {
	var spent *dptrain.SpentError
	return errors.As(err, &spent)
}

// fromRecipe trains the model of a recipe file.
func fromRecipe(ctx context.Context, path string) (*dptrain.Fit, error) {
	run, err := dptrain.ReadRecipe(path)
	if err != nil {
		return nil, err
	}
	table, err := run.Open() // the table that the recipe names
	if err != nil {
		return nil, err
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	fit, err := plan.Fit(ctx, table)
	if err != nil {
		return nil, err
	}
	for _, w := range fit.Warnings {
		fmt.Printf("%s[%s]: %s\n", w.Severity, w.Code, w.Text)
	}
	return fit, nil
}

// House is a record of fromStructs.
type House struct {
	Area  float64 `dptrain:"area" json:"area"`
	Ocean string  `dptrain:"ocean" json:"ocean"`
	Price float64 `dptrain:"price" json:"-"`
}

// manyHouses returns houses whose price is 2,500 a square metre inland and 4,000 elsewhere.
func manyHouses() []House {
	houses := make([]House, 20_000)
	for i := range houses {
		area := 40 + float64(i%97)
		houses[i] = House{area, "inland", 2500 * area}
		if i%3 == 0 {
			houses[i] = House{area, "island", 4000 * area}
		}
	}
	return houses
}

// fromStructs trains on structs.
func fromStructs(ctx context.Context, houses []House) (*dptrain.Fit, error) {
	table, err := dptrain.HoldRows(houses)
	if err != nil {
		return nil, err
	}
	run := dptrain.Run{
		Target: "price", Epsilon: 3,
		Columns: map[string]dptrain.Column{
			"area":  dptrain.Range(20, 200),
			"ocean": dptrain.Categories("inland", "island"),
		},
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	return plan.Fit(ctx, table)
}

// servePrices answers a house in JSON with its price.
func servePrices(predictor *regression.Predictor) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var house House
		if err := json.NewDecoder(r.Body).Decode(&house); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		price, err := predictor.PredictStruct(house)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, price)
	})
}

// fromMemory trains on records in memory with two different methods.
func fromMemory(ctx context.Context, dose, response []float64) (*dptrain.Fit, error) {
	schema := dataset.Schema{Columns: []dataset.Column{{
		Name:   "dose",
		Ranged: true,
		Lower:  0,
		Upper:  10,
	}, {Name: "response"}}}
	records, err := dataset.NewTable(schema,
		[]dataset.ColumnData{{Floats: dose}, {Floats: response}}, nil)
	if err != nil {
		return nil, err
	}
	table := dptrain.Hold(records)
	run := dptrain.Run{
		Target: "response", Epsilon: 1,
		Search: &dptrain.Search{
			Runs:    3,
			Holdout: .1,
			Candidates: []dptrain.Candidate{{Model: adassp.JointGram{}},
				{Model: boosting.Additive{}}},
		},
	}
	plan, err := run.Plan(table)
	if err != nil {
		return nil, err
	}
	return plan.Fit(ctx, table)
}

// predictTable applies a model file to a table.
func predictTable(ctx context.Context, modelFile, tableFile string) ([]float64, error) {
	model, err := dptrain.ReadModel(modelFile)
	if err != nil {
		return nil, err
	}
	table, err := dptrain.Open(tableFile)
	if err != nil {
		return nil, err
	}
	return dptrain.Predict(ctx, model, table)
}

// verifyRelease prints the report of a release, and verifies it.
func verifyRelease(ctx context.Context, release string) error {
	report, err := dptrain.ReadReport(filepath.Join(release, "report.json"))
	if err != nil {
		return err
	}
	if err := report.WriteText(os.Stdout); err != nil {
		return err
	}
	found, err := dptrain.Verify(ctx, release, nil) // or with the ledger of the run
	if err != nil {
		return err
	}
	return found.Err()
}
