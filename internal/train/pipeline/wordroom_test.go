package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/regression"
)

// TestManyColumnsOfWords uses 600 columns of ten text categories. Keeping eight categories of each gave rows of 5,400
// entries, and the run failed after publishing them. Now categories are dropped until rows fit, and the most frequent
// ones are kept.
func TestManyColumnsOfWords(t *testing.T) {
	const (
		columns = 600
		rows    = 400
	)
	for _, declared := range []bool{false, true} {
		p := &Pipeline{
			Task:   regression.TaskClassification,
			Target: "y",
			Model:  svm.SVM{},
			Budget: budget.Target{Epsilon: 3000, Delta: 1e-6},
		}
		var data []dataset.ColumnData
		words := []string{
			"a", "b", "c", "d",
			"e", "f", "g", "h",
			"i", "j",
		}
		for j := range columns {
			c := dataset.Column{Name: fmt.Sprint("c", j), Found: true}
			d := dataset.ColumnData{Words: words}
			if declared {
				c.Kind = dataset.Category
				c.Other = true
			}
			for i := range rows {
				d.Codes = append(d.Codes, int32(min(9, i*i/rows*10/rows, 9))) // a has most, then b and so on
				if !declared {
					d.Floats = append(d.Floats, math.NaN())
				}
			}
			p.Schema.Columns = append(p.Schema.Columns, c)
			data = append(data, d)
		}
		p.Schema.Columns = append(
			p.Schema.Columns,
			dataset.Column{
				Name:       "y",
				Kind:       dataset.Category,
				Categories: []string{"no", "yes"},
			},
		)
		y := dataset.ColumnData{}
		for i := range rows {
			y.Codes = append(y.Codes, int32(i%2))
		}
		table, err := dataset.NewTable(p.Schema, append(data, y), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Fit(context.Background(), table, Options{})
		if err != nil {
			t.Fatalf("declared %v: %v", declared, err)
		}
		found := 0
		for _, v := range res.Vocabulary {
			if found += len(v.Words); len(v.Words) < 1 ||
				!slices.Equal(v.Words, words[:len(v.Words)]) {
				t.Fatalf(
					"declared %v: %q has the words %q",
					declared, v.Column, v.Words,
				)
			}
		}
		if found != 1024 || len(res.Model.Inputs()) != columns {
			t.Errorf(
				"declared %v: %d words of %d columns",
				declared,
				found,
				len(res.Model.Inputs()),
			)
		}
	}
}

// TestAcceptedPlanHasRoomForText checks that a plan that is accepted leaves enough entries for the columns without text
// categories, for any number of other columns and every combination of selector and trainer.
func TestAcceptedPlanHasRoomForText(t *testing.T) {
	for name, x := range map[string]struct {
		numbers int
		change  func(*Pipeline)
		plans   bool
	}{
		"few":      {10, func(*Pipeline) {}, true},
		"as many":  {linear.MaxSlots - 62, func(*Pipeline) {}, true},
		"too many": {linear.MaxSlots - 61, func(*Pipeline) {}, false},
		"chosen": {
			2 * linear.MaxSlots,
			func(p *Pipeline) {
				p.Selector = selection.SIS{K: 50}
			},
			true,
		},
		"classifier": {
			linear.MaxSlots - 61,
			func(p *Pipeline) {
				p.Model = logistic.Logistic{}
			},
			true,
		},
	} {
		p := &Pipeline{
			Target:   "y",
			Budget:   budget.Target{Epsilon: 1, Delta: 1e-6},
			Selector: selection.None{},
		}
		if x.change(p); p.Model != nil {
			p.Task = regression.TaskClassification
		}
		for j := range x.numbers {
			p.Schema.Columns = append(
				p.Schema.Columns,
				dataset.Column{Name: fmt.Sprint("n", j)},
			)
		}
		for j := range 60 {
			p.Schema.Columns = append(
				p.Schema.Columns,
				dataset.Column{Name: fmt.Sprint("w", j), Found: true},
			)
		}
		target := dataset.Column{Name: "y"}
		if p.Task != "" {
			target.Kind = dataset.Category
			target.Categories = []string{"no", "yes"}
		}
		p.Schema.Columns = append(p.Schema.Columns, target)
		plan, err := p.Plan()
		if (err == nil) != x.plans {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		f := plan.facts
		for j := range f.Columns {
			c := &f.Columns[j]
			if c.Found {
				*c = dataset.Column{
					Name:  c.Name,
					Kind:  dataset.Category,
					Other: true,
					Found: true,
				}
			}
		}
		if !p.rowsFit(f) {
			t.Errorf("%s: no room even without words", name)
		}
	}
}
