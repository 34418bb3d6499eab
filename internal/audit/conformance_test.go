//go:build replay

package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// The conformance suite checks the requirements that every selector and every trainer must meet. The methods are
// those that the recipe and the pipeline list, so a new method is covered from the first day.

// conformer is a combination of selector and trainer under one relation.
type conformer struct {
	name      string
	selection string
	model     string
	task      string
	relation  budget.Relation
}

func allConformers() []conformer {
	selections, models := recipe.Available()
	for _, task := range []string{regression.TaskRegression, regression.TaskClassification} {
		for _, m := range pipeline.Methods(task) {
			if !slices.Contains(models, m) {
				models = append(models, m)
			}
		}
	}
	var out []conformer
	for _, task := range []string{regression.TaskRegression, regression.TaskClassification} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
			budget.SubstitutePrivateColumns} {
			for _, s := range selections {
				out = append(
					out,
					conformer{
						selection: s,
						model:     "joint-gram",
						task:      task,
						relation:  rel,
					},
				)
			}
			for _, m := range models {
				out = append(
					out,
					conformer{
						selection: "none",
						model:     m,
						task:      task,
						relation:  rel,
					},
				)
			}
		}
	}
	for i := range out {
		c := &out[i]
		c.name = strings.Join(
			[]string{c.task, c.selection, c.model, c.relation.String()},
			" ",
		)
	}
	return out
}

// newPipeline returns the pipeline that a recipe for the method describes, or the
// refusal.
func (c conformer) newPipeline(t *testing.T) (*pipeline.Pipeline, error) {
	t.Helper()
	selection := "{method: " + c.selection
	switch c.selection {
	case "none", "auto":
	case "fixed":
		selection += ", features: [a, b]"
	default:
		selection += ", k: 2"
	}
	columns := ""
	classes := ""
	if c.relation == budget.SubstitutePrivateColumns {
		columns = "  columns: {a: {private: true}}\n"
	}
	if c.task == regression.TaskClassification {
		classes = "  classes: [\"0\", \"1\"]\n"
	}
	text := fmt.Sprintf(
		"task: %s\ndata:\n  path: t.csv\n  target: y\n%s%sprivacy: {epsilon: 3, relation: %v}\nselection: %s}\nmodel: {method: %s}\nholdout: 0.3\n",
		c.task,
		columns,
		classes,
		c.relation,
		selection,
		c.model,
	)
	r, problems := recipe.Parse("", []byte(text))
	if len(problems) > 0 {
		return nil, problems
	}
	return r.Pipeline([]string{
		"a", "b", "c", "d",
		"y",
	})
}

// testTables returns the tables that a run must handle.
func (c conformer) testTables(
	t *testing.T,
	schema dataset.Schema,
) map[string]*dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	build := func(n int, cell func(i, j int) float64) *dataset.Table {
		columns := make([]dataset.ColumnData, len(schema.Columns))
		for j, col := range schema.Columns {
			for i := range n {
				v := cell(i, j)
				if col.Kind == dataset.Category {
					columns[j].Codes = append(columns[j].Codes, int32(i%3)) // the last is in no class
				} else {
					columns[j].Floats = append(columns[j].Floats, v)
				}
			}
		}
		tab, err := dataset.NewTable(schema, columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0,
		5e-324}
	return map[string]*dataset.Table{
		"empty": build(0, nil),
		"one row": build(1, func(_, j int) float64 {
			return float64(j)
		}),
		"constant": build(30, func(_, _ int) float64 {
			return 3
		}),
		"odd": build(49, func(i, j int) float64 {
			return odd[(i+i/7*j)%len(odd)]
		}),
		"duplicate": build(40, func(i, j int) float64 {
			return float64((i/20 + 1) * (j + 1))
		}),
		"ordinary": build(90, func(_, _ int) float64 {
			return rng.NormFloat64()
		}),
	}
}

func TestConformance(t *testing.T) {
	before := runtime.NumGoroutine()
	ran := map[string]int{}
	for i, c := range allConformers() {
		p, err := c.newPipeline(t)
		if err == nil {
			_, err = pricePipeline(p)
		}
		if err != nil {
			checkRefusal(t, c, err)
			continue
		}
		ran[c.selection]++
		ran[c.model]++
		t.Run(c.name, func(t *testing.T) {
			checkConformance(t, c, p, i)
		})
	}
	selections, models := recipe.Available()
	for _, name := range append(selections, models...) {
		if ran[name] == 0 {
			t.Errorf("%s never ran", name)
		}
	}
	// Goroutines of a cancelled call may still be running, and may end by themselves.
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf(
		"%d goroutines before, %d after",
		before, runtime.NumGoroutine(),
	)
}

// checkRefusal checks the error for an unsupported task or relation: it must come before any row is read, as a problem of
// the recipe or a typed error of the plan. The only valid reasons are private columns and the task.
func checkRefusal(t *testing.T, c conformer, err error) {
	t.Helper()
	var problems recipe.Problems
	known := errors.As(err, &problems) ||
		errors.Is(err, pipeline.ErrRelation) ||
		errors.Is(err, pipeline.ErrModel) ||
		errors.Is(err, pipeline.ErrTwoClasses)
	if !known || err.Error() == "" {
		t.Errorf(
			"%s: refused by %T: %v",
			c.name, err, err,
		)
	}
	if c.relation != budget.SubstitutePrivateColumns &&
		c.task == regression.TaskClassification &&
		c.model != "tukey" {
		t.Errorf(
			"%s: refused: %v",
			c.name, err,
		)
	}
}

// checkConformance checks a conformer. Without -full, its number determines on which tables it may leave columns out,
// and on which it keeps them.
func checkConformance(t *testing.T, c conformer, p *pipeline.Pipeline, number int) {
	plan := planPipeline(t, p)
	tables := c.testTables(t, p.Schema)
	for i, name := range slices.Sorted(maps.Keys(tables)) {
		keeps := (i+number)%2 == 0
		if !keeps || *full {
			res, err := p.FitPlan(context.Background(), plan.Again(), tables[name], pipeline.Options{})
			if err != nil {
				t.Fatalf("%s rows: %v", name, err)
			}
			planIsSpend(t, p, plan, res)
		}
		if keeps || *full {
			checkKeptColumns(t, c, p, name, tables[name])
		}
	}
	checkOrderOfRecords(t, c, p, tables["ordinary"])

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.FitPlan(ctx, plan, tables["ordinary"], pipeline.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// checkKeptColumns checks a run in which no column is left out.
func checkKeptColumns(t *testing.T, c conformer, p *pipeline.Pipeline, name string, table *dataset.Table) {
	t.Helper()
	plan := planPipeline(t, p)
	res, err := p.FitRecorded(
		context.Background(),
		plan,
		table,
		pipeline.Options{},
		mechanism.NewRecorder(5).KeepColumns(),
	)
	if err != nil {
		t.Fatalf("%s rows, no column left out: %v", name, err)
	}
	if len(res.Unread) > 0 && c.relation != budget.SubstitutePrivateColumns { // public ones are left out all the same
		t.Errorf("%s rows: %v left out", name, res.Unread)
	}
	planIsSpend(t, p, plan, res)
}

// checkOrderOfRecords checks that the records in another order, with the same noise and coins, give the same numbers.
func checkOrderOfRecords(t *testing.T, c conformer, p *pipeline.Pipeline, tab *dataset.Table) {
	t.Helper()
	plan := planPipeline(t, p)
	var published [2]map[string]float64
	for side, rows := range []*dataset.Table{tab, shuffleRecords(t, tab)} {
		res, err := p.FitRecorded(
			context.Background(),
			plan,
			rows,
			pipeline.Options{},
			mechanism.NewRecorder(9).KeepColumns(),
		)
		if err != nil {
			t.Fatal(err)
		}
		if published[side], err = releasedRun(res); err != nil {
			t.Fatal(err)
		}
	}
	// The public classifier of BRC adds up public columns in floating point, which is outside any guarantee.
	tolerance := 0.
	if c.model == "brc" && c.relation == budget.SubstitutePrivateColumns {
		tolerance = 1e-12
	}
	if len(published[0]) != len(published[1]) {
		t.Errorf(
			"in another order of the records %d numbers are published, not %d",
			len(published[1]),
			len(published[0]),
		)
	} else {
		for k, v := range published[0] {
			w := published[1][k]
			if !(math.Abs(v-w) <= tolerance) {
				t.Errorf(
					"in another order of the records %s is %v, not %v",
					k, w, v,
				)
				break
			}
		}
	}
}

// shuffleRecords returns the records of a table, with their identities, in another
// order.
func shuffleRecords(t *testing.T, tab *dataset.Table) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, len(tab.Schema().Columns))
	ids := make([]uint64, 0, tab.Len())
	for _, k := range rand.New(rand.NewPCG(3, 4)).Perm(tab.Len()) {
		ids = append(ids, tab.ID(k))
		for j, c := range tab.Schema().Columns {
			if c.Kind == dataset.Category {
				columns[j].Codes = append(columns[j].Codes, tab.Codes(j)[k])
			} else {
				columns[j].Floats = append(columns[j].Floats, tab.Float(j)[k])
			}
		}
	}
	out, err := dataset.NewTable(tab.Schema(), columns, ids)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// selectsPublicColumnsOnly reports whether a run under private columns released a choice of features, and chose public ones
// only.
func selectsPublicColumnsOnly(p *pipeline.Pipeline, res *pipeline.Result) bool {
	released := slices.ContainsFunc(res.Events, func(e mechanism.Event) bool {
		return e.Place.Stage == "selection" && e.Released > 0
	})
	public := p.PublicColumns() // nil under the other relations
	return released &&
		len(public) > 0 &&
		len(res.Selected) > 0 &&
		!slices.ContainsFunc(res.Selected, func(name string) bool {
			return !slices.Contains(public, name)
		})
}

// planIsSpend checks that the events of a run are the leaves of its plan, each with its privacy parameters and all of
// its draws released (fewer if a mechanism that may abstain was not reached, or a column without a range was left
// out), and that the parts together spend no more than the promise. A single part may spend more than the promise if
// the split is secret.
func planIsSpend(
	t *testing.T,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	res *pipeline.Result,
) {
	t.Helper()
	leaves := plan.Leaves()
	if len(leaves) != len(res.Events) {
		t.Fatalf(
			"%d leaves, %d events",
			len(leaves), len(res.Events),
		)
	}
	parts := map[string][]budget.Law{}
	for i, e := range res.Events {
		l := leaves[i]
		if e.Path != l.Path ||
			e.Law.Kind != l.Law.Kind ||
			e.Law.Mu != l.Law.Mu ||
			e.Law.Epsilon != l.Law.Epsilon ||
			e.Law.Draws != l.Law.Draws {
			t.Errorf(
				"event %+v of leaf %+v",
				e, l,
			)
		}
		at := e.Place
		// Draws may be missing in a branch or candidate, because only one of several is reported, and in the step for
		// text categories if there are no text columns.
		branch := at.Branch != "" || at.Candidate != "" || at.Stage == "vocabulary"
		// A private choice may select public columns only, whose ranges and moments are exact.
		if selectsPublicColumnsOnly(p, res) &&
			(at.Stage == "scaling" || at.Stage == "model") &&
			e.Released == 0 {
			branch = true
		}
		if e.Released > e.Law.Draws ||
			e.Released < e.Law.Draws && !branch && !res.Abstained && len(res.Unread) == 0 {
			t.Errorf(
				"%s: %d of %d draws released",
				e.Path, e.Released, e.Law.Draws,
			)
		}
		if !branch {
			parts[l.Part] = append(parts[l.Part], l.Law)
		}
	}
	promised := plan.Target()
	promised.Epsilon *= 1 + 1e-9
	whole := budget.Parallel("fit")
	lead := parts[""] // the steps on all records
	names := []string{"train", "holdout"}
	if len(lead) > 0 {
		names = []string{"", "train", "holdout"}
	}
	for _, part := range names {
		seq := budget.Sequence(cmp.Or(part, pipeline.AllName))
		for i, law := range parts[part] {
			seq.Kids = append(seq.Kids, budget.FixedLeaf(strconv.Itoa(i), law))
		}
		whole.Kids = append(whole.Kids, seq)
		delete(parts, part)
	}
	whole.Lead = len(lead) > 0
	whole.Coin = plan.Tree().Coin
	_, err := budget.Calibrate(whole, promised)
	if err != nil || len(parts) > 0 {
		t.Errorf(
			"the parts spend more than is promised, or there are others: %v, %v",
			err,
			parts,
		)
	}
}

// TestSearchConforms checks that a search meets the requirements of every training method, for every task and
// relation, and that its result is that of one candidate.
func TestSearchConforms(t *testing.T) {
	for _, task := range []string{regression.TaskRegression, regression.TaskClassification} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
			budget.SubstitutePrivateColumns} {
			c := conformer{
				name:     task + " search " + rel.String(),
				task:     task,
				relation: rel,
			}
			candidates := "[{model: {method: joint-gram}}, {selection: {method: kendall, k: 2}, model: {method: boosted-additive}}, {model: {method: auto}}]"
			switch {
			case rel == budget.SubstitutePrivateColumns &&
				task == regression.TaskClassification:
				candidates = "[{model: {method: joint-gram}}, {model: {method: brc}}]"
				c.model = "brc"
			case rel == budget.SubstitutePrivateColumns:
				candidates = "[{model: {method: joint-gram}}, {selection: {method: fixed, features: [a]}, model: {method: joint-gram}}]"
			}
			text := "data:\n  path: t.csv\n  target: y\n"
			if rel == budget.SubstitutePrivateColumns {
				text += "  columns: {a: {private: true}}\n"
			}
			if task == regression.TaskClassification {
				text += "  classes: [\"0\", \"1\"]\n"
			}
			text += fmt.Sprintf(
				"task: %s\nprivacy: {epsilon: 3, relation: %v}\nholdout: 0.3\nsearch: {runs: 3, holdout: 0.3, candidates: %s}\n",
				task,
				rel,
				candidates,
			)
			r, problems := recipe.Parse("", []byte(text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			p, err := r.Pipeline([]string{
				"a", "b", "c", "d",
				"y",
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Run(c.name, func(t *testing.T) {
				checkConformance(t, c, p, int(rel))
				res, err := p.FitRecorded(
					context.Background(),
					planPipeline(t, p),
					c.testTables(t, p.Schema)["ordinary"],
					pipeline.Options{},
					mechanism.NewRecorder(2).KeepColumns(),
				)
				if err != nil {
					t.Fatal(err)
				}
				won := pipeline.CandidateName(res.Search.Chosen)
				for _, e := range res.Events {
					at := e.Place
					if at.Candidate != "" && at.Candidate != won && e.Released > 0 ||
						at.Candidate == won &&
							at.Branch == "" &&
							e.Released != e.Law.Draws {
						t.Errorf("%s won: %+v", won, e)
					}
				}
			})
		}
	}
}

// TestStatisticsConform checks that every release function of package mechanism spends exactly the price, and refuses
// a leaf of another mechanism or statistic and a leaf that was not planned.
func TestStatisticsConform(t *testing.T) {
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
		budget.SubstitutePrivateColumns} {
		for _, x := range WorstPairs() {
			law := lawOf(x, 1, 1e-6)
			other := budget.Law{
				Kind:    budget.Laplace,
				Epsilon: 1,
				Draws:   1,
			}
			if x.Kind == budget.Laplace {
				other.Kind = budget.Exponential
			}
			leaves := append(
				x.leaves("step", law),
				budget.FixedLeaf("other", other),
				budget.FixedLeaf("named", law).WithStatistic("another"),
			)
			priced, err := budget.Calibrate(
				budget.Sequence("audit", leaves...),
				budget.Target{
					Epsilon:  1e6,
					Delta:    .9,
					Relation: rel,
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			s, err := mechanism.NewSession(priced)
			if err != nil {
				t.Fatal(err)
			}
			release, err := x.Prepare(context.Background(), s, law, 0)
			if !slices.Contains(x.Relations, rel) {
				if x.Statistic == mechanism.StatPrivateBlocks &&
					!errors.Is(err, mechanism.ErrRelation) {
					t.Errorf(
						"%s under %v: %v",
						x.Statistic, rel, err,
					)
				}
				continue
			}
			if err != nil {
				t.Fatal(x.Statistic, err)
			}
			for name, want := range map[string]error{
				"absent": mechanism.ErrUnknownLeaf,
				"other":  mechanism.ErrLaw,
				"named":  mechanism.ErrStatistic,
			} {
				fresh, err := mechanism.NewSession(priced.Again())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := release(fresh, name, 0); !errors.Is(err, want) {
					t.Errorf(
						"%s on the leaf %s: %v, want %v",
						x.Statistic, name, err, want,
					)
				}
				released := fresh.Events()
				if slices.ContainsFunc(released,
					func(e mechanism.Event) bool {
						return e.Released > 0
					}) {
					t.Errorf(
						"%s on the leaf %s: released %+v",
						x.Statistic, name, released,
					)
				}
			}
			if _, err := release(s, "step", 0); err != nil {
				t.Errorf("%s: %v", x.Statistic, err)
			}
			if _, err := release(s, "step", 0); !errors.Is(err, mechanism.ErrSpent) {
				t.Errorf("%s twice: %v", x.Statistic, err)
			}
			spent := []string{"audit/step", "audit/" + x.Companion.Name}
			for _, e := range s.Events() {
				want := slices.Contains(spent, e.Path)
				if want != (e.Released == 1) || !want && e.Released > 0 {
					t.Errorf(
						"%s: event %+v",
						x.Statistic, e,
					)
				}
			}
		}
	}
}
