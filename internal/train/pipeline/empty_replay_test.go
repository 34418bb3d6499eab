//go:build replay

package pipeline

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// withEmpty returns a table of n records with a number, two classes or three as the target, where every fifth record
// has no target, and the same table without these records. Ranges are declared, and the features of records without a
// target are far from those of the others.
func withEmpty(t *testing.T, n, classes int) (with, without *dataset.Table) {
	t.Helper()
	ranged := func(name string) dataset.Column {
		return dataset.Column{
			Name:   name,
			Ranged: true,
			Lower:  -2,
			Upper:  2,
		}
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		ranged("a"),
		ranged("b"),
		ranged("c"),
		{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"u", "v"},
		},
		ranged("y"),
	}}
	if classes > 0 {
		schema.Columns[4] = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"one", "two", "three"}[:classes],
		}
	}
	var all, some []dataset.ColumnData
	all = make([]dataset.ColumnData, 5)
	some = make([]dataset.ColumnData, 5)
	var allIDs, someIDs []uint64
	add := func(to []dataset.ColumnData, x [3]float64, k int32, y float64, class int32) {
		for j := range x {
			to[j].Floats = append(to[j].Floats, x[j])
		}
		to[3].Codes = append(to[3].Codes, k)
		if classes > 0 {
			to[4].Codes = append(to[4].Codes, class)
		} else {
			to[4].Floats = append(to[4].Floats, y)
		}
	}
	p := sequence(5)
	for i := range n {
		x := [3]float64{p.next(), p.next(), p.next()}
		k := int32(i % 2)
		y := x[0] - x[1]/2 + float64(k)/4 + p.next()/4
		class := int32(min(
			max(int((y+1)/2*float64(max(classes, 1))), 0),
			max(classes-1, 0),
		))
		if i%5 == 2 {
			add(
				all,
				[3]float64{2, -2, 2},
				k, math.NaN(), int32(classes),
			)
		} else {
			add(all, x, k, y, class)
			add(some, x, k, y, class)
			someIDs = append(someIDs, uint64(i))
		}
		allIDs = append(allIDs, uint64(i))
	}
	for _, to := range []struct {
		data  []dataset.ColumnData
		ids   []uint64
		table **dataset.Table
	}{{all, allIDs, &with}, {some, someIDs, &without}} {
		tab, err := dataset.NewTable(schema, to.data, to.ids)
		if err != nil {
			t.Fatal(err)
		}
		*to.table = tab
	}
	return with, without
}

// TestEmptyRecordsAddNothing checks that, with the same randomness, the model that every method and selection learns
// from a table is bit-identical to that of the table without the records that have no target.
func TestEmptyRecordsAddNothing(t *testing.T) {
	type run struct {
		classes int
		change  func(p *Pipeline)
	}
	runs := map[string]run{
		"auto":    {0, func(*Pipeline) {}},
		"auto, 2": {2, func(*Pipeline) {}},
		"auto, 3": {3, func(*Pipeline) {}},
		"search": {0, func(p *Pipeline) {
			p.Search = &Search{
				Candidates: []Candidate{
					{Model: adassp.JointGram{}},
					{Model: adassp.AdaSSP{}},
				},
				Runs:    3,
				Holdout: .3,
			}
		}},
		"sizes": {2, func(p *Pipeline) {
			p.Model = logistic.Logistic{}
			p.Selector = selection.DPFSDR{Sizes: []int{1, 3}, Exact: false}
		}},
		"fallback": {2, func(p *Pipeline) {
			p.Model = tukey.Tukey{}
			p.Fallback = boosting.BRC{}
		}},
	}
	for _, classes := range []int{0, 2, 3} {
		task := regression.TaskRegression
		if classes > 0 {
			task = regression.TaskClassification
		}
		for _, m := range Methods(task) {
			for _, form := range formsOf(m) {
				if form != boosting.Paper && !(classes > 2 && TwoClasses(m)) {
					runs[fmt.Sprintf("%s %s, %d", m, form, classes)] = run{
						classes,
						func(p *Pipeline) {
							p.Model = trainerInForm(m, form)
						},
					}
				}
			}
		}
	}
	for _, s := range []selection.Selector{
		selection.Kendall{K: 2},
		selection.SubLasso{K: 2},
		selection.SIS{K: 2, Score: selection.ScoreTau},
		selection.SIS{K: 2, Score: selection.ScoreProduct},
		selection.SIS{K: 2, Score: selection.ScoreCorrelation},
	} {
		for _, classes := range []int{0, 2} {
			runs[fmt.Sprintf("%+v, %d", s, classes)] = run{classes, func(p *Pipeline) {
				p.Model = adassp.JointGram{}
				p.Selector = s
			}}
		}
	}
	for _, s := range []selection.Selector{
		selection.DPFSDR{K: 2},
		selection.DPFS{K: 2},
		selection.CRFS{K: 2},
	} {
		runs[s.Name()] = run{3, func(p *Pipeline) {
			p.Model = adassp.JointGram{}
			p.Selector = s
		}}
	}
	for name, r := range runs {
		t.Run(name, func(t *testing.T) {
			with, without := withEmpty(t, 600, r.classes)
			p := &Pipeline{
				Schema: with.Schema(),
				Target: "y",
				Budget: budget.Target{Epsilon: 3, Delta: 1e-6},
			}
			if r.classes > 0 {
				p.Task = regression.TaskClassification
			}
			r.change(p)
			if mayAbstain(p.Model) {
				p.Budget.Epsilon = 100
			}
			a := fitSeeded(t, p, with)
			b := fitSeeded(t, p, without)
			if a.Model == nil ||
				!reflect.DeepEqual(a.Model, b.Model) ||
				!reflect.DeepEqual(a.Events, b.Events) {
				t.Errorf(
					"the model %+v, and without the records that have no target %+v",
					a.Model,
					b.Model,
				)
			}
		})
	}
}

// fitSeeded fits with the randomness of a seed.
func fitSeeded(t *testing.T, p *Pipeline, tab *dataset.Table) *Result {
	t.Helper()
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	rec := mechanism.NewRecorder(9)
	if p.Search != nil {
		rec.ForceTries(3)
	}
	res, err := p.FitRecorded(context.Background(), plan, tab, Options{}, rec)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// formsOf lists the forms of a method, and the default.
func formsOf(name string) []string {
	m, _ := TrainerNamed(name)
	k, _ := m.Key("form")
	return append(k.Words, "")
}
