//go:build replay

package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// loadExample loads a recipe, its pipeline and its table.
func loadExample(
	t *testing.T,
	file string,
) (*recipe.Recipe, *pipeline.Pipeline, *dataset.Table) {
	t.Helper()
	return exampleOf(t, file, func(*recipe.Recipe) {})
}

// exampleOf is like loadExample, for a recipe edited by change.
func exampleOf(
	t *testing.T, file string, change func(r *recipe.Recipe),
) (*recipe.Recipe, *pipeline.Pipeline, *dataset.Table) {
	t.Helper()
	r, err := recipe.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Pipeline(header)
	if err != nil {
		t.Fatal(err)
	}
	tab, _, err := dataset.Read(
		context.Background(),
		r.DataFile(),
		p.Schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r, p, tab
}

// numbersOnly declares undeclared columns as numbers, and reads the table accordingly.
func numbersOnly(t *testing.T, r *recipe.Recipe, p *pipeline.Pipeline) *dataset.Table {
	t.Helper()
	for j := range p.Schema.Columns {
		c := &p.Schema.Columns[j]
		if c.Kind == dataset.Numeric {
			c.Found = false
			c.TextRule = (dataset.Column{}).TextRule
		}
	}
	tab, _, err := dataset.Read(
		context.Background(),
		r.DataFile(),
		p.Schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// recipeFiles returns the files of all example recipes, and of the recipes next to this test, which cover features
// without an example.
func recipeFiles(t *testing.T) []string {
	t.Helper()
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	own, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(own) == 0 {
		t.Fatalf("no recipes of the test: %v", err)
	}
	return largeModelsLast(append(examples, own...))
}

// largeModelsLast moves recipes that take long to train behind the others, so that tests that leave out recipes without
// a new statistic meet each statistic in a smaller model first.
func largeModelsLast(files []string) []string {
	large := func(file string) int {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		return slices.Index([]string{"boosted-kernel", "found", "houses", "kernel-one-pass", "words"}, name)
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Compare(large(a), large(b))
	})
	return files
}

// recordRelease runs a pipeline under a recorder and returns the contents of the files in release/ by name.
func recordRelease(
	t *testing.T,
	r *recipe.Recipe,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	tab *dataset.Table,
	rec *mechanism.Recorder,
) map[string]string {
	t.Helper()
	return publishedFiles(t, recordFiles(t, r, p, plan, tab, rec))
}

// recordFiles runs a pipeline under a recorder.
func recordFiles(
	t *testing.T,
	r *recipe.Recipe,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	tab *dataset.Table,
	rec *mechanism.Recorder,
) report.Files {
	t.Helper()
	res, err := p.FitRecorded(
		context.Background(), plan, tab,
		pipeline.Options{}, rec,
	)
	if err != nil {
		t.Fatal(err)
	}
	return collectFiles(t, r, res, tab)
}

// releaseFiles returns the contents of the files in release/ by name, as the command writes them.
func releaseFiles(
	t *testing.T,
	r *recipe.Recipe,
	res *pipeline.Result,
	tab *dataset.Table,
) map[string]string {
	t.Helper()
	return publishedFiles(t, collectFiles(t, r, res, tab))
}

func collectFiles(
	t *testing.T,
	r *recipe.Recipe,
	res *pipeline.Result,
	tab *dataset.Table,
) report.Files {
	t.Helper()
	public, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	return report.Collect(
		report.New(res),
		res.Model,
		res.Curator,
		&dataset.Stats{Rows: tab.Len()},
		public,
		"",
	)
}

func publishedFiles(t *testing.T, files report.Files) map[string]string {
	t.Helper()
	out, err := files.Published()
	if err != nil {
		t.Fatal(err)
	}
	want := 4
	if files.Model == nil {
		want = 3
	}
	if len(out) != want {
		t.Fatalf(
			"release/ holds %d files, want %d",
			len(out), want,
		)
	}
	return out
}

// publishedValues returns the values from which the files in release/ are written, without
// drawing the page.
func publishedValues(t *testing.T, files report.Files) map[string]string {
	t.Helper()
	var values, model bytes.Buffer
	if err := report.Encode(&values, files.Report); err != nil {
		t.Fatal(err)
	}
	if files.Model != nil {
		if err := regression.EncodeModel(&model, files.Model); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{
		"report": values.String(),
		"model":  model.String(),
		"recipe": string(files.Recipe),
	}
}

func allNeighbours(t *testing.T, p *pipeline.Pipeline, tab *dataset.Table) []Neighbour {
	t.Helper()
	neighbours, err := Neighbours(tab, p.Budget.Relation)
	if err != nil {
		t.Fatal(err)
	}
	return neighbours
}

// replayedNeighbours returns the neighbours on which an example is replayed: one for each kind of change, so that every
// position (first, middle, last) occurs for some kind, and other positions from another start.
//
// A sensitivity that is too small for a kind of change is too small at every position, because statistics are sums
// over records. A release that depends on the order or the number of records does so for every kind. With -full, as in
// scripts/long.sh replay, it returns all neighbours.
func replayedNeighbours(t *testing.T, all []Neighbour, start int) []Neighbour {
	t.Helper()
	if *full {
		return all
	}
	return onePositionEach(t, all, start)
}

// everyThird returns every third neighbour, the first with the index start modulo 3, and with -full all neighbours.
func everyThird(neighbours []Neighbour, start int) []Neighbour {
	if *full {
		return neighbours
	}
	var out []Neighbour
	for i, n := range neighbours {
		if i%3 == start%3 {
			out = append(out, n)
		}
	}
	return out
}

var places = [3]string{"first", "middle", "last"}

// onePositionEach returns one neighbour for each kind of change: the kinds in alphabetical order take the first, middle
// and last position in turn, or the next one that has a neighbour of the kind. The first kind takes the position start,
// modulo 3.
func onePositionEach(t *testing.T, all []Neighbour, start int) []Neighbour {
	t.Helper()
	byName := map[string]Neighbour{}
	kinds := map[string]bool{}
	for _, n := range all {
		byName[n.Name] = n
		kinds[inPosition(t, n.Name, "*")] = true
	}
	var out []Neighbour
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		for k := range 3 {
			n, ok := byName[strings.Replace(
				kind, "*",
				places[(start+i+k)%3],
				1,
			)]
			if ok {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// inPosition returns the name of a neighbour with its position replaced.
func inPosition(t *testing.T, name, position string) string {
	t.Helper()
	for _, old := range places {
		if strings.Contains(name, " "+old+" ") {
			return strings.Replace(name, " "+old+" ", " "+position+" ", 1)
		}
	}
	t.Fatalf("a neighbour without a position: %q", name)
	return ""
}

// compareNeighbours carries a run out again on each neighbour of its table, with the noise of the first time. repeat
// reports whether everything that is published is the same as then. It returns the outputs that depend on the record,
// and the largest share of a bound that was attained.
func compareNeighbours(
	first *mechanism.Recorder,
	neighbours []Neighbour,
	repeat func(*dataset.Table, *mechanism.Recorder) bool,
) (faults []string, closest float64) {
	for _, n := range neighbours {
		second := first.Replay()
		same := repeat(n.Table, second)
		found, ratio := mechanism.Compare(first, second)
		closest = max(closest, ratio)
		for _, f := range found {
			faults = append(faults, n.Name+": "+f)
		}
		if !same {
			faults = append(faults, n.Name+": what is published depends on the record")
		}
	}
	return faults, closest
}

// replayOn runs a plan of a pipeline on a table and on each neighbour, and returns the faults and the largest ratio of
// distance to declared sensitivity by leaf. The files of the first neighbour are compared byte by byte. The page,
// a function of the report, the model and the recipe, is not drawn again for the others.
func replayOn(
	t *testing.T,
	r *recipe.Recipe,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	tab *dataset.Table,
	seed byte,
	neighbours []Neighbour,
) (faults []string, closest float64) {
	t.Helper()
	first := mechanism.NewRecorder(seed)
	if seed%2 == 0 { // columns of few records leave the model
		first.KeepColumns()
	}
	if p.Search != nil {
		first.ForceTries(4)
	}
	files := recordFiles(t, r, p, plan, tab, first)
	published := publishedFiles(t, files)
	values := publishedValues(t, files)
	compared := 0
	return compareNeighbours(first, neighbours,
		func(table *dataset.Table, rec *mechanism.Recorder) bool {
			again := recordFiles(t, r, p, plan, table, rec)
			compared++
			if compared == 1 && !maps.Equal(published, publishedFiles(t, again)) {
				return false
			}
			return maps.Equal(values, publishedValues(t, again))
		})
}

// TestRecordAndReplay replays every example recipe under each relation it supports. An example with a statistic that no
// earlier one has is replayed with every kind of change to a record, see [replayedNeighbours], and the others with every
// third kind, in turn. With -full, every example is replayed on all neighbours, under several coins.
func TestRecordAndReplay(t *testing.T) {
	seeds := byte(1)
	if *full {
		seeds = 2
	}
	covered := map[budget.Statistic]bool{}
	for i, file := range recipeFiles(t) {
		r, p, tab := loadExample(t, file)
		plan := planPipeline(t, p)
		isNew := addStatistics(covered, plan)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				neighbours := replayedNeighbours(t, allNeighbours(t, p, tab), i+int(seed))
				if !isNew {
					neighbours = everyThird(neighbours, i)
				}
				faults, closest := replayOn(
					t,
					r,
					p,
					plan,
					tab,
					seed,
					neighbours,
				)
				for _, f := range faults {
					t.Error(f)
				}
				// A replay in which no input moved would be a vacuous test.
				if closest < .5 || closest > 1 {
					t.Errorf(
						"the closest release came within %.3f of its declared sensitivity",
						closest,
					)
				}
			}
		})
	}
}

// TestReplayTakesEveryBranch checks that the recipes of TestRecordAndReplay reach both branches of the automatic
// choice and train each of its two models.
func TestReplayTakesEveryBranch(t *testing.T) {
	for file, want := range map[string]string{
		"houses":              "fit/train/all/undeclared/numbers/model/boosted-kernel/sums",
		"auto-few-records":    "fit/train/kendall/undeclared/numbers/model/boosted-kernel/sums",
		"basic":               "fit/train/all/model/gram",
		"classes":             "fit/train/all/undeclared/numbers/model/two-classes/score/boosted-kernel/sums",
		"classes-few-records": "fit/train/logistic/undeclared/numbers/model/logistic/gradients",
	} {
		_, p, tab := loadExample(
			t,
			"../../examples/"+file+".yaml",
		)
		res, err := p.FitRecorded(
			context.Background(),
			planPipeline(t, p),
			tab,
			pipeline.Options{},
			mechanism.NewRecorder(1).KeepColumns(),
		)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(res.Events, func(e mechanism.Event) bool {
			return e.Path == want && e.Released == e.Law.Draws
		}) {
			t.Errorf("%s: %s was not released", file, want)
		}
	}
}

// TestReplayOnTinyTables replays tables of 0, 1 and 2 records, on which any dependence on n shows. "most-classes" finds
// no classes in them and abstains. The classes of "words" are declared, so that it trains a model. Only three of its
// features are kept: each column that noise makes look like text adds up to 256 entries to a row, and the time of a fit
// grows with their cube. TestRecordAndReplay has all columns. The neighbours are those of [replayedNeighbours], from
// another position for each table. Without -full, each table has one of two seeds under add-remove, and the other one under
// substitution.
func TestReplayOnTinyTables(t *testing.T) {
	for _, file := range []string{
		"categories", "classes", "classes-three",
		"most-classes", "words",
	} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			t.Run(fmt.Sprintf("%s under %v", file, rel), func(t *testing.T) {
				t.Parallel()
				replayTinyTables(t, "../../examples/"+file+".yaml", rel)
			})
		}
	}
}

func replayTinyTables(t *testing.T, file string, rel budget.Relation) {
	t.Helper()
	r, p, tab := exampleOf(t, file, func(r *recipe.Recipe) {
		if filepath.Base(file) == "words.yaml" {
			r.Data.Exclude = []string{"age", "debt", "late", "purpose"}
			r.Data.Classes = recipe.Names{List: []string{"no", "yes"}}
		}
	})
	p.Budget.Relation = rel
	plan := planPipeline(t, p)
	seeds := byte(2) // columns of few records leave the model under the second, and stay in it under the first
	if *full {
		seeds = 4
	}
	for n := range 3 {
		for seed := range seeds {
			if rel == budget.Substitute && n == 0 || !*full && int(seed) != (n+int(rel))%2 {
				continue
			}
			small := tab.Select(firstRows(n)).Compact()
			neighbours := replayedNeighbours(t, allNeighbours(t, p, small), n+int(seed))
			faults, _ := replayOn(t, r, p, plan, small, seed, neighbours)
			for _, f := range faults {
				t.Errorf("%d rows: %s", n, f)
			}
		}
	}
}

// TestReplayDetectsFalseSensitivity checks that a sensitivity that is too small, a release decided by the data, and a
// published exact number are all found.
func TestReplayDetectsFalseSensitivity(t *testing.T) {
	r, p, tab := loadExample(t, "../../examples/categories.yaml")
	first := mechanism.NewRecorder(1)
	recordRelease(t, r, p, planPipeline(t, p), tab, first)
	// Two records removed at once move it by twice the declared change.
	rows := make([]int32, 0, tab.Len())
	for i := range tab.Len() {
		if i > 40 {
			rows = append(rows, int32(i))
		}
	}
	second := first.Replay()
	recordRelease(
		t, r, p, planPipeline(t, p),
		tab.Select(rows).Compact(), second,
	)
	faults, _ := mechanism.Compare(first, second)
	if len(faults) == 0 {
		t.Error("forty records at once look like one")
	}
	q := *p
	q.Holdout = 0
	third := first.Replay()
	recordRelease(t, r, &q, planPipeline(t, &q), tab, third)
	faults, _ = mechanism.Compare(first, third)
	if len(faults) == 0 {
		t.Error("leaves that vanish are not noticed")
	}
}

// TestOnePositionEach checks that, for a seed with a reduced list of neighbours, the list has each kind of change
// once and each position, for records and for units.
func TestOnePositionEach(t *testing.T) {
	for _, name := range []string{"houses", "substitute", "unit"} {
		_, p, tab := loadExample(
			t,
			"../../examples/"+name+".yaml",
		)
		all := allNeighbours(t, p, tab)
		kinds := map[string]bool{}
		seen := map[string]int{}
		at := map[string]bool{}
		for _, n := range all {
			kinds[inPosition(t, n.Name, "*")] = true
		}
		for _, n := range onePositionEach(t, all, 1) {
			kind := inPosition(t, n.Name, "*")
			seen[kind]++
			for _, place := range places {
				if inPosition(t, n.Name, place) == n.Name {
					at[place] = true
				}
			}
		}
		if len(kinds) < 6 ||
			len(seen) != len(kinds) ||
			len(at) != len(places) {
			t.Errorf(
				"%s: %d of %d kinds at the positions %v",
				name, len(seen), len(kinds), at,
			)
		}
		for kind, n := range seen {
			if n != 1 {
				t.Errorf(
					"%s: %q comes %d times",
					name, kind, n,
				)
			}
		}
	}
}
