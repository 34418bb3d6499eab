package published

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

func TestNew(t *testing.T) {
	for _, name := range Methods() {
		m, err := New(name, Options{})
		if err != nil || m.Name() != name {
			t.Errorf(
				"%s: %v, %v",
				name, m, err,
			)
		}
	}
	var unknown *UnknownMethodError
	_, err := New("kendall", Options{})
	if !errors.As(err, &unknown) || unknown.Name != "kendall" {
		t.Errorf("unknown name: %v", err)
	}
	m, _ := New(NameSIS, Options{K: 3, Peeling: true})
	if m != (SIS{K: 3, Peeling: true}) {
		t.Errorf("options lost: %v", m)
	}
	if m, _ := New(NameKendall, Options{}); m != (Kendall{K: DefaultK}) {
		t.Errorf("default k lost: %v", m)
	}
}

// TestMethodsRefuseInvalidSettings checks that every method refuses invalid settings before it reads a row.
func TestMethodsRefuseInvalidSettings(t *testing.T) {
	v, target := newView(
		t, rearrangedColumns(50, 7, 11, 13),
		rearrangedColumns(50, 3)[0],
	)
	category, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{
			{Name: "a"},
			{Name: "b"},
			{
				Name:       "c",
				Kind:       dataset.Category,
				Categories: []string{"u"},
			},
			{Name: "y"},
		}},
		[]dataset.ColumnData{
			{Floats: []float64{1}},
			{Floats: []float64{1}},
			{Codes: []int32{0}},
			{Floats: []float64{1}},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, name := range Methods() {
		m := must(New(name, Options{K: 2, Models: 10}))
		for what, x := range map[string]struct {
			v       dataset.View
			target  int
			epsilon float64
			want    error
		}{
			"target below":     {v, -1, 1, ErrTarget},
			"target above":     {v, 4, 1, ErrTarget},
			"no table":         {dataset.View{}, 0, 1, ErrTarget},
			"category":         {category.View(), 3, 1, ErrNumeric},
			"epsilon 0":        {v, target, 0, ErrBudget},
			"epsilon NaN":      {v, target, math.NaN(), ErrBudget},
			"epsilon infinite": {v, target, math.Inf(1), ErrBudget},
		} {
			_, err := m.Fit(
				ctx, fixedSource(1), x.v,
				x.target, x.epsilon, 1e-5,
			)
			if !errors.Is(err, x.want) {
				t.Errorf(
					"%s, %s: %v, want %v",
					name, what, err, x.want,
				)
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := m.Fit(ended, fixedSource(1), v, target, 1, 1e-5)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, ended: %v", name, err)
		}
		if name == NameTukey {
			_, err := m.Fit(ctx, fixedSource(1), v, target, 1, 0)
			if !errors.Is(err, ErrBudget) {
				t.Errorf("delta 0: %v", err)
			}
			continue
		}
		for _, k := range []int{-1, 3, 4} {
			m := must(New(name, Options{K: k}))
			_, err := m.Fit(ctx, fixedSource(1), v, target, 1, 0)
			if !errors.Is(err, ErrCount) {
				t.Errorf(
					"%s, k = %d: %v",
					name, k, err,
				)
			}
		}
	}
	for _, gamma := range []float64{-.1, 1, math.NaN()} {
		_, err := (TopK{K: 1, Epsilon: 1, Gamma: gamma}).Draw(
			fixedSource(1),
			[]float64{1, 2},
		)
		if !errors.Is(err, ErrGamma) {
			t.Errorf("gamma %v: %v", gamma, err)
		}
	}
	wide := rearrangedColumns(50, slices.Repeat([]int{7}, 40)...)
	for name, law := range map[string]func() (Law, error){
		NameKendall: func() (Law, error) {
			return Kendall{K: 8}.Law(wide, wide[0], 1)
		},
		NameSIS: func() (Law, error) {
			return SIS{K: 8}.Law(wide, wide[0], 1)
		},
		NameLipschitz: func() (Law, error) {
			return Lipschitz{K: 8}.Law(wide, wide[0], 1)
		},
	} {
		_, err := law()
		if !errors.Is(err, ErrLarge) {
			t.Errorf(
				"%s: law of 40 columns: %v",
				name, err,
			)
		}
	}
}

// TestMethodsAcceptAnyCells checks that cells of any kind yield a selection, with the target anywhere among the
// columns.
func TestMethodsAcceptAnyCells(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for what, columns := range map[string][][]float64{
		"no rows": {{}, {}, {}, {}},
		"one row": {{1}, {2}, {3}, {4}},
		"constant": {
			{1, 1, 1},
			{2, 2, 2},
			{0, 0, 0},
			{5, 5, 5},
		},
		"missing": {
			{nan, nan, nan},
			{1, nan, 2},
			{nan, nan, 1},
			{nan, 1, 2},
		},
		"infinite": {
			{inf, -inf, inf},
			{1e308, 2, -1e308},
			{inf, 1, 2},
			{-inf, inf, 0},
		},
	} {
		v, _ := newView(t, columns[:3], columns[3])
		for _, name := range []string{NameSIS, NameLipschitz, NameKendall} {
			for _, peeling := range []bool{false, true} {
				m := must(New(name, Options{K: 2, Peeling: peeling}))
				got, err := m.Fit(
					t.Context(), fixedSource(1), v,
					1, 1, 0,
				)
				if err != nil ||
					len(got.Columns) == 0 ||
					len(got.Columns) > 2 ||
					got.Model != nil ||
					slices.Contains(got.Columns, 1) ||
					!slices.IsSorted(got.Columns) ||
					got.Columns[len(got.Columns)-1] > 3 {
					t.Errorf(
						"%s, %s: %v, %v",
						what, name, got, err,
					)
				}
			}
		}
	}
}

// TestLoss checks that the loss is the largest log ratio in either direction.
func TestLoss(t *testing.T) {
	half := math.Log(.5)
	law := Law{
		{[]int{0}, math.Log(.9)},
		{[]int{1}, math.Log(.1)},
	}
	checkNear(
		t,
		"loss",
		Loss(
			law,
			Law{{[]int{1}, half}, {[]int{0}, half}},
		),
		math.Log(5),
		1e-12,
	)
	checkNear(t, "loss with itself", Loss(law, law), 0, 0)
	if !math.IsInf(Loss(law, Law{{[]int{0}, 0}}), 1) ||
		!math.IsInf(
			Loss(Law{{[]int{0}, 0}}, law),
			1,
		) {
		t.Error("an outcome of one law only costs nothing")
	}
}

// TestRandomDrawsAreUniform checks uniform draws, permutations and subsets, with a tolerance of six standard deviations
// and a fixed seed.
func TestRandomDrawsAreUniform(t *testing.T) {
	const runs = 60000
	d := dice{fixedSource(5)}
	permutations := map[string]float64{}
	subsets := map[string]float64{}
	coins := map[int]float64{}
	laplace := 0.0
	gumbel := 0.0
	for range runs {
		permutations[columnsKey(d.permutation(3))]++
		s := d.subset(2, 3, 6)
		slices.Sort(s)
		subsets[columnsKey(s)]++
		coins[d.uniformBelow(5)]++
		if d.laplace(2) > 2*math.Ln2 {
			laplace++
		}
		if d.gumbel(3) > 0 {
			gumbel++
		}
	}
	frequency := func(what string, got, p float64) {
		t.Helper()
		checkNear(
			t, what, got, runs*p,
			6*math.Sqrt(runs*p*(1-p)),
		)
	}
	if len(permutations) != 6 ||
		len(subsets) != 3 ||
		len(coins) != 5 {
		t.Fatalf(
			"%d permutations, %d subsets, %d coins",
			len(permutations),
			len(subsets),
			len(coins),
		)
	}
	for _, n := range permutations {
		frequency("permutation", n, 1.0/6)
	}
	for _, n := range subsets {
		frequency("subset", n, 1.0/3)
	}
	for _, n := range coins {
		frequency("coin", n, .2)
	}
	frequency("laplace", laplace, .25)
	frequency("gumbel", gumbel, 1-math.Exp(-1))
}
