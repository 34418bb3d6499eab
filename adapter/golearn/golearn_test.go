package golearn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/evaluation"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adapter/golearn"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

// newGrid builds dense instances: the last attribute is the class.
func newGrid(attributes []base.Attribute, rows ...[]any) *base.DenseInstances {
	g := base.NewDenseInstances()
	specs := make([]base.AttributeSpec, len(attributes))
	for i, a := range attributes {
		specs[i] = g.AddAttribute(a)
	}
	err := g.AddClassAttribute(attributes[len(attributes)-1])
	if err != nil {
		panic(err)
	}
	if err := g.Extend(len(rows)); err != nil {
		panic(err)
	}
	for r, row := range rows {
		for i, cell := range row {
			switch v := cell.(type) {
			case float64:
				g.Set(specs[i], r, base.PackFloatToBytes(v))
			case bool:
				b := []byte{0}
				if v {
					b[0] = 1
				}
				g.Set(specs[i], r, b)
			case string:
				g.Set(specs[i], r, attributes[i].GetSysValFromString(v))
			case uint64:
				g.Set(specs[i], r, base.PackU64ToBytes(v))
			}
		}
	}
	return g
}

func newCategorical(name string, values ...string) *base.CategoricalAttribute {
	a := base.NewCategoricalAttribute()
	a.SetName(name)
	for _, v := range values {
		a.GetSysValFromString(v)
	}
	return a
}

func housesGrid() *base.DenseInstances {
	return newGrid(
		[]base.Attribute{
			base.NewFloatAttribute("rooms"),
			newCategorical("ocean", "near bay", "inland", "island"),
			base.NewBinaryAttribute("garden"),
			base.NewFloatAttribute("price"),
		},
		[]any{3.0, "inland", true, 110.0},
		[]any{math.NaN(), "near bay", false, 235.0},
		[]any{50.0, "island", true, 260.0},
		[]any{2.0, uint64(1 << 40), false, 0.0}, // a code that makes golearn itself panic
	)
}

func housesModel() *regression.Linear {
	return &regression.Linear{
		Target: "price",
		Columns: []regression.Column{
			{Name: "garden", Upper: 1},
			{
				Name:       "ocean",
				Type:       regression.Category,
				Categories: []string{"inland", "near bay"},
				Other:      true,
			},
			{
				Name:    "rooms",
				Lower:   1,
				Upper:   10,
				Missing: 4,
			},
		},
		Terms: []regression.Term{
			{Column: 2, Coefficient: 20},
			{
				Column:      1,
				Category:    "near bay",
				Coefficient: 100,
			},
			{Column: 1, Other: true, Coefficient: 7},
			{Column: 0, Coefficient: 1},
		},
		Intercept: 50,
		Lower:     0,
		Upper:     1000,
	}
}

var housesPredictions = []float64{111, 230, 258, 97}

func TestPredictRegression(t *testing.T) {
	g := housesGrid()
	reversed := base.NewInstancesViewFromVisible(
		g,
		[]int{3, 2, 1, 0},
		g.AllAttributes(),
	)
	swapped := base.NewInstancesViewFromRows(g, map[int]int{0: 3, 3: 0})
	for _, c := range []struct {
		grid  base.FixedDataGrid
		order []int
	}{
		{g, []int{0, 1, 2, 3}},
		{reversed, []int{3, 2, 1, 0}},
		{swapped, []int{3, 1, 2, 0}},
	} {
		out, err := golearn.New(housesModel()).Predict(c.grid)
		if err != nil {
			t.Fatal(err)
		}
		got, err := golearn.Target(out)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := golearn.Target(c.grid)
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range c.order {
			if got[i] != housesPredictions[from] {
				t.Errorf(
					"row %d: %v, want %v",
					i, got[i], housesPredictions[from],
				)
			}
			want := []float64{110, 235, 260, 0}[from]
			if truth[i] != want {
				t.Errorf(
					"true row %d: %v, want %v",
					i, truth[i], want,
				)
			}
		}
		attributes, rows := out.Size()
		if attributes != 1 ||
			rows != 4 ||
			out.AllClassAttributes()[0].GetName() != "price" {
			t.Errorf(
				"%d attributes, %d rows, classes %v",
				attributes,
				rows,
				out.AllClassAttributes(),
			)
		}
	}
}

func TestPredictWithoutClassOrRows(t *testing.T) {
	g := housesGrid()
	if err := g.RemoveClassAttribute(base.NewFloatAttribute("price")); err != nil {
		t.Fatal(err)
	}
	out, err := golearn.New(housesModel()).Predict(g)
	if err != nil {
		t.Fatal(err)
	}
	got, err := golearn.Target(out)
	if err != nil || !slices.Equal(got, housesPredictions) {
		t.Error(got, err)
	}
	empty := newGrid(
		[]base.Attribute{
			base.NewFloatAttribute("rooms"),
			newCategorical("ocean"),
			base.NewBinaryAttribute("garden"),
			base.NewFloatAttribute("price"),
		})
	out, err = golearn.New(housesModel()).Predict(empty)
	if err != nil {
		t.Fatal(err)
	}
	_, rows := out.Size()
	if rows != 0 {
		t.Errorf("%d rows", rows)
	}
}

func TestAdapterRefusesInvalidInput(t *testing.T) {
	price := base.NewFloatAttribute("price")
	rooms := base.NewFloatAttribute("rooms")
	ocean := newCategorical("ocean")
	garden := base.NewBinaryAttribute("garden")
	several := housesGrid()
	if err := several.AddClassAttribute(rooms); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		grid      base.FixedDataGrid
		want      error
		attribute string
	}{
		"absent column": {
			newGrid([]base.Attribute{rooms, garden, price}),
			golearn.ErrAttributeAbsent,
			"ocean",
		},
		"number as category": {
			newGrid(
				[]base.Attribute{rooms, base.NewFloatAttribute("ocean"), garden, price}),
			golearn.ErrAttributeType,
			"ocean",
		},
		"category as number": {
			newGrid([]base.Attribute{newCategorical("rooms"), ocean, garden, price}),
			golearn.ErrAttributeType,
			"rooms",
		},
		"name twice": {
			newGrid(
				[]base.Attribute{
					rooms,
					ocean,
					garden,
					base.NewBinaryAttribute("rooms"),
					price,
				}),
			golearn.ErrAttributeTwice,
			"rooms",
		},
		"other class": {
			newGrid(
				[]base.Attribute{rooms, ocean, garden, base.NewFloatAttribute("rent")}),
			golearn.ErrClassMismatch,
			"",
		},
		"class type": {
			newGrid([]base.Attribute{rooms, ocean, garden, newCategorical("price")}),
			golearn.ErrClassMismatch,
			"",
		},
		"several classes": {several, golearn.ErrClass, ""},
	} {
		_, err := golearn.New(housesModel()).Predict(c.grid)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s: %v, want %v",
				name, err, c.want,
			)
		}
		var problem *golearn.AttributeError
		if errors.As(err, &problem) != (c.attribute != "") ||
			problem != nil && problem.Attribute != c.attribute {
			t.Errorf(
				"%s: %v names the wrong attribute",
				name, err,
			)
		}
	}
	none := golearn.New(nil)
	if _, err := none.Predict(housesGrid()); !errors.Is(err, golearn.ErrNoModel) {
		t.Errorf("Predict without a model: %v", err)
	}
	err := none.Save(filepath.Join(t.TempDir(), "m"))
	if !errors.Is(err, golearn.ErrNoModel) {
		t.Errorf("Save without a model: %v", err)
	}
	err = golearn.New(housesModel()).Fit(housesGrid())
	if !errors.Is(err, golearn.ErrNoFit) {
		t.Errorf("Fit: %v", err)
	}
	_, err = golearn.Design(housesGrid())
	if !errors.Is(err, golearn.ErrAttributeType) {
		t.Errorf("a design with categories: %v", err)
	}
}

func TestFit(t *testing.T) {
	failure := errors.New("failure")
	fail := false
	c := golearn.NewTrainable(func(g base.FixedDataGrid) (regression.Model, error) {
		if fail {
			return nil, failure
		}
		d, err := golearn.Design(g)
		if err != nil {
			return nil, err
		}
		return nonprivate.OLS(context.Background(), d)
	})
	g := newGrid(
		[]base.Attribute{base.NewFloatAttribute("x"), base.NewBinaryAttribute("z"),
			base.NewFloatAttribute("y")},
		[]any{1.0, true, 13.0},
		[]any{2.0, false, 5.0},
		[]any{3.0, false, 7.0},
		[]any{4.0, true, 19.0},
	)
	if err := c.Fit(g); err != nil {
		t.Fatal(err)
	}
	out, err := c.Predict(g)
	if err != nil {
		t.Fatal(err)
	}
	pred, _ := golearn.Target(out)
	truth, _ := golearn.Target(g)
	r2 := regression.R2(pred, truth)
	if math.Abs(r2-1) > 1e-9 {
		t.Errorf("R2 %v on rows of an exact plane", r2)
	}
	model := c.Model()
	fail = true
	if err := c.Fit(g); !errors.Is(err, failure) || c.Model() != model {
		t.Errorf(
			"after a failure: %v, %v",
			err, c.Model(),
		)
	}
	err = golearn.NewTrainable(func(base.FixedDataGrid) (regression.Model, error) {
		return nil, nil
	}).Fit(g)
	if !errors.Is(err, golearn.ErrNoModel) {
		t.Errorf("a fit of nothing: %v", err)
	}
}

func TestTableUsesDeclaredCategories(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:       "ocean",
			Kind:       dataset.Category,
			Categories: []string{"inland", "near bay"},
		},
		{
			Name:       "garden",
			Kind:       dataset.Category,
			Categories: []string{"1", "0"},
		},
		{Name: "price"},
		{
			Name:       "rooms",
			HasMissing: true,
			Missing:    4,
		},
	}}
	table, err := golearn.Table(housesGrid(), schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := table.Codes(0)
	if !slices.Equal(got, []int32{0, 1, 2, 2}) {
		t.Errorf("ocean: %v", got)
	}
	got = table.Codes(1)
	if !slices.Equal(got, []int32{0, 1, 0, 1}) {
		t.Errorf("garden: %v", got)
	}
	if got := table.Float(2); !slices.Equal(got, []float64{110, 235, 260, 0}) {
		t.Errorf("price: %v", got)
	}
	if got := table.Float(3); !slices.Equal(got, []float64{3, 4, 50, 2}) {
		t.Errorf("rooms: %v", got)
	}
	table, err = golearn.Table(housesGrid(), dataset.Schema{}, nil)
	if err != nil || table.Len() != 4 {
		t.Errorf("no columns: %v", err)
	}
	schema.Columns[2].Name = "rent"
	_, err = golearn.Table(housesGrid(), schema, nil)
	if !errors.Is(err, golearn.ErrAttributeAbsent) {
		t.Errorf("absent column: %v", err)
	}
}

// TestManyAttributesKeepTheirNames uses more than twelve attributes, which golearn's ResolveAttributes may
// reorder.
func TestManyAttributesKeepTheirNames(t *testing.T) {
	var attributes []base.Attribute
	var row []any
	for i := range 60 {
		attributes = append(attributes, base.NewFloatAttribute(fmt.Sprint("a", i)))
		row = append(row, float64(i))
	}
	d, err := golearn.Design(newGrid(attributes, row))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range d.Names {
		want := fmt.Sprint("a", d.X[i][0])
		if name != want {
			t.Errorf("%s holds the cells of %s", name, want)
		}
	}
	if d.Target != "a59" ||
		d.Y[0] != 59 ||
		len(d.Names) != 59 {
		t.Errorf(
			"target %s %v, %d columns",
			d.Target, d.Y,
			len(d.Names),
		)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.json")
	saved := golearn.New(housesModel())
	if err := saved.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded := golearn.New(nil)
	if err := loaded.Load(path); err != nil {
		t.Fatal(err)
	}
	samePredictions(t, loaded)
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *regression.DecodeError
	if err := loaded.Load(path); !errors.As(err, &refused) {
		t.Errorf("a spoilt file: %v", err)
	}
	samePredictions(t, loaded)
	if err := loaded.Load(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf(
			"temporary files are left: %v %v",
			left, err,
		)
	}
	if err := saved.Save(filepath.Join(path, "under", "a", "file")); err == nil {
		t.Error("saved below a file")
	}
}

func samePredictions(t *testing.T, c *golearn.Classifier) {
	t.Helper()
	out, err := c.Predict(housesGrid())
	if err != nil {
		t.Fatal(err)
	}
	got, err := golearn.Target(out)
	if err != nil || !slices.Equal(got, housesPredictions) {
		t.Error(got, err)
	}
}

func TestEnsembleParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ensemble")
	saved := golearn.New(housesModel())
	w, err := base.CreateSerializedClassifierStub(path, saved.GetMetadata())
	if err != nil {
		t.Fatal(err)
	}
	other := saved.GetMetadata()
	other.ClassifierName = "KNN"
	for prefix, metadata := range map[string]base.ClassifierMetadataV1{
		"mine":  saved.GetMetadata(),
		"other": other,
	} {
		if err := w.WriteMetadataAtPrefix(prefix, metadata); err != nil {
			t.Fatal(err)
		}
		if err := saved.SaveWithPrefix(w, prefix); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := base.ReadSerializedClassifierStub(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	loaded := golearn.New(nil)
	err = loaded.LoadWithPrefix(r, "other")
	if !errors.Is(err, golearn.ErrSavedModel) || loaded.Model() != nil {
		t.Errorf("another classifier's part: %v", err)
	}
	if err := loaded.LoadWithPrefix(r, "mine"); err != nil {
		t.Fatal(err)
	}
	samePredictions(t, loaded)
}

// threshold is a classification model: the class is 0, 1 or 2 by its column.
type threshold struct{ classes []string }

func (threshold) Kind() string {
	return "threshold"
}

func (threshold) Validate() error {
	return nil
}

func (m threshold) Output() regression.Output {
	return regression.Output{
		Task:    regression.TaskClassification,
		Target:  "size",
		Classes: m.classes,
	}
}

func (threshold) Sums() []*regression.Additive {
	return nil
}

func (threshold) Inputs() []regression.Column {
	return []regression.Column{{Name: "x"}}
}

func (threshold) Predict(_ []float64, rows regression.Rows) ([]float64, error) {
	out := make([]float64, rows.N)
	for i, v := range rows.Numeric["x"] {
		out[i] = min(max(math.Floor(v), 0), 2)
	}
	return out, nil
}

func TestClassifierPredictsClasses(t *testing.T) {
	g := newGrid(
		[]base.Attribute{
			base.NewFloatAttribute("x"),
			newCategorical("size", "large", "small", "huge"),
		},
		[]any{0.5, "small"},
		[]any{0.1, "small"},
		[]any{2.5, "large"},
		[]any{0.2, "large"},
		[]any{-1.0, "huge"},
	)
	model := threshold{[]string{"small", "medium", "large"}}
	pred, err := golearn.New(model).Predict(g)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := golearn.Confusion(g, pred)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := evaluation.GetConfusionMatrix(g, pred)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(matrix), fmt.Sprint(theirs); got != want {
		t.Errorf("%s, golearn counts %s", got, want)
	}
	scores := golearn.Scores(matrix)
	want := "[{huge 1 NaN 0 NaN} {large 2 1 0.5 0.6666666666666666} {small 2 0.5 1 0.6666666666666666}]"
	got := fmt.Sprint(scores)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	macro := golearn.Macro(scores)
	if macro.Support != 5 ||
		math.Abs(macro.Precision-0.5) > 1e-12 ||
		math.Abs(macro.Recall-0.5) > 1e-12 ||
		math.Abs(macro.F1-4./9) > 1e-12 {
		t.Errorf("%+v", macro)
	}
	accuracy := evaluation.GetAccuracy(matrix)
	if accuracy != 0.6 {
		t.Errorf("accuracy %v", accuracy)
	}
	_, err = golearn.New(threshold{[]string{"small"}}).Predict(g)
	if !errors.Is(err, golearn.ErrPrediction) {
		t.Errorf("a class outside the list: %v", err)
	}
}

func TestConfusionCorners(t *testing.T) {
	// A class that is predicted but never true, and cells outside the list.
	class := newCategorical("c", "a", "b")
	truth := newGrid(
		[]base.Attribute{class},
		[]any{"a"},
		[]any{"a"},
		[]any{uint64(9)},
	)
	pred := newGrid(
		[]base.Attribute{class},
		[]any{"a"},
		[]any{"b"},
		[]any{"a"},
	)
	matrix, err := golearn.Confusion(truth, pred)
	if err != nil {
		t.Fatal(err)
	}
	want := "[{(outside the list) 1 NaN 0 NaN} {a 2 0.5 0.5 0.5} {b 0 0 NaN NaN}]"
	got := fmt.Sprint(golearn.Scores(matrix))
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	empty := newGrid([]base.Attribute{class})
	matrix, err = golearn.Confusion(empty, empty)
	if err != nil || len(golearn.Scores(matrix)) != 0 {
		t.Errorf("no rows: %v %v", matrix, err)
	}
	m := golearn.Macro(nil)
	if !math.IsNaN(m.Precision) || m.Support != 0 {
		t.Errorf("no rows: %+v", m)
	}
	if _, err := golearn.Confusion(truth, empty); !errors.Is(err, golearn.ErrRowCount) {
		t.Errorf("fewer predictions: %v", err)
	}
	if _, err := golearn.Confusion(housesGrid(), housesGrid()); !errors.Is(err, golearn.ErrAttributeType) {
		t.Errorf("a float class: %v", err)
	}
	binary := newGrid(
		[]base.Attribute{base.NewBinaryAttribute("c")},
		[]any{true},
		[]any{false},
	)
	matrix, err = golearn.Confusion(binary, binary)
	if err != nil ||
		fmt.Sprint(matrix) != "map[0:map[0:1] 1:map[1:1]]" {
		t.Errorf("binary classes: %v %v", matrix, err)
	}
}

// TestConfusionOfCodes checks that codes are counted under their names, and invalid codes as outside the list.
func TestConfusionOfCodes(t *testing.T) {
	matrix, err := golearn.ConfusionOfCodes(
		[]string{"a", "b"},
		[]int32{0, 0, 1, 7, -1},
		[]int32{0, 1, 1, 1, 0},
	)
	if err != nil {
		t.Fatal(err)
	}
	if matrix["a"]["a"] != 1 ||
		matrix["a"]["b"] != 1 ||
		matrix["b"]["b"] != 1 ||
		matrix[golearn.OutsideClass]["b"] != 1 ||
		matrix[golearn.OutsideClass]["a"] != 1 {
		t.Errorf("%v", matrix)
	}
	got := golearn.Accuracy(matrix)
	if got != .4 {
		t.Errorf("accuracy %v", got)
	}
	got = golearn.BalancedAccuracy(matrix)
	if got != .5 { // (1/2 + 1 + 0) / 3
		t.Errorf("balanced accuracy %v", got)
	}
	got = golearn.BalancedAccuracy(nil)
	if !math.IsNaN(got) {
		t.Errorf("balanced accuracy of nothing %v", got)
	}
	_, err = golearn.ConfusionOfCodes(nil, []int32{0}, nil)
	if !errors.Is(err, golearn.ErrRowCount) {
		t.Errorf("unequal lengths: %v", err)
	}
}

// TestGridToRun checks that a grid of golearn becomes a table of the Go API, that a private run trains on it,
// and that the model predicts the grid through golearn's interface.
func TestGridToRun(t *testing.T) {
	area := base.NewFloatAttribute("area")
	price := base.NewFloatAttribute("price")
	home := newCategorical("home", "flat", "house")
	var rows [][]any
	for i := range 3000 {
		kind := "flat"
		extra := 0.0
		if i%3 == 0 {
			kind = "house"
			extra = 50
		}
		rows = append(
			rows,
			[]any{float64(i % 100), kind, 2*float64(i%100) + extra},
		)
	}
	g := newGrid([]base.Attribute{area, home, price}, rows...)
	records, err := golearn.Table(
		g,
		dataset.Schema{Columns: []dataset.Column{
			{
				Name:   "area",
				Ranged: true,
				Lower:  0,
				Upper:  100,
			},
			{
				Name:       "home",
				Kind:       dataset.Category,
				Categories: []string{"flat", "house"},
			},
			{
				Name:   "price",
				Ranged: true,
				Lower:  0,
				Upper:  250,
			},
		}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	table := dptrain.Hold(records)
	plan, err := dptrain.Run{
		Target:  "price",
		Epsilon: 20,
		Model:   adassp.JointGram{},
	}.Plan(table)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := plan.Fit(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	out, err := golearn.New(fit.Model).Predict(g)
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := golearn.Target(out)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := golearn.Target(g)
	if err != nil {
		t.Fatal(err)
	}
	r2 := regression.R2(predicted, truth)
	if !(r2 > .95) {
		t.Errorf("R² %v", r2)
	}
}
