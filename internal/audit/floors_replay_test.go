//go:build replay

package audit

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

var (
	writeFloors = flag.Bool("write-floors", false, "rewrite testdata/floors.json")
	floorKeys   = flag.Int(
		"floor-keys",
		testkit.Size(5, measuredKeys),
		"the number of keys under which TestFloors trains, from 2 to 20",
	)
)

const (
	floorsFile = "testdata/floors.json"
	// measuredKeys is the number of keys from which floors are computed.
	measuredKeys = 20
	// floorErrors is the number of standard errors between a floor and the mean above it.
	floorErrors = 5
)

// A floorTable is a fixture table with one of its columns as the target.
type floorTable struct {
	name, file, target string
	classes            []string
	exclude            []string
	columns            string // declarations of features in the recipe
	fixed              string // features for the selector fixed
	k                  int    // how many features the other selectors choose

	clip *clipTable // how the table is generated, if it is not a fixture table
}

var floorTables = []floorTable{
	{
		name:    "houses",
		file:    "houses.csv",
		target:  "price",
		fixed:   "[area, distance]",
		k:       2,
		columns: "ocean: {categories: [inland, near bay, near ocean, island]}",
	},
	{
		name:    "doses",
		file:    "doses.csv",
		target:  "response",
		exclude: []string{"patient"},
		fixed:   "[dose]",
		k:       1,
	},
	{
		name:    "visits",
		file:    "visits.csv",
		target:  "pressure",
		exclude: []string{"patient_id"},
		fixed:   "[age, weight]",
		k:       2,
		columns: "ward: {categories: [day, night, emergency]}",
	},
	{
		name:    "loans",
		file:    "loans.csv",
		target:  "repaid",
		classes: []string{"no", "yes"},
		exclude: []string{"rating"},
		fixed:   "[income, debt]",
		k:       2,
		columns: "home: {categories: [rent, own, with family]}, purpose: {categories: [car, house, other]}",
	},
	{
		name:   "leaves",
		file:   "leaves.csv",
		target: "species",
		classes: []string{
			"alder", "beech", "elm", "hazel",
			"lime", "rowan",
		},
		fixed:   "[length, teeth]",
		k:       2,
		columns: "edge: {categories: [smooth, toothed]}",
	},
}

// epsilon returns the budget of a run on the table.
func (x floorTable) epsilon() float64 {
	if x.clip != nil {
		return x.clip.epsilon
	}
	return 3
}

// taskName returns the task of a recipe with this target.
func (x floorTable) taskName() string {
	if x.classes != nil {
		return regression.TaskClassification
	}
	return regression.TaskRegression
}

// recipeText returns the text of a recipe for the table.
func (x floorTable) recipeText(selection, model string) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"task: %s\ndata:\n  path: t.csv\n  target: %s\n",
		x.taskName(), x.target,
	)
	if x.classes != nil {
		fmt.Fprintf(
			&b, "  classes: [%s]\n",
			strings.Join(x.classes, ", "),
		)
	}
	if x.exclude != nil {
		fmt.Fprintf(
			&b, "  exclude: [%s]\n",
			strings.Join(x.exclude, ", "),
		)
	}
	fmt.Fprintf(
		&b,
		"  columns: {%s}\n  undeclared: numbers\nprivacy: {epsilon: %v, delta: 1e-6}\nholdout: 0\nselection: {%s}\nmodel: {%s}\n",
		x.columns,
		x.epsilon(),
		selection,
		model,
	)
	return b.String()
}

// A floorCase is a recipe whose accuracy has a floor.
type floorCase struct {
	name   string
	table  floorTable
	recipe string
}

// floorCases lists every trainer and every selector on every fixture table whose target it can handle, and the trainers
// whose clips are tested on generated tables. The selector none is left out: its case is that of the trainer joint-gram.
func floorCases() []floorCase {
	out := clipCases()
	for _, table := range floorTables {
		fits := func(needsClasses, twoClasses bool) bool {
			return !(needsClasses && table.classes == nil) &&
				!(twoClasses && len(table.classes) > 2)
		}
		for _, m := range pipeline.Trainers() {
			if fits(m.ClassesOnly(), m.TwoClasses()) {
				out = append(out, table.trainerCases(m)...)
			}
		}
		for _, s := range pipeline.Selectors() {
			if s.Name != "none" && fits(s.NeedsClasses, s.TwoClasses) {
				out = append(out, table.selectorCase(s))
			}
		}
	}
	return out
}

// trainerCases returns a case for each form of a trainer.
func (x floorTable) trainerCases(m method.Method) []floorCase {
	forms := []string{""}
	if key, ok := m.Key("form"); ok {
		forms = slices.DeleteFunc(slices.Clone(key.Words), func(form string) bool {
			if key.Check == nil {
				return false
			}
			message, _ := key.Check(form, budget.AddRemove)
			return message != ""
		})
	}
	selection := "method: none"
	if m.Abstains { // the tables have too few records for all of their columns
		selection = "method: fixed, features: " + x.fixed
	}
	var out []floorCase
	for _, form := range forms {
		name := x.name + " " + m.Name
		model := "method: " + m.Name
		if form != "" {
			name = name + " " + form
			model = model + ", form: " + form
		}
		out = append(out, floorCase{name, x, x.recipeText(selection, model)})
	}
	return out
}

// selectorCase returns the case of a selector before a simple trainer.
func (x floorTable) selectorCase(s pipeline.SelectorMethod) floorCase {
	selection := "method: " + s.Name
	switch {
	case s.Name == "fixed":
		selection += ", features: " + x.fixed
	case s.Private:
		selection += fmt.Sprintf(", k: %d", x.k)
	}
	return floorCase{
		x.name + " " + s.Name + "+joint-gram",
		x,
		x.recipeText(selection, "method: joint-gram"),
	}
}

// A preparedCase trains a case on four fifths of its table and measures it on the rest.
type preparedCase struct {
	pipeline    *pipeline.Pipeline
	plan        *pipeline.Plan
	train, test *dataset.Table
}

func (x floorCase) prepare(t *testing.T) preparedCase {
	t.Helper()
	r, problems := recipe.Parse("", []byte(x.recipe))
	if problems != nil {
		t.Fatalf("%v\n%s", problems, x.recipe)
	}
	path := x.table.path(t)
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Pipeline(header)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := dataset.Read(
		t.Context(), path, p.Schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	var train, test []int32
	for i := range int32(all.Len()) {
		if i%5 == 4 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return preparedCase{
		p, planPipeline(t, p),
		all.Select(train).Compact(),
		all.Select(test).Compact(),
	}
}

// path returns the file of the table, which is written first if it is generated.
func (x floorTable) path(t *testing.T) string {
	t.Helper()
	if x.clip == nil {
		return "../../testdata/" + x.file
	}
	path := filepath.Join(t.TempDir(), x.name+".csv")
	err := os.WriteFile(path, []byte(x.clip.csv()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// trainAndScore trains under a key and returns R² or the accuracy, exactly, over the records of the test part that have a target. A
// run without a model counts 0.
func (x preparedCase) trainAndScore(ctx context.Context, key byte) (float64, error) {
	res, err := x.pipeline.FitRecorded(
		ctx,
		x.plan,
		x.train,
		pipeline.Options{},
		mechanism.NewRecorder(key),
	)
	if err != nil || res.Model == nil {
		return 0, err
	}
	predicted, err := res.Model.Predict(
		nil,
		pipeline.RowsFor(res.Model, x.test.View()),
	)
	if err != nil {
		return 0, err
	}
	column, classes := x.targetColumn()
	if classes == 0 {
		var known, guess []float64
		for i, y := range x.test.Float(column) {
			if !math.IsNaN(y) {
				known = append(known, y)
				guess = append(guess, predicted[i])
			}
		}
		return regression.R2(guess, known), nil
	}
	right := 0.
	all := 0.
	for i, code := range x.test.Codes(column) {
		if code < 0 || int(code) >= classes {
			continue
		}
		all++
		if predicted[i] == float64(code) {
			right++
		}
	}
	return right / all, nil
}

// targetColumn returns the column of the target and its number of classes, 0 for a number.
func (x preparedCase) targetColumn() (column, classes int) {
	column = x.pipeline.Schema.Index(x.pipeline.Target)
	return column, len(x.pipeline.Schema.Columns[column].Categories)
}

// constantScore returns the score of the best constant on the test part: an R² of 0, or the share of the largest class.
func (x preparedCase) constantScore() float64 {
	column, classes := x.targetColumn()
	if classes == 0 {
		return 0
	}
	counts := make([]float64, classes)
	all := 0.
	for _, code := range x.test.Codes(column) {
		if code >= 0 && int(code) < classes {
			counts[code]++
			all++
		}
	}
	return slices.Max(counts) / all
}

// A floor is the accuracy of a case when floors were last written.
type floor struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard deviation over the keys
}

// forKeys returns the floor for the mean over a number of keys.
func (f floor) forKeys(keys int) float64 {
	return f.Mean - floorErrors*f.Deviation/math.Sqrt(float64(keys))
}

// lowestMean returns the floor for the mean over a number of keys. If all keys classified the same test records when the
// floor was written, one record may be classified differently.
func (x preparedCase) lowestMean(f floor, keys int) float64 {
	if f.Deviation == 0 {
		return f.Mean - 1/float64(x.test.Len())
	}
	return f.forKeys(keys)
}

// fullFloors are the cases that are trained with -full only. Kernels take most of the time of all cases; that of a
// number on houses, that of six classes on leaves and that of the generated table remain.
var fullFloors = map[string]bool{
	"doses boosted-kernel":  true,
	"loans boosted-kernel":  true,
	"visits boosted-kernel": true,
}

// TestFloors trains every trainer and every selector on the fixture tables under fixed keys, and trainers with clips on
// the tables of [clipTables], except, without -full, for [fullFloors]. It fails if the mean of
// the exact R², or of the exact accuracy, over records held out from training is more than five standard errors below
// the mean at the time when the floors were last written.
//
// The keys are fixed, so a change without effect on releases gives the same means and no false alarm. A loss of
// accuracy of more than 5/sqrt(keys) standard deviations of a single run is found with certainty: 2.2 standard
// deviations with five keys, 1.1 with the twenty of scripts/long.sh. That is .005 of R² for joint-gram on houses with
// five keys. A change that draws other noise but is as accurate moves the mean of five keys by sqrt(1/5 + 1/20)
// deviations, so that the floor is 4.5 standard errors away.
func TestFloors(t *testing.T) {
	keys := min(max(*floorKeys, 2), measuredKeys)
	if *writeFloors {
		keys = measuredKeys
	}
	want := map[string]floor{}
	if content, err := os.ReadFile(floorsFile); err == nil {
		if err := json.Unmarshal(content, &want); err != nil {
			t.Fatal(err)
		}
	} else if !*writeFloors {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]floor{}
	t.Run("case", func(t *testing.T) {
		for _, c := range floorCases() {
			if fullFloors[c.name] && !*full && !*writeFloors {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				x := c.prepare(t)
				values := make([]float64, keys)
				for key := range values {
					var err error
					values[key], err = x.trainAndScore(t.Context(), byte(key))
					if err != nil {
						t.Fatal(err)
					}
				}
				mean, deviation := stat.MeanStdDev(values, nil)
				mu.Lock()
				got[c.name] = floor{mean, deviation}
				mu.Unlock()
				f, ok := want[c.name]
				if *writeFloors {
					f = floor{mean, deviation}
					ok = true
				}
				lowest := x.lowestMean(f, keys)
				switch {
				case !ok:
					t.Errorf(
						"no floor; write one with -write-floors (mean %.4f)",
						mean,
					)
				case lowest <= x.constantScore():
					t.Errorf(
						"the floor of %.4f would be passed by a constant, which has %.4f",
						lowest,
						x.constantScore(),
					)
				case !(mean >= lowest):
					t.Errorf(
						"the mean over %d keys is %.4f, below the floor of %.4f (it was %.4f)",
						keys,
						mean,
						lowest,
						f.Mean,
					)
				}
			})
		}
	})
	if *writeFloors {
		content, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(floorsFile, append(content, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	cases := floorCases()
	for name := range fullFloors {
		if !slices.ContainsFunc(cases, func(c floorCase) bool { return c.name == name }) {
			t.Errorf("there is no case %q for -full", name)
		}
	}
	for name := range want {
		if !slices.ContainsFunc(cases, func(c floorCase) bool { return c.name == name }) {
			t.Errorf(
				"the floor of %q belongs to no case; rewrite the floors with -write-floors",
				name,
			)
		}
	}
}
