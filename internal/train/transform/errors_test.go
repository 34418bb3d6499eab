package transform

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// TestErrorsSensitivity searches tables of up to two records for the largest distance of neighbouring sums. What is predicted is
// the record's other cell.
func TestErrorsSensitivity(t *testing.T) {
	type record struct{ a, z float64 }
	var records []record
	for _, a := range []float64{
		-4, -2, 0, .5,
		4, math.NaN(),
	} {
		for _, z := range []float64{
			math.NaN(), -9, -4,
			-1, -.5, 0, .3,
			1, 4, 9,
		} {
			records = append(records, record{a, z})
		}
	}
	model := &regression.Linear{
		Target: "y",
		Lower:  -4,
		Upper:  4,
		Columns: []regression.Column{{
			Name:  "a",
			Lower: -4,
			Upper: 4,
		}},
		Terms: []regression.Term{{Coefficient: 1}},
	}
	x := errorStatistic{
		Model: method.NewPredictor(model, []dataset.Column{{Name: "a"}}),
		Half:  4,
		Limit: 3,
	}
	sums := func(list ...record) []float64 {
		var data [2]dataset.ColumnData
		for _, r := range list {
			data[0].Floats = append(data[0].Floats, r.a)
			data[1].Floats = append(data[1].Floats, r.z)
		}
		table, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{{Name: "a"}, {Name: "y"}}},
			data[:],
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := memory.New(table.View()).Sum(
			t.Context(),
			mechanism.Pass{
				Part:      mechanism.Part{Columns: []int{0, 1}},
				Statistic: x,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(cells))
		for i, c := range cells {
			out[i] = float64(c) / (1 << 28)
		}
		return out
	}
	far := func(a, b []float64) float64 {
		square := 0.
		for i := range a {
			square += (a[i] - b[i]) * (a[i] - b[i])
		}
		return math.Sqrt(square)
	}
	added := 0.
	replaced := 0.
	first := sums(records[33])
	for _, r := range records {
		one := sums(records[33], r)
		added = max(added, far(first, one))
		for _, other := range records {
			replaced = max(replaced, far(one, sums(records[33], other)))
		}
	}
	for relation, searched := range map[budget.Relation]float64{
		budget.AddRemove:  added,
		budget.Substitute: replaced,
	} {
		priced, err := budget.Calibrate(
			budget.Sequence("r",
				budget.GaussianLeaf("l", 1, 1).WithStatistic(mechanism.StatSums),
			),
			budget.Target{
				Epsilon:  1,
				Delta:    1e-6,
				Relation: relation,
			})
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mechanism.Gaussian(
			s,
			"l",
			x.New(s.Maker).(*errorPass).sums.Bound(),
		)
		if err != nil {
			t.Fatal(err)
		}
		// A prediction at an end of the range has errors of one sign, so under substitution the bound is not attained.
		least := map[budget.Relation]float64{
			budget.AddRemove:  .9999,
			budget.Substitute: .65,
		}[relation]
		declared := s.Events()[0].Sensitivity
		if searched > declared || searched < least*declared {
			t.Errorf(
				"%v: %v was found, %v is declared",
				relation, searched, declared,
			)
		}
	}
}

// TestErrorLine checks that the line is the least-squares fit without noise, that strong noise leaves the predictions
// unchanged, and that any released values are handled.
func TestErrorLine(t *testing.T) {
	exact := func(n, intercept, slope, square float64) []float64 { // u has the mean .2 and the mean square .3
		return []float64{
			.5 * n,
			.5 * .2 * n,
			.5 * .3 * n,
			.5 * n * (intercept + .2*slope),
			n * (.2*intercept + .3*slope),
			n * (square + intercept*(intercept+.2*slope) + slope*(.2*intercept+.3*slope)),
		}
	}
	for _, x := range []struct {
		a     []float64
		sigma float64
		want  [3]float64
	}{
		{
			exact(1000, .1, -.3, .05),
			0,
			[3]float64{.1, -.3, .05},
		},
		{exact(1000, .1, -.3, .05), 1e9, [3]float64{}},
		{
			exact(-5, .1, -.3, .05),
			1, [3]float64{},
		},
		{
			[]float64{500, 0, -700, 0, 0, -3},
			5, [3]float64{},
		},
		{
			[]float64{500, 0, 100, 0, 0, 1e9},
			1e-6,
			[3]float64{0, 0, 1},
		},
	} {
		a, b, v := errorLine(x.a, x.sigma)
		for i, got := range []float64{a, b, v} {
			if !(math.Abs(got-x.want[i]) <= 1e-6) {
				t.Errorf(
					"%v with noise %v: %v %v %v, want %v",
					x.a, x.sigma, a, b,
					v, x.want,
				)
				break
			}
		}
	}
	// Noise of a tenth of the count pulls the slope towards 0, and the square too.
	a, b, v := errorLine(exact(1000, .1, -.3, .05), 50)
	if !(a > 0 &&
		a < .12 &&
		b > -.3 &&
		b < -.1 &&
		v > 0 &&
		v < .06) {
		t.Errorf(
			"some noise: %v %v %v",
			a, b, v,
		)
	}
}
