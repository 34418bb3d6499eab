package lasso_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/lasso"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// latticeTable returns a table of n rows and d columns that any program can reproduce. Columns repeat from the 102nd on.
// With near, column 1 is almost equal to column 0, and column 3 is equal to column 0.
func latticeTable(n, d int, near bool) (x [][]float64, y []float64) {
	x = make([][]float64, d)
	y = make([]float64, n)
	for j := range x {
		x[j] = make([]float64, n)
		for i := range n {
			x[j][i] = float64((7*i*i*(j+1)+31*i*j*j+13*j)%101) / 101
		}
	}
	for i := range n {
		y[i] = 2*x[0][i] - x[1][i] + 0.5*x[2][i] + float64(57*i%17)/17
	}
	if near {
		for i := range n {
			x[1][i] = x[0][i] + x[1][i]/1024
		}
		x[3] = x[0]
	}
	return x, y
}

// The objectives are scikit-learn 1.9.1's, on columns and a target standardised
// with numpy:
//
//	x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
//	w = Lasso(alpha=a, fit_intercept=False, tol=1e-15, max_iter=10**7).fit(x, y).coef_
//	r = y - x @ w
//	objective = r @ r / (2 * n) + a * np.abs(w).sum()
//
// with tol=1e-12 where near.
var latticeObjectives = []struct {
	n, d          int
	near          bool
	lambda, value float64
}{
	{300, 12, false, 0.1, 0.2068149766719209},
	{300, 12, false, 0.01, 0.09694693541150996},
	{60, 60, false, 0.1, 0.20662878493785752},
	{60, 60, false, 0.01, 0.041878411691102846},
	{40, 100, false, 0.1, 0.20357231630057993},
	{40, 100, false, 0.01, 0.03130313515543024},
	{25, 400, false, 0.1, 0.20138118156889057},
	{25, 400, false, 0.01, 0.02654452528046365},
	{300, 12, true, 0.1, 0.2546527932151518},
	{300, 12, true, 0.01, 0.16959881952047334},
	{40, 100, true, 0.1, 0.22802753394955805},
	{40, 100, true, 0.01, 0.036048136490265524},
}

// TestLassoOnStandardisedColumns checks that the objective matches scikit-learn to 1e-8 and that the optimality
// conditions hold to 1e-9, with more rows than columns and vice versa, and with columns that are equal or nearly so.
func TestLassoOnStandardisedColumns(t *testing.T) {
	for _, c := range latticeObjectives {
		x, y := latticeTable(c.n, c.d, c.near)
		for _, workers := range []int{0, 1} {
			s, err := lasso.NewSolver(
				context.Background(),
				x,
				y,
				lasso.Options{
					Standardize: true,
					Tolerance:   1e-15,
					Workers:     workers,
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			deviations, target := s.Deviations()
			if math.Abs(target-standardDeviation(y)) > 1e-14 ||
				math.Abs(deviations[2]-standardDeviation(x[2])) > 1e-14 {
				t.Fatalf(
					"deviations %v, %v",
					deviations[2], target,
				)
			}
			got, err := s.Solve(context.Background(), c.lambda*target)
			if err != nil || !got.Converged {
				t.Fatalf(
					"%d x %d, lambda %v: %v, gap %g after %d sweeps",
					c.n,
					c.d,
					c.lambda,
					err,
					got.Gap,
					got.Sweeps,
				)
			}
			objective := lassoObjective(
				x,
				y,
				got.Coefficients,
				got.Intercept,
				c.lambda*target,
				func(j int) float64 {
					return deviations[j]
				},
			)
			for _, o := range []float64{objective, got.Objective} {
				if o /= target * target; math.Abs(o-c.value) > 1e-8*c.value {
					t.Errorf(
						"%d x %d, lambda %v: objective %.16g, want %.16g",
						c.n,
						c.d,
						c.lambda,
						o,
						c.value,
					)
				}
			}
			v := optimalityViolation(x, y, got, c.lambda*target, deviations)
			if v > 1e-9 {
				t.Errorf(
					"%d x %d, lambda %v: the optimality conditions are off by %g",
					c.n,
					c.d,
					c.lambda,
					v,
				)
			}
		}
	}
}

// optimalityViolation returns the largest violation of the optimality conditions, relative to the penalty: the gradient of a
// zero coefficient is at most the penalty, and that of another is the penalty with the coefficient's sign.
func optimalityViolation(
	x [][]float64,
	y []float64,
	got lasso.Solution,
	lambda float64,
	units []float64,
) float64 {
	residual := make([]float64, len(y))
	for i := range y {
		residual[i] = y[i] - got.Intercept
		for j := range x {
			residual[i] -= got.Coefficients[j] * x[j][i]
		}
	}
	worst := 0.0
	for j, w := range got.Coefficients {
		g := floats.Dot(x[j], residual) / (float64(len(y)) * lambda * units[j])
		switch {
		case units[j] == 0:
			if w != 0 {
				return math.Inf(1)
			}
		case w == 0:
			worst = math.Max(worst, math.Abs(g)-1)
		default:
			worst = math.Max(worst, math.Abs(g-math.Copysign(1, w)))
		}
	}
	return worst
}

// TestLassoOptimalOnRandomTables checks the same conditions on tables of all shapes, with constant and repeated
// columns, along a path of penalties.
func TestLassoOptimalOnRandomTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		n := 3 + rng.IntN(40)
		d := 1 + rng.IntN(60)
		x, y := randomTable(rng, n, d)
		clear(x[rng.IntN(d)])
		x[rng.IntN(d)] = x[rng.IntN(d)]
		s, err := lasso.NewSolver(
			context.Background(),
			x,
			y,
			lasso.Options{Standardize: true, Tolerance: 1e-15},
		)
		if err != nil {
			t.Fatal(err)
		}
		units, _ := s.Deviations()
		for _, fraction := range []float64{.9, .5, .1, .3} {
			lambda := fraction * s.LambdaMax()
			if lambda == 0 {
				continue
			}
			got, err := s.Solve(context.Background(), lambda)
			if err != nil || !got.Converged {
				t.Fatalf(
					"%d x %d, %v of the largest penalty: %v, gap %g after %d sweeps",
					n,
					d,
					fraction,
					err,
					got.Gap,
					got.Sweeps,
				)
			}
			v := optimalityViolation(x, y, got, lambda, units)
			if v > 1e-9 {
				t.Errorf(
					"%d x %d, %v of the largest penalty: off by %g",
					n, d, fraction, v,
				)
			}
		}
	}
}

// TestLassoNearlyEqualColumns covers columns at a small distance. Sweeps alone would need about as many iterations as
// the reciprocal of that distance squared.
func TestLassoNearlyEqualColumns(t *testing.T) {
	x, y := randomTable(rand.New(rand.NewPCG(2, 9)), 500, 8)
	for i := range x[0] {
		x[1][i] = x[0][i] + 1e-4*x[1][i]
		x[2][i] = x[0][i] + 1e-4*x[2][i]
	}
	for i := range y {
		y[i] += 3e4 * (x[2][i] - x[1][i])
	}
	s, err := lasso.NewSolver(
		context.Background(),
		x,
		y,
		lasso.Options{Standardize: true, Tolerance: 1e-12},
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Solve(context.Background(), 1e-3)
	if err != nil || !got.Converged || got.Sweeps > 1000 {
		t.Errorf(
			"%v, gap %g after %d sweeps",
			err, got.Gap, got.Sweeps,
		)
	}
}

// A reference is one table of baselines.json, which baselines.py in the same folder writes with scikit-learn.
type reference struct {
	Name            string
	X               [][]float64
	Y               []float64
	LassoMax        float64 `json:"lasso_max"`
	Lasso           []optimum
	StandardizedMax float64 `json:"standardized_max"`
	Standardized    []optimum
}

type optimum struct{ Lambda, Objective float64 }

func readReferences(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("../../bench/nonprivate/testdata/baselines.json")
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

func lassoObjective(
	x [][]float64,
	y, w []float64,
	b, lambda float64,
	unit func(j int) float64,
) float64 {
	sum := 0.0
	l1 := 0.0
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
	for _, r := range readReferences(t) {
		for _, standardize := range []bool{false, true} {
			list := r.Lasso
			top := r.LassoMax
			if standardize {
				list = r.Standardized
				top = r.StandardizedMax
			}
			s, err := lasso.NewSolver(
				context.Background(),
				r.X,
				r.Y,
				lasso.Options{Standardize: standardize, Tolerance: 1e-13},
			)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.LambdaMax()-top) > 1e-9*top {
				t.Errorf(
					"%s: LambdaMax %v, want %v",
					r.Name, s.LambdaMax(), top,
				)
			}
			unit := func(j int) float64 {
				if !standardize {
					return 1
				}
				return standardDeviation(r.X[j])
			}
			for _, want := range list {
				got, err := s.Solve(context.Background(), want.Lambda)
				if err != nil {
					t.Fatal(err)
				}
				objective := lassoObjective(
					r.X,
					r.Y,
					got.Coefficients,
					got.Intercept,
					want.Lambda,
					unit,
				)
				for _, o := range []float64{objective, got.Objective} {
					if math.Abs(o-want.Objective) > 1e-8*want.Objective {
						t.Errorf(
							"%s lasso %g (standardize %v): objective %.12g, want %.12g",
							r.Name,
							want.Lambda,
							standardize,
							o,
							want.Objective,
						)
					}
				}
				if !got.Converged || got.Sweeps == 0 {
					t.Errorf(
						"%s lasso %g: %+v",
						r.Name, want.Lambda, got,
					)
				}
			}
		}
	}
}

func standardDeviation(x []float64) float64 {
	m := floats.Sum(x) / float64(len(x))
	v := 0.0
	for _, u := range x {
		v += (u - m) * (u - m)
	}
	return math.Sqrt(v / float64(len(x)))
}

// TestLassoOptimalityConditions checks the subgradient condition of the optimum: |X'r| <= n lambda, with equality and
// the sign of w if w is not 0.
func TestLassoOptimalityConditions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		d := rapid.IntRange(1, 90).Draw(t, "d")
		rng := rand.New(rand.NewPCG(
			rapid.Uint64().Draw(t, "seed"),
			1,
		))
		x, y := randomTable(rng, n, d)
		s, err := lasso.NewSolver(
			context.Background(),
			x,
			y,
			lasso.Options{Tolerance: 1e-14},
		)
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
					t.Fatalf(
						"gradient of %d is %g of the limit",
						j, g/limit,
					)
				}
				if math.Abs(w) > 1e-4 &&
					math.Abs(g-math.Copysign(limit, w)) > 1e-3*limit {
					t.Fatalf(
						"gradient of the non-zero %d is %g of the limit",
						j, g/limit,
					)
				}
			}
		}
	})
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

func TestLassoStopsAtMaxSweeps(t *testing.T) {
	x, y := randomTable(rand.New(rand.NewPCG(1, 2)), 50, 20)
	for i := range x[0] {
		x[1][i] = x[0][i] + 0.01*x[1][i]
	}
	s, err := lasso.NewSolver(
		context.Background(),
		x,
		y,
		lasso.Options{MaxSweeps: 2, Tolerance: 1e-14},
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Solve(context.Background(), 1e-4)
	if err != nil ||
		got.Converged ||
		got.Sweeps > 2 ||
		!(got.Gap > 0) {
		t.Errorf("%v %+v", err, got)
	}
}
