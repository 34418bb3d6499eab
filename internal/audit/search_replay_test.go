//go:build replay

package audit

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/regression"
)

// TestSearchReplay forces many tries and compares every release of every try, including those that lost: for records,
// for two classes, for patients, and where records are replaced, whole or in their private columns.
func TestSearchReplay(t *testing.T) {
	for name, c := range map[string]struct {
		example    string
		candidates []pipeline.Candidate
	}{
		"records": {
			example: "houses",
			candidates: []pipeline.Candidate{
				{Model: adassp.JointGram{}},
				{Model: nil},
				{Model: boosting.BoostedAdaSSP{}},
			},
		},
		"classes": {
			example: "classes",
			candidates: []pipeline.Candidate{
				{Model: nil},
				{Model: svm.SVM{}},
				{Model: logistic.Logistic{}},
			},
		},
		"places": {
			example:    "substitute",
			candidates: []pipeline.Candidate{{Model: adassp.JointGram{}}, {Model: nil}},
		},
		"columns": {
			example: "private-columns",
			candidates: []pipeline.Candidate{
				{Model: adassp.JointGram{}},
				{Model: boosting.BRC{}},
			},
		},
		"patients": {
			example: "unit",
			candidates: []pipeline.Candidate{
				{Model: adassp.JointGram{}},
				{Model: boosting.Additive{}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, tab := smallExample(t, c.example, 300)
			p.Selector = nil
			p.SelectionShare = 0
			p.Model = nil
			p.Fallback = nil
			p.Search = &pipeline.Search{
				Runs:       3,
				Holdout:    .3,
				Candidates: c.candidates,
			}
			plan := planPipeline(t, p)
			neighbours, err := Neighbours(tab, p.Budget.Relation)
			if err != nil {
				t.Fatal(err)
			}
			first := mechanism.NewRecorder(3).ForceTries(7).KeepColumns()
			published, err := p.FitRecorded(
				context.Background(),
				plan,
				tab,
				pipeline.Options{},
				first,
			)
			if err != nil {
				t.Fatal(err)
			}
			tried := map[string]bool{}
			for _, r := range first.Releases() {
				tried[placeIn(plan, r.Path).Candidate] = true
			}
			if len(tried) != len(c.candidates)+1 {
				t.Fatalf(
					"candidates that were tried: %v; take another seed",
					tried,
				)
			}
			before, err := releasedRun(published)
			if err != nil {
				t.Fatal(err)
			}
			nearest := 0.
			for _, n := range neighbours {
				second := first.Replay()
				res, err := p.FitRecorded(
					context.Background(),
					plan,
					n.Table,
					pipeline.Options{},
					second,
				)
				if err != nil {
					t.Fatal(err)
				}
				faults, closest := mechanism.Compare(first, second)
				nearest = max(nearest, closest)
				for _, f := range faults {
					t.Errorf("%s: %s", n.Name, f)
				}
				after, err := releasedRun(res)
				if err != nil {
					t.Fatal(err)
				}
				names := columnsOf([]map[string]float64{before, after})
				if len(names) > 0 {
					t.Errorf(
						"%s: what is published depends on the record: %q",
						n.Name, names,
					)
				}
			}
			if nearest < .5 || nearest > 1 {
				t.Errorf(
					"the closest release came within %.3f of its declared sensitivity",
					nearest,
				)
			}
		})
	}
}

// TestFaultScoringInTraining checks that a search that trains on the records that score its tries is caught.
func TestFaultScoringInTraining(t *testing.T) {
	p, tab := smallExample(t, "search", 60)
	p.Holdout = 0
	p.Search.Holdout = .5
	caughtByReplay(
		t,
		p,
		tab,
		mechanism.HeldOutInTraining,
		`parts "train/score" and "train/train", priced as disjoint, both see the record`,
	)
}

// TestEveryMethodIsACandidate checks that each selection and each model of this build can be a candidate, except the
// one that may abstain, and that each of its tries spends exactly its own leaves, with all their draws. Without -full, a
// regression has records added, and a classification has records replaced.
func TestEveryMethodIsACandidate(t *testing.T) {
	for _, task := range []string{regression.TaskRegression, regression.TaskClassification} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			if !*full && (task == regression.TaskRegression) != (rel == budget.AddRemove) {
				continue
			}
			var p *pipeline.Pipeline
			var c conformer
			search := &pipeline.Search{Runs: 30, Holdout: .3}
			for _, c = range allConformers() {
				if c.task != task ||
					c.relation != rel ||
					pipeline.MayAbstain(c.model) {
					continue
				}
				one, err := c.newPipeline(t)
				if err != nil {
					continue // it does not have this task
				}
				x := pipeline.Candidate{
					Selector:       one.Selector,
					SelectionShare: one.SelectionShare,
					Model:          one.Model,
				}
				if !slices.ContainsFunc(search.Candidates, func(y pipeline.Candidate) bool {
					return reflect.DeepEqual(x, y)
				}) {
					search.Candidates = append(search.Candidates, x)
				}
				p = one
			}
			q := *p
			q.Selector = nil
			q.SelectionShare = 0
			q.Model = nil
			q.Search = search
			t.Run(task+" "+rel.String(), func(t *testing.T) {
				tryAll(t, &q, c.testTables(t, q.Schema)["ordinary"])
			})
		}
	}
}

// tryAll makes the given number of tries and inspects each.
func tryAll(t *testing.T, p *pipeline.Pipeline, tab *dataset.Table) {
	plan := planPipeline(t, p)
	rec := mechanism.NewRecorder(1).ForceTries(12 * len(p.Search.Candidates)).KeepColumns()
	_, err := p.FitRecorded(
		context.Background(),
		plan,
		tab,
		pipeline.Options{},
		rec,
	)
	if err != nil {
		t.Fatal(err)
	}
	of := map[int]string{}
	draws := map[int]map[string]int{}
	for _, r := range rec.Releases() {
		at := placeIn(plan, r.Path).Candidate
		was, ok := of[r.Try]
		if ok && was != at {
			t.Fatalf(
				"try %d releases of %q and %q",
				r.Try, was, at,
			)
		}
		of[r.Try] = at
		if draws[r.Try] == nil {
			draws[r.Try] = map[string]int{}
		}
		if r.Part == 0 {
			draws[r.Try][r.Path]++
		}
	}
	tried := map[string]bool{}
	for try, spent := range draws {
		tried[of[try]] = true
		for _, l := range plan.Leaves() {
			if l.Place.Stage == "vocabulary" {
				continue // of text categories, which do not occur here
			}
			at := l.Place
			if at.Candidate == of[try] &&
				at.Branch == "" &&
				spent[l.Path] != l.Law.Draws &&
				!oneShot(l, spent[l.Path]) {
				t.Errorf(
					"try %d: %s made %d of %d draws",
					try,
					l.Path,
					spent[l.Path],
					l.Law.Draws,
				)
			}
		}
	}
	if len(tried) != len(p.Search.Candidates)+1 {
		t.Errorf(
			"%d of %d candidates were tried",
			len(tried)-1,
			len(p.Search.Candidates),
		)
	}
}

// oneShot reports whether the draws of a leaf are made in one release.
func oneShot(l budget.PricedLeaf, releases int) bool {
	return l.Law.Kind == budget.Exponential && releases == 1
}

// placeIn returns the place of the leaf at path in a plan.
func placeIn(plan *pipeline.Plan, path string) budget.Place {
	l, _ := plan.Leaf(path)
	return l.Place
}
