//go:build replay

package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// blankTargets returns the table with the targets of some records removed.
func blankTargets(
	t *testing.T,
	tab *dataset.Table,
	target string,
	at func(i int) bool,
) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, len(tab.Schema().Columns))
	ids := make([]uint64, tab.Len())
	for i := range ids {
		ids[i] = tab.ID(i)
	}
	for j, c := range tab.Schema().Columns {
		columns[j] = dataset.ColumnData{
			Floats: slices.Clone(tab.Float(j)),
			Codes:  slices.Clone(tab.Codes(j)),
		}
		for i := range ids {
			switch {
			case c.Name != target || !at(i):
			case c.Kind == dataset.Category:
				columns[j].Codes[i] = int32(len(c.Categories))
			default:
				columns[j].Floats[i] = math.NaN()
			}
		}
	}
	out, err := dataset.NewTable(tab.Schema(), columns, ids)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// targetlessNeighbours returns neighbours in which a copy without the target of a record near the first, middle or last
// position is added or replaces that record. Without -full it returns one table, at the position start, modulo 3.
func targetlessNeighbours(
	t *testing.T,
	tab *dataset.Table,
	target string,
	rel budget.Relation,
	start int,
) []Neighbour {
	t.Helper()
	var out []Neighbour
	for i, at := range []int{1, tab.Len()/2 + 1, tab.Len() - 2} {
		if i != start%len(places) && !*full {
			continue
		}
		record := make([]cell, len(tab.Schema().Columns))
		for j, c := range tab.Schema().Columns {
			switch {
			case c.Name == target:
				record[j] = cell{
					float: math.NaN(),
					code:  int32(len(c.Categories)),
				}
			case c.Kind == dataset.Category:
				record[j].code = tab.Codes(j)[at]
			default:
				record[j].float = tab.Float(j)[at]
			}
		}
		n, err := editTable(tab, at, rel != budget.AddRemove, record)
		if err != nil {
			t.Fatal(err)
		}
		out = append(
			out,
			Neighbour{"record without a target near the " + places[i] + " position", n},
		)
	}
	return out
}

// missingRun is a run on the first rows of an example's table.
type missingRun struct {
	example string
	rows    int
	change  func(p *pipeline.Pipeline)
}

// missingRuns are runs of every method that reads targets, by name.
func missingRuns() map[string]missingRun {
	out := map[string]missingRun{}
	add := func(name, file string, rows int, change func(p *pipeline.Pipeline)) {
		out[name] = missingRun{file, rows, change}
	}
	model := func(m, form string, s selection.Selector) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.Model = trainerInForm(m, form)
			p.Selector = s
		}
	}
	for _, m := range pipeline.Methods("regression") {
		if !pipeline.MayAbstain(m) {
			add(m, "houses", 40, model(m, "", nil))
			add(m+" of classes", "classes", 40, model(m, "", nil))
		}
	}
	add("auto", "houses", 40, model(pipeline.Auto, "", nil))
	add("auto of classes", "classes", 40, model(pipeline.Auto, "", nil))
	add("declared", "declared", 40, model("boosted-additive", "", nil))
	add("tukey", "houses", 1200, func(p *pipeline.Pipeline) {
		p.Model = tukey.Tukey{}
		p.Budget.Epsilon = 60
		p.Selector = selection.Fixed{Features: []string{"area", "age"}}
	})
	for name, s := range map[string]selection.Selector{
		"kendall":          selection.Kendall{K: 3},
		"sublasso":         selection.SubLasso{K: 2},
		"sublasso buckets": selection.SubLasso{K: 2, Buckets: 5},
		"sis correlation":  selection.SIS{K: 2, Score: selection.ScoreCorrelation},
		"sis product": selection.SIS{
			K:     2,
			Score: selection.ScoreProduct,
			TopK:  mechanism.Lipschitz,
		},
		"sis tau": selection.SIS{
			K:     2,
			Score: selection.ScoreTau,
			TopK:  mechanism.Peeling,
		},
	} {
		add(name, "houses", 40, model("joint-gram", "", s))
		add(
			name+" of classes", "classes", 40,
			model("joint-gram", "", s),
		)
	}
	for _, file := range []string{"classes", "classes-three"} {
		for name, s := range map[string]selection.Selector{
			"dpfsdr": selection.DPFSDR{K: 2, Exact: true},
			"dpfs":   selection.DPFS{K: 2, Exact: true},
			"crfs":   selection.CRFS{K: 2},
		} {
			add(name+" on "+file, file, 40, model("logistic", "", s))
		}
		for _, m := range []string{
			"brc", "svm", "logistic",
			"joint-gram",
		} {
			for _, form := range formsOf(m) {
				if form != boosting.Paper { // see below
					add(
						fmt.Sprintf("%s %s on %s", m, form, file),
						file,
						40,
						model(m, form, nil),
					)
				}
			}
		}
	}
	add("sizes", "dpfsdr-sizes", 60, func(*pipeline.Pipeline) {})
	add("search", "search", 60, func(*pipeline.Pipeline) {})
	return out
}

// TestReplayWithoutTarget checks, for every method, tables in which some records have no usable target: at both ends
// of the table, in the middle, and the record that is added, removed or replaces another. No release sees inputs
// farther apart than it declares, and published values depend on a record only through releases.
//
// Without -full, a run has one of the two relations, in turn by name, and neighbours of every second kind of change.
// Runs on other numbers of classes and with other forms of a method, which share its releases, have the others.
func TestReplayWithoutTarget(t *testing.T) {
	runs := missingRuns()
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		for k, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			if i%2 != k && !*full {
				continue
			}
			t.Run(fmt.Sprintf("%s under %v", name, rel), func(t *testing.T) {
				t.Parallel()
				replayMissing(t, runs[name], rel, i)
			})
		}
	}
	paper := missingRun{"classes", 40, func(p *pipeline.Pipeline) {
		p.Model = boosting.BRC{Form: boosting.Paper}
	}}
	t.Run("brc paper", func(t *testing.T) {
		replayMissing(t, paper, budget.Substitute, 0)
	})
	for i, file := range []string{"private-columns", "private-columns-three",
		"private-columns-brc"} {
		t.Run(file, func(t *testing.T) {
			replayMissing(
				t,
				missingRun{file, 40, func(*pipeline.Pipeline) {}},
				budget.SubstitutePrivateColumns,
				i,
			)
		})
	}
}

// missingSeed is the seed of runs with missing targets.
const missingSeed = 6

// replayMissing replays a run under a relation. The number of the run determines its neighbours.
func replayMissing(t *testing.T, run missingRun, rel budget.Relation, number int) {
	t.Helper()
	r, p, whole := loadExample(
		t,
		"../../examples/"+run.example+".yaml",
	)
	p.Budget.Relation = rel
	run.change(p)
	if p.NoVocabulary() != "" {
		whole = numbersOnly(t, r, p)
	}
	n := run.rows
	tab := blankTargets(t, whole.Select(firstRows(n)).Compact(), p.Target, func(i int) bool {
		return i == 0 || i == n/2 || i == n-1 || i%5 == 3
	})
	neighbours := missingNeighbours(t, p, tab, number)
	if rel != budget.SubstitutePrivateColumns { // the target is public
		neighbours = append(neighbours, targetlessNeighbours(t, tab, p.Target, rel, number)...)
	}
	checkReplay(t, r, p, tab, neighbours)
}

// missingNeighbours returns the [replayedNeighbours] of every second kind of change, for a run of the given number, and
// with -full all neighbours.
func missingNeighbours(t *testing.T, p *pipeline.Pipeline, tab *dataset.Table, number int) []Neighbour {
	t.Helper()
	all := replayedNeighbours(t, allNeighbours(t, p, tab), number)
	if *full {
		return all
	}
	var out []Neighbour
	for i, n := range all {
		if i%2 == number/2%2 { // number%2 determines the relation
			out = append(out, n)
		}
	}
	return out
}

// checkReplay checks that there is no fault, and that some release moved.
func checkReplay(
	t *testing.T,
	r *recipe.Recipe,
	p *pipeline.Pipeline,
	tab *dataset.Table,
	neighbours []Neighbour,
) {
	t.Helper()
	faults, closest := replayOn(t, r, p, planPipeline(t, p), tab, missingSeed, neighbours)
	for _, f := range faults {
		t.Error(f)
	}
	if closest < .5 || closest > 1 {
		t.Errorf(
			"the closest release came within %.3f of its declared sensitivity",
			closest,
		)
	}
}
