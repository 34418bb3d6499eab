package nonprivate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/numeric/columns"
	"github.com/dptrain/dptrain/regression"
	"gonum.org/v1/gonum/floats"
)

// A reference is one table of testdata/baselines.json, written by testdata/baselines.py with scikit-learn.
type reference struct {
	Name  string
	X     [][]float64
	Y     []float64
	OLS   fitted
	Ridge []fitted
}

type fitted struct {
	Lambda float64
	W      []float64
	B      float64
}

func readReferences(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/baselines.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []reference
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 {
		t.Fatalf("%d reference tables", len(list))
	}
	return list
}

func newDesign(x [][]float64, y []float64) regression.Design {
	names := make([]string, len(x))
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j)
	}
	return regression.Design{
		Names:  names,
		X:      x,
		Target: "y",
		Y:      y,
	}
}

// coefficientsOf returns a model's coefficients, one for each column.
func coefficientsOf(m *regression.Linear) []float64 {
	w := make([]float64, len(m.Columns))
	for _, t := range m.Terms {
		w[t.Column] = t.Coefficient
	}
	return w
}

// checkCoefficients compares the fitted contributions: coefficients in units of the columns' spreads.
func checkCoefficients(
	t *testing.T,
	what string,
	r reference,
	got, want []float64,
	tolerance float64,
) {
	t.Helper()
	for j := range want {
		scale := floats.Max(r.X[j]) - floats.Min(r.X[j])
		diff := math.Abs(got[j]-want[j]) * math.Max(scale, 1e-9)
		if !(diff <= tolerance) {
			t.Errorf(
				"%s %s: coefficient %d is %v, want %v",
				r.Name, what, j,
				got[j], want[j],
			)
		}
	}
}

func TestOLSAndRidgeMatchScikitLearn(t *testing.T) {
	for _, r := range readReferences(t) {
		m, err := nonprivate.OLS(context.Background(), newDesign(r.X, r.Y))
		if err != nil {
			t.Fatal(err)
		}
		checkCoefficients(t, "ols", r, coefficientsOf(m), r.OLS.W, 1e-8)
		for _, want := range r.Ridge {
			m, err := nonprivate.Ridge(
				context.Background(),
				newDesign(r.X, r.Y),
				want.Lambda,
			)
			if err != nil {
				t.Fatal(err)
			}
			checkCoefficients(
				t,
				fmt.Sprintf("ridge %g", want.Lambda),
				r,
				coefficientsOf(m),
				want.W,
				1e-7,
			)
		}
	}
}

func randomTable(rng *rand.Rand, n, d int) ([][]float64, []float64) {
	x := make([][]float64, d)
	y := make([]float64, n)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = rng.NormFloat64()
			y[i] += x[j][i] / float64(1+j*j)
		}
	}
	return x, y
}

// TestOLSResidualIsOrthogonal uses more rows than one chunk, so that triangles are merged, and checks that the
// residual of least squares is orthogonal to every column.
func TestOLSResidualIsOrthogonal(t *testing.T) {
	x, y := randomTable(rand.New(rand.NewPCG(3, 3)), 20000, 7)
	for i := range x[6] {
		x[5][i] = 1e6 + 1e-3*x[5][i]
		x[6][i] = x[0][i] + 1e-7*x[6][i] // nearly collinear: the normal equations would lose it
	}
	m, err := nonprivate.OLS(context.Background(), newDesign(x, y))
	if err != nil {
		t.Fatal(err)
	}
	pred := predictRows(t, m, x)
	for j := range x {
		dot := 0.0
		size := 0.0
		centre := floats.Sum(x[j]) / float64(len(y))
		for i := range y {
			dot += (y[i] - pred[i]) * (x[j][i] - centre)
			size += (x[j][i] - centre) * (x[j][i] - centre)
		}
		if math.Abs(dot)/math.Sqrt(size) > 1e-6 {
			t.Errorf(
				"residual times column %d is %g",
				j, dot/math.Sqrt(size),
			)
		}
	}
	var nearlyCollinear float64
	for _, v := range []int{0, 6} {
		nearlyCollinear += coefficientsOf(m)[v]
	}
	if math.Abs(nearlyCollinear-1) > 0.1 {
		t.Errorf(
			"coefficients of the two nearly equal columns add up to %v, want about 1",
			nearlyCollinear,
		)
	}
}

func predictRows(t *testing.T, m regression.Model, x [][]float64) []float64 {
	t.Helper()
	rows := regression.Rows{
		N:       len(x[0]),
		Numeric: map[string][]float64{},
	}
	for j := range x {
		rows.Numeric[fmt.Sprintf("x%d", j)] = x[j]
	}
	pred, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	return pred
}

// TestBaselinesAreTotalOnRows checks that baselines fit any rows.
func TestBaselinesAreTotalOnRows(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	tables := map[string]regression.Design{
		"no rows": newDesign(
			[][]float64{{}, {}},
			[]float64{},
		),
		"no columns": newDesign(nil, []float64{1, 2}),
		"nothing":    newDesign(nil, nil),
		"one row": newDesign(
			[][]float64{{1}, {2}},
			[]float64{3},
		),
		"two rows": newDesign(
			[][]float64{{1, 2}, {2, 2}},
			[]float64{3, 4},
		),
		"all missing": newDesign(
			[][]float64{{nan, nan, nan}},
			[]float64{nan, nan, nan},
		),
		"some missing": newDesign(
			[][]float64{{nan, 1, 2}, {inf, -inf, 3}},
			[]float64{1, nan, inf},
		),
		"huge": newDesign(
			[][]float64{{1e308, -1e308, 1e308}, {1, 2, 4}},
			[]float64{1e308, -1e308, 5},
		),
		"tiny": newDesign(
			[][]float64{
				{1e-308, 2e-308, 0},
				{1e-99, 2e-99, -4e-99},
			},
			[]float64{1e99, 2, 4},
		),
		"constant": newDesign(
			[][]float64{
				{0.1, 0.1, 0.1},
				{7, 7, 7},
			},
			[]float64{5, 5, 5},
		),
		"more columns": newDesign(
			[][]float64{
				{1, 2}, {2, 1},
				{5, 5}, {1, 0},
				{3, 4},
			},
			[]float64{3, 4},
		),
	}
	for name, d := range tables {
		for _, method := range []string{nonprivate.NonprivateOLS, nonprivate.NonprivateRidge,
			nonprivate.NonprivateLasso} {
			trainer, err := nonprivate.Baseline(method)
			if err != nil || trainer.Name() != method {
				t.Fatal(err, trainer)
			}
			m, err := trainer.Fit(context.Background(), d)
			if err != nil {
				t.Errorf(
					"%s on %s: %v",
					method, name, err,
				)
				continue
			}
			if len(d.X) == 0 {
				continue
			}
			for _, v := range predictRows(t, m, d.X) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf(
						"%s on %s predicts %v",
						method, name, v,
					)
				}
			}
		}
	}
}

func TestBaselineMissingCellsTakeTheMean(t *testing.T) {
	m, err := nonprivate.OLS(
		context.Background(),
		newDesign(
			[][]float64{{0, math.NaN(), 4, 8}},
			[]float64{1, 9, 5, 9},
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Columns[0].Missing
	if got != 4 {
		t.Errorf("missing cells take %v, want the mean 4", got)
	}
	got = coefficientsOf(m)[0]
	if math.Abs(got-1) > 1e-12 {
		t.Errorf("slope %v, want 1", got)
	}
}

func TestBaselineErrors(t *testing.T) {
	ctx := context.Background()
	good := newDesign(
		[][]float64{{1, 2}},
		[]float64{3, 4},
	)
	short := good
	short.X = [][]float64{{1}}
	unnamed := good
	unnamed.Names = nil
	for _, d := range []regression.Design{short, unnamed} {
		for _, method := range []string{nonprivate.NonprivateOLS, nonprivate.NonprivateRidge,
			nonprivate.NonprivateLasso} {
			trainer, _ := nonprivate.Baseline(method)
			m, err := trainer.Fit(ctx, d)
			if !errors.Is(err, nonprivate.ErrShape) || m != nil {
				t.Errorf(
					"%s: %v, %v",
					method, m, err,
				)
			}
		}
	}
	twice := newDesign(
		[][]float64{{1, 2}, {3, 5}},
		[]float64{3, 4},
	)
	twice.Names[1] = twice.Names[0]
	var problem *regression.ModelError
	if _, err := nonprivate.OLS(ctx, twice); !errors.As(err, &problem) {
		t.Errorf("a name given twice: %v", err)
	}
	for _, lambda := range []float64{
		-1, math.NaN(),
		math.Inf(1),
	} {
		_, err := nonprivate.Ridge(ctx, good, lambda)
		if !errors.Is(err, nonprivate.ErrLambda) {
			t.Errorf("ridge %v: %v", lambda, err)
		}
		_, err = nonprivate.Lasso(ctx, good, lambda, nonprivate.LassoOptions{})
		if !errors.Is(err, nonprivate.ErrLambda) {
			t.Errorf("lasso %v: %v", lambda, err)
		}
	}
	_, err := nonprivate.Lasso(ctx, good, 0, nonprivate.LassoOptions{})
	if !errors.Is(err, nonprivate.ErrLambda) {
		t.Errorf("lasso 0: %v", err)
	}
	var unknown *nonprivate.UnknownBaselineError
	_, err = nonprivate.Baseline("ols")
	if !errors.As(err, &unknown) || unknown.Name != "ols" {
		t.Errorf("unknown baseline: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, method := range []string{nonprivate.NonprivateOLS, nonprivate.NonprivateRidge,
		nonprivate.NonprivateLasso} {
		trainer, _ := nonprivate.Baseline(method)
		_, err := trainer.Fit(cancelled, good)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled: %v", method, err)
		}
	}
}

// TestLimitIsUnbounded checks that columns are clamped as a model clamps them.
func TestLimitIsUnbounded(t *testing.T) {
	if columns.Limit != regression.Unbounded {
		t.Errorf(
			"cells are clamped at %v, those of a model at %v",
			columns.Limit,
			regression.Unbounded,
		)
	}
}
