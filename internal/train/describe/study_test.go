package describe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// studyOf returns a study of n columns without declarations.
func studyOf(n int) Study {
	s := Study{Budget: budget.Target{Epsilon: .5, Delta: 1e-6}}
	for j := range n {
		s.Schema.Columns = append(
			s.Schema.Columns,
			dataset.Column{Name: fmt.Sprintf("c%d", j+1), Found: true},
		)
	}
	return s
}

func leafPaths(p *Plan) string {
	var out []string
	for _, l := range p.Leaves() {
		out = append(out, strings.TrimPrefix(l.Path, "describe/all/"))
	}
	return strings.Join(out, " ")
}

// TestPlanSteps checks that the steps depend on the declarations, and that their shares of mu² are those of the
// specification.
func TestPlanSteps(t *testing.T) {
	named := dataset.Column{
		Name:       "g",
		Kind:       dataset.Category,
		Categories: []string{"a", "b"},
		Other:      true,
	}
	sought := dataset.Column{
		Name:  "g",
		Kind:  dataset.Category,
		Other: true,
		Found: true,
	}
	ranged := dataset.Column{
		Name:   "r",
		Ranged: true,
		Lower:  0,
		Upper:  1,
	}
	for _, c := range []struct {
		name     string
		columns  []dataset.Column
		by       string
		relation budget.Relation
		want     string
	}{
		{
			"undeclared",
			studyOf(2).Schema.Columns,
			"",
			budget.AddRemove,
			"vocabulary/kinds undeclared/numbers/scaling/exponents undeclared/numbers/scaling/bins undeclared/numbers/histogram " +
				"undeclared/numbers/moments undeclared/numbers/matrix undeclared/words/vocabulary/counts undeclared/words/vocabulary/words " +
				"undeclared/words/scaling/exponents undeclared/words/scaling/bins undeclared/words/histogram undeclared/words/moments undeclared/words/matrix",
		},
		{
			"groups to be found",
			append(studyOf(1).Schema.Columns, sought),
			"g",
			budget.AddRemove,
			"vocabulary/kinds vocabulary/counts vocabulary/words scaling/exponents scaling/bins histogram moments matrix groups",
		},
		{
			"declared",
			[]dataset.Column{ranged, named},
			"g",
			budget.Substitute,
			"histogram moments matrix groups",
		},
		{
			"one category column",
			[]dataset.Column{named},
			"g",
			budget.Substitute,
			"histogram",
		},
		{
			"one range",
			[]dataset.Column{ranged}, "",
			budget.AddRemove, "histogram moments",
		},
	} {
		s := Study{
			Schema: dataset.Schema{Columns: c.columns},
			By:     c.by,
			Budget: budget.Target{
				Epsilon:  .5,
				Delta:    1e-6,
				Relation: c.relation,
			},
		}
		p, err := s.Plan()
		if err != nil {
			t.Fatal(c.name, err)
		}
		got := leafPaths(p)
		if got != c.want {
			t.Errorf(
				"%s: the steps are %q, want %q",
				c.name, got, c.want,
			)
		}
		if err := p.Rehearse(context.Background()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := Study{
		Schema: dataset.Schema{Columns: []dataset.Column{{Name: "x"}, named}},
		By:     "g",
		Budget: budget.Target{Epsilon: .5, Delta: 1e-6},
	}
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for leaf, share := range map[string]float64{
		"scaling/exponents": .08,
		"scaling/bins":      .05,
		"histogram":         .2,
		"moments":           .2,
		"matrix":            .32,
		"groups":            .15,
	} {
		law, _ := p.Law("describe/all/" + leaf)
		close6(t, leaf, law.Mu, .124106*math.Sqrt(share))
	}
}

// TestPlanRefuses checks that a study without a plan is refused with the reason.
func TestPlanRefuses(t *testing.T) {
	for want, change := range map[string]func(*Study){
		"no column is left": func(s *Study) {
			s.Schema.Columns = nil
		},
		"at most 100 are allowed": func(s *Study) {
			*s = studyOf(101)
		},
		"listed twice": func(s *Study) {
			s.Schema.Columns[1].Name = "c1"
		},
		"identifies the unit": func(s *Study) {
			s.Schema.Unit = "c1"
		},
		"a part of a model": func(s *Study) {
			s.Schema.Columns[0].Indicator = true
		},
		"empty or too wide": func(s *Study) {
			s.Schema.Columns[0] = dataset.Column{Name: "a", Ranged: true}
		},
		"is not among the described": func(s *Study) {
			s.By = "z"
		},
		"declared as numeric": func(s *Study) {
			s.By = "c1"
		},
		"protects whole records": func(s *Study) {
			s.Budget.Relation = budget.SubstitutePrivateColumns
		},
		"the schema names": func(s *Study) {
			s.Budget.Unit = budget.Unit{Column: "who", MaxRows: 2}
		},
		"needs a delta above 0": func(s *Study) {
			s.Budget.Delta = 0
		},
		"needs tight composition, not basic": func(s *Study) {
			s.Budget.Composition = budget.Basic
		},
		"needs the relation add-remove": func(s *Study) {
			s.Schema.Unit = "who"
			s.Budget.Unit = budget.Unit{Column: "who", MaxRows: 2}
			s.Budget.Relation = budget.Substitute
		},
	} {
		s := studyOf(2)
		change(&s)
		_, err := s.Plan()
		if !errors.Is(err, ErrStudy) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	s := studyOf(2)
	s.Budget.Epsilon = 1e-12
	s.Budget.Delta = 1e-10
	p, err := s.Plan()
	if err == nil {
		err = p.Rehearse(context.Background())
	}
	if !errors.Is(err, mechanism.ErrScale) {
		t.Errorf("a tiny epsilon: %v", err)
	}
}

// tableOf returns a table of numeric columns, its study, and the groups i mod 3 as a declared category column.
func tableOf(t testing.TB, columns ...[]float64) (Study, *dataset.Table) {
	t.Helper()
	s := studyOf(len(columns))
	var data []dataset.ColumnData
	for j, x := range columns {
		s.Schema.Columns[j].Found = false
		data = append(data, dataset.ColumnData{Floats: x})
	}
	s.By = "g"
	s.Schema.Columns = append(
		s.Schema.Columns,
		dataset.Column{
			Name:       "g",
			Kind:       dataset.Category,
			Categories: []string{"a", "b"},
			Other:      true,
		},
	)
	codes := []int32{}
	for i := range columns[0] {
		codes = append(codes, int32(i%3))
	}
	table, err := dataset.NewTable(
		s.Schema,
		append(data, dataset.ColumnData{Codes: codes}),
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return s, table
}

func resultOf(t testing.TB, s Study, table *dataset.Table) *Result {
	t.Helper()
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestHostileTables checks that no table makes a run fail or publish a non-finite number.
func TestHostileTables(t *testing.T) {
	repeat := func(n int, values ...float64) []float64 {
		out := []float64{}
		for i := range n {
			out = append(out, values[i%len(values)])
		}
		return out
	}
	nan := math.NaN()
	inf := math.Inf(1)
	for name, columns := range map[string][][]float64{
		"no record":      {{}, {}},
		"one record":     {{1}, {-1e308}},
		"missing values": {repeat(3000, nan), repeat(3000, nan)},
		"constants":      {repeat(3000, 7), repeat(3000, 0)},
		"huge": {
			repeat(3000, 1e308, -1e308),
			repeat(3000, 1e-308, 1e308, nan),
		},
		"infinite": {
			repeat(3000, inf, -inf),
			repeat(3000, 1, inf, 2),
		},
		"tiny": {
			repeat(3000, 5e-324, -5e-324),
			repeat(3000, 1e-300),
		},
	} {
		for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			for _, ranged := range []bool{false, true} {
				s, table := tableOf(t, columns...)
				s.Budget.Epsilon = 3
				s.Budget.Relation = relation
				if ranged {
					for j := range 2 {
						s.Schema.Columns[j].Ranged = true
						s.Schema.Columns[j].Lower = -8e307
						s.Schema.Columns[j].Upper = 8e307
					}
					data := []dataset.ColumnData{}
					b := table.View().Block(0, table.Len())
					for j := range 2 {
						data = append(
							data,
							dataset.ColumnData{Floats: slices.Clone(b.Float(j, nil))},
						)
					}
					data = append(
						data,
						dataset.ColumnData{Codes: slices.Clone(b.Codes(2, nil))},
					)
					var err error
					if table, err = dataset.NewTable(s.Schema, data, nil); err != nil {
						t.Fatal(err)
					}
				}
				res := resultOf(t, s, table)
				card := Read(res.Released)
				check := func(what string, values ...*float64) {
					for _, x := range values {
						if x != nil &&
							(math.IsNaN(*x) || math.IsInf(*x, 0)) {
							t.Errorf(
								"%s, %v, ranged %v: %s is %v",
								name,
								relation,
								ranged,
								what,
								*x,
							)
						}
					}
				}
				for _, c := range card.Columns {
					for _, e := range append(
						[]Estimate{c.Missing, c.Mean, c.Deviation, c.Below, c.Above},
						c.Quartiles...) {
						check(c.Name, e.Value, e.Lower, e.Upper)
						if e.Value != nil &&
							(e.Lower != nil && *e.Lower > *e.Value ||
								e.Upper != nil && *e.Upper < *e.Value) {
							t.Errorf(
								"%s, %s: %v is not within %v and %v",
								name,
								c.Name,
								*e.Value,
								e.Lower,
								e.Upper,
							)
						}
					}
				}
				for _, a := range card.Correlations {
					check(
						a.First+", "+a.Second,
						a.Value,
						a.Lower,
						a.Upper,
						a.LowerAll,
						a.UpperAll,
					)
				}
				if card.By == nil {
					if ranged {
						t.Errorf("%s: no groups", name)
					}
					continue
				}
				for _, g := range card.By.Groups {
					for _, m := range g.Means {
						check(m.Column, m.Value, m.Lower, m.Upper)
					}
				}
			}
		}
	}
}

// TestUnreadColumns checks that a column without numbers is reported as unread. Noise alone gives it a range with
// probability below .01, and three times in a row below 1e-6.
func TestUnreadColumns(t *testing.T) {
	none := make([]float64, 4000)
	some := make([]float64, 4000)
	for i := range none {
		none[i] = math.NaN()
		some[i] = float64(i % 50)
	}
	s, table := tableOf(t, none, some)
	s.Budget.Epsilon = 5
	var res *Result
	for range 3 {
		if res = resultOf(t, s, table); res.Released.Columns[0].Kind == Unread {
			break
		}
	}
	card := Read(res.Released)
	if len(card.Columns) != 3 ||
		card.Columns[0].Kind != Unread ||
		card.Columns[1].Kind != Numeric ||
		card.Columns[2].Kind != Category {
		t.Fatalf("%+v", card.Columns)
	}
	if len(card.Correlations) != 1 ||
		!slices.ContainsFunc(res.Warnings, func(w pipeline.Warning) bool {
			return w.Code == "no-range"
		}) {
		t.Errorf(
			"%+v, %+v",
			card.Correlations, res.Warnings,
		)
	}
}

// TestKnownTable checks that with a large budget the card has the numbers of the table.
func TestKnownTable(t *testing.T) {
	const n = 30000
	x := make([]float64, n)
	y := make([]float64, n)
	gaps := make([]float64, n)
	for i := range x {
		x[i] = float64(i % 101)
		y[i] = 3*x[i] + float64(i*7919%60)
		gaps[i] = x[i]
		if i%5 == 0 {
			gaps[i] = math.NaN()
		}
	}
	s, table := tableOf(t, x, y, gaps)
	s.Budget.Epsilon = 40
	card := Read(resultOf(t, s, table).Released)
	near := func(what string, got *float64, want, within float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > within {
			t.Errorf(
				"%s is %v, want %v",
				what, got, want,
			)
		}
	}
	near("the number of records", card.Records.Value, n, 20)
	near("a mean", card.Columns[0].Mean.Value, 50, .3)
	near("a spread", card.Columns[0].Deviation.Value, 29.15, .3)
	near("a median", card.Columns[0].Quartiles[1].Value, 50, 2)
	near(
		"a share of missing values",
		card.Columns[2].Missing.Value, .2,
		.01,
	)
	near("a mean of known values", card.Columns[2].Mean.Value, 50, .4)
	near("a correlation", card.Correlations[0].Value, .98, .02)
	near("a correlation ratio", card.Correlations[2].Value, 0, .05)
	for _, g := range card.By.Groups {
		near("a group", g.Count.Value, n/3, 40)
		near("its mean", g.Means[0].Value, 50, 1)
		near("its mean of known values", g.Means[2].Value, 50, 1)
	}
	if !card.By.Groups[2].Other ||
		card.By.Groups[0].Name != "a" {
		t.Errorf("%+v", card.By.Groups)
	}
}

// TestSmallGroupsShowTheirCountOnly checks that groups below four standard deviations of noise show only their count.
func TestSmallGroupsShowTheirCountOnly(t *testing.T) {
	x := make([]float64, 900)
	for i := range x {
		x[i] = float64(i)
	}
	s, table := tableOf(t, x)
	s.Schema.Columns[0].Ranged = true
	s.Schema.Columns[0].Upper = 900
	codes := slices.Clone(table.View().Block(0, 900).Codes(1, nil))
	again, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{{Floats: x}, {Codes: codes}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	released := resultOf(t, s, again).Released
	noise := released.Groups.CountNoise
	released.Groups.Counts = []float64{4.1 * noise, 3.9 * noise, -5}
	for k, g := range Read(released).By.Groups {
		small := k > 0
		if small != g.Small ||
			g.Small != (len(g.Means) == 0) {
			t.Errorf("group %d: %+v", k, g)
		}
	}
}
