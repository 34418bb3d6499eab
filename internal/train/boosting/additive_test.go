package boosting

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// curvedSample returns n records of y = 2 sin(3a) + 3b² - 1 + c/2 + k + noise: a curve, a parabola, a two-valued
// number and a category.
func curvedSample(t testing.TB, n int, noise float64) sample {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:   "c",
			Ranged: true,
			Lower:  -1,
			Upper:  2,
		},
		{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -5,
			Upper:  5,
		},
	}
	data := make([]dataset.ColumnData, 5)
	p := testrows.Points(11)
	for i := range n {
		a := p.Next()
		b := p.Next()
		c := float64(i % 2)
		k := int32(i / 2 % 2)
		y := 2*math.Sin(3*a) + 3*b*b - 1 + c/2 + float64(k) + noise*p.Next()
		data[0].Floats = append(data[0].Floats, a)
		data[1].Floats = append(data[1].Floats, b)
		data[2].Floats = append(data[2].Floats, c)
		data[3].Codes = append(data[3].Codes, k)
		data[4].Floats = append(data[4].Floats, y)
	}
	return newSample(t, columns, data)
}

// trainAdditive plans and runs the additive trainer. It also returns the session.
func (x sample) trainAdditive(
	t testing.TB, epsilon float64, rel budget.Relation,
) (*method.Fit, *mechanism.Session) {
	t.Helper()
	node, err := Additive{}.Plan(x.runFacts(rel))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, epsilon, rel)
	fit, err := Additive{}.Fit(context.Background(), s, x.trainingData(rel))
	if err != nil {
		t.Fatal(err)
	}
	return fit, s.Sub(additiveNode)
}

// TestAdditiveFindsCurves checks that with much data and a large budget the model explains effects that a straight
// line cannot.
func TestAdditiveFindsCurves(t *testing.T) {
	x := curvedSample(t, 40000, .1)
	target := x.tab.Float(len(x.columns) - 1)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		fit, _ := x.trainAdditive(t, 10, rel)
		m := fit.Model.(*regression.Additive)
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := m.Predict(nil, x.modelRows())
		if err != nil {
			t.Fatal(err)
		}
		line, err := m.Linear.Predict(nil, x.modelRows())
		if err != nil {
			t.Fatal(err)
		}
		all := regression.R2(got, target)
		linear := regression.R2(line, target)
		if all < .97 ||
			linear > .8 {
			t.Errorf(
				"%v: R² %v, of the linear part alone %v",
				rel, all, linear,
			)
		}
		for _, s := range m.Shapes {
			if m.Columns[s.Column].Name == "c" {
				t.Errorf(
					"%v: a two-valued column has a shape",
					rel,
				)
			}
		}
		if len(m.Shapes) != 2 {
			t.Errorf(
				"%v: %d shapes",
				rel, len(m.Shapes),
			)
		}
	}
}

// TestAdditiveKeepsItsPredictions checks that the model in original units predicts the values that training reached
// in scaled units, up to the grid of the rows. Only a few records are so close to an edge that the grid decides their
// bin.
func TestAdditiveKeepsItsPredictions(t *testing.T) {
	x := curvedSample(t, 5000, .1)
	b := x.readyBooster(t, 10)
	for epoch := range additiveEpochs {
		if _, err := b.epoch(epoch); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.model(x.ranges).Predict(nil, x.modelRows())
	if err != nil {
		t.Fatal(err)
	}
	far := 0
	target := b.frame.Target()
	state := b.state.computeView(x.tab.View())
	for i, v := range got {
		want := target.Center() + target.Half()*min(
			max(state.f[i], -1),
			1,
		)
		if math.Abs(v-want) > .01 {
			far++
		}
	}
	if far > 50 {
		t.Errorf(
			"%d of %d predictions differ",
			far, len(got),
		)
	}
}

// computeView returns the state of the records of a view, computed in a single pass.
func (s *state) computeView(v dataset.View) *kept {
	all := v.Block(0, v.Len())
	k := s.Begin(all)
	for i := range s.Moves {
		k.Take(i, all)
	}
	return k.(*kept)
}

// readyBooster returns a run that is ready for its first epoch.
func (x sample) readyBooster(t testing.TB, epsilon float64) *booster {
	t.Helper()
	node, err := Additive{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, epsilon, budget.AddRemove).Sub(additiveNode)
	b, err := newBooster(context.Background(), s, x.trainingData(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	b.releases = additiveReleases{s}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAdditiveSpendsItsPlan checks that every priced draw is released once, with the scale that follows from its
// price.
func TestAdditiveSpendsItsPlan(t *testing.T) {
	x := curvedSample(t, 3000, .1)
	_, s := x.trainAdditive(t, 1, budget.AddRemove)
	events := s.Events()
	if len(events) != 6 {
		t.Fatalf("%d leaves", len(events))
	}
	mu2 := 0.0
	for _, e := range events {
		if e.Released != e.Law.Draws {
			t.Errorf(
				"%s: %d of %d draws released",
				e.Path, e.Released, e.Law.Draws,
			)
		}
		mu2 += float64(e.Law.Draws) * e.Law.Mu * e.Law.Mu
	}
	mu := budget.GaussianMu(1, 1e-6)
	if math.Abs(math.Sqrt(mu2)/mu-1) > 1e-5 {
		t.Errorf(
			"the leaves spend mu %v of %v",
			math.Sqrt(mu2), mu,
		)
	}
	// The columns a, b and c and the score are counted: sensitivity 2.
	got := s.Scale(countsLeaf)
	want := 2 / s.Mu(countsLeaf)
	if math.Abs(got/want-1) > 1e-5 {
		t.Errorf(
			"noise of the counts %v, want %v",
			got, want,
		)
	}
	got = s.Scale(residualsLeaf)
	want = 1 / s.Mu(residualsLeaf)
	if math.Abs(got/want-1) > 1e-5 {
		t.Errorf(
			"noise of the residual scale %v, want %v",
			got, want,
		)
	}
}

// TestAdditiveWithoutUsableData checks that the model is valid for a table without rows, with one row, with only
// invalid cells, with only categories, or with a constant target.
func TestAdditiveWithoutUsableData(t *testing.T) {
	only := newSample(
		t,
		[]dataset.Column{
			{
				Name:       "k",
				Kind:       dataset.Category,
				Categories: []string{"x", "y"},
				Other:      true,
			},
			{
				Name:   "y",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
		},
		[]dataset.ColumnData{
			{Codes: []int32{0, 1, 2}},
			{Floats: []float64{0, math.NaN(), 1}},
		},
	)
	tables := map[string]sample{
		"no rows":    curvedSample(t, 0, 0),
		"one row":    curvedSample(t, 1, 0),
		"categories": only,
	}
	strange := curvedSample(t, 0, 0)
	data := make([]dataset.ColumnData, 5)
	for i := range 200 {
		v := []float64{
			math.NaN(),
			math.Inf(1), -1e300, 7,
		}[i%4]
		for _, j := range []int{0, 1, 2, 4} {
			data[j].Floats = append(data[j].Floats, v)
		}
		data[3].Codes = append(data[3].Codes, 2)
	}
	tables["strange"] = newSample(t, strange.columns, data)
	wide := curvedSample(t, 300, 1)
	wide.ranges = slices.Clone(wide.ranges)
	wide.ranges[4] = scaling.Range{Lower: -8e307, Upper: 8e307}
	wide.ranges[0] = scaling.Range{Lower: -1e-300, Upper: 1e-300}
	tables["absurd ranges"] = wide
	for name, x := range tables {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			fit, _ := x.trainAdditive(t, 1, rel)
			m := fit.Model.(*regression.Additive)
			if name == "absurd ranges" { // the pipeline saturates what is linear
				m.Linear = regression.Linear{
					Target:  m.Target,
					Columns: m.Columns,
					Terms:   make([]regression.Term, 0),
					Lower:   m.Lower,
					Upper:   m.Upper,
				}
				m.Score = nil
			}
			if err := m.Validate(); err != nil {
				t.Errorf(
					"%s, %v: %v",
					name, rel, err,
				)
			}
			if !(fit.TargetMean >= fit.Linear().Lower &&
				fit.TargetMean <= fit.Linear().Upper) {
				t.Errorf(
					"%s, %v: target mean %v",
					name, rel, fit.TargetMean,
				)
			}
		}
	}
}

// TestAdditivePrivateInputs compares the sums of an epoch with their definition, for any order of the rows.
func TestAdditivePrivateInputs(t *testing.T) {
	x := curvedSample(t, 9001, .5) // more than two blocks
	b := x.readyBooster(t, 1)
	const clip = .3
	s := b.shapes[0]
	want := b.session.NewBinSums(len(s.values), clip)
	state := b.state.computeView(x.tab.View())
	for i := x.tab.Len() - 1; i >= 0; i-- { // one by one, from the last
		g := float64(state.y[i])/mechanism.FixedOne - min(max(state.f[i], -1), 1)
		want.Add(
			[]uint8{state.bins[s.bins][i]},
			[]float64{g},
		)
	}
	got, err := mechanism.Sum[*sumsPass](
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
	if !reflect.DeepEqual(got.steps[0].Bound(), want.Bound()) {
		t.Error("the sums differ from their definition")
	}
}

func TestAdditiveRefusesWideTables(t *testing.T) {
	columns := make([]dataset.Column, linear.MaxSlots+1)
	_, err := (Additive{}).Plan(method.Facts{Columns: columns})
	if !errors.Is(err, linear.ErrTooWide) {
		t.Errorf("%v", err)
	}
}

func TestAdditiveStopsWithItsContext(t *testing.T) {
	x := curvedSample(t, 100, 0)
	node, err := Additive{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Additive{}.Fit(
		ctx,
		testrows.Session(t, node, 1, budget.AddRemove),
		x.trainingData(budget.AddRemove),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestGroupedBinsFormSteps checks that every fine bin belongs to one step, that steps are contiguous, that their counts
// add up unless a floor applies, and that a full fine bin forms a step of its own.
func TestGroupedBinsFormSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Float64Range(-50, 500), fineBins, fineBins).Draw(
			t,
			"counts",
		)
		sigma := rapid.Float64Range(.1, 100).Draw(t, "sigma")
		records := rapid.Float64Range(minRecords, 1e5).Draw(t, "records")
		g := groupBins(counts, sigma, records)
		if len(g.counts) != len(g.edges)+1 ||
			g.stepOf[0] != 0 ||
			int(g.stepOf[fineBins-1]) != len(g.edges) {
			t.Fatalf(
				"%d counts, %d edges, last step %d",
				len(g.counts),
				len(g.edges),
				g.stepOf[fineBins-1],
			)
		}
		for b := 1; b < fineBins; b++ {
			begins := slices.Contains(g.edges, b)
			step := int(g.stepOf[b]) - int(g.stepOf[b-1])
			if step != 0 && step != 1 || begins != (step == 1) {
				t.Fatalf(
					"bin %d follows %d with step %d, an edge: %v",
					b, b-1, step, begins,
				)
			}
		}
		for k, n := range g.counts {
			if !(n >= sigma && n >= leastShare*records) {
				t.Fatalf("step %d has the count %v", k, n)
			}
		}
	})
	counts := make([]float64, fineBins)
	counts[3] = 1000
	counts[100] = 1000
	counts[200] = 1000
	g := groupBins(counts, 1, 3000)
	if len(g.counts) != 3 ||
		g.edges[0] != 100 ||
		g.edges[1] != 200 ||
		g.counts[0] != 1000 {
		t.Errorf(
			"three values give the edges %v and counts %v",
			g.edges, g.counts,
		)
	}
	// Nine in ten records have the same value; the others still yield many steps.
	for b := range counts {
		counts[b] = 10
	}
	counts[0] = 9 * 2550
	if g = groupBins(counts, 1, 25500); len(g.counts) < mostSteps/2 || g.edges[0] != 1 {
		t.Errorf(
			"a column that is mostly one value has %d steps, the first of %d bins",
			len(g.counts),
			g.edges[0],
		)
	}
}

func TestTwoValued(t *testing.T) {
	counts := make([]float64, fineBins)
	counts[0] = 600
	counts[255] = 400
	for _, c := range []struct {
		sigma, records float64
		want           bool
	}{
		{10, 1000, true},
		{10, 1200, false},
		{10, 1025, true},
		{10, 1035, false},
		{300, 1000, false},
	} {
		got := twoValued(counts, c.sigma, c.records)
		if got != c.want {
			t.Errorf(
				"noise %v, %v records: %v",
				c.sigma, c.records, got,
			)
		}
	}
}

// TestTotal checks that the total is the average over the columns' counts.
func TestTotal(t *testing.T) {
	got := recordCount([][]float64{{10, 20}, {32, 0}})
	if got != 31 {
		t.Errorf("%v records", got)
	}
}

// TestClassesPlan checks that for classes the sizes of residuals are not released and that the budget is still fully
// spent.
func TestClassesPlan(t *testing.T) {
	columns := []dataset.Column{{Name: "x"}, {Name: "y"}}
	spent := func(classes bool) (leaves int) {
		node, err := Additive{}.Plan(method.Facts{Columns: columns, Derived: classes})
		if err != nil {
			t.Fatal(err)
		}
		priced, err := budget.Calibrate(node, budget.Target{Epsilon: 1, Delta: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		e := priced.Guarantee().Spent
		if e > 1 || e < .98 {
			t.Errorf("classes %v: %v is spent", classes, e)
		}
		return len(priced.Leaves())
	}
	numbers := spent(false)
	classes := spent(true)
	if classes != numbers-2 {
		t.Errorf("%d leaves, %d without classes", classes, numbers)
	}
}

// TestShapeLearns checks that a shape follows the exact sums of a curve but not pure noise.
func TestShapeLearns(t *testing.T) {
	g := binGroups{
		counts: slices.Repeat([]float64{500}, 20),
		edges:  make([]int, 19),
	}
	s := newShape(0, 0, g)
	curve := func(b int) float64 {
		return .3 * math.Sin(float64(b)/4)
	}
	for range 4 { // the residual is the part that the shape does not explain yet
		sums := make([]float64, 20)
		for b := range sums {
			sums[b] = 500 * (curve(b) - s.values[b])
		}
		s.learn(sums, 5, .2)
	}
	for b, v := range s.values {
		if math.Abs(v-curve(b)) > .03 {
			t.Errorf(
				"value %d: %v, want %v",
				b, v, curve(b),
			)
		}
	}
	p := testrows.Points(5)
	size := 0.0
	s = newShape(0, 0, g)
	sums := make([]float64, 20)
	for b := range sums {
		sums[b] = 300 * p.Next()
	}
	s.learn(sums, 300, .2)
	for b, v := range s.values {
		size = max(size, math.Abs(v)/math.Abs(sums[b]/500))
	}
	if size > .2 {
		t.Errorf("noise is followed: %v of the observation", size)
	}
}

// TestLikeliestMatchesGridSearch compares the result with a search on a finer grid, and checks that pure noise is
// shrunk to 0.
func TestLikeliestMatchesGridSearch(t *testing.T) {
	signal := []float64{100, 50, 1}
	energy := []float64{41, 21, 1.1}
	got, _ := mostLikelyVariance(
		geometricGrid(.01, 10, 200),
		signal,
		energy,
	)
	if math.Abs(got-.4) > .05 {
		t.Errorf("variance factor %v, want about .4", got)
	}
	got, _ = mostLikelyVariance(
		geometricGrid(.01, 10, 20),
		signal,
		[]float64{.9, .5, .2},
	)
	if got != 0 {
		t.Errorf("variance factor %v of noise", got)
	}
}

// TestCorrectionConverges checks that releases with negligible noise lead to the coefficients that the start missed,
// and that the covariance matches the noise.
func TestCorrectionConverges(t *testing.T) {
	a := mat.NewSymDense(
		3,
		[]float64{900, 200, 0, 200, 700, 100, 0, 100, 400},
	)
	c := &correction{
		spectrum: linear.NewSpectrum(a),
		theta:    make([]float64, 3),
		mean:     make([]float64, 3),
		shrink:   make([]float64, 3),
	}
	c.eigen = c.spectrum.Values
	want := []float64{.5, -.2, .1}
	for range 5 {
		var rest, sums mat.VecDense
		rest.SubVec(mat.NewVecDense(3, want), mat.NewVecDense(3, c.theta))
		sums.MulVec(a, &rest)
		c.learn(sums.RawVector().Data, 2)
	}
	for i, v := range c.total(make([]float64, 3)) {
		if math.Abs(v-want[i]) > .01 {
			t.Errorf(
				"coefficient %d: %v, want %v",
				i, v, want[i],
			)
		}
	}
	cov := c.covariance(mat.NewSymDense(3, nil))
	var inverse, expected mat.Dense
	if err := inverse.Inverse(a); err != nil {
		t.Fatal(err)
	}
	expected.Mul(&inverse, &inverse) // times sigma²/releases
	for i := range 3 {
		ratio := cov.At(i, i) / (expected.At(i, i) * 4 / 5)
		if ratio < .9 || ratio > 1.01 {
			t.Errorf(
				"variance %d is %v times what the noise gives",
				i, ratio,
			)
		}
	}
}
