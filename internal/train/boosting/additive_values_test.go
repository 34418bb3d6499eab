package boosting

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/regression"
)

// valuedSample returns n records of y = a + effect of k + noise. The column k has the given number of values; their
// counts fall as 1/rank and their effects alternate in sign. One record in 20 has an unlisted value.
func valuedSample(t testing.TB, n, values int, noise float64) (sample, []float64) {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:  "k",
			Kind:  dataset.Category,
			Other: true,
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -4,
			Upper:  4,
		},
	}
	effects := make([]float64, values)
	weights := make([]float64, values)
	sum := 0.
	for v := range values {
		columns[1].Categories = append(
			columns[1].Categories,
			fmt.Sprintf("v%03d", v),
		)
		effects[v] = 1 - 2*float64(v%2)
		sum += 1 / float64(v+1)
		weights[v] = sum
	}
	data := make([]dataset.ColumnData, 3)
	p := testrows.Points(5)
	for i := range n {
		a := p.Next()
		u := (p.Next() + 1) / 2 * sum
		v, _ := slices.BinarySearch(weights, u)
		v = min(v, values-1)
		y := a + effects[v] + noise*p.Next()
		code := int32(v)
		if i%20 == 0 {
			y = a
			code = int32(values)
		}
		data[0].Floats = append(data[0].Floats, a)
		data[1].Codes = append(data[1].Codes, code)
		data[2].Floats = append(data[2].Floats, y)
	}
	return newSample(t, columns, data), effects
}

// TestValuesAreFound checks that with a large budget the effects of frequent values match the true effects, and that
// a column may have more values than there are steps.
func TestValuesAreFound(t *testing.T) {
	for _, values := range []int{linear.FewValues + 1, 400} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			x, effects := valuedSample(t, 20000, values, .3)
			fit, s := x.trainAdditive(t, 20, rel)
			m := fit.Model.(*regression.Additive)
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			e := s.Events()
			if e[0].Sensitivity > 3 {
				t.Errorf(
					"%d values: the matrix of the start has sensitivity %v, as if they were entries",
					values,
					e[0].Sensitivity,
				)
			}
			var got []regression.Term
			for _, term := range m.Terms {
				if term.Column == 1 {
					got = append(got, term)
				}
			}
			if len(got) != values+1 || !got[values].Other {
				t.Fatalf(
					"%d values: %d terms",
					values, len(got),
				)
			}
			for v := range 10 {
				between := got[v].Coefficient -
					got[values].Coefficient
				if math.Abs(between-effects[v]) > .1 {
					t.Errorf(
						"%d values, %v: the effect of number %d beyond that of others is %v, want %v",
						values,
						rel,
						v,
						between,
						effects[v],
					)
				}
				if !(got[v].StdError > 0 && got[v].StdError < .1) {
					t.Errorf(
						"%d values, %v: the error of number %d is %v",
						values,
						rel,
						v,
						got[v].StdError,
					)
				}
			}
			sd := math.Sqrt(fit.Spreads[0][1].Variance) *
				fit.Spreads[0][1].Unit
			if math.Abs(sd-1) > .2 {
				t.Errorf(
					"%d values, %v: the column adds with a standard deviation of %v",
					values,
					rel,
					sd,
				)
			}
		}
	}
}

// TestFewValuesAreEntries checks that a column of few values is encoded as a block of entries. In a column of many
// values, the most frequent ones by released counts have an entry each, and all others share one.
func TestFewValuesAreEntries(t *testing.T) {
	x, _ := valuedSample(t, 2000, linear.FewValues, 0)
	b := x.readyBooster(t, 1)
	if len(b.valued) > 0 ||
		!reflect.DeepEqual(b.state.Columns, x.columns) {
		t.Errorf(
			"%d columns of many values, and columns %v",
			len(b.valued), b.state.Columns,
		)
	}
	x, _ = valuedSample(t, 40000, 200, 0)
	b = x.readyBooster(t, 100)
	c := b.state.Columns[1]
	want := x.columns[1].Categories[:linear.FewValues]
	if len(b.valued) != 1 ||
		!slices.Equal(c.Categories[:10], want[:10]) ||
		len(c.Categories) != len(want) ||
		!c.Other {
		t.Errorf(
			"entries %v, want about %v",
			c.Categories, want,
		)
	}
	if len(c.Levels) != 201 ||
		c.Levels[0] != 0 ||
		c.Levels[200] != linear.FewValues ||
		c.Levels[199] != linear.FewValues {
		t.Errorf("levels %v", c.Levels)
	}
}

// TestGroupValues checks that every value belongs to one step and that the most frequent values have their own.
func TestGroupValues(t *testing.T) {
	counts := make([]float64, 401)
	for v := range counts {
		counts[v] = float64(v * 7 % 401)
	}
	g := groupValues(counts)
	if len(g.counts) != mostValues+2 ||
		len(g.of) != len(counts) {
		t.Fatalf(
			"%d steps of %d values",
			len(g.counts), len(g.of),
		)
	}
	sums := make([]float64, len(g.counts))
	least := math.Inf(1)
	most := 0.
	for v, k := range g.of {
		sums[k] += counts[v]
		switch {
		case v == 400:
			if int(k) != mostValues+1 {
				t.Errorf("cells without a listed value have step %d", k)
			}
		case g.sizes[k] == 1:
			least = min(least, counts[v])
		default:
			most = max(most, counts[v])
		}
	}
	if !slices.Equal(sums, g.counts) || most > least {
		t.Errorf(
			"counts %v, want %v; common values have up to %v records, others from %v",
			g.counts,
			sums,
			most,
			least,
		)
	}
	few := groupValues([]float64{3, 1, 2})
	if !slices.Equal(few.of, []uint8{0, 1, 2}) ||
		!slices.Equal(few.sizes, []int{1, 1, 1}) {
		t.Errorf("%v", few)
	}
}

// TestCommonStepCountsWhatOthersLack covers a step that is shared by several values. They were chosen for their low
// noise, so their sum is far too low, but the divisor of the step's sums is not.
func TestCommonStepCountsWhatOthersLack(t *testing.T) {
	const sigma = 45
	counts := []float64{30000}
	p := testrows.Points(3)
	for range 999 {
		counts = append(counts, 10+sigma*1.7*p.Next())
	}
	g := groupValues(append(counts, 0))
	common := len(g.counts) - 2
	if g.counts[common] > 0 {
		t.Fatalf(
			"the common step counts %v",
			g.counts[common],
		)
	}
	got := g.divisors(sigma)[common]
	if got < 5000 {
		t.Errorf("sums of about 7000 records are divided by %v", got)
	}
}

// TestValuesPrivateInputs compares counts and sums by value with their definition.
func TestValuesPrivateInputs(t *testing.T) {
	x, _ := valuedSample(t, 9001, 80, .5)
	b := x.readyBooster(t, 1)
	const clip = .3
	s := b.shapes[0]
	sums := b.session.NewBinSums(len(s.values), clip)
	counts := b.session.NewHistogram([]int{1}, 81)
	state := b.state.computeView(x.tab.View())
	for i := x.tab.Len() - 1; i >= 0; i-- {
		code := x.tab.Codes(1)[i]
		counts.Add([][]uint16{{uint16(code)}})
		sums.Add(
			[]uint8{s.levels.of[code]},
			[]float64{float64(state.y[i])/mechanism.FixedOne - min(max(state.f[i], -1), 1)},
		)
	}
	gotSums, err := mechanism.Sum[*sumsPass](
		b.ctx,
		b.session,
		b.records,
		sumsStatistic{
			Of:     b.state,
			Clip:   clip,
			Line:   true,
			Lists:  []int{s.bins},
			Steps:  []int{len(s.values)},
			Counts: countsBySize,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	gotCounts, err := mechanism.Sum[*valuesPass](
		b.ctx,
		b.session,
		b.records,
		valuesStatistic{[]int{1}, []int{80}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotSums.steps[0].Bound(), sums.Bound()) ||
		!reflect.DeepEqual(gotCounts.hist.Bound(), counts.Bound()) {
		t.Error("the sums differ from their definition")
	}
}

// TestValuesSpendTheirPlan checks that the counts of values and of bins are two parts of one draw with common noise.
func TestValuesSpendTheirPlan(t *testing.T) {
	x, _ := valuedSample(t, 3000, 80, .1)
	for _, trained := range []func() *mechanism.Session{
		func() *mechanism.Session {
			_, s := x.trainAdditive(t, 1, budget.AddRemove)
			return s
		},
		func() *mechanism.Session {
			_, s := x.trainKernel(t, 1, budget.AddRemove)
			return s
		},
	} {
		s := trained()
		for _, e := range s.Events() {
			if e.Released != e.Law.Draws {
				t.Errorf(
					"%s: %d of %d draws released",
					e.Path, e.Released, e.Law.Draws,
				)
			}
		}
		// The columns a and k and the score are counted: sensitivity sqrt 3.
		if got, want := s.Scale(countsLeaf),
			math.Sqrt(3)/s.Mu(countsLeaf); math.Abs(got/want-1) > 1e-5 {
			t.Errorf(
				"noise of the counts %v, want %v",
				got, want,
			)
		}
	}
}

// TestValuesWithoutUsableData checks that the model is valid for a table without rows, with one row, or with only
// unlisted values.
func TestValuesWithoutUsableData(t *testing.T) {
	for _, n := range []int{0, 1, 2000} {
		x, _ := valuedSample(t, n, 80, .1)
		x.columns[1].Other = n > 1
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			additive, _ := x.trainAdditive(t, 1, rel)
			kernel, _ := x.trainKernel(t, 1, rel)
			for _, m := range []regression.Model{additive.Model, kernel.Model} {
				if err := m.Validate(); err != nil {
					t.Errorf(
						"%d records, %v: %v",
						n, rel, err,
					)
				}
			}
		}
	}
}

// TestKernelLearnsAcrossValues checks that the effects of values are a coordinate of the kernel, so that it learns
// their interactions.
func TestKernelLearnsAcrossValues(t *testing.T) {
	x, effects := valuedSample(t, 40000, 80, .1)
	y := make([]float64, x.tab.Len())
	for i := range y {
		y[i] = x.tab.Float(2)[i]
		code := int(x.tab.Codes(1)[i])
		if code < 80 {
			y[i] += x.tab.Float(0)[i] * (1.5*effects[code] - 1)
		}
	}
	x = newSample(
		t,
		x.columns,
		[]dataset.ColumnData{
			{Floats: x.tab.Float(0)},
			{Codes: x.tab.Codes(1)},
			{Floats: y},
		},
	)
	fit, _ := x.trainKernel(t, 10, budget.AddRemove)
	m, ok := fit.Model.(*regression.Kernel)
	if !ok {
		t.Fatalf("a %T", fit.Model)
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	rows := regression.Rows{
		N:       x.tab.Len(),
		Numeric: map[string][]float64{"a": x.tab.Float(0)},
		Codes: map[string]regression.Codes{"k": {
			Values:     x.tab.Codes(1),
			Categories: append(slices.Clone(x.columns[1].Categories), "other"),
		}},
	}
	whole, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := m.Additive.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	a := rSquared(y, sum)
	b := rSquared(y, whole)
	if !(b > .95 && a < b-.005) {
		t.Errorf(
			"R² %v, without the kernel %v",
			b, a,
		)
	}
	for i, term := range m.Kernels {
		if !slices.ContainsFunc(term.Map.Coordinates, func(c kernelmap.Coordinate) bool {
			return m.Cells[c.Input].Column == 1
		}) {
			t.Errorf("map %d has no coordinate of the values", i)
		}
	}
}
