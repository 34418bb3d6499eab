package pipeline

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/transform"
)

// skewedPipeline returns a run on a target that is the exponential, or the square, of a linear function with approximately normal
// errors: sums of four uniform numbers with standard deviation .5.
func skewedPipeline(
	t *testing.T,
	transform rescale.Transform,
	n int,
) (*Pipeline, *dataset.Table) {
	t.Helper()
	p := &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "a"},
			{Name: "b"},
			{Name: "y"},
		}},
		Target:    "y",
		Transform: transform,
		Budget:    budget.Target{Epsilon: 3, Delta: 1e-6},
		Holdout:   .2,
		Model:     adassp.JointGram{},
	}
	data := make([]dataset.ColumnData, 3)
	r := testrows.Points(5)
	for range n {
		a := r.Next()
		b := r.Next()
		z := 3 + a - .7*b + .5*math.Sqrt(3./4)*(r.Next()+r.Next()+r.Next()+r.Next())
		data[0].Floats = append(data[0].Floats, a)
		data[1].Floats = append(data[1].Floats, b)
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
		p, table := skewedPipeline(t, transform, 8000)
		res, err := p.Fit(t.Context(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := res.Model.Predict(nil, RowsOf(table.View()))
		if err != nil {
			t.Fatal(err)
		}
		var mean, want float64
		for i, y := range table.Float(2) {
			mean += predicted[i]
			want += y
		}
		ratio := mean / want
		if ratio < .95 || ratio > 1.05 {
			t.Errorf(
				"%s: the mean prediction is %.3f of the mean",
				transform, ratio,
			)
		}
		r := res.Transformed
		if r == nil ||
			r.Value < .6 ||
			r.TargetUpper > 8 ||
			r.MAE.Value > .6 {
			t.Errorf(
				"%s: in transformed units %+v",
				transform, r,
			)
		}
		r = res.R2
		if r == nil ||
			r.Upper < .5 ||
			r.TargetUpper < 12 ||
			r.MAE.Value < 1 {
			t.Errorf(
				"%s: in units of the target %+v",
				transform, r,
			)
		}
		f := res.Unprotected[2]
		if f.Name != HoldoutFact ||
			res.Unprotected[3].Value != string(transform) {
			t.Errorf(
				"%s is not stated: %v",
				transform, res.Unprotected,
			)
		}
	}
}

// TestTransformIsOfOneRecord checks that the rule reads one cell only, whatever its value, and that cells it treats
// as equal are equal afterwards.
func TestTransformIsOfOneRecord(t *testing.T) {
	p, _ := skewedPipeline(t, rescale.Log, 1)
	p.Schema.Columns[2] = dataset.Column{
		Name:   "y",
		Ranged: true,
		Lower:  2,
		Upper:  50,
	}
	cells := []float64{
		math.Inf(-1), -3,
		0, 1.5, 2, 50, 1e300,
		math.Inf(1),
		math.NaN(),
	}
	none := make([]float64, len(cells))
	table, err := dataset.NewTable(
		p.Schema,
		[]dataset.ColumnData{{Floats: none}, {Floats: none}, {Floats: cells}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	out := p.recodedTable(table)
	want := []float64{math.NaN(), math.Log(2), math.Log(2), math.Log(2), math.Log(2), math.Log(50),
		math.Log(1e300), math.NaN(), math.NaN()}
	for i, z := range out.Float(2) {
		if math.Float64bits(z) != math.Float64bits(want[i]) &&
			!(z != z && want[i] != want[i]) {
			t.Errorf(
				"%v becomes %v, want %v",
				cells[i], z, want[i],
			)
		}
	}
	c := out.Schema().Columns[2]
	if c.Lower != math.Log(2) ||
		c.Upper != math.Log(50) ||
		table.Schema().Columns[2].Lower != 2 ||
		table.Float(2)[1] != -3 {
		t.Errorf(
			"the declared range is %v, and the first table has %v",
			c,
			table.Schema().Columns[2],
		)
	}
	if _, err := p.Fit(t.Context(), table, Options{}); err != nil {
		t.Errorf("a table of such cells: %v", err)
	}
}

// TestTransformRules checks that targets that cannot be transformed are refused before a row is read.
func TestTransformRules(t *testing.T) {
	for want, change := range map[string]func(p *Pipeline){
		"unknown transform": func(p *Pipeline) {
			p.Transform = "cube"
		},
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
		"needs a delta": func(p *Pipeline) {
			p.Budget.Delta = 0
		},
		"this one has classes": func(p *Pipeline) {
			p.Task = "classification"
		},
		"the engine": nil,
	} {
		p, table := skewedPipeline(t, rescale.Log, 10)
		if change != nil {
			change(p)
			_, err := p.Plan()
			if !errors.Is(err, transform.ErrTarget) && p.Task == "" ||
				err == nil {
				t.Errorf("%s: %v", want, err)
			}
			found := false
			for _, wrong := range p.Wrong() {
				found = found || strings.Contains(wrong.Message, want)
			}
			if !found {
				t.Errorf(
					"%s is not said: %v",
					want, p.Wrong(),
				)
			}
			continue
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.FitOn(
			t.Context(), plan,
			memory.New(table.View()),
			Options{},
		)
		if !errors.Is(err, ErrEngine) {
			t.Errorf("an engine: %v", err)
		}
	}
}
