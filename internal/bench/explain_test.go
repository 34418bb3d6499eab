package bench_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// declaredPipeline returns a pipeline of d numeric columns, a category and the target.
func declaredPipeline(d int) *pipeline.Pipeline {
	p := &pipeline.Pipeline{
		Target:   "y",
		Budget:   budget.Target{Epsilon: 2, Delta: 1e-6},
		Holdout:  .1,
		Selector: selection.None{},
		Model:    adassp.JointGram{},
	}
	for j := range d {
		c := dataset.Column{Name: string(rune('a' + j))}
		if j == 0 {
			c.Ranged = true
			c.Lower = -1e3
			c.Upper = 5e3
		}
		p.Schema.Columns = append(p.Schema.Columns, c)
	}
	p.Schema.Columns = append(
		p.Schema.Columns,
		dataset.Column{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"u", "v"},
			Other:      true,
		},
		dataset.Column{Name: "y"},
	)
	return p
}

func TestExplain(t *testing.T) {
	last := 0
	c := bench.ExplainConfig{
		Rows:   []int{100_000, 1000},
		Tables: 3,
		Progress: func(done, total int) {
			if done != last+1 || done > total {
				t.Errorf(
					"%d of %d after %d",
					done, total, last,
				)
			}
			last = done
		},
	}
	x, err := bench.Explain(t.Context(), declaredPipeline(3), c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Epsilons, []float64{.1, .3, 1, 2, 3, 10}) ||
		x.Tables != 3 ||
		len(x.Notes) > 0 ||
		last != 2*3*7 {
		t.Errorf("%+v after %d models", x, last)
	}
	few := x.Sizes[0]
	many := x.Sizes[1]
	if few.Rows != 1000 || many.Rows != 100_000 {
		t.Fatalf(
			"sizes %d and %d",
			few.Rows, many.Rows,
		)
	}
	// The noise at epsilon .1 and 1000 rows leaves hardly any signal; with epsilon 10 and 100,000 rows there is
	// hardly any error. The gap is wide.
	worst := few.At[0]
	best := many.At[5]
	if !(best.Median > worst.Median+.1) {
		t.Errorf(
			"best %+v, worst %+v",
			best, worst,
		)
	}
	for _, b := range []bench.Band{best.Band, few.Open, many.Open} {
		if math.Abs(b.Median-bench.SyntheticR2) > .05 ||
			!(b.Lower <= b.Median && b.Median <= b.Upper) {
			t.Errorf(
				"%+v is not near the R² of the true function",
				b,
			)
		}
	}
}

// TestExplainFixed checks that columns that are never read do not affect quality.
func TestExplainFixed(t *testing.T) {
	p := declaredPipeline(8)
	p.Selector = selection.Fixed{Features: []string{"a", "kind"}}
	x, err := bench.Explain(
		t.Context(),
		p,
		bench.ExplainConfig{Rows: []int{20_000}, Tables: 3},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []bench.Band{
		x.Sizes[0].Open,
		x.Sizes[0].At[5].Band,
	} {
		if math.Abs(b.Median-bench.SyntheticR2) > .06 {
			t.Errorf(
				"%+v is not near the R² of the true function",
				b,
			)
		}
	}
}

// TestExplainSelects runs a private selection, and the default choice of a pipeline without a selector.
func TestExplainSelects(t *testing.T) {
	for name, change := range map[string]func(*pipeline.Pipeline){
		"kendall": func(p *pipeline.Pipeline) {
			p.Selector = selection.Kendall{K: 2}
		},
		"auto": func(p *pipeline.Pipeline) {
			p.Selector = nil
			p.Model = nil
		},
	} {
		p := declaredPipeline(7)
		change(p)
		x, err := bench.Explain(
			t.Context(),
			p,
			bench.ExplainConfig{Rows: []int{20, 5000}, Tables: 1},
		)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := x.Sizes[1].At[5]
		if !(b.Median > 0 && b.Median < .75) {
			t.Errorf(
				"%s: %+v at epsilon 10",
				name, b,
			)
		}
	}
}

// classPipeline is like declaredPipeline with a target of classes.
func classPipeline(d, classes int) *pipeline.Pipeline {
	p := declaredPipeline(d)
	p.Task = regression.TaskClassification
	target := &p.Schema.Columns[p.Schema.Index("y")]
	target.Kind = dataset.Category
	for k := range classes {
		target.Categories = append(target.Categories, "class "+strconv.Itoa(k))
	}
	return p
}

// TestExplainClasses checks that with a large budget and many rows the accuracy approaches that of the true function,
// which for two classes is 1/2 + arcsin(sqrt(R²))/pi, and that with a small budget and few rows it is close to the
// share of the largest class.
func TestExplainClasses(t *testing.T) {
	for classes, truth := range map[int]float64{
		2: .5 + math.Asin(math.Sqrt(bench.SyntheticR2))/math.Pi,
		3: .73,
	} {
		x, err := bench.Explain(
			t.Context(),
			classPipeline(3, classes),
			bench.ExplainConfig{Rows: []int{100, 50_000}, Tables: 3},
		)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x.Truth.Median-truth) > .03 ||
			x.Largest.Median < 1/float64(classes) ||
			x.Largest.Median > 1/float64(classes)+.1 {
			t.Errorf(
				"%d classes: the true function %+v, the largest class %+v",
				classes,
				x.Truth,
				x.Largest,
			)
		}
		worst := x.Sizes[0].At[0]
		best := x.Sizes[1].At[5]
		for _, b := range []bench.Band{best.Band, x.Sizes[1].Open} {
			if math.Abs(b.Median-x.Truth.Median) > .03 ||
				!(b.Lower <= b.Median && b.Median <= b.Upper) {
				t.Errorf(
					"%d classes: %+v is not near the true function %+v",
					classes,
					b,
					x.Truth,
				)
			}
		}
		if worst.Median > best.Median-.1 ||
			worst.Abstained != 0 ||
			len(x.Notes) > 0 {
			t.Errorf(
				"%d classes: best %+v, worst %+v, notes %q",
				classes,
				best,
				worst,
				x.Notes,
			)
		}
	}
}

// TestExplainAbstains checks, for numbers and for classes, that a method that has no model at a small size reports
// so, and that the other sizes are still explained.
func TestExplainAbstains(t *testing.T) {
	for name, p := range map[string]*pipeline.Pipeline{
		"numbers": declaredPipeline(1),
		"classes": classPipeline(1, 2),
	} {
		p.Model = tukey.Tukey{}
		last := 0
		all := 0
		x, err := bench.Explain(
			t.Context(),
			p,
			bench.ExplainConfig{
				Rows:   []int{20, 20_000},
				Tables: 2,
				Progress: func(done, total int) {
					last = done
					all = total
				},
			},
		)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		few := x.Sizes[0].At[3]
		many := x.Sizes[1].At[5]
		if few.Abstained != 2 ||
			!math.IsNaN(few.Median) ||
			math.IsNaN(x.Sizes[0].Open.Median) {
			t.Errorf(
				"%s: 20 rows: %+v",
				name, x.Sizes[0],
			)
		}
		if many.Abstained != 0 || !(many.Median > .6) {
			t.Errorf(
				"%s: 20,000 rows: %+v",
				name, many,
			)
		}
		if last != all || all == 0 {
			t.Errorf(
				"%s: %d of %d models",
				name, last, all,
			)
		}
	}
}

// TestExplainClassMethods runs a method of every kind: selectors that read classes or numbers, the automatic choice,
// one fit for all classes, one fit for each class, a method that reads classes directly, and private columns.
func TestExplainClassMethods(t *testing.T) {
	for _, s := range []selection.Selector{
		selection.Kendall{K: 2},
		selection.DPFSDR{},
		nil,
	} {
		p := classPipeline(5, 2)
		p.Selector = s
		p.Model = logistic.Logistic{}
		if s == nil {
			p.Model = nil
		}
		runOnce(t, p)
	}
	for _, model := range []method.Trainer{
		adassp.JointGram{},
		boosting.BoostedAdaSSP{},
		svm.SVM{},
	} {
		p := classPipeline(2, 4)
		p.Model = model
		runOnce(t, p)
	}
	partly := classPipeline(3, 2)
	partly.Model = boosting.BRC{}
	partly.Budget.Relation = budget.SubstitutePrivateColumns
	partly.Schema.Columns[1].Private = true
	runOnce(t, partly)
}

// runOnce explains a pipeline at one small size.
func runOnce(t *testing.T, p *pipeline.Pipeline) {
	t.Helper()
	x, err := bench.Explain(
		t.Context(),
		p,
		bench.ExplainConfig{Rows: []int{400}, Tables: 1},
	)
	if err != nil {
		t.Errorf(
			"%v %s: %v",
			p.Selector, p.Model, err,
		)
		return
	}
	for _, fit := range append(
		x.Sizes[0].At,
		bench.ExplainedFit{Band: x.Sizes[0].Open},
	) {
		if !(fit.Median >= 0 && fit.Median <= 1) {
			t.Errorf(
				"%v %s: accuracy %+v",
				p.Selector, p.Model, fit,
			)
		}
	}
}

// TestExplainManyClasses checks that a large number of models is explained with fewer tables or sizes.
func TestExplainManyClasses(t *testing.T) {
	p := classPipeline(20, 200)
	p.Model = boosting.Additive{}
	_, err := bench.Explain(
		t.Context(),
		p,
		bench.ExplainConfig{Rows: []int{100_000}},
	)
	if !errors.Is(err, bench.ErrTooWide) {
		t.Errorf("%v", err)
	}
}

func TestExplainBounds(t *testing.T) {
	wide := declaredPipeline(1)
	for j := range 300 {
		wide.Schema.Columns = append(
			wide.Schema.Columns,
			dataset.Column{Name: "w" + string(rune(0x4e00+j))},
		)
	}
	for _, rows := range [][]int{
		{10_000_000},
		{9, 20},
		{20, 20},
		{},
		{10_000_001},
		{10, 11, 12, 13, 14, 15, 16, 17, 18},
	} {
		want := bench.ErrExplainRows
		if len(rows) == 1 && rows[0] == 10_000_000 {
			want = bench.ErrTooWide
		}
		_, err := bench.Explain(t.Context(), wide, bench.ExplainConfig{Rows: rows})
		if !errors.Is(
			err, want) {
			t.Errorf("%v: %v", rows, err)
		}
	}
	x, err := bench.Explain(
		t.Context(),
		declaredPipeline(1),
		bench.ExplainConfig{Rows: []int{50, 10_000_000}, Tables: 1},
	)
	if err != nil ||
		len(x.Sizes) != 1 ||
		x.Sizes[0].Rows != 50 ||
		len(x.Notes) != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	p := declaredPipeline(2)
	p.Target = "kind"
	_, err = bench.Explain(t.Context(), p, bench.ExplainConfig{})
	if !errors.Is(err, pipeline.ErrTarget) {
		t.Errorf("a category as target: %v", err)
	}
}

func TestExplainEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := bench.ExplainConfig{Rows: []int{1000}, Progress: func(int, int) {
		cancel()
	}}
	x, err := bench.Explain(ctx, declaredPipeline(2), c)
	if !errors.Is(err, context.Canceled) || x != nil {
		t.Errorf("%+v, %v", x, err)
	}
}
