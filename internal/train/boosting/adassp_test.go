package boosting

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A sample is a table with its columns and ranges.
type sample struct {
	tab     *dataset.Table
	columns []dataset.Column
	ranges  []scaling.Range
}

// runFacts returns the facts of a run under a relation.
func (x sample) runFacts(rel budget.Relation) method.Facts {
	return method.Facts{Columns: x.columns, Relation: rel}
}

// trainingData returns the records together with their public facts.
func (x sample) trainingData(rel budget.Relation) method.Data {
	return method.Data{
		Facts:   x.runFacts(rel),
		Records: memory.NewRecords(x.tab.View()),
		Ranges:  x.ranges,
	}
}

// linearSample returns n records of y = 3 + 2a - b + .5 [c is x] + noise. The declared ranges are wide enough that
// few rows are shortened.
func linearSample(t testing.TB, n int, noise float64) sample {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -4,
			Upper:  4,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  -3,
			Upper:  5,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -6,
			Upper:  12,
		},
	}
	return sample{testrows.Linear(t, columns, n, noise), columns, testrows.Ranges(columns)}
}

func newSample(t testing.TB, columns []dataset.Column, data []dataset.ColumnData) sample {
	t.Helper()
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sample{tab, columns, testrows.Ranges(columns)}
}

// trainAdaSSP plans and runs the trainer. It also returns the session.
func (x sample) trainAdaSSP(
	t testing.TB, rounds int, epsilon float64, rel budget.Relation,
) (*method.Fit, *mechanism.Session) {
	t.Helper()
	return x.trainBy(t, BoostedAdaSSP{Rounds: rounds}, epsilon, rel)
}

func (x sample) trainBy(
	t testing.TB,
	trainer BoostedAdaSSP,
	epsilon float64,
	rel budget.Relation,
) (*method.Fit, *mechanism.Session) {
	t.Helper()
	node, err := trainer.Plan(x.runFacts(rel))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, epsilon, rel)
	fit, err := trainer.Fit(context.Background(), s, x.trainingData(rel))
	if err != nil {
		t.Fatal(err)
	}
	return fit, s.Sub(rootNode)
}

func (x sample) modelRows() regression.Rows {
	all := x.tab.View().Block(0, x.tab.Len())
	rows := regression.Rows{
		N:       x.tab.Len(),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	for j, c := range x.columns {
		if c.Kind == dataset.Numeric {
			rows.Numeric[c.Name] = all.Float(j, nil)
		} else {
			rows.Codes[c.Name] = regression.Codes{
				Values:     all.Codes(j, nil),
				Categories: c.Categories,
			}
		}
	}
	return rows
}

// TestRecoversCoefficients checks that with much data and a large budget both one round and several rounds recover
// the coefficients in original units. The effect of the norm limit is within the tolerance, and the noise is far
// below it.
func TestRecoversCoefficients(t *testing.T) {
	x := linearSample(t, 60000, .1)
	for _, rounds := range []int{0, 1, 10} {
		fit, _ := x.trainAdaSSP(t, rounds, 20, budget.AddRemove)
		m := fit.Model.(*regression.ClippedLinear)
		for i, want := range []float64{2, -1} {
			term := m.Terms[i]
			if math.Abs(term.Coefficient-want) > .08 ||
				!(term.StdError > 0 && term.StdError < .01) {
				t.Errorf(
					"%d rounds: coefficient of %s: %v +- %v, want %v",
					rounds,
					m.Columns[term.Column].Name,
					term.Coefficient,
					term.StdError,
					want,
				)
			}
		}
		d := m.Terms[2].Coefficient - m.Terms[3].Coefficient
		if math.Abs(d-.5) > .08 {
			t.Errorf(
				"%d rounds: category effect %v, want .5",
				rounds, d,
			)
		}
		if err := m.Validate(); err != nil {
			t.Error(err)
		}
		got, err := fit.Model.Predict(nil, x.modelRows())
		if err != nil {
			t.Fatal(err)
		}
		r2 := regression.R2(got, x.tab.Float(3))
		if r2 < .98 {
			t.Errorf("%d rounds: R² %v", rounds, r2)
		}
	}
}

// TestTargetMean checks that the target mean is accurate when the noise is small.
func TestTargetMean(t *testing.T) {
	x := linearSample(t, 20000, .1)
	sum := 0.0
	for _, y := range x.tab.Float(3) {
		sum += y
	}
	for _, rounds := range []int{1, 5} {
		fit, _ := x.trainAdaSSP(t, rounds, 20, budget.AddRemove)
		want := sum / 20000
		if math.Abs(fit.TargetMean-want) > .15 {
			t.Errorf(
				"%d rounds: target mean %v, want about %v",
				rounds, fit.TargetMean, want,
			)
		}
	}
}

// TestNoiseMatchesStandardErrors checks over repeated fits of one table that the spread of a coefficient matches its
// standard error, for one round and for several. With 200 fits the ratio of variances is in [.55, 1.7] with
// probability above 1-1e-6 (chi-square with 199 degrees of freedom), not counting the first-order error of the
// standard error.
func TestNoiseMatchesStandardErrors(t *testing.T) {
	x := linearSample(t, 10000, .5)
	for _, trainer := range []BoostedAdaSSP{
		{Rounds: 1},
		{Rounds: 4},
		{Rounds: 6, Shrinkage: .5},
	} {
		const fits = 200
		rounds := trainer.Rounds
		var sum, squares, claimed [3]float64
		for range fits {
			fit, _ := x.trainBy(t, trainer, 5, budget.AddRemove)
			m := fit.Model.(*regression.ClippedLinear)
			for i, v := range []struct{ value, se float64 }{
				{m.Terms[0].Coefficient, m.Terms[0].StdError},
				{m.Terms[1].Coefficient, m.Terms[1].StdError},
				{m.Intercept, m.InterceptStdError},
			} {
				sum[i] += v.value
				squares[i] += v.value * v.value
				claimed[i] += v.se * v.se / fits
			}
		}
		for i := range sum {
			variance := (squares[i] - sum[i]*sum[i]/fits) / (fits - 1)
			t.Logf(
				"%d rounds, number %d: observed variance over claimed %.2f",
				rounds,
				i,
				variance/claimed[i],
			)
			ratio := variance / claimed[i]
			if ratio < .5 || ratio > 1.8 {
				t.Errorf(
					"%d rounds, number %d: observed variance is %.2f times the claimed one",
					rounds,
					i,
					ratio,
				)
			}
		}
	}
}

// TestSettingsScaleTheNoise checks that the noise of a gradient is proportional to the clip, and that the share of
// the matrix divides mu^2.
func TestSettingsScaleTheNoise(t *testing.T) {
	x := linearSample(t, 10, 0)
	scales := func(trainer BoostedAdaSSP) (gram, gradients float64) {
		node, err := trainer.Plan(x.runFacts(budget.AddRemove))
		if err != nil {
			t.Fatal(err)
		}
		s := testrows.Session(t, node, 1, budget.AddRemove)
		_, err = trainer.Fit(context.Background(), s, x.trainingData(budget.AddRemove))
		if err != nil {
			t.Fatal(err)
		}
		return s.Sub(rootNode).Scale(gramLeaf), s.Sub(rootNode).Scale(gradientsLeaf)
	}
	gram, gradients := scales(BoostedAdaSSP{Rounds: 4})
	for _, c := range []struct {
		trainer         BoostedAdaSSP
		gram, gradients float64 // relative to those of the defaults
	}{
		{BoostedAdaSSP{Rounds: 4, Clip: .25}, 1, .25},
		{BoostedAdaSSP{Rounds: 4, Clip: 3}, 1, 3},
		{BoostedAdaSSP{Rounds: 4, Shrinkage: .5}, 1, 1},
		{
			BoostedAdaSSP{Rounds: 4, GramShare: .2},
			math.Sqrt(.5 / .2),
			math.Sqrt(.5 / .8),
		},
		{BoostedAdaSSP{Rounds: 9}, 1, 1.5},
	} {
		a, b := scales(c.trainer)
		if math.Abs(a/gram/c.gram-1) > 1e-4 ||
			math.Abs(b/gradients/c.gradients-1) > 1e-4 {
			t.Errorf(
				"%+v: noise %v and %v times that of the defaults, want %v and %v",
				c.trainer,
				a/gram,
				b/gradients,
				c.gram,
				c.gradients,
			)
		}
	}
}

// TestNoiseScalesMatchPlan checks the noise scales sigma_G = B^2/mu_G and sigma_b = B C sqrt(T)/mu_b with C = 1 and
// mu_G^2 = mu_b^2 = mu^2/2. Under substitution they are sqrt2 and 2 times as large.
func TestNoiseScalesMatchPlan(t *testing.T) {
	x := linearSample(t, 10, 0)
	part := budget.GaussianMu(1, 1e-6) / math.Sqrt2
	b2 := 2*scaling.NumericNorm + 1 + linear.Kappa*linear.Kappa // a, b and the block of c
	for _, rounds := range []int{1, 7} {
		_, s := x.trainAdaSSP(t, rounds, 1, budget.AddRemove)
		_, sub := x.trainAdaSSP(t, rounds, 1, budget.Substitute)
		for _, c := range []struct {
			leaf         string
			want, factor float64
		}{
			{gramLeaf, b2 / part, math.Sqrt2},
			{gradientsLeaf, math.Sqrt(b2*float64(rounds)) / part, 2},
		} {
			got := s.Scale(c.leaf)
			if math.Abs(got/c.want-1) > 1e-5 {
				t.Errorf(
					"%d rounds, %s: noise %v, want %v",
					rounds, c.leaf, got, c.want,
				)
			}
			ratio := sub.Scale(c.leaf) / s.Scale(c.leaf)
			if math.Abs(ratio-c.factor) > 1e-6 {
				t.Errorf(
					"%d rounds, %s: substitution multiplies the noise by %v, want %v",
					rounds,
					c.leaf,
					ratio,
					c.factor,
				)
			}
		}
	}
}

// TestRoundsAreReleasedOnce checks that every priced draw is spent exactly once.
func TestRoundsAreReleasedOnce(t *testing.T) {
	x := linearSample(t, 10, 0)
	_, s := x.trainAdaSSP(t, 6, 1, budget.AddRemove)
	for _, e := range s.Events() {
		if e.Released != e.Law.Draws {
			t.Errorf(
				"%s: %d of %d draws released",
				e.Path, e.Released, e.Law.Draws,
			)
		}
	}
	n := len(s.Events())
	if n != 2 {
		t.Errorf("%d leaves", n)
	}
}

// TestGradient compares the private input of a round with its definition: the sum of the clipped rows times the
// clamped residuals.
func TestGradient(t *testing.T) {
	x := linearSample(t, 500, .5)
	frame, err := linear.NewFrame(x.columns, x.ranges)
	if err != nil {
		t.Fatal(err)
	}
	node, err := BoostedAdaSSP{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, 1, budget.AddRemove)
	theta := []float64{3, -2, .5, .25, 1.5} // large enough for residuals beyond C
	pass, err := mechanism.Sum[*gradientPass](
		context.Background(),
		s,
		memory.NewRecords(x.tab.View()),
		inBlocks{gradientStatistic{x.columns, x.ranges, theta, defaultClip}, 64},
	)
	if err != nil {
		t.Fatal(err)
	}
	rows := frame.NewRows()
	rows.Encode(x.tab.View().Block(0, x.tab.Len()))
	s.NewGram(frame.Slots(), frame.NormLimit()).Add(rows.X) // clips
	by := s.NewCross(frame.Slots(), frame.NormLimit(), defaultClip)
	clamped := 0
	for i, y := range rows.Y {
		g := y
		row := make([][]int16, len(theta))
		for k, w := range theta {
			row[k] = []int16{rows.X[k][i]}
			g -= float64(w / mechanism.FixedOne * float64(rows.X[k][i]))
		}
		if math.Abs(g) > defaultClip {
			clamped++
		}
		by.Add(row, []float64{min(max(g, -defaultClip), defaultClip)})
	}
	if !reflect.DeepEqual(pass.cross.Bound(), by.Bound()) {
		t.Error("the sums differ from the definition")
	}
	if clamped < 20 || clamped > 480 {
		t.Errorf(
			"%d of 500 residuals were clamped; the test means to see both kinds",
			clamped,
		)
	}
}

// inBlocks is a statistic with blocks of a fixed number of records.
type inBlocks struct {
	mechanism.Statistic
	rows int
}

func (b inBlocks) BlockRows() int {
	return b.rows
}

// TestRowOrder checks that permuting the rows and splitting them into other blocks leaves the private inputs of the
// releases equal, bit for bit.
func TestRowOrder(t *testing.T) {
	x := linearSample(t, 3000, .5)
	data := make([]dataset.ColumnData, len(x.columns))
	for k := range x.tab.Len() {
		i := (k*2711 + 13) % x.tab.Len()
		for j, c := range x.columns {
			if c.Kind == dataset.Category {
				data[j].Codes = append(
					data[j].Codes,
					x.tab.Codes(j)[i],
				)
			} else {
				data[j].Floats = append(
					data[j].Floats,
					x.tab.Float(j)[i],
				)
			}
		}
	}
	shuffled := newSample(t, x.columns, data)
	node, err := BoostedAdaSSP{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, 1, budget.AddRemove)
	sums := func(v dataset.View, block int) any {
		c, err := mechanism.Sum[*gradientPass](
			context.Background(),
			s,
			memory.NewRecords(v),
			inBlocks{
				gradientStatistic{
					x.columns,
					x.ranges,
					[]float64{.7, -.3, 1.0 / 3, .1, .9},
					defaultClip,
				},
				block,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		return c.cross.Bound()
	}
	if !reflect.DeepEqual(sums(x.tab.View(), 1024), sums(shuffled.tab.View(), 37)) {
		t.Error("a private input depends on the order of the rows or on the blocks")
	}
}

// TestDegenerateTables covers tables without rows, with one row, missing and infinite cells, undeclared categories,
// constants, and more rounds than rows.
func TestDegenerateTables(t *testing.T) {
	for _, n := range []int{0, 1, 2, 40} {
		plain := linearSample(t, n, 0)
		data := make([]dataset.ColumnData, 4)
		for i := range n {
			strange := []float64{
				math.NaN(),
				math.Inf(1), -1e300, 7,
			}[i%4]
			data[0].Floats = append(data[0].Floats, strange)
			data[1].Floats = append(data[1].Floats, math.NaN())
			data[2].Codes = append(data[2].Codes, 2)
			data[3].Floats = append(data[3].Floats, strange)
		}
		for name, x := range map[string]sample{
			"plain":   plain,
			"strange": newSample(t, plain.columns, data),
		} {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				for _, rounds := range []int{1, 20} {
					fit, _ := x.trainAdaSSP(t, rounds, 1, rel)
					err := fit.Model.(*regression.ClippedLinear).Validate()
					if err != nil {
						t.Errorf(
							"%d %s rows: %v",
							n, name, err,
						)
					}
					if !(fit.TargetMean >= fit.Linear().Lower &&
						fit.TargetMean <= fit.Linear().Upper) {
						t.Errorf(
							"%d %s rows: target mean %v outside the range",
							n,
							name,
							fit.TargetMean,
						)
					}
				}
			}
		}
	}
}

// TestWrongLeaf checks that a session that was not priced for the trainer is refused, as is a second run.
func TestWrongLeaf(t *testing.T) {
	x := linearSample(t, 10, 0)
	refused := func(s *mechanism.Session, want error) {
		t.Helper()
		_, err := (BoostedAdaSSP{Rounds: 3}).Fit(
			context.Background(),
			s,
			x.trainingData(budget.AddRemove),
		)
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	gram := budget.GaussianLeaf(gramLeaf, 1, 1)
	refused(
		testrows.Session(t, budget.Sequence("other", gram), 1, budget.AddRemove),
		mechanism.ErrUnknownLeaf,
	)
	refused(
		testrows.Session(t, budget.Sequence(rootNode, gram), 1, budget.AddRemove),
		mechanism.ErrUnknownLeaf,
	)
	refused(
		testrows.Session(
			t,
			budget.Sequence(rootNode, gram, budget.LaplaceLeaf(gradientsLeaf, 1, 3)),
			1,
			budget.AddRemove,
		),
		mechanism.ErrLaw,
	)
	once := testrows.Session(
		t,
		budget.Sequence(rootNode, gram, budget.GaussianLeaf(gradientsLeaf, 1, 1)),
		1,
		budget.AddRemove,
	)
	_, err := (BoostedAdaSSP{Rounds: 3}).Fit(
		context.Background(),
		once,
		x.trainingData(budget.AddRemove),
	)
	if err != nil {
		t.Fatal(err)
	}
	refused(once, mechanism.ErrSpent)
}

func TestPlanRefuses(t *testing.T) {
	columns := []dataset.Column{{Name: "a"}, {Name: "y"}}
	for _, rounds := range []int{-1, MaxRounds + 1} {
		_, err := (BoostedAdaSSP{Rounds: rounds}).Plan(
			method.Facts{Columns: columns})
		if !errors.Is(err, ErrRounds) {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	}
	for _, x := range []BoostedAdaSSP{
		{Clip: .009},
		{Clip: 4.1},
		{Clip: -1},
		{Clip: math.NaN()},
		{Shrinkage: .009},
		{Shrinkage: 1.1},
		{GramShare: .009},
		{GramShare: .991},
		{GramShare: math.Inf(1)},
	} {
		_, err := x.Plan(method.Facts{Columns: columns})
		if !errors.Is(err, errSetting) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	_, err := (BoostedAdaSSP{}).Plan(
		method.Facts{Columns: make([]dataset.Column, linear.MaxSlots+1)})
	if !errors.Is(err, linear.ErrTooWide) {
		t.Errorf("too wide: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	x := linearSample(t, 10, 0)
	trainer := BoostedAdaSSP{}
	node, err := trainer.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = trainer.Fit(
		ctx,
		testrows.Session(t, node, 1, budget.AddRemove),
		x.trainingData(budget.AddRemove),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
