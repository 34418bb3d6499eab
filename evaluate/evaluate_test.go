package evaluate

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

func pairs(t testing.TB, y, prediction []float64, lower, upper, center float64) Pairs {
	t.Helper()
	tab, err := dataset.NewTable(dataset.Schema{Columns: []dataset.Column{{Name: "y"}}}, []dataset.ColumnData{{Floats: y}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Pairs{View: tab.All(), Prediction: prediction, Lower: lower, Upper: upper, Center: center}
}

func price(t testing.TB, epsilon float64) *budget.Priced {
	t.Helper()
	priced, err := budget.Calibrate(Regression{}.Plan(), budget.Target{Epsilon: epsilon, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func release(t testing.TB, priced *budget.Priced, p Pairs) R2 {
	t.Helper()
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Regression{}.Run(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// normals returns quantiles of the normal law in a scattered order: a fixed
// "sample" without randomness.
func normals(n, step int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = distuv.UnitNormal.Quantile((float64((i*step)%n) + .5) / float64(n))
	}
	return x
}

// TestCoverage: the interval covers the exact R² of equally clipped values as
// often as it says. 400 releases that each cover with probability .97: fewer
// than 368 (.92) happens with probability below 1e-6.
func TestCoverage(t *testing.T) {
	const n = 2003
	signal, noise := normals(n, 757), normals(n, 331)
	one := price(t, 1)
	for name, scale := range map[string]float64{"good": .3, "middling": .8, "poor": 3} {
		y := make([]float64, n)
		for i := range y {
			y[i] = 50 + 10*(signal[i]+scale*noise[i])
		}
		prediction := make([]float64, n)
		for i := range prediction {
			prediction[i] = 50 + 10*signal[i]
		}
		p := pairs(t, y, prediction, 10, 95, 48)
		const releases = 400
		covered := 0
		for range releases {
			r := release(t, one, p)
			if exact := Exact(p, r.ResidualClip); exact >= r.Lower && exact <= r.Upper {
				covered++
			}
			if r.Value < r.Lower || r.Value > r.Upper || r.Level != Level {
				t.Fatalf("%s: %+v", name, r)
			}
		}
		if covered < 368 {
			t.Errorf("%s: %d of %d intervals cover", name, covered, releases)
		}
	}
}

// TestLargeBudget: with a large budget the value is the exact clipped R², and
// the interval is narrow.
func TestLargeBudget(t *testing.T) {
	const n = 2003
	y, e := normals(n, 757), normals(n, 331)
	prediction := make([]float64, n)
	for i := range y {
		prediction[i] = y[i] + .5*e[i]
	}
	large := price(t, 200)
	for _, center := range []float64{0, -1.5, 99} {
		p := pairs(t, y, prediction, -3, 3, center)
		r := release(t, large, p)
		if exact := Exact(p, r.ResidualClip); math.Abs(r.Value-exact) > .01 || r.Upper-r.Lower > .03 {
			t.Errorf("center %v: released %+v, exact %v", center, r, exact)
		}
	}
}

// TestTotal: whatever the held-out part, the result is finite and ordered.
func TestTotal(t *testing.T) {
	nan := math.NaN()
	budgets := []*budget.Priced{price(t, .05), price(t, 1), price(t, 20)}
	for name, c := range map[string]struct{ y, prediction []float64 }{
		"nothing": {nil, nil}, "one": {[]float64{1}, []float64{2}}, "missing": {[]float64{nan, nan}, []float64{0, 0}},
		"constant": {make([]float64, 300), make([]float64, 300)}, "far": {[]float64{1e300, -1e300}, []float64{0, 0}},
	} {
		for _, priced := range budgets {
			for range 10 {
				r := release(t, priced, pairs(t, c.y, c.prediction, -1, 2, .3))
				if !(floor <= r.Lower && r.Lower <= r.Value && r.Value <= r.Upper && r.Upper <= 1) || !(r.ResidualClip > 0) {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
	}
}

// TestSensitivity searches the released vector's change over records of every
// kind, for a record added and a record replaced.
func TestSensitivity(t *testing.T) {
	values := []float64{-9, -1, 0, .4, 2, 9, math.NaN()}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		priced, err := budget.Calibrate(Regression{}.Plan(), budget.Target{Epsilon: 1, Delta: 1e-5, Relation: rel})
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		var sums [][]float64
		for _, y := range values {
			for _, prediction := range values {
				p := pairs(t, []float64{y}, []float64{prediction}, -1, 2, .2)
				a := &sumPass{pairs: p, clip: .7, sums: newSums(s)}
				a.Add(p.View.Block(0, 1))
				sums = append(sums, []float64{countWeight, a.y[0], a.y2[0], math.Min(a.r[0], 1)})
			}
		}
		empty := make([]float64, 4)
		worst := 0.0
		for i := range sums {
			if rel == budget.AddRemove {
				worst = math.Max(worst, distance(sums[i], empty))
			}
			for j := range sums {
				if rel != budget.AddRemove {
					worst = math.Max(worst, distance(sums[i], sums[j]))
				}
			}
		}
		declared := newSums(s).Bound().Sensitivity()
		if worst > declared*(1+1e-9) || worst < .8*declared {
			t.Errorf("%v: largest change %v, declared %v", rel, worst, declared)
		}
	}
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// TestFieller compares the interval with its definition on a grid of ratios.
func TestFieller(t *testing.T) {
	for _, c := range []struct{ e, t, ve, vt float64 }{
		{3, 10, 1, 1}, {0, 10, 1, 4}, {-1, 10, 1, 1}, {3, 2, 1, 4}, {9, 2, 1, 4}, {1, 100, .01, 25},
	} {
		lower, upper := fieller(c.e, c.t, c.ve, c.vt, 1.96)
		for rho := 0.0; rho < 20; rho += .001 {
			inside := math.Abs(c.e-rho*c.t) <= 1.96*math.Sqrt(c.ve+rho*rho*c.vt)
			if near := math.Abs(rho-lower) < .002 || math.Abs(rho-upper) < .002; !near && inside != (rho > lower && rho < upper) {
				t.Errorf("%+v: rho %.3f inside=%v, interval [%v, %v]", c, rho, inside, lower, upper)
				break
			}
		}
	}
}
