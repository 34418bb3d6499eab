package adassp

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// TestClassGram checks that with negligible noise the scores are the least-squares fits of the classes' 0/1 entries.
// For a category feature these are the shares of the classes in each category, which sum to 1 if every record has a
// class.
func TestClassGram(t *testing.T) {
	const n = 60000
	columns := []dataset.Column{
		{
			Name:       "g",
			Kind:       dataset.Category,
			Categories: []string{"p", "q"},
		},
		{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
		},
	}
	g := make([]int32, n)
	y := make([]int32, n)
	for i := range n {
		g[i] = int32(i % 2)
		y[i] = int32(i / 2 % 3)
		if g[i] == 1 && i%10 < 5 {
			y[i] = 0
		}
	}
	share := map[[2]int32]float64{}
	for i := range n {
		share[[2]int32{g[i], y[i]}] += 2. / n
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{{Codes: g}, {Codes: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	scores := scoresOf(
		t, 50, budget.AddRemove, tab, columns,
		make([]scaling.Range, 2),
	)
	if len(scores) != 3 {
		t.Fatalf("%d scores", len(scores))
	}
	rows := regression.Rows{
		N: 2,
		Codes: map[string]regression.Codes{"g": {
			Values:     []int32{0, 1},
			Categories: columns[0].Categories,
		}},
	}
	for k, score := range scores {
		got, err := score.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range got {
			want := share[[2]int32{int32(i), int32(k)}]
			if math.Abs(p-want) > .01 {
				t.Errorf(
					"class %d in category %d: score %.4f, share %.4f",
					k, i, p, want,
				)
			}
		}
		o := score.Output()
		if o.Target != "y" {
			t.Errorf("%+v", o)
		}
	}
}

// threeClasses returns a table with a public category that predicts three classes well and a private number, on a
// declared range, that predicts them better.
func threeClasses(
	t testing.TB,
	n int,
) (*dataset.Table, []dataset.Column, []scaling.Range) {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:    "x",
			Ranged:  true,
			Lower:   -1,
			Upper:   1,
			Private: true,
		},
		{
			Name:       "g",
			Kind:       dataset.Category,
			Categories: []string{"p", "q", "r"},
		},
		{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
		},
	}
	x := make([]float64, n)
	g := make([]int32, n)
	y := make([]int32, n)
	for i := range n {
		g[i] = int32(i % 3)
		if y[i] = g[i]; i%7 < 3 {
			y[i] = int32(i/3) % 4 // the last code belongs to no class
		}
		x[i] = float64(i%11)/10 - .5 + .4*float64(y[i]%3) - .4
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{{Floats: x}, {Codes: g}, {Codes: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab, columns, []scaling.Range{
		{Lower: -1, Upper: 1, Declared: true},
		{}, {},
	}
}

// scoresOf fits classes and returns the scores.
func scoresOf(
	t testing.TB,
	epsilon float64,
	rel budget.Relation,
	tab *dataset.Table,
	columns []dataset.Column,
	ranges []scaling.Range,
) []*regression.Linear {
	t.Helper()
	s := sessionFor(t, JointGram{}, columns, epsilon, rel)
	fit, err := JointGram{}.Fit(
		context.Background(),
		s,
		dataOf(columns, tab.View(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	var out []*regression.Linear
	for _, score := range fit.Model.(*regression.Classifier).Scores {
		out = append(out, score.(*regression.Linear))
	}
	return out
}

// TestClassGramPartly checks that with a private column the fits of three classes are close to those without noise.
// The relation between public columns and classes is exact, so the coefficients of public columns vary about half as
// much as under plain substitution. With twenty fits of nine coefficients the ratio exceeds .75 by chance with
// probability far below 1e-6.
func TestClassGramPartly(t *testing.T) {
	tab, columns, ranges := threeClasses(t, 30000)
	// Only differences of the category's coefficients are compared: with the constant, the coefficients themselves
	// are not identified.
	contrast := func(f *regression.Linear, k int) float64 {
		return f.Terms[1+k].Coefficient - f.Terms[1+(k+1)%3].Coefficient
	}
	spread := func(rel budget.Relation) (public, private float64) {
		limit := scoresOf(t, 1000, rel, tab, columns, ranges)
		for range 20 {
			for k, f := range scoresOf(t, .3, rel, tab, columns, ranges) {
				d := f.Terms[0].Coefficient - limit[k].Terms[0].Coefficient
				private += d * d / 60
				for j := range 3 {
					d := contrast(f, j) - contrast(limit[k], j)
					public += d * d / 180
				}
			}
		}
		return math.Sqrt(public), math.Sqrt(private)
	}
	public, private := spread(budget.SubstitutePrivateColumns)
	all, _ := spread(budget.Substitute)
	if public > .75*all || public > .01 || private > .04 {
		t.Errorf(
			"public coefficients are %v off, %v under substitution; the private one %v",
			public,
			all,
			private,
		)
	}
}
