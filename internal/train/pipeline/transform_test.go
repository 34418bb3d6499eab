package pipeline

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// skewed is a run on a target that is the exponential, or the square, of a linear function with approximately normal
// errors: sums of four uniform numbers with standard deviation .5.
func skewed(t *testing.T, transform rescale.Transform, n int) (*Pipeline, *dataset.Table) {
	t.Helper()
	p := &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{{Name: "a"}, {Name: "b"}, {Name: "y"}}},
		Target: "y", Transform: transform, Budget: budget.Target{Epsilon: 3, Delta: 1e-6},
		Holdout: .2, Model: adassp.JointGram{},
	}
	data := make([]dataset.ColumnData, 3)
	r := testrows.Points(5)
	for range n {
		a, b := r.Next(), r.Next()
		z := 3 + a - .7*b + .5*math.Sqrt(3./4)*(r.Next()+r.Next()+r.Next()+r.Next())
		data[0].Floats, data[1].Floats = append(data[0].Floats, a), append(data[1].Floats, b)
		data[2].Floats = append(data[2].Floats, transform.Inverse(z))
	}
	table, err := dataset.NewTable(p.Schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, table
}

// TestTransform checks that a model of a transformed target predicts its mean in its own units, within a twentieth on
// average; for log its median is 12% below the mean. Both R² are released, in their units, and are those of the true
// function.
func TestTransform(t *testing.T) {
	for _, transform := range []rescale.Transform{rescale.Log, rescale.Sqrt} {
		p, table := skewed(t, transform, 8000)
		res, err := p.Fit(t.Context(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := res.Model.Predict(nil, RowsOf(table.All()))
		if err != nil {
			t.Fatal(err)
		}
		var mean, want float64
		for i, y := range table.Float(2) {
			mean += predicted[i]
			want += y
		}
		if ratio := mean / want; ratio < .95 || ratio > 1.05 {
			t.Errorf("%s: the mean prediction is %.3f of the mean", transform, ratio)
		}
		if r := res.Transformed; r == nil || r.Value < .6 || r.TargetUpper > 8 || r.MAE.Value > .6 {
			t.Errorf("%s: in transformed units %+v", transform, r)
		}
		if r := res.R2; r == nil || r.Upper < .5 || r.TargetUpper < 12 || r.MAE.Value < 1 {
			t.Errorf("%s: in units of the target %+v", transform, r)
		}
		if f := res.Unprotected[2]; f.Name != HoldoutFact ||
			res.Unprotected[3].Value != string(transform) {
			t.Errorf("%s is not stated: %v", transform, res.Unprotected)
		}
	}
}

// TestTransformIsOfOneRecord checks that the rule reads one cell only, whatever its value, and that cells it treats
// as equal are equal afterwards.
func TestTransformIsOfOneRecord(t *testing.T) {
	p, _ := skewed(t, rescale.Log, 1)
	p.Schema.Columns[2] = dataset.Column{Name: "y", Ranged: true, Lower: 2, Upper: 50}
	cells := []float64{math.Inf(-1), -3, 0, 1.5, 2, 50, 1e300, math.Inf(1), math.NaN()}
	none := make([]float64, len(cells))
	table, err := dataset.NewTable(p.Schema,
		[]dataset.ColumnData{{Floats: none}, {Floats: none}, {Floats: cells}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := p.transformedTable(table)
	want := []float64{math.NaN(), math.Log(2), math.Log(2), math.Log(2), math.Log(2), math.Log(50),
		math.Log(1e300), math.NaN(), math.NaN()}
	for i, z := range out.Float(2) {
		if math.Float64bits(z) != math.Float64bits(want[i]) && !(z != z && want[i] != want[i]) {
			t.Errorf("%v becomes %v, want %v", cells[i], z, want[i])
		}
	}
	if c := out.Schema().Columns[2]; c.Lower != math.Log(2) || c.Upper != math.Log(50) ||
		table.Schema().Columns[2].Lower != 2 || table.Float(2)[1] != -3 {
		t.Errorf("the declared range is %v, and the first table has %v", c,
			table.Schema().Columns[2])
	}
	if _, err := p.Fit(t.Context(), table, Options{}); err != nil {
		t.Errorf("a table of such cells: %v", err)
	}
}

// TestErrorsSensitivity searches tables of up to two records for the largest distance of neighbouring sums. What is predicted is
// the record's other cell.
func TestErrorsSensitivity(t *testing.T) {
	type record struct{ a, z float64 }
	var records []record
	for _, a := range []float64{-4, -2, 0, .5, 4, math.NaN()} {
		for _, z := range []float64{math.NaN(), -9, -4, -1, -.5, 0, .3, 1, 4, 9} {
			records = append(records, record{a, z})
		}
	}
	model := &regression.Linear{
		Target:  "y",
		Lower:   -4,
		Upper:   4,
		Columns: []regression.Column{{Name: "a", Lower: -4, Upper: 4}},
		Terms:   []regression.Term{{Coefficient: 1}},
	}
	x := errorStatistic{
		Model: method.NewPredictor(model, []dataset.Column{{Name: "a"}}),
		Half:  4,
		Limit: 3,
	}
	sums := func(list ...record) []float64 {
		var data [2]dataset.ColumnData
		for _, r := range list {
			data[0].Floats, data[1].Floats = append(data[0].Floats, r.a),
				append(data[1].Floats, r.z)
		}
		table, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{{Name: "a"}, {Name: "y"}}}, data[:], nil)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := memory.New(table.All()).Sum(t.Context(),
			mechanism.Pass{Part: mechanism.Part{Columns: []int{0, 1}}, Statistic: x})
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
			budget.Sequence("r", budget.GaussianLeaf("l", 1, 1).WithStatistic(mechanism.StatSums)),
			budget.Target{Epsilon: 1, Delta: 1e-6, Relation: relation})
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mechanism.Gaussian(s, "l",
			x.New(s.Maker).(*errorPass).sums.Bound()); err != nil {
			t.Fatal(err)
		}
		// A prediction at an end of the range has errors of one sign, so under substitution the bound is not attained.
		least := map[budget.Relation]float64{
			budget.AddRemove:  .9999,
			budget.Substitute: .65,
		}[relation]
		if declared := s.Events()[0].Sensitivity; searched > declared || searched < least*declared {
			t.Errorf("%v: %v was found, %v is declared", relation, searched, declared)
		}
	}
}

// TestErrorLine checks that the line is the least-squares fit without noise, that strong noise leaves the predictions
// unchanged, and that any released values are handled.
func TestErrorLine(t *testing.T) {
	exact := func(n, intercept, slope, square float64) []float64 { // u has the mean .2 and the mean square .3
		return []float64{.5 * n, .5 * .2 * n, .5 * .3 * n, .5 * n * (intercept + .2*slope),
			n * (.2*intercept + .3*slope),
			n * (square + intercept*(intercept+.2*slope) + slope*(.2*intercept+.3*slope))}
	}
	for _, x := range []struct {
		a     []float64
		sigma float64
		want  [3]float64
	}{
		{exact(1000, .1, -.3, .05), 0, [3]float64{.1, -.3, .05}},
		{exact(1000, .1, -.3, .05), 1e9, [3]float64{}},
		{exact(-5, .1, -.3, .05), 1, [3]float64{}},
		{[]float64{500, 0, -700, 0, 0, -3}, 5, [3]float64{}},
		{[]float64{500, 0, 100, 0, 0, 1e9}, 1e-6, [3]float64{0, 0, 1}},
	} {
		a, b, v := errorLine(x.a, x.sigma)
		for i, got := range []float64{a, b, v} {
			if !(math.Abs(got-x.want[i]) <= 1e-6) {
				t.Errorf("%v with noise %v: %v %v %v, want %v", x.a, x.sigma, a, b, v, x.want)
				break
			}
		}
	}
	// Noise of a tenth of the count pulls the slope towards 0, and the square too.
	if a, b, v := errorLine(exact(1000, .1, -.3, .05), 50); !(a > 0 && a < .12 && b > -.3 &&
		b < -.1 && v > 0 && v < .06) {
		t.Errorf("some noise: %v %v %v", a, b, v)
	}
}

// TestTransformRules checks that targets that cannot be transformed are refused before a row is read.
func TestTransformRules(t *testing.T) {
	for want, change := range map[string]func(p *Pipeline){
		"unknown transform": func(p *Pipeline) { p.Transform = "cube" },
		"lower end above 0": func(p *Pipeline) {
			p.Schema.Columns[2].Ranged = true
			p.Schema.Columns[2].Upper = 3
		},
		"lower end of at least": func(p *Pipeline) {
			p.Transform = rescale.Sqrt
			c := &p.Schema.Columns[2]
			c.Ranged = true
			c.Lower = -1
		},
		"needs a delta":        func(p *Pipeline) { p.Budget.Delta = 0 },
		"this one has classes": func(p *Pipeline) { p.Task = "classification" },
		"the engine":           nil,
	} {
		p, table := skewed(t, rescale.Log, 10)
		if change != nil {
			change(p)
			if _, err := p.Plan(); !errors.Is(err, ErrTransform) && p.Task == "" || err == nil {
				t.Errorf("%s: %v", want, err)
			}
			found := false
			for _, wrong := range p.Wrong() {
				found = found || strings.Contains(wrong.Message, want)
			}
			if !found {
				t.Errorf("%s is not said: %v", want, p.Wrong())
			}
			continue
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.FitOn(t.Context(), plan, memory.New(table.All()), Options{}); !errors.Is(err,
			ErrEngine) {
			t.Errorf("an engine: %v", err)
		}
	}
}
