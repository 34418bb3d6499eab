package linear

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// levelsOf returns the distribution of a category column with the given counts by level, a count of records
// outside its levels, and noise sigma.
func levelsOf(sigma float64, none float64, counts ...float64) Distribution {
	k := len(counts)
	second := mat.NewSymDense(k+1, nil)
	total := none
	for v, n := range counts {
		second.SetSym(v, v, n)
		second.SetSym(v, k, Kappa*n)
		total += n
	}
	second.SetSym(k, k, Kappa*Kappa*total)
	return NewDistribution(second, sigma)
}

// covarianceOf returns some covariance matrix of k numbers.
func covarianceOf(k int) *mat.SymDense {
	p := testrows.Points(3)
	a := mat.NewDense(k, k, nil)
	a.Apply(func(_, _ int, _ float64) float64 {
		return p.Next() / 10
	}, a)
	var cov mat.SymDense
	cov.SymOuterK(1, a)
	return &cov
}

// TestEffectsAreCentred checks that the effects have mean 0 over the released counts, and that their standard errors
// are those of the difference from the mean, computed here from the whole matrix.
func TestEffectsAreCentred(t *testing.T) {
	fit := Solution{
		[]float64{.3, -.2, .5, .1},
		covarianceOf(4),
	}
	e := effectsOf(fit, levelsOf(0, 0, 10, 60, 30), 0, 3, false)
	sum := 0.
	for v, n := range []float64{10, 60, 30} {
		sum += n * e.levels[v].value
	}
	if math.Abs(sum) > 1e-12 || !e.listed {
		t.Errorf("weighted sum %v", sum)
	}
	difference := mat.NewDense(
		3,
		4,
		[]float64{
			.9, -.6, -.3, 0,
			-.1, .4, -.3, 0,
			-.1, -.6, .7, 0,
		},
	)
	var half, want mat.Dense
	half.Mul(difference, fit.Cov)
	want.Mul(&half, difference.T())
	for v, x := range e.levels {
		if math.Abs(x.deviation-math.Sqrt(want.At(v, v))) > 1e-12 {
			t.Errorf(
				"level %d: %v, want %v",
				v, x.deviation,
				math.Sqrt(want.At(v, v)),
			)
		}
	}
}

// TestCountsOfLevels checks that a count is the average of its two releases, and that its noise is that of the
// average.
func TestCountsOfLevels(t *testing.T) {
	d := levelsOf(3, 0, 40, 60)
	n := d.countOfEntry(0)
	if math.Abs(n.value-40) > 1e-12 ||
		math.Abs(n.noise-3*math.Sqrt(2./3)) > 1e-12 {
		t.Errorf("%+v", n)
	}
	if n := d.numRecords(); n != (noisyNumber{100, 12}) {
		t.Errorf("%+v", n)
	}
	n = d.countUnlisted(0, 2)
	if math.Abs(n.value) > 1e-12 ||
		math.Abs(n.noise-math.Sqrt(144+2*6)) > 1e-12 {
		t.Errorf("%+v", n)
	}
	if n := levelsOf(0, 7, 40, 60).countUnlisted(0, 2); n != (noisyNumber{7, 0}) {
		t.Errorf("%+v", n)
	}
}

// TestUnseenLevels checks that a level whose count is indistinguishable from 0 takes the effect of the unlisted
// values, or no effect, and that its standard error covers any effect.
func TestUnseenLevels(t *testing.T) {
	fit := Solution{
		[]float64{.3, -.9, .5, .1},
		covarianceOf(4),
	}
	for _, tt := range []struct {
		name  string
		other bool
		d     Distribution
		want  float64 // of level 1
	}{
		{"none has an entry", false, levelsOf(4, 0, 500, 1, 500), 0},
		{"other", true, levelsOf(4, 0, 500, 1, 500), .1},
		{"other is unseen too", true, levelsOf(4, 0, 500, 1, 2), 0},
		{"nobody is seen", true, levelsOf(4, 0, 2, 1, 2), 0},
		{"exact", false, levelsOf(0, 0, 500, 0, 500), 0},
		{"many unlisted", false, levelsOf(4, 1000, 500, 1, 500), -.2},
	} {
		e := effectsOf(fit, tt.d, 0, 3, tt.other)
		x := e.levels[1]
		if math.Abs(x.value-tt.want) > 1e-3 ||
			!(x.deviation >= math.Abs(x.value)) ||
			x.deviation == 0 {
			t.Errorf(
				"%s: %+v, want %v",
				tt.name, x, tt.want,
			)
		}
		if e.listed == (tt.name == "many unlisted") ||
			e.share[1] != 0 && tt.name != "nobody is seen" {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
}

// TestCentringKeepsPredictions checks that the model predicts theta times the row, for the listed levels and, if
// there are enough records with them, for the unlisted ones.
func TestCentringKeepsPredictions(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -2,
			Upper:  4,
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
			Upper:  9,
		},
	}
	enc := scaling.NewEncoder(
		columns,
		[]scaling.Range{
			{Lower: -2, Upper: 4},
			{},
			{Lower: -5, Upper: 9},
		},
	)
	fit := Solution{
		[]float64{.2, .3, -.1, .4},
		covarianceOf(4),
	}
	for _, none := range []float64{0, 300} {
		second := mat.NewSymDense(4, []float64{
			90, 0, 0, 0,
			0, 400, 0, 200,
			0, 0, 100, 50,
			0, 200, 50, (500 + none) / 4,
		})
		m := Model(columns, enc, fit, NewDistribution(second, 1), true)
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		terms := 3 + int(none)/300
		if len(m.Terms) != terms {
			t.Errorf(
				"%v unlisted: %d terms",
				none, len(m.Terms),
			)
		}
		clipped := Model(columns, enc, fit, NewDistribution(second, 1), false)
		for level, theta := range []float64{.3, -.1, 0} {
			want := 2 + 7*(theta+.2+.5*.4) // at a = 4
			if level == 2 && none == 0 {
				want = 2 + 7*(.8*.3-.2*.1+.2+.5*.4) // the mean record
			}
			value := func(intercept float64) float64 {
				x := intercept + 4*m.Terms[0].Coefficient
				return x
			}
			got := value(m.Intercept)
			other := value(clipped.Intercept)
			for _, term := range m.Terms[1:] {
				if term.Other && level == 2 ||
					level < 2 && term.Category == columns[1].Categories[level] {
					got += term.Coefficient
				}
			}
			for _, term := range clipped.Terms[1:] {
				if level < 2 && term.Category == columns[1].Categories[level] {
					other += term.Coefficient
				}
			}
			if math.Abs(got-want) > 1e-12 ||
				math.Abs(other-want) > 1e-12 {
				t.Errorf(
					"%v unlisted, level %d: %v and, of shortened rows, %v, want %v",
					none,
					level,
					got,
					other,
					want,
				)
			}
		}
	}
}
