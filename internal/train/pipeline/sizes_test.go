package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// gradedPipeline returns a table of n records in two classes, which four of eight columns separate, and a pipeline that tries
// three numbers of columns.
func gradedPipeline(t testing.TB, n int) (*Pipeline, *dataset.Table) {
	t.Helper()
	schema := dataset.Schema{}
	data := make([]dataset.ColumnData, 9)
	p := sequence(11)
	for _, name := range []string{
		"a", "b", "c", "d",
		"e", "f", "g", "h",
	} {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{
				Name:   name,
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
		)
	}
	schema.Columns = append(
		schema.Columns,
		dataset.Column{
			Name:       "grade",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	)
	for i := range n {
		class := int32(i % 2)
		for j := range 8 {
			x := p.next()
			if j < 4 {
				x = .6*x + .25*float64(2*class-1)
			}
			data[j].Floats = append(data[j].Floats, x)
		}
		data[8].Codes = append(data[8].Codes, class)
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := gradePipeline(tab)
	run.Selector = selection.DPFSDR{Sizes: []int{1, 4, 8}}
	run.SizeRuns = 4
	run.Model = svm.SVM{}
	return run, tab
}

// TestSizesPlan checks that the statistics are released once, that every size has the same price, and that the tries
// cost less than composing the average of four tries would.
func TestSizesPlan(t *testing.T) {
	p, _ := gradedPipeline(t, 1)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	law, names, ok := plan.Selection("fit/train/model")
	if !ok ||
		law.Eta != 0 ||
		math.Abs(law.Mean()-4) > 1e-9 ||
		!slices.Equal(
			names,
			[]string{"size-1", "size-4", "size-8"},
		) {
		t.Fatalf(
			"the selection: %+v, %v, %v",
			law, names, ok,
		)
	}
	stats, _ := plan.Law("fit/train/selection/dpfsdr/stats")
	fit, ok := plan.Law("fit/train/model/size-4/fit/svm")
	if !ok {
		t.Fatal("no such leaf")
	}
	right, _ := plan.Law("fit/train/model/size-4/right")
	ratio := right.Mu * right.Mu /
		(right.Mu*right.Mu + fit.Mu*fit.Mu)
	if math.Abs(ratio-rightShare) > 1e-6 {
		t.Errorf(
			"counting takes %v of a try's mu²: %+v, %+v, %+v",
			ratio, stats, fit, right,
		)
	}
	for _, name := range names {
		l, _ := plan.Law("fit/train/model/" + name + "/right")
		if l != right {
			t.Errorf(
				"%s: %+v, not %+v",
				name, l, right,
			)
		}
	}
	fixed := *p
	fixed.Selector = selection.DPFSDR{K: 4, Exact: true}
	fixed.SizeRuns = 0
	alone, err := fixed.Plan()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := alone.Law("fit/train/selection/dpfsdr/stats")
	if !(stats.Mu < l.Mu &&
		stats.Mu > l.Mu/math.Sqrt(1+4*2)) {
		t.Errorf(
			"statistics have mu %v, without sizes %v",
			stats.Mu, l.Mu,
		)
	}
	g := plan.Guarantee()
	if g.Spent > 1 || g.Spent < 1-1e-6 {
		t.Errorf("guarantee %+v", g)
	}
}

// TestSizesFit checks that the model has as many columns as the winning size, and that the events contain only the
// releases of that size.
func TestSizesFit(t *testing.T) {
	p, tab := gradedPipeline(t, 4000)
	p.Budget.Epsilon = 30
	p.SizeRuns = 12
	for range 4 {
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		size := res.Sizes.Chosen
		if len(res.Selected) != size ||
			len(res.Model.Inputs()) != size ||
			res.Method != "svm" {
			t.Errorf(
				"size %d: %v, %s",
				size, res.Selected, res.Method,
			)
		}
		for _, e := range res.Events {
			at := e.Place
			want := at.Stage == modelNode &&
				at.Size != SizeName(size)
			if want != (e.Released == 0) {
				t.Errorf(
					"size %d: %s released %d",
					size, e.Path, e.Released,
				)
			}
		}
		right := float64(res.Sizes.Right) / 3200
		if size >= 4 && (right < .85 || right > 1.05) {
			t.Errorf("size %d: %v right", size, right)
		}
	}
}

// TestSizesAreRefused checks that sizes that cannot be priced or counted are refused at plan time.
func TestSizesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Pipeline)
		want   error
	}{
		"one size": {
			func(p *Pipeline) {
				p.Selector = selection.DPFSDR{Sizes: []int{3}}
			},
			selection.ErrSizes,
		},
		"empty list": {
			func(p *Pipeline) {
				p.Selector = selection.CRFS{Sizes: []int{}}
			},
			selection.ErrSizes,
		},
		"falling": {
			func(p *Pipeline) {
				p.Selector = selection.DPFS{Sizes: []int{3, 2}}
			},
			selection.ErrSizes,
		},
		"no columns": {
			func(p *Pipeline) {
				p.Selector = selection.DPFS{Sizes: []int{0, 2}}
			},
			selection.ErrSizes,
		},
		"too many": {
			func(p *Pipeline) {
				p.Selector = selection.DPFSDR{Sizes: []int{2, 9}}
			},
			selection.ErrSizes,
		},
		"one run": {func(p *Pipeline) {
			p.SizeRuns = 1
		}, ErrSizeSearch},
		"many runs": {func(p *Pipeline) {
			p.SizeRuns = 1001
		}, ErrSizeSearch},
		"no number": {func(p *Pipeline) {
			p.SizeRuns = math.NaN()
		}, ErrSizeSearch},
		"runs, no sizes": {
			func(p *Pipeline) {
				p.Selector = selection.DPFSDR{K: 3}
			},
			ErrSizeSearch,
		},
		"basic": {
			func(p *Pipeline) {
				p.Budget.Composition = budget.Basic
			},
			ErrSizeSearch,
		},
		"pure": {func(p *Pipeline) {
			p.Budget.Delta = 0
		}, ErrSizeSearch},
		"may abstain": {func(p *Pipeline) {
			p.Model = tukey.Tukey{}
		}, ErrSizeSearch},
		"a number": {
			func(p *Pipeline) {
				p.Task = ""
				p.Target = p.Schema.Columns[0].Name
				p.Model = nil
				p.Selector = selection.GreedyGram{Sizes: []int{2, 3}}
			},
			ErrSizeSearch,
		},
		"inside a search": {
			func(p *Pipeline) {
				x := p.Selector
				p.Selector = nil
				p.SizeRuns = 0
				p.Model = nil
				p.Search = &Search{
					Runs:    3,
					Holdout: .2,
					Candidates: []Candidate{
						{Selector: x, Model: svm.SVM{}},
						{Model: logistic.Logistic{}},
					},
				}
			},
			ErrSearch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := gradedPipeline(t, 1)
			c.change(p)
			_, err := p.Plan()
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestSizesAreTotal checks that no table is an error, for every selector and relation.
func TestSizesAreTotal(t *testing.T) {
	for _, n := range []int{0, 1, 7} {
		for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			for _, x := range []selection.Selector{
				selection.DPFSDR{Sizes: []int{1, 2}},
				selection.DPFS{Sizes: []int{2, 8}},
				selection.CRFS{Sizes: []int{1, 3, 8}},
			} {
				p, tab := gradedPipeline(t, n)
				p.Selector = x
				p.Budget.Relation = relation
				res, err := p.Fit(context.Background(), tab, Options{})
				if err != nil || len(res.Selected) != res.Sizes.Chosen {
					t.Errorf(
						"%d rows, %v, %s: %v",
						n, relation, x.Name(), err,
					)
				}
			}
		}
	}
}
