package regression_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dptrain/dptrain/regression"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// reference is one table of testdata/baselines.json, written by
// testdata/baselines.py with scikit-learn.
type reference struct {
	Name            string
	X               [][]float64
	Y               []float64
	OLS             fitted
	Ridge           []fitted
	LassoMax        float64 `json:"lasso_max"`
	Lasso           []fitted
	StandardizedMax float64 `json:"standardized_max"`
	Standardized    []fitted
}

type fitted struct {
	Lambda    float64
	W         []float64
	B         float64
	Objective float64
}

func references(t *testing.T) []reference {
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

func design(x [][]float64, y []float64) regression.Design {
	names := make([]string, len(x))
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j)
	}
	return regression.Design{Names: names, X: x, Target: "y", Y: y}
}

// weights spreads a model's terms over its columns.
func weights(m *regression.Linear) []float64 {
	w := make([]float64, len(m.Columns))
	for _, t := range m.Terms {
		w[t.Column] = t.Coefficient
	}
	return w
}

// near compares the fitted contributions: coefficients in units of the columns'
// spreads.
func near(t *testing.T, what string, r reference, got, want []float64, tolerance float64) {
	t.Helper()
	for j := range want {
		scale := floats.Max(r.X[j]) - floats.Min(r.X[j])
		if diff := math.Abs(got[j]-want[j]) * math.Max(scale, 1e-9); !(diff <= tolerance) {
			t.Errorf("%s %s: coefficient %d is %v, want %v", r.Name, what, j, got[j], want[j])
		}
	}
}

func TestOLSAndRidgeMatchScikitLearn(t *testing.T) {
	for _, r := range references(t) {
		m, err := regression.OLS(context.Background(), design(r.X, r.Y))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "ols", r, weights(m), r.OLS.W, 1e-8)
		for _, want := range r.Ridge {
			m, err := regression.Ridge(context.Background(), design(r.X, r.Y), want.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("ridge %g", want.Lambda), r, weights(m), want.W, 1e-7)
		}
	}
}

func lassoObjective(x [][]float64, y, w []float64, b, lambda float64, unit func(j int) float64) float64 {
	sum, l1 := 0.0, 0.0
	for i := range y {
		e := y[i] - b
		for j := range x {
			e -= w[j] * x[j][i]
		}
		sum += e * e
	}
	for j := range w {
		l1 += math.Abs(w[j]) * unit(j)
	}
	return sum/float64(2*len(y)) + lambda*l1
}

func TestLassoMatchesScikitLearn(t *testing.T) {
	for _, r := range references(t) {
		for _, standardize := range []bool{false, true} {
			list, top := r.Lasso, r.LassoMax
			if standardize {
				list, top = r.Standardized, r.StandardizedMax
			}
			s, err := regression.NewLassoSolver(context.Background(), r.X, r.Y,
				regression.LassoOptions{Standardize: standardize, Tolerance: 1e-13})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.LambdaMax()-top) > 1e-9*top {
				t.Errorf("%s: LambdaMax %v, want %v", r.Name, s.LambdaMax(), top)
			}
			unit := func(j int) float64 {
				if !standardize {
					return 1
				}
				return deviation(r.X[j])
			}
			for _, want := range list {
				got, err := s.Solve(context.Background(), want.Lambda)
				if err != nil {
					t.Fatal(err)
				}
				objective := lassoObjective(r.X, r.Y, got.Coefficients, got.Intercept, want.Lambda, unit)
				for _, o := range []float64{objective, got.Objective} {
					if math.Abs(o-want.Objective) > 1e-8*want.Objective {
						t.Errorf("%s lasso %g (standardize %v): objective %.12g, want %.12g",
							r.Name, want.Lambda, standardize, o, want.Objective)
					}
				}
				if !got.Converged || got.Sweeps == 0 {
					t.Errorf("%s lasso %g: %+v", r.Name, want.Lambda, got)
				}
			}
		}
	}
}

func deviation(x []float64) float64 {
	m := floats.Sum(x) / float64(len(x))
	v := 0.0
	for _, u := range x {
		v += (u - m) * (u - m)
	}
	return math.Sqrt(v / float64(len(x)))
}

// The optimum of the lasso is characterised by its subgradient: |X'r| <= n
// lambda, with equality and the sign of w where w is not 0.
func TestLassoOptimalityConditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 40).Draw(t, "n"), rapid.IntRange(1, 90).Draw(t, "d")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		x, y := randomTable(rng, n, d)
		s, err := regression.NewLassoSolver(context.Background(), x, y, regression.LassoOptions{Tolerance: 1e-14})
		if err != nil {
			t.Fatal(err)
		}
		for _, fraction := range []float64{1, 0.5, 0.1, 0.7} { // warm starts in both directions
			lambda := fraction * s.LambdaMax()
			if lambda == 0 {
				return
			}
			got, err := s.Solve(context.Background(), lambda)
			if err != nil || !got.Converged {
				t.Fatal(err, got.Gap, got.Sweeps)
			}
			residual := make([]float64, n)
			for i := range residual {
				residual[i] = y[i] - got.Intercept
				for j := range x {
					residual[i] -= got.Coefficients[j] * x[j][i]
				}
			}
			limit := float64(n) * lambda
			for j, w := range got.Coefficients {
				g := floats.Dot(x[j], residual)
				if math.Abs(g) > limit*(1+1e-4) {
					t.Fatalf("gradient of %d is %g of the limit", j, g/limit)
				}
				if math.Abs(w) > 1e-4 && math.Abs(g-math.Copysign(limit, w)) > 1e-3*limit {
					t.Fatalf("gradient of the non-zero %d is %g of the limit", j, g/limit)
				}
			}
		}
	})
}

func randomTable(rng *rand.Rand, n, d int) ([][]float64, []float64) {
	x, y := make([][]float64, d), make([]float64, n)
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

// More rows than one chunk, so that triangles are merged; the residual of least
// squares is orthogonal to every column.
func TestOLSResidualIsOrthogonal(t *testing.T) {
	x, y := randomTable(rand.New(rand.NewPCG(3, 3)), 20000, 7)
	for i := range x[6] {
		x[5][i] = 1e6 + 1e-3*x[5][i]
		x[6][i] = x[0][i] + 1e-7*x[6][i] // nearly collinear: the normal equations lose it
	}
	m, err := regression.OLS(context.Background(), design(x, y))
	if err != nil {
		t.Fatal(err)
	}
	pred := predict(t, m, x)
	for j := range x {
		dot, size := 0.0, 0.0
		centre := floats.Sum(x[j]) / float64(len(y))
		for i := range y {
			dot += (y[i] - pred[i]) * (x[j][i] - centre)
			size += (x[j][i] - centre) * (x[j][i] - centre)
		}
		if math.Abs(dot)/math.Sqrt(size) > 1e-6 {
			t.Errorf("residual times column %d is %g", j, dot/math.Sqrt(size))
		}
	}
	var nearlyCollinear float64
	for _, v := range []int{0, 6} {
		nearlyCollinear += weights(m)[v]
	}
	if math.Abs(nearlyCollinear-1) > 0.1 {
		t.Errorf("coefficients of the two nearly equal columns add up to %v, want about 1", nearlyCollinear)
	}
}

func predict(t *testing.T, m regression.Model, x [][]float64) []float64 {
	t.Helper()
	rows := regression.Rows{N: len(x[0]), Numeric: map[string][]float64{}}
	for j := range x {
		rows.Numeric[fmt.Sprintf("x%d", j)] = x[j]
	}
	pred, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	return pred
}

// Baselines fit whatever the rows hold.
func TestBaselinesAreTotalOnRows(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tables := map[string]regression.Design{
		"no rows":      design([][]float64{{}, {}}, []float64{}),
		"no columns":   design(nil, []float64{1, 2}),
		"nothing":      design(nil, nil),
		"one row":      design([][]float64{{1}, {2}}, []float64{3}),
		"two rows":     design([][]float64{{1, 2}, {2, 2}}, []float64{3, 4}),
		"all missing":  design([][]float64{{nan, nan, nan}}, []float64{nan, nan, nan}),
		"some missing": design([][]float64{{nan, 1, 2}, {inf, -inf, 3}}, []float64{1, nan, inf}),
		"huge":         design([][]float64{{1e308, -1e308, 1e308}, {1, 2, 4}}, []float64{1e308, -1e308, 5}),
		"tiny":         design([][]float64{{1e-308, 2e-308, 0}, {1e-99, 2e-99, -4e-99}}, []float64{1e99, 2, 4}),
		"constant":     design([][]float64{{0.1, 0.1, 0.1}, {7, 7, 7}}, []float64{5, 5, 5}),
		"more columns": design([][]float64{{1, 2}, {2, 1}, {5, 5}, {1, 0}, {3, 4}}, []float64{3, 4}),
	}
	for name, d := range tables {
		for _, method := range []string{regression.NonprivateOLS, regression.NonprivateRidge, regression.NonprivateLasso} {
			trainer, err := regression.Baseline(method)
			if err != nil || trainer.Name() != method {
				t.Fatal(err, trainer)
			}
			m, err := trainer.Fit(context.Background(), d)
			if err != nil {
				t.Errorf("%s on %s: %v", method, name, err)
				continue
			}
			if len(d.X) == 0 {
				continue
			}
			for _, v := range predict(t, m, d.X) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s on %s predicts %v", method, name, v)
				}
			}
		}
	}
}

func TestBaselineMissingCellsTakeTheMean(t *testing.T) {
	m, err := regression.OLS(context.Background(), design([][]float64{{0, math.NaN(), 4, 8}}, []float64{1, 9, 5, 9}))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Columns[0].Missing; got != 4 {
		t.Errorf("missing cells take %v, want the mean 4", got)
	}
	if got := weights(m)[0]; math.Abs(got-1) > 1e-12 {
		t.Errorf("slope %v, want 1", got)
	}
}

func TestBaselineErrors(t *testing.T) {
	ctx := context.Background()
	good := design([][]float64{{1, 2}}, []float64{3, 4})
	short := good
	short.X = [][]float64{{1}}
	unnamed := good
	unnamed.Names = nil
	for _, d := range []regression.Design{short, unnamed} {
		for _, method := range []string{regression.NonprivateOLS, regression.NonprivateRidge, regression.NonprivateLasso} {
			trainer, _ := regression.Baseline(method)
			if m, err := trainer.Fit(ctx, d); !errors.Is(err, regression.ErrShape) || m != nil {
				t.Errorf("%s: %v, %v", method, m, err)
			}
		}
	}
	twice := design([][]float64{{1, 2}, {3, 5}}, []float64{3, 4})
	twice.Names[1] = twice.Names[0]
	var problem *regression.ModelError
	if _, err := regression.OLS(ctx, twice); !errors.As(err, &problem) {
		t.Errorf("a name given twice: %v", err)
	}
	for _, lambda := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := regression.Ridge(ctx, good, lambda); !errors.Is(err, regression.ErrLambda) {
			t.Errorf("ridge %v: %v", lambda, err)
		}
		if _, err := regression.Lasso(ctx, good, lambda, regression.LassoOptions{}); !errors.Is(err, regression.ErrLambda) {
			t.Errorf("lasso %v: %v", lambda, err)
		}
	}
	if _, err := regression.Lasso(ctx, good, 0, regression.LassoOptions{}); !errors.Is(err, regression.ErrLambda) {
		t.Errorf("lasso 0: %v", err)
	}
	var unknown *regression.UnknownBaselineError
	if _, err := regression.Baseline("ols"); !errors.As(err, &unknown) || unknown.Name != "ols" {
		t.Errorf("unknown baseline: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, method := range []string{regression.NonprivateOLS, regression.NonprivateRidge, regression.NonprivateLasso} {
		trainer, _ := regression.Baseline(method)
		if _, err := trainer.Fit(cancelled, good); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled: %v", method, err)
		}
	}
}

func TestLassoStopsAtMaxSweeps(t *testing.T) {
	x, y := randomTable(rand.New(rand.NewPCG(1, 2)), 50, 20)
	for i := range x[0] {
		x[1][i] = x[0][i] + 0.01*x[1][i]
	}
	s, err := regression.NewLassoSolver(context.Background(), x, y, regression.LassoOptions{MaxSweeps: 2, Tolerance: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Solve(context.Background(), 1e-4)
	if err != nil || got.Converged || got.Sweeps > 2 || !(got.Gap > 0) {
		t.Errorf("%v %+v", err, got)
	}
}
