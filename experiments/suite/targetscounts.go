package suite

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
)

// metricDeviance is the share of the Poisson deviance that a prediction explains, of that of a constant rate.
const metricDeviance = "deviance explained"

// countMethods compares `auto` with Poisson regressions.
func countMethods() []targetMethod {
	var out []targetMethod
	for _, transform := range []string{"", "log", "sqrt"} {
		name := "auto"
		if transform != "" {
			name += " " + transform
		}
		out = append(out, targetMethod{countTarget, name, func(ctx context.Context, x *targetTrial) (map[string]float64, error) {
			p, err := x.fitAuto(ctx, x.train, x.test, transform, nil, 1)
			return x.judgeCounts(p), err
		}})
	}
	return append(out,
		targetMethod{countTarget, "Poisson line", func(_ context.Context, x *targetTrial) (map[string]float64, error) {
			p, err := x.fitSurrogate()
			return x.judgeCounts(p), err
		}},
		targetMethod{countTarget, "Poisson curves", func(_ context.Context, x *targetTrial) (map[string]float64, error) {
			return x.judgeCounts(x.fitPrivateCurves()), nil
		}},
		targetMethod{countTarget, "Poisson curves without privacy", func(_ context.Context, x *targetTrial) (map[string]float64, error) {
			p, err := x.fitExactCurves()
			return x.judgeCounts(p), err
		}})
}

// judgeCounts returns R² and the explained deviance on the test rows. Predictions are at least a hundredth of the mean,
// because one prediction of 0 makes the deviance infinite.
func (x *targetTrial) judgeCounts(p []float64) map[string]float64 {
	if p == nil {
		return nil
	}
	y := x.truth(x.test)
	rate := average(x.truth(x.train)) / average(x.exposures(x.train))
	rest := 0.
	whole := 0.
	for i, v := range y {
		constant := rate * x.exposures(x.test[i : i+1])[0]
		rest += poissonDeviance(v, max(p[i], constant/100))
		whole += poissonDeviance(v, constant)
	}
	return map[string]float64{
		metricDeviance: 1 - rest/whole,
		bench.MetricR2: rSquared(y, p),
	}
}

// poissonDeviance returns the deviance of a count from its predicted mean.
func poissonDeviance(y, mean float64) float64 {
	if y <= 0 {
		return 2 * mean
	}
	return 2 * (y*math.Log(y/mean) - (y - mean))
}

// exposures returns the exposures of rows.
func (t *targetTable) exposures(rows []int) []float64 {
	if t.exposure != nil {
		return valuesAt(t.exposure, rows)
	}
	return slices.Repeat([]float64{1}, len(rows))
}

// surrogateReach is the distance from the logarithm of the mean rate up to which a parabola replaces the exponential
// function.
const surrogateReach = 1.5

// fitSurrogate fits a line for the logarithm of the rate with the whole budget in one pass. Its loss, exposure e^η − y η,
// becomes a parabola in η, whose minimum follows from two noisy sums: exposure x xᵀ, and x y. Ranges are exact quantiles.
func (x *targetTrial) fitSurrogate() ([]float64, error) {
	rows, bound := x.standardised()
	y := x.truth(x.train)
	sorted := slices.Sorted(slices.Values(y))
	most := quantile(sorted, .995)
	width := len(rows[0])
	gram := mat.NewSymDense(width, nil)
	moments := make([]float64, width)
	exposure := x.exposures(x.train)
	for k, i := range x.train {
		gram.SymRankOne(gram, exposure[k], mat.NewVecDense(width, rows[i]))
		for j, v := range rows[i] {
			moments[j] += v * min(y[k], most)
		}
	}
	// One record adds a matrix of norm bound² and a vector of norm bound·most. Each sum has half of the squared budget.
	noise := bound * bound / muOf(.5)
	for j := range width {
		for k := j; k < width; k++ {
			gram.SetSym(j, k, gram.At(j, k)+noise*x.g.normal())
		}
		moments[j] += bound * most / muOf(.5) * x.g.normal()
	}
	// Column 0 is the constant, so these are the sums of the exposures and of the counts.
	rate := max(moments[0], 1) / max(gram.At(0, 0), 1)
	_, slope, square := parabolaOfExp(surrogateReach)
	right := mat.NewVecDense(width, nil)
	left := mat.NewSymDense(width, nil)
	for j := range width {
		right.SetVec(j, moments[j]-rate*slope*gram.At(0, j))
		for k := j; k < width; k++ {
			left.SetSym(j, k, 2*rate*square*gram.At(j, k))
		}
		left.SetSym(j, j, left.At(j, j)+2*rate*square*noise*math.Sqrt(float64(width)))
	}
	var theta mat.VecDense
	if err := theta.SolveVec(left, right); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, err
	}
	out := make([]float64, len(x.test))
	for k, i := range x.test {
		eta := mat.Dot(&theta, mat.NewVecDense(width, rows[i]))
		out[k] = x.exposures(x.test[k : k+1])[0] * rate * math.Exp(min(max(eta, -4), 4))
		out[k] = min(out[k], most)
	}
	return out, nil
}

// parabolaOfExp returns the coefficients of 1, t and t² in the least-squares fit of a parabola to e^t on [-reach, reach].
func parabolaOfExp(reach float64) (constant, slope, square float64) {
	const points = 2001
	a := mat.NewDense(points, 3, nil)
	b := mat.NewVecDense(points, nil)
	for i := range points {
		t := reach * (2*float64(i)/(points-1) - 1)
		a.SetRow(i, []float64{1, t, t * t})
		b.SetVec(i, math.Exp(t))
	}
	var out mat.VecDense
	_ = out.SolveVec(a, b) // three independent columns
	return out.AtVec(0), out.AtVec(1), out.AtVec(2)
}

// mostLevels is the number of values of a category column that have an entry.
const mostLevels = 20

// standardised returns the rows of the table as a constant and numbers in [-1, 1], with an entry for each of the most
// frequent categories, and the bound to which the norms of the rows were limited, their 0.9 quantile.
func (x *targetTrial) standardised() (rows [][]float64, bound float64) {
	rows = make([][]float64, len(x.y))
	for i := range rows {
		rows[i] = []float64{1}
	}
	for j, c := range x.columns {
		if c.Kind == dataset.Category {
			x.appendLevels(rows, j)
			continue
		}
		low, high := x.reachOf(j)
		for i, v := range x.cells[j].Floats {
			if v != v || high == low {
				v = (low + high) / 2
			}
			half := max((high-low)/2, math.SmallestNonzeroFloat64)
			rows[i] = append(rows[i], min(max((v-(low+high)/2)/half, -1), 1))
		}
	}
	var norms []float64
	for _, i := range x.train {
		norms = append(norms, math.Sqrt(dotOf(rows[i], rows[i])))
	}
	bound = quantile(slices.Sorted(slices.Values(norms)), .9)
	for _, row := range rows {
		norm := math.Sqrt(dotOf(row, row))
		for j := range row {
			row[j] *= min(1, bound/norm)
		}
	}
	return rows, bound
}

func dotOf(a, b []float64) float64 {
	sum := 0.
	for j := range a {
		sum += a[j] * b[j]
	}
	return sum
}

// reachOf returns the quantiles 0.005 and 0.995 of a column on the training rows.
func (x *targetTrial) reachOf(j int) (low, high float64) {
	sorted := slices.DeleteFunc(valuesAt(x.cells[j].Floats, x.train), math.IsNaN)
	slices.Sort(sorted)
	if len(sorted) == 0 {
		return 0, 0
	}
	return quantile(sorted, .005), quantile(sorted, .995)
}

// appendLevels appends an entry for each of the most frequent categories of column j.
func (x *targetTrial) appendLevels(rows [][]float64, j int) {
	counts := make([]int, len(x.columns[j].Categories))
	for _, i := range x.train {
		counts[x.cells[j].Codes[i]]++
	}
	order := make([]int, len(counts))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return counts[b] - counts[a]
	})
	for _, k := range order[:min(len(order), mostLevels)] {
		for i := range rows {
			v := 0.
			if int(x.cells[j].Codes[i]) == k {
				v = 1
			}
			rows[i] = append(rows[i], v)
		}
	}
}

// The additive Poisson regression without privacy.
const (
	curveSteps = 16   // per numeric column
	curveRidge = 3.   // per entry
	curveTurns = 12   // of Newton's method
	curveLimit = 4.   // of a step of η
	curveFloor = 1e-8 // of a rate
)

// fitExactCurves fits a sum of step curves for the logarithm of the rate, exactly: what no private additive model exceeds.
func (x *targetTrial) fitExactCurves() ([]float64, error) {
	entries, width := x.stepEntries()
	y := x.truth(x.train)
	exposure := x.exposures(x.train)
	rate := average(y) / average(exposure)
	theta := make([]float64, width)
	eta := func(i int) float64 {
		sum := 0.
		for _, e := range entries[i] {
			sum += theta[e]
		}
		return min(max(sum, -8), 8)
	}
	for range curveTurns {
		left := mat.NewSymDense(width, nil)
		right := mat.NewVecDense(width, nil)
		for e := range width {
			left.SetSym(e, e, curveRidge*rate)
			right.SetVec(e, -curveRidge*rate*theta[e])
		}
		for k, i := range x.train {
			mean := max(exposure[k]*rate*math.Exp(eta(i)), curveFloor)
			for a, e := range entries[i] {
				right.SetVec(e, right.AtVec(e)+y[k]-mean)
				for _, f := range entries[i][a:] {
					left.SetSym(e, f, left.At(e, f)+mean)
				}
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(left, right); err != nil && !errors.As(err, new(mat.Condition)) {
			return nil, err
		}
		scale := min(1, curveLimit/max(mat.Max(&step), -mat.Min(&step)))
		for e := range theta {
			theta[e] += scale * step.AtVec(e)
		}
	}
	out := make([]float64, len(x.test))
	for k, i := range x.test {
		out[k] = x.exposures(x.test[k : k+1])[0] * rate * math.Exp(eta(i))
	}
	return out, nil
}

// The additive Poisson regression with privacy.
const (
	curveEpochs   = 6
	curveStart    = .2  // share of the squared budget for the counts by step
	curveResidual = .95 // quantile of the residuals that limits them
)

// fitPrivateCurves fits the same sum with noise, one curve after the other. Each release contains the sums of residuals by
// step of a column; a record changes one of these sums, by at most the limit. The counts by step, which scale the sums,
// are released once. Limits are exact quantiles. Corrections are shrunk by the share of noise in their variance.
func (x *targetTrial) fitPrivateCurves() []float64 {
	entries, width := x.stepEntries()
	y := x.truth(x.train)
	exposure := x.exposures(x.train)
	rate := average(y) / average(exposure)
	most := quantile(slices.Sorted(slices.Values(y)), .995)
	columns := len(x.columns)
	sums := make([]float64, width)
	start := most * math.Sqrt(float64(columns)) / muOf(curveStart)
	for k, i := range x.train {
		for _, e := range entries[i][1:] {
			sums[e] += min(y[k], most)
		}
	}
	for e := range sums {
		sums[e] = max(sums[e]+start*x.g.normal(), 3*start)
	}
	theta := make([]float64, width)
	mean := func(i int, exposure float64) float64 {
		eta := 0.
		for _, e := range entries[i] {
			eta += theta[e]
		}
		return exposure * rate * math.Exp(min(max(eta, -4), 4))
	}
	share := muOf((1 - curveStart) / float64(curveEpochs*columns))
	for range curveEpochs {
		var sizes []float64
		for k, i := range x.train {
			sizes = append(sizes, math.Abs(y[k]-mean(i, exposure[k])))
		}
		limit := quantile(slices.Sorted(slices.Values(sizes)), curveResidual)
		for j := range columns {
			x.correctCurve(theta, sums, limit, limit/share, func(add func(e int, residual float64)) {
				for k, i := range x.train {
					add(entries[i][j+1], y[k]-mean(i, exposure[k]))
				}
			})
		}
	}
	out := make([]float64, len(x.test))
	for k, i := range x.test {
		out[k] = mean(i, x.exposures(x.test[k : k+1])[0])
	}
	return out
}

// correctCurve adds the shrunk correction of one curve to theta. each calls add for every record.
func (x *targetTrial) correctCurve(
	theta, sums []float64,
	limit, noise float64,
	each func(add func(e int, residual float64)),
) {
	residuals := map[int]float64{}
	each(func(e int, residual float64) {
		residuals[e] += min(max(residual, -limit), limit)
	})
	steps := slices.Sorted(maps.Keys(residuals))
	excess := 0.
	for _, e := range steps {
		residuals[e] = (residuals[e] + noise*x.g.normal()) / sums[e]
		excess += residuals[e]*residuals[e] - noise*noise/(sums[e]*sums[e])
	}
	variance := max(excess/float64(len(steps)), 0)
	for _, e := range steps {
		own := noise * noise / (sums[e] * sums[e])
		theta[e] += min(max(residuals[e]*variance/max(variance+own, math.SmallestNonzeroFloat64), -1), 1)
	}
}

// stepEntries returns for each row the entries that are 1, in increasing order: a constant, and for each column its step
// or its category.
func (x *targetTrial) stepEntries() (entries [][]int, width int) {
	entries = make([][]int, len(x.y))
	for i := range entries {
		entries[i] = []int{0}
	}
	width = 1
	for j, c := range x.columns {
		if c.Kind == dataset.Category {
			for i, code := range x.cells[j].Codes {
				entries[i] = append(entries[i], width+int(code))
			}
			width += len(c.Categories)
			continue
		}
		sorted := slices.DeleteFunc(valuesAt(x.cells[j].Floats, x.train), math.IsNaN)
		slices.Sort(sorted)
		var edges []float64
		for s := 1; s < curveSteps; s++ {
			edges = append(edges, quantile(sorted, float64(s)/curveSteps))
		}
		edges = slices.Compact(edges)
		for i, v := range x.cells[j].Floats {
			k, found := slices.BinarySearch(edges, v)
			if found {
				k++
			}
			if v != v {
				k = 0
			}
			entries[i] = append(entries[i], width+k)
		}
		width += len(edges) + 1
	}
	return entries, width
}
