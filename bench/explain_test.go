package bench_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/bench"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/pipeline"
	"github.com/dptrain/dptrain/selection"
)

// declared is a pipeline of d numeric columns, a category and the target.
func declared(d int) *pipeline.Pipeline {
	p := &pipeline.Pipeline{Target: "y", Budget: budget.Target{Epsilon: 2, Delta: 1e-6}, Holdout: .1,
		Selector: selection.None{}, Model: pipeline.JointGram}
	for j := range d {
		c := dataset.Column{Name: string(rune('a' + j))}
		if j == 0 {
			c.Ranged, c.Lower, c.Upper = true, -1e3, 5e3
		}
		p.Schema.Columns = append(p.Schema.Columns, c)
	}
	p.Schema.Columns = append(p.Schema.Columns,
		dataset.Column{Name: "kind", Kind: dataset.Category, Categories: []string{"u", "v"}, Other: true},
		dataset.Column{Name: "y"})
	return p
}

func TestExplain(t *testing.T) {
	last := 0
	c := bench.ExplainConfig{Rows: []int{100_000, 1000}, Tables: 3, Progress: func(done, total int) {
		if done != last+1 || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}}
	x, err := bench.Explain(t.Context(), declared(3), c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Epsilons, []float64{.1, .3, 1, 2, 3, 10}) || x.Tables != 3 || len(x.Notes) > 0 || last != 2*3*7 {
		t.Errorf("%+v after %d models", x, last)
	}
	few, many := x.Sizes[0], x.Sizes[1]
	if few.Rows != 1000 || many.Rows != 100_000 {
		t.Fatalf("sizes %d and %d", few.Rows, many.Rows)
	}
	// The noise at epsilon .1 and 1000 rows leaves next to nothing, that at
	// epsilon 10 and 100,000 rows next to no error: the gap is wide.
	worst, best := few.At[0], many.At[5]
	if !(best.Median > worst.Median+.1) {
		t.Errorf("best %+v, worst %+v", best, worst)
	}
	for _, b := range []bench.Band{best, few.Open, many.Open} {
		if math.Abs(b.Median-bench.SyntheticR2) > .05 || !(b.Lower <= b.Median && b.Median <= b.Upper) {
			t.Errorf("%+v is not near the R² of the true function", b)
		}
	}
}

// TestExplainFixed expects columns that are never read to cost no quality.
func TestExplainFixed(t *testing.T) {
	p := declared(8)
	p.Selector = selection.Fixed{Features: []string{"a", "kind"}}
	x, err := bench.Explain(t.Context(), p, bench.ExplainConfig{Rows: []int{20_000}, Tables: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []bench.Band{x.Sizes[0].Open, x.Sizes[0].At[5]} {
		if math.Abs(b.Median-bench.SyntheticR2) > .06 {
			t.Errorf("%+v is not near the R² of the true function", b)
		}
	}
}

// TestExplainSelects runs a private selection, and the choice that a pipeline
// without a selector makes.
func TestExplainSelects(t *testing.T) {
	for name, change := range map[string]func(*pipeline.Pipeline){
		"kendall": func(p *pipeline.Pipeline) { p.Selector = selection.Kendall{K: 2} },
		"auto":    func(p *pipeline.Pipeline) { p.Selector, p.Model = nil, pipeline.Auto },
	} {
		p := declared(7)
		change(p)
		x, err := bench.Explain(t.Context(), p, bench.ExplainConfig{Rows: []int{20, 5000}, Tables: 1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b := x.Sizes[1].At[5]; !(b.Median > 0 && b.Median < .75) {
			t.Errorf("%s: %+v at epsilon 10", name, b)
		}
	}
}

func TestExplainBounds(t *testing.T) {
	wide := declared(1)
	for j := range 300 {
		wide.Schema.Columns = append(wide.Schema.Columns, dataset.Column{Name: "w" + string(rune(0x4e00+j))})
	}
	for _, rows := range [][]int{{10_000_000}, {9, 20}, {20, 20}, {}, {10_000_001}, {10, 11, 12, 13, 14, 15, 16, 17, 18}} {
		want := bench.ErrExplainRows
		if len(rows) == 1 && rows[0] == 10_000_000 {
			want = bench.ErrTooWide
		}
		if _, err := bench.Explain(t.Context(), wide, bench.ExplainConfig{Rows: rows}); !errors.Is(err, want) {
			t.Errorf("%v: %v", rows, err)
		}
	}
	x, err := bench.Explain(t.Context(), declared(1), bench.ExplainConfig{Rows: []int{50, 10_000_000}, Tables: 1})
	if err != nil || len(x.Sizes) != 1 || x.Sizes[0].Rows != 50 || len(x.Notes) != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	p := declared(2)
	p.Target = "kind"
	if _, err := bench.Explain(t.Context(), p, bench.ExplainConfig{}); !errors.Is(err, pipeline.ErrTarget) {
		t.Errorf("a category as target: %v", err)
	}
}

func TestExplainEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := bench.ExplainConfig{Rows: []int{1000}, Progress: func(int, int) { cancel() }}
	if x, err := bench.Explain(ctx, declared(2), c); !errors.Is(err, context.Canceled) || x != nil {
		t.Errorf("%+v, %v", x, err)
	}
}
