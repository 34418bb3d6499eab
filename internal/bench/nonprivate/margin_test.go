package nonprivate_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

func eightRecords() nonprivate.ClassDesign {
	return nonprivate.ClassDesign{
		Names: []string{"a", "b"},
		X: [][]float64{
			{.5, 1.5, 2, -1, -.5, .1, 3, -2},
			{1, -2, .3, .7, -1.2, .1, 2, .4},
		},
		Target:  "class",
		Classes: []string{"no", "yes"},
		Labels:  []int32{0, 1, 1, 0, 0, 1, 1, 0},
	}
}

// Values of scikit-learn 1.9.1,
//
//	LogisticRegression(C=1/lambda, tol=1e-14, solver="newton-cholesky").fit(x, y)
//
// and, for the huberised hinge, of scipy 1.17.1's minimize(method="BFGS",
// gtol=1e-13) on the same objective.
func TestMarginSmall(t *testing.T) {
	for _, c := range []struct {
		fit func(
			context.Context, nonprivate.ClassDesign, nonprivate.MarginOptions,
		) (*regression.Classifier, error)
		lambda float64
		want   []float64
	}{
		{
			nonprivate.Logistic,
			1,
			[]float64{1.0917961850829394, -0.2379524340178245, -0.46021434},
		},
		{
			nonprivate.Logistic,
			.1,
			[]float64{2.058932708693142, -0.639998665590329, -0.73886927},
		},
		{
			nonprivate.LinearSVM,
			1,
			[]float64{0.978349765637581, -0.3062469694521168, -0.7515233554226106},
		},
		{
			nonprivate.LinearSVM,
			.1,
			[]float64{1.2858270379975016, -0.4696132596685011, -1.0082309166760564},
		},
	} {
		m, err := c.fit(
			context.Background(),
			eightRecords(),
			nonprivate.MarginOptions{Lambda: c.lambda},
		)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Scores[0].(*regression.Linear)
		for j, got := range []float64{
			s.Terms[0].Coefficient,
			s.Terms[1].Coefficient,
			s.Intercept,
		} {
			if math.Abs(got-c.want[j]) > 2e-8 {
				t.Errorf(
					"lambda %v, coefficient %d: %v, want %v",
					c.lambda, j, got,
					c.want[j],
				)
			}
		}
	}
}

// TestMarginStationary checks that the gradient of the objective is 0 at the solution, for random designs in various
// units and with more columns than rows.
func TestMarginStationary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		n := 2 + r.IntN(80)
		k := 1 + r.IntN(12)
		d := nonprivate.ClassDesign{
			Target:  "y",
			Classes: []string{"0", "1"},
			Labels:  make([]int32, n),
		}
		for j := range k {
			column := make([]float64, n)
			scale := math.Exp(r.Float64()*12 - 6)
			for i := range column {
				column[i] = scale * (r.NormFloat64() + 3)
			}
			d.X = append(d.X, column)
			d.Names = append(d.Names, string(rune('a'+j)))
		}
		for i := range d.Labels {
			d.Labels[i] = int32(r.IntN(3)) // 2 is no class
		}
		d.Labels[0] = 0
		d.Labels[1] = 1
		lambda := math.Exp(r.Float64()*6 - 3)
		for name, slope := range map[string]func(float64) float64{
			"logistic": func(m float64) float64 {
				return -1 / (1 + math.Exp(m))
			},
			"svm": func(m float64) float64 {
				return min(max(m-1.5, -1), 0)
			},
		} {
			fit := nonprivate.Logistic
			if name == "svm" {
				fit = nonprivate.LinearSVM
			}
			m, err := fit(
				context.Background(),
				d,
				nonprivate.MarginOptions{Lambda: lambda},
			)
			if err != nil {
				t.Fatal(err)
			}
			s := m.Scores[0].(*regression.Linear)
			gradient := make([]float64, k+1)
			sizes := make([]float64, k+1)
			for i, label := range d.Labels {
				if label == 2 {
					continue
				}
				y := float64(2*label - 1)
				score := s.Intercept
				for j := range k {
					score += s.Terms[j].Coefficient * d.X[j][i]
				}
				pull := y * slope(y*score)
				for j := range k {
					gradient[j] += pull * d.X[j][i]
					sizes[j] += math.Abs(d.X[j][i])
				}
				gradient[k] += pull
				sizes[k]++
			}
			for j := range k {
				gradient[j] += lambda * s.Terms[j].Coefficient
			}
			for j, g := range gradient {
				if math.Abs(g) > 1e-7*sizes[j] {
					t.Errorf(
						"%s, n %d, lambda %v: gradient %d is %v of %v",
						name,
						n,
						lambda,
						j,
						g,
						sizes[j],
					)
				}
			}
		}
	}
}

// TestMarginStandardize checks that in units of standard deviations the units of a column do not matter, and that the
// loss on WDBC matches scikit-learn on standardised columns (LogisticRegression(C=1), tol=1e-13): 30.379966918606787.
func TestMarginStandardize(t *testing.T) {
	d := eightRecords()
	options := nonprivate.MarginOptions{Lambda: 1, Standardize: true}
	a, err := nonprivate.Logistic(context.Background(), d, options)
	if err != nil {
		t.Fatal(err)
	}
	scaled := make([]float64, len(d.X[0]))
	for i, x := range d.X[0] {
		scaled[i] = 1000*x - 7
	}
	d.X = [][]float64{scaled, d.X[1]}
	b, err := nonprivate.Logistic(context.Background(), d, options)
	if err != nil {
		t.Fatal(err)
	}
	x := a.Scores[0].(*regression.Linear)
	y := b.Scores[0].(*regression.Linear)
	if math.Abs(x.Terms[0].Coefficient-1000*y.Terms[0].Coefficient) > 1e-9 ||
		math.Abs(x.Terms[1].Coefficient-y.Terms[1].Coefficient) > 1e-9 {
		t.Errorf(
			"%+v and %+v",
			x.Terms, y.Terms,
		)
	}
}

func TestMarginOnPublicTable(t *testing.T) {
	table := readPublic(t, "classification", "wdbc.csv.gz")
	d := nonprivate.ClassDesign{
		Names:   table.Names,
		X:       table.X,
		Target:  table.Target,
		Classes: []string{"0", "1"},
	}
	for _, y := range table.Y {
		d.Labels = append(d.Labels, int32(y))
	}
	trainer, err := nonprivate.ClassBaseline(nonprivate.NonprivateLogistic)
	if err != nil {
		t.Fatal(err)
	}
	m, err := trainer.Fit(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	rows := regression.Rows{
		N:       len(d.Labels),
		Numeric: map[string][]float64{},
	}
	for j, name := range d.Names {
		rows.Numeric[name] = d.X[j]
	}
	scores, err := m.Scores[0].Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	loss := 0.
	for i, s := range scores {
		loss += math.Log1p(math.Exp(-float64(2*d.Labels[i]-1) * s))
	}
	want := 30.379966918606787
	if math.Abs(loss-want) > 1e-6 {
		t.Errorf(
			"loss %.12f, want %.12f",
			loss, want,
		)
	}
}

// TestMarginTotal checks that no rows, one class, rows in no class, constant, missing and infinite cells, and
// separable classes yield a model with finite scores.
func TestMarginTotal(t *testing.T) {
	d := eightRecords()
	odd := eightRecords()
	odd.X = [][]float64{
		{1, 1, 1, 1, 1, 1, 1, 1},
		{
			math.NaN(),
			math.Inf(1), 1e300, -1e300,
			0, 1, 2, 3,
		},
	}
	one := eightRecords()
	one.Labels = make([]int32, 8)
	none := eightRecords()
	none.Labels = []int32{-1, 2, 9, 2, 2, 2, 2, 2}
	three := eightRecords()
	three.Classes = []string{"a", "b", "c"}
	three.Labels = []int32{0, 1, 2, 0, 1, 2, 0, 3}
	for name, c := range map[string]nonprivate.ClassDesign{
		"plain":     d,
		"odd":       odd,
		"one class": one,
		"no class":  none,
		"three":     three,
		"no rows": {
			Names:   []string{"a"},
			X:       [][]float64{{}},
			Target:  "y",
			Classes: d.Classes,
		},
		"no columns": {
			Target:  "y",
			Classes: d.Classes,
			Labels:  []int32{1, 1, 0},
		},
	} {
		for _, lambda := range []float64{1e-6, 1, 1e6} {
			for _, standardize := range []bool{false, true} {
				options := nonprivate.MarginOptions{
					Lambda:      lambda,
					Standardize: standardize,
				}
				for _, fit := range []func(
					context.Context, nonprivate.ClassDesign, nonprivate.MarginOptions,
				) (*regression.Classifier, error){nonprivate.Logistic, nonprivate.LinearSVM} {
					m, err := fit(context.Background(), c, options)
					if err != nil {
						t.Errorf(
							"%s, %+v: %v",
							name, options, err,
						)
						continue
					}
					if len(c.Classes) == 3 && len(m.Scores) != 3 {
						t.Errorf(
							"%s: %d scores",
							name, len(m.Scores),
						)
					}
				}
			}
		}
	}
}

func TestMarginErrors(t *testing.T) {
	ctx := context.Background()
	good := nonprivate.MarginOptions{Lambda: 1}
	for _, lambda := range []float64{
		0, -1, math.NaN(),
		math.Inf(1),
	} {
		_, err := nonprivate.Logistic(
			ctx,
			eightRecords(),
			nonprivate.MarginOptions{Lambda: lambda},
		)
		if !errors.Is(err, nonprivate.ErrLambda) {
			t.Errorf("lambda %v: %v", lambda, err)
		}
	}
	d := eightRecords()
	d.Names = d.Names[:1]
	_, err := nonprivate.Logistic(ctx, d, good)
	if !errors.Is(err, nonprivate.ErrShape) {
		t.Errorf("names: %v", err)
	}
	d = eightRecords()
	d.Labels = d.Labels[:3]
	_, err = nonprivate.LinearSVM(ctx, d, good)
	if !errors.Is(err, nonprivate.ErrShape) {
		t.Errorf("labels: %v", err)
	}
	d = eightRecords()
	d.Classes = d.Classes[:1]
	_, err = nonprivate.LinearSVM(ctx, d, good)
	if !errors.Is(err, nonprivate.ErrClasses) {
		t.Errorf("classes: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = nonprivate.Logistic(cancelled, eightRecords(), good)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("context: %v", err)
	}
	var unknown *nonprivate.UnknownClassBaselineError
	if _, err := nonprivate.ClassBaseline("nonprivate-ols"); !errors.As(err, &unknown) {
		t.Errorf("baseline: %v", err)
	}
}
