package adassp

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// faithfulSession prices AdaSSP alone and opens a session for it.
func faithfulSession(
	t testing.TB,
	epsilon float64,
	rel budget.Relation,
	columns []dataset.Column,
) *mechanism.Session {
	t.Helper()
	return sessionFor(t, AdaSSP{}, columns, epsilon, rel)
}

func fitFaithful(
	t testing.TB,
	epsilon float64,
	rel budget.Relation,
	tab *dataset.Table,
	columns []dataset.Column,
	ranges []scaling.Range,
) (*method.Fit, *mechanism.Session) {
	t.Helper()
	s := faithfulSession(t, epsilon, rel, columns)
	out, err := AdaSSP{}.Fit(
		context.Background(), s,
		dataOf(columns, tab.View(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	return out, s
}

// TestFaithfulRecoversCoefficients checks that with much data and a large budget the penalty vanishes and the fit
// recovers the coefficients in original units. The category is left out and the ranges are wide, so that no row
// exceeds the norm limit and clipping has no effect. The tolerance is more than 6 standard errors, which the test
// also checks.
func TestFaithfulRecoversCoefficients(t *testing.T) {
	tab, columns, ranges := linearTable(t, 60000, .1)
	keep := []int{0, 1, 3}
	var cols []dataset.Column
	var rs []scaling.Range
	for _, j := range keep {
		cols = append(cols, columns[j])
		rs = append(rs, ranges[j])
	}
	cols[0].Lower = -4
	cols[0].Upper = 4
	rs[0] = scaling.Range{
		Lower:    -4,
		Upper:    4,
		Declared: true,
	}
	cols[1].Lower = -3
	cols[1].Upper = 5
	rs[1] = scaling.Range{
		Lower:    -3,
		Upper:    5,
		Declared: true,
	}
	s := faithfulSession(t, 20, budget.AddRemove, cols)
	fit, err := AdaSSP{}.Fit(
		context.Background(),
		s,
		dataOf(cols, tab.View().Columns(keep), rs),
	)
	if err != nil {
		t.Fatal(err)
	}
	m := fit.Model.(*regression.ClippedLinear)
	for i, want := range []float64{2, -1} {
		term := m.Terms[i]
		if math.Abs(term.Coefficient-want) > .05 ||
			!(term.StdError > 0 && term.StdError < .008) {
			t.Errorf(
				"coefficient of %s: %v +- %v, want %v",
				m.Columns[term.Column].Name,
				term.Coefficient,
				term.StdError,
				want,
			)
		}
	}
	if math.Abs(m.Intercept-3.25) > .06 ||
		!(m.InterceptStdError > 0 && m.InterceptStdError < .01) { // .25 is half the effect of c
		t.Errorf(
			"intercept %v +- %v, want about 3.25",
			m.Intercept, m.InterceptStdError,
		)
	}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	sum := 0.0
	for _, y := range tab.Float(3) {
		sum += y
	}
	want := sum / 60000
	if math.Abs(fit.TargetMean-want) > .1 {
		t.Errorf(
			"target mean %v, want about %v",
			fit.TargetMean, want,
		)
	}
}

// TestFaithfulPredicts checks with categories and clipping that predictions explain most of the variance that can be
// explained.
func TestFaithfulPredicts(t *testing.T) {
	tab, columns, ranges := linearTable(t, 60000, .1)
	fit, _ := fitFaithful(t, 20, budget.AddRemove, tab, columns, ranges)
	all := tab.View().Block(0, tab.Len())
	got, err := fit.Model.Predict(nil, regression.Rows{
		N: tab.Len(),
		Numeric: map[string][]float64{
			"a": all.Float(0, nil),
			"b": all.Float(1, nil),
		},
		Codes: map[string]regression.Codes{"c": {
			Values:     all.Codes(2, nil),
			Categories: columns[2].Categories,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r2 := regression.R2(got, tab.Float(3))
	if r2 < .97 {
		t.Errorf("R² %v", r2)
	}
}

func TestFaithfulStandardErrors(t *testing.T) {
	tab, columns, ranges := linearTable(t, 20000, .5)
	checkStandardErrors(t, func() *regression.Linear {
		f, _ := fitFaithful(t, 4, budget.AddRemove, tab, columns, ranges)
		return &f.Model.(*regression.ClippedLinear).Linear
	})
}

// TestFaithfulSubstitutionNoise checks that under substitution the noise of the matrix grows by sqrt2, that of the
// moments by 2, and that of the eigenvalue not at all.
func TestFaithfulSubstitutionNoise(t *testing.T) {
	tab, columns, ranges := linearTable(t, 10, 0)
	_, a := fitFaithful(t, 1, budget.AddRemove, tab, columns, ranges)
	_, b := fitFaithful(t, 1, budget.Substitute, tab, columns, ranges)
	for leaf, want := range map[string]float64{
		eigenvalueLeaf: 1,
		matrixLeaf:     math.Sqrt2,
		momentsLeaf:    2,
	} {
		ratio := b.Sub(adasspNode).Scale(leaf) /
			a.Sub(adasspNode).Scale(leaf)
		if math.Abs(ratio-want) > 1e-6 {
			t.Errorf(
				"%s: ratio %v, want %v",
				leaf, ratio, want,
			)
		}
	}
}

// TestFaithfulScales checks the scales s1 = B^2/mu_1, s2 = B^2/mu_2 and s3 = B C/mu_3 with C = 1 and mu^2 split .1 :
// .45 : .45, and that the whole is one Gaussian with parameter mu.
func TestFaithfulScales(t *testing.T) {
	tab, columns, ranges := linearTable(t, 10, 0)
	_, s := fitFaithful(t, 1, budget.AddRemove, tab, columns, ranges)
	s = s.Sub(adasspNode)
	mu := budget.GaussianMu(1, 1e-6)
	b2 := 2*scaling.NumericNorm + 1 + linear.Kappa*linear.Kappa // a, b and the block of c
	for _, c := range []struct {
		leaf string
		want float64
		tol  float64
	}{
		{eigenvalueLeaf, b2 / (mu * math.Sqrt(.1)), 1e-3}, // the certified width counts
		{matrixLeaf, b2 / (mu * math.Sqrt(.45)), 1e-5},
		{
			momentsLeaf,
			math.Sqrt(b2) / (mu * math.Sqrt(.45)),
			1e-5,
		},
	} {
		got := s.Scale(c.leaf)
		if got < c.want*(1-1e-6) ||
			got > c.want*(1+c.tol) {
			t.Errorf(
				"%s: noise %v, want %v",
				c.leaf, got, c.want,
			)
		}
	}
}

// TestRidge checks the penalty of step 2 of the specification in its three branches.
func TestRidge(t *testing.T) {
	at := func(smallest float64) noisyMoments {
		return noisyMoments{
			smallest: smallest,
			matrix:   linear.Packed{P: 3},
			s1:       2,
			s2:       1,
		}
	}
	eta := math.Sqrt(6 * math.Log(18/.05)) // d = 3, beta = .05
	margin := 1.6448536269514722 * 2
	for _, c := range []struct {
		smallest, want float64
		noisy          bool
	}{
		{-50, eta, false},
		{margin - .01, eta, false},
		{margin + 1, eta - 1, true},
		{margin + eta + .01, 0, false},
		{1e9, 0, false},
	} {
		got, noisy := at(c.smallest).ridge()
		if math.Abs(got-c.want) > 1e-9 || noisy != c.noisy {
			t.Errorf(
				"smallest %v: penalty %v (%v), want %v (%v)",
				c.smallest,
				got,
				noisy,
				c.want,
				c.noisy,
			)
		}
	}
}

// TestFaithfulSolveExact checks that the solution without noise is least squares.
func TestFaithfulSolveExact(t *testing.T) {
	x := mat.NewDense(
		5,
		3,
		[]float64{
			1, 0, .5, 0, 1, .5, 1,
			1, .5, -1, .5, .5,
			.3, -.7, .5,
		},
	)
	y := mat.NewVecDense(
		5,
		[]float64{2, -1, 1.5, -2, 1},
	)
	r := noisyMoments{
		matrix:  linear.Packed{P: 3, Values: make([]float64, 6)},
		moments: make([]float64, 3),
		s2:      1e-30,
	}
	for n := range 5 {
		for i, k := 0, 0; i < 3; i++ {
			r.moments[i] += x.At(n, i) * y.AtVec(n)
			for j := i; j < 3; j, k = j+1, k+1 {
				r.matrix.Values[k] += x.At(n, i) * x.At(n, j)
			}
		}
	}
	var want mat.VecDense
	if err := want.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	for i, v := range r.solve().Theta {
		if math.Abs(v-want.AtVec(i)) > 1e-9 {
			t.Errorf(
				"theta[%d] = %v, want %v",
				i, v, want.AtVec(i),
			)
		}
	}
}

// TestFaithfulSolveIsTotal checks that fits are finite even for matrices and moments that only noise could produce.
func TestFaithfulSolveIsTotal(t *testing.T) {
	for name, values := range map[string][]float64{
		"zero":     make([]float64, 6),
		"negative": {-5, 0, 0, -5, 0, -5},
		"huge":     {1e10, 1e10, 1e10, 1e10, 1e10, 1e10},
		"crossed":  {0, 9, 9, 0, 9, 0},
	} {
		for _, smallest := range []float64{-1e10, 0, 1e10} {
			fit := noisyMoments{
				smallest,
				linear.Packed{P: 3, Values: values},
				[]float64{3e10, -1, 0},
				1,
				1,
				1,
			}.solve()
			for i, v := range fit.Theta {
				if math.IsNaN(v) ||
					math.IsInf(v, 0) ||
					!(fit.Cov.At(i, i) >= 0) ||
					math.IsInf(fit.Cov.At(i, i), 0) {
					t.Errorf(
						"%s: theta %v, variance %v",
						name, fit.Theta,
						fit.Cov.At(i, i),
					)
				}
			}
		}
	}
}

// TestFaithfulDegenerateTables covers tables without rows, with one row, missing and infinite cells, undeclared
// categories, and constants.
func TestFaithfulDegenerateTables(t *testing.T) {
	for _, n := range []int{0, 1, 2, 40} {
		tab, columns, ranges := linearTable(t, n, 0)
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
		odd, err := dataset.NewTable(tab.Schema(), data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, tab := range map[string]*dataset.Table{"plain": tab, "strange": odd} {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				f, _ := fitFaithful(t, 1, rel, tab, columns, ranges)
				err := f.Model.(*regression.ClippedLinear).Validate()
				if err != nil {
					t.Errorf(
						"%d %s rows: %v",
						n, name, err,
					)
				}
				if !(f.TargetMean >= f.Linear().Lower &&
					f.TargetMean <= f.Linear().Upper) {
					t.Errorf(
						"%d %s rows: target mean %v outside the range",
						n,
						name,
						f.TargetMean,
					)
				}
			}
		}
	}
}

// TestFaithfulWithoutFeatures checks that without features the model is constant.
func TestFaithfulWithoutFeatures(t *testing.T) {
	tab, columns, ranges := linearTable(t, 5000, 0)
	s := faithfulSession(t, 8, budget.AddRemove, columns[3:])
	fit, err := AdaSSP{}.Fit(
		context.Background(),
		s,
		dataOf(
			columns[3:],
			tab.View().Columns([]int{3}),
			ranges[3:],
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	m := fit.Model.(*regression.ClippedLinear)
	if len(m.Terms) != 0 ||
		m.Validate() != nil ||
		math.Abs(m.Intercept-fit.TargetMean) > .5 {
		t.Errorf("%+v", m)
	}
}

// TestFaithfulRowOrder checks that permuting the rows leaves the private inputs of the three releases equal, bit for
// bit.
func TestFaithfulRowOrder(t *testing.T) {
	tab, columns, ranges := linearTable(t, 5000, .5)
	data := make([]dataset.ColumnData, len(columns))
	for k := range tab.Len() {
		i := (k*2711 + 13) % tab.Len()
		for j, c := range columns {
			if c.Kind == dataset.Category {
				data[j].Codes = append(data[j].Codes, tab.Codes(j)[i])
			} else {
				data[j].Floats = append(data[j].Floats, tab.Float(j)[i])
			}
		}
	}
	other, err := dataset.NewTable(tab.Schema(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := faithfulSession(t, 1, budget.AddRemove, columns)
	sums := func(v dataset.View, block int) *momentsPass {
		acc, err := mechanism.Sum[*momentsPass](
			context.Background(),
			s,
			memory.NewRecords(v),
			inBlocks{momentsStatistic{columns, ranges}, block},
		)
		if err != nil {
			t.Fatal(err)
		}
		return acc
	}
	a := sums(tab.View(), 1024)
	b := sums(other.View(), 37)
	if !reflect.DeepEqual(a.gram.Bound(), b.gram.Bound()) ||
		!reflect.DeepEqual(a.cross.Bound(), b.cross.Bound()) ||
		!reflect.DeepEqual(a.gram.SmallestEigenvalue(), b.gram.SmallestEigenvalue()) {
		t.Error("a private input depends on the order of the rows or on the blocks")
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

// TestFaithfulWrongLeaf checks that a session that was not priced for the trainer is refused, as is a second run in
// one that was.
func TestFaithfulWrongLeaf(t *testing.T) {
	tab, columns, ranges := linearTable(t, 10, 0)
	refused := func(s *mechanism.Session, want error) {
		t.Helper()
		_, err := (AdaSSP{}).Fit(
			context.Background(),
			s,
			dataOf(columns, tab.View(), ranges),
		)
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	for want, leaf := range map[error]budget.Node{
		mechanism.ErrUnknownLeaf: budget.GaussianLeaf("other", 1, 1),
		mechanism.ErrLaw:         budget.LaplaceLeaf(eigenvalueLeaf, 1, 1),
	} {
		priced, err := budget.Calibrate(
			budget.Sequence("run", budget.Sequence(adasspNode, leaf)),
			budget.Target{Epsilon: 1, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		refused(s, want)
	}
	_, s := fitFaithful(t, 1, budget.AddRemove, tab, columns, ranges)
	refused(s, mechanism.ErrSpent)
}

func TestFaithfulCancelled(t *testing.T) {
	tab, columns, ranges := linearTable(t, 10, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := (AdaSSP{}).Fit(
		ctx,
		faithfulSession(t, 1, budget.AddRemove, columns),
		dataOf(columns, tab.View(), ranges),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFaithfulTooWide(t *testing.T) {
	wide := make([]dataset.Column, linear.MaxSlots+1)
	_, err := (AdaSSP{}).Plan(method.Facts{Columns: wide})
	if !errors.Is(err, linear.ErrTooWide) {
		t.Errorf("got %v", err)
	}
	if _, err := (AdaSSP{}).Plan(method.Facts{Columns: wide[1:]}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// TestPredictionClipsAsTraining checks that a prediction equals theta times the fixed-point row that the accumulators
// clipped, up to their grid.
func TestPredictionClipsAsTraining(t *testing.T) {
	tab, columns, ranges := linearTable(t, 300, .1)
	frame, err := linear.NewFrame(columns, ranges)
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{.4, -.2, .1, -.3, .5}
	second := mat.NewSymDense(5, []float64{
		100, 0, 0, 0, 0,
		0, 100, 0, 0, 0,
		0, 0, 120, 0, 60,
		0, 0, 0, 180, 90,
		0, 0, 60, 90, 75,
	})
	fit := frame.Fit(
		theta, mat.NewSymDense(5, nil), 0,
		linear.NewDistribution(second, 1),
	)

	rows := frame.NewLimitedRows(mechanism.NewMaker(budget.AddRemove))
	all := tab.View().Block(0, tab.Len())
	rows.Encode(all)
	before := frame.NewRows()
	before.Encode(all)
	faithfulSession(t, 1, budget.AddRemove, columns).NewGram(frame.Slots(), frame.LimitedNorm()).Add(rows.X)
	got, err := fit.Model.Predict(nil, regression.Rows{
		N: tab.Len(),
		Numeric: map[string][]float64{
			"a": all.Float(0, nil),
			"b": all.Float(1, nil),
		},
		Codes: map[string]regression.Codes{"c": {
			Values:     all.Codes(2, nil),
			Categories: columns[2].Categories,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	y := frame.Target()
	shortened := 0
	for i, v := range got {
		want := 0.0
		for k, w := range theta {
			want += w * float64(rows.X[k][i]) / mechanism.FixedOne
		}
		if rows.X[0][i] != before.X[0][i] {
			shortened++
		}
		if rows.X[4][i] != before.X[4][i] {
			t.Fatalf("row %d: the constant was shortened", i)
		}
		// An entry is truncated twice and the factor once, 2^-14 and 2^-15.
		want = y.Center() + y.Half()*want
		if math.Abs(v-want) > y.Half()*1.5*3*0x1p-14 {
			t.Fatalf(
				"row %d: %v, training saw %v",
				i, v, want,
			)
		}
	}
	if shortened < 20 || shortened > 280 {
		t.Errorf(
			"%d of 300 rows were shortened; the test means to see both kinds",
			shortened,
		)
	}
}

// TestShares checks that the shares given by keys reach the plan, and that another split changes the fit.
func TestShares(t *testing.T) {
	tab, columns, ranges := linearTable(t, 2000, .1)
	third := 1. / 3
	for name, c := range map[string]struct {
		values method.Values
		want   [3]float64
	}{
		"defaults": {nil, [3]float64{eigenvalueShare, matrixShare, momentsShare}},
		"one": {
			method.Values{gramKey: .64},
			[3]float64{
				.36 * .1 / .55, .64,
				.36 * .45 / .55,
			},
		},
		"two": {
			method.Values{gramKey: .3, eigenvalueKey: .2},
			[3]float64{.2, .3, .5},
		},
		"thirds": {
			method.Values{
				gramKey:       third,
				crossKey:      third,
				eigenvalueKey: third,
			},
			[3]float64{third, third, third},
		},
	} {
		trainer := AdaSSP{}.Method().New(c.values)
		s := sessionFor(t, trainer, columns, 2, budget.AddRemove)
		_, err := trainer.Fit(
			context.Background(),
			s,
			dataOf(columns, tab.View(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.
		var got [3]float64
		for i, leaf := range []string{eigenvalueLeaf, matrixLeaf, momentsLeaf} {
			mu := s.Mu(adasspNode + "/" + leaf)
			got[i] = mu * mu
			total += got[i]
		}
		for i, want := range c.want {
			if math.Abs(got[i]/total-want) > 1e-6 {
				t.Errorf(
					"%s: shares %v of %v, want %v",
					name, got, total, c.want,
				)
			}
		}
		key, message, _ := checkShares(c.values)
		if key != "" {
			t.Errorf(
				"%s: %s %s",
				name, key, message,
			)
		}
	}
	for name, v := range map[string]method.Values{
		"sum": {
			gramKey:       .5,
			crossKey:      .4,
			eigenvalueKey: .2,
		},
		"nothing left": {gramKey: .5, crossKey: .5},
		"range":        {gramKey: 1.5},
		"NaN":          {crossKey: math.NaN()},
	} {
		_, err := (AdaSSP{}).Method().New(v).Plan(method.Facts{Columns: columns})
		if !errors.Is(
			err, errShares) {
			t.Errorf("%s: %v", name, err)
		}
		key, message, hint := checkShares(v)
		if !v.Has(key) || message == "" || hint == "" {
			t.Errorf(
				"%s: %q %q (%q)",
				name, key, message, hint,
			)
		}
	}
}
