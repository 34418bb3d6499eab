package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// sequence is a fixed scattered sequence in (-1, 1).
type sequence uint64

func (p *sequence) next() float64 {
	*p = *p*6364136223846793005 + 1442695040888963407
	return float64(int64(*p)>>11) / (1 << 52)
}

// housesTable returns a table of n rows with a linear target, a category column and an
// undeclared range for every number.
func housesTable(t testing.TB, n int) *dataset.Table {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "area"},
		{Name: "age"},
		{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"flat", "house"},
			Other:      true,
		},
		{Name: "price"},
	}}
	data := make([]dataset.ColumnData, 4)
	p := sequence(3)
	for range n {
		area := 100 + 40*p.next()
		age := 30 + 30*p.next()
		kind := int32(0)
		if p.next() > 0 {
			kind = 1
		}
		data[0].Floats = append(data[0].Floats, area)
		data[1].Floats = append(data[1].Floats, age)
		data[2].Codes = append(data[2].Codes, kind)
		data[3].Floats = append(
			data[3].Floats,
			1000*(50+2*area-.5*age+20*float64(kind)+20*p.next()),
		)
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func pricePipeline(tab *dataset.Table) *Pipeline {
	return &Pipeline{
		Schema:  tab.Schema(),
		Target:  "price",
		Holdout: DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
	}
}

func TestFit(t *testing.T) {
	tab := housesTable(t, 20000)
	p := pricePipeline(tab)
	var stages []string
	res, err := p.Fit(context.Background(), tab, Options{Progress: func(s string) {
		stages = append(stages, s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := res.Model.(*regression.Kernel)
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	if m.Guarantee == nil ||
		m.Guarantee.Epsilon != 1 ||
		m.Guarantee.Relation != "add-remove" {
		t.Errorf(
			"the model's guarantee: %+v",
			m.Guarantee,
		)
	}
	if res.R2 == nil ||
		res.R2.Value < .8 ||
		res.R2.Value > 1 {
		t.Errorf(
			"held-out R2 %+v of an almost linear target",
			res.R2,
		)
	}
	prediction, err := m.Predict(
		nil,
		method.RowsOfColumns(
			tab.View().Block(0, tab.Len()),
			tab.Schema().Columns[:3], nil,
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	r2 := regression.R2(prediction, tab.Float(3))
	if r2 < .8 {
		t.Errorf("raw R2 %v", r2)
	}
	want := []string{"check", "split", "selection", "scaling", "model",
		"held-out metric"}
	if !slices.Equal(stages, want) {
		t.Errorf("stages %v", stages)
	}
	c := res.Curator
	if c.Rows != 20000 ||
		c.TrainRows+c.HoldoutRows != 20000 ||
		math.Abs(float64(c.HoldoutRows)-4000) > 6*math.Sqrt(3200) {
		t.Errorf("parts %+v", c)
	}
	if res.Method != "boosted-kernel" ||
		!slices.Equal(
			res.Considered,
			[]string{"area", "age", "kind"},
		) ||
		!slices.Equal(res.Selected, res.Considered) {
		t.Errorf(
			"%s %v %v",
			res.Method, res.Considered, res.Selected,
		)
	}
}

// TestPlanEqualsSpend checks that every priced draw of every leaf is released once, and that there are no other
// releases.
func TestPlanEqualsSpend(t *testing.T) {
	for name, change := range map[string]func(*Pipeline){
		"default": func(*Pipeline) {},
		"no holdout": func(p *Pipeline) {
			p.Holdout = 0
		},
		"substitute": func(p *Pipeline) {
			p.Budget.Relation = budget.Substitute
		},
		"basic": func(p *Pipeline) {
			p.Budget.Composition = budget.Basic
		},
		"fixed": func(p *Pipeline) {
			p.Selector = selection.Fixed{Features: []string{"age"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tab := housesTable(t, 20000)
			p := pricePipeline(tab)
			change(p)
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil {
				t.Fatal(err)
			}
			leaves := plan.Leaves()
			if len(leaves) != len(res.Events) {
				t.Fatalf(
					"%d leaves, %d events",
					len(leaves), len(res.Events),
				)
			}
			for i, e := range res.Events {
				if e.Path != leaves[i].Path ||
					e.Law != leaves[i].Law ||
					e.Released != e.Law.Draws {
					t.Errorf(
						"leaf %+v, event %+v",
						leaves[i], e,
					)
				}
			}
			// Basic composition adds up budgets for which tight composition proves a smaller total.
			g := plan.Guarantee()
			if g.Spent > g.Epsilon ||
				g.Spent < .98*g.Epsilon && g.Composition == budget.Tight {
				t.Errorf(
					"spent %v of %v",
					g.Spent, g.Epsilon,
				)
			}
		})
	}
}

func TestSubstituteNeedsMoreNoise(t *testing.T) {
	tab := housesTable(t, 10)
	scales := map[budget.Relation]map[string]float64{}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		p := pricePipeline(tab)
		p.Budget.Relation = rel
		res, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		scales[rel] = map[string]float64{}
		for _, e := range res.Events {
			scales[rel][e.Path] = e.Scale
		}
	}
	raised := map[budget.Relation]float64{}
	for rel := range scales {
		p := pricePipeline(tab)
		p.Budget.Relation = rel
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		raised[rel] = plan.RaiseFactors()[0]
	}
	// The coin of the held-out part lowers the noise under add-remove only, and the count of targets costs the same
	// under both relations.
	coin := raised[budget.AddRemove] / raised[budget.Substitute]
	for _, leaf := range []string{
		"fit/train/scaling/exponents",
		"fit/train/model/gram",
	} {
		ratio := scales[budget.Substitute][leaf] / scales[budget.AddRemove][leaf]
		if coin < 1.05 || math.Abs(ratio-coin*math.Sqrt2) > 1e-4 {
			t.Errorf(
				"%s: ratio %v, want sqrt2 times %v",
				leaf, ratio, coin,
			)
		}
	}
}

func TestRefusals(t *testing.T) {
	tab := housesTable(t, 5)
	for name, c := range map[string]struct {
		change func(*Pipeline)
		want   error
	}{
		"no target": {func(p *Pipeline) {
			p.Target = "rent"
		}, ErrTarget},
		"text target": {func(p *Pipeline) {
			p.Target = "kind"
		}, ErrTarget},
		"holdout": {func(p *Pipeline) {
			p.Holdout = .6
		}, ErrHoldout},
		"NaN holdout": {func(p *Pipeline) {
			p.Holdout = math.NaN()
		}, ErrHoldout},
		"unit": {func(p *Pipeline) {
			p.Schema.Unit = "patient"
		}, ErrUnit},
		"private columns": {
			func(p *Pipeline) {
				p.Budget.Relation = budget.SubstitutePrivateColumns
			},
			ErrRelation,
		},
		"model": {func(p *Pipeline) {
			p.Model = defaultTrainer("forest")
		}, ErrModel},
		"declared": {func(p *Pipeline) {
			p.DeclaredScaling = true
		}, ErrRange},
		"narrow range": {
			func(p *Pipeline) {
				c := &p.Schema.Columns[0]
				c.Ranged = true
				c.Lower = 0
				c.Upper = 5e-324
			},
			ErrRange,
		},
		"no feature": {
			func(p *Pipeline) {
				p.Schema.Columns = p.Schema.Columns[3:]
			},
			ErrNoFeature,
		},
		"unknown feature": {
			func(p *Pipeline) {
				p.Selector = selection.Fixed{Features: []string{"rent"}}
			},
			selection.ErrFeature,
		},
		"twice": {
			func(p *Pipeline) {
				p.Selector = selection.Fixed{Features: []string{"age", "age"}}
			},
			selection.ErrFeature,
		},
		"epsilon": {func(p *Pipeline) {
			p.Budget.Epsilon = -1
		}, budget.ErrTarget},
		"delta": {func(p *Pipeline) {
			p.Budget.Delta = 1
		}, budget.ErrTarget},
		"unbounded": {
			func(p *Pipeline) {
				p.Budget.Epsilon = 1e7
				p.Selector = selection.Kendall{K: 1}
			},
			ErrUnbounded,
		},
		"pure": {
			func(p *Pipeline) {
				p.Budget.Delta = 0
				p.Model = defaultTrainer("adassp")
			},
			budget.ErrNotPure,
		},
		"too wide": {
			func(p *Pipeline) {
				few := dataset.Column{Kind: dataset.Category} // of more values fewer are entries
				for i := range linear.FewValues {
					few.Categories = append(few.Categories, strings.Repeat("x", i+1))
				}
				for range linear.MaxSlots/linear.FewValues + 1 {
					few.Name += "k"
					p.Schema.Columns = append(p.Schema.Columns, few)
				}
			},
			linear.ErrTooWide,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pricePipeline(tab)
			p.Schema = p.Schema.Clone()
			c.change(p)
			if _, err := p.Plan(); !errors.Is(err, c.want) {
				t.Errorf(
					"plan: %v, want %v",
					err, c.want,
				)
			}
			_, err := p.Fit(context.Background(), tab, Options{})
			if !errors.Is(err, c.want) {
				t.Errorf(
					"fit: %v, want %v",
					err, c.want,
				)
			}
		})
	}
	p := pricePipeline(tab)
	p.Schema = p.Schema.Clone()
	p.Schema.Columns[0].Name = "size"
	_, err := p.Fit(context.Background(), tab, Options{})
	if !errors.Is(err, ErrSchema) {
		t.Errorf("another schema: %v", err)
	}
}

func TestCancel(t *testing.T) {
	tab := housesTable(t, 5000)
	for _, at := range []string{
		"split", "scaling", "model",
		"held-out metric",
	} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := pricePipeline(tab).Fit(ctx, tab, Options{Progress: func(s string) {
			if s == at {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %s: %v", at, err)
		}
		cancel()
	}
}

// TestAnyTableYieldsModel checks that odd tables give a valid model and no error.
func TestAnyTableYieldsModel(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, x := range map[string][]float64{
		"no rows":  {},
		"one":      {1},
		"two":      {1, 2},
		"missing":  {nan, nan, nan},
		"infinite": {inf, -inf, inf},
		"constant": {5, 5, 5, 5, 5, 5},
		"huge":     {1.7e308, -1.7e308, 1e300},
	} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			codes := make([]int32, len(x))
			tab, err := dataset.NewTable(
				housesTable(t, 0).Schema(),
				[]dataset.ColumnData{
					{Floats: x},
					{Floats: x},
					{Codes: codes},
					{Floats: x},
				},
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			p := pricePipeline(tab)
			p.Budget.Relation = rel
			res, err := p.Fit(context.Background(), tab, Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if err := res.Model.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAbsurdRanges checks that declared ranges whose quotient overflows float64 still give a valid model.
func TestAbsurdRanges(t *testing.T) {
	for name, r := range map[string][4]float64{
		"quotient": {0, 1e-300, -1e300, 1e300},
		"noisy":    {0, 1e-290, 0, 1e30},
	} {
		for _, method := range Methods(regression.TaskRegression) {
			schema := dataset.Schema{Columns: []dataset.Column{
				{
					Name:   "a",
					Ranged: true,
					Lower:  r[0],
					Upper:  r[1],
				},
				{
					Name:   "price",
					Ranged: true,
					Lower:  r[2],
					Upper:  r[3],
				},
			}}
			tab, err := dataset.NewTable(
				schema,
				[]dataset.ColumnData{
					{Floats: []float64{0, 1, r[1]}},
					{Floats: []float64{0, r[3], 1}},
				},
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			p := pricePipeline(tab)
			p.Model = defaultTrainer(method)
			for range 3 {
				_, err := p.Fit(context.Background(), tab, Options{})
				if err != nil {
					t.Errorf(
						"%s, %s: %v",
						name, method, err,
					)
				}
			}
		}
	}
}

// TestColumnNamesDoNotMatter checks that renaming a column changes no price and no privacy parameter.
func TestColumnNamesDoNotMatter(t *testing.T) {
	a, err := pricePipeline(housesTable(t, 0)).Plan()
	if err != nil {
		t.Fatal(err)
	}
	p := pricePipeline(housesTable(t, 0))
	p.Schema = p.Schema.Clone()
	p.Schema.Columns[0].Name = "zzz"
	b, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Leaves(), b.Leaves()) {
		t.Error("a column's name changed the plan")
	}
}
