package pipeline

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/prototypes"
	"github.com/dptrain/dptrain/internal/train/targetencoding"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// manyValued is a run on y = a + effect of k + noise, k of 150 values with counts as 1/rank and effects between -1 and 1, and of
// values that are not listed, for one record in 20. With two classes, y is its sign.
func manyValued(
	t testing.TB, classes bool, m method.Trainer, epsilon float64,
) (*Pipeline, *dataset.Table) {
	t.Helper()
	p := &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:   "a",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:          "k",
				Kind:          dataset.Category,
				Other:         true,
				TargetEncoded: true,
			},
			{
				Name:   "y",
				Ranged: true,
				Lower:  -3,
				Upper:  3,
			},
		}},
		Target:  "y",
		Budget:  budget.Target{Epsilon: epsilon, Delta: 1e-6},
		Holdout: .1,
		Model:   m,
	}
	if classes {
		p.Task = regression.TaskClassification
		p.Schema.Columns[2] = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		}
	}
	effect := make([]float64, 150)
	weights := make([]float64, 150)
	sum := 0.
	for v := range effect {
		p.Schema.Columns[1].Categories = append(
			p.Schema.Columns[1].Categories,
			fmt.Sprintf("v%03d", v),
		)
		sum += 1 / float64(v+1)
		effect[v] = math.Sin(float64(3*v + 1))
		weights[v] = sum
	}
	data := make([]dataset.ColumnData, 3)
	r := testrows.Points(5)
	for i := range 20000 {
		a := r.Next()
		u := (r.Next() + 1) / 2 * sum
		v := 0
		for v < len(weights)-1 && weights[v] < u {
			v++
		}
		y := a + effect[v] + .3*r.Next()
		if i%20 == 0 {
			v = len(effect)
			y = a
		}
		data[0].Floats = append(data[0].Floats, a)
		data[1].Codes = append(data[1].Codes, int32(v))
		if classes {
			code := int32(0)
			if y > 0 {
				code = 1
			}
			if i%50 == 1 {
				code = 2
			}
			data[2].Codes = append(data[2].Codes, code)
			continue
		}
		if i%50 == 1 {
			y = math.NaN()
		}
		data[2].Floats = append(data[2].Floats, y)
	}
	table, err := dataset.NewTable(p.Schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, table
}

// TestEncoding checks that with a large budget each value is encoded as the mean of the target over its records, and
// that models predict from the texts and explain as much as the means do.
func TestEncoding(t *testing.T) {
	for _, m := range []method.Trainer{
		adassp.JointGram{},
		boosting.BoostedAdaSSP{},
		boosting.Additive{},
		autoKernel,
	} {
		p, table := manyValued(t, false, m, 20)
		res, err := p.Fit(t.Context(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Model.Validate(); err != nil {
			t.Fatal(m.Name(), err)
		}
		c := res.Model.Inputs()[1]
		if c.Type != regression.Numeric ||
			len(c.Values) != 151 ||
			len(c.Categories) != 150 {
			t.Fatalf(
				"%s: the column is %+v",
				m.Name(), c,
			)
		}
		for v, got := range c.Values[:5] {
			want := math.Sin(float64(3*v + 1))
			if math.Abs(got-want) > .1 {
				t.Errorf(
					"%s: the number of value %d is %v, want %v",
					m.Name(), v, got, want,
				)
			}
		}
		if got := c.Values[150]; math.Abs(got) > .1 {
			t.Errorf(
				"%s: the number of values that are not listed is %v, want 0",
				m.Name(),
				got,
			)
		}
		if res.R2 == nil || res.R2.Value < .85 {
			t.Errorf(
				"%s: R² is %+v",
				m.Name(), res.R2,
			)
		}
		got := SchemaOf(res.Model).Columns[1]
		if got.Kind != dataset.Category || len(got.Categories) != 150 {
			t.Errorf(
				"%s: predictions read %+v",
				m.Name(), got,
			)
		}
	}
}

// TestEncodingOfClasses checks that with two classes the numbers are means of -1 and +1, and that classifiers learn
// from them.
func TestEncodingOfClasses(t *testing.T) {
	for _, m := range []method.Trainer{
		logistic.Logistic{},
		prototypes.Prototypes{},
		adassp.JointGram{},
		nil,
	} {
		p, table := manyValued(t, true, m, 40)
		res, err := p.Fit(t.Context(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := res.Confusion; c == nil || c.Accuracy.Value < .8 {
			t.Errorf(
				"%s: accuracy %+v",
				nameOf(m), c,
			)
		}
		c := res.Model.Inputs()[1]
		if len(c.Values) != 151 ||
			c.Values[0] < .5 ||
			c.Lower < -1.5 ||
			c.Upper > 1.5 {
			t.Errorf(
				"%s: the column is %+v",
				nameOf(m), c,
			)
		}
	}
}

// TestEncodingIsRefused checks that columns without an encoding are refused when the run is planned, with the field.
func TestEncodingIsRefused(t *testing.T) {
	for want, change := range map[string]func(p *Pipeline){
		"more than two classes": func(p *Pipeline) {
			p.Task = regression.TaskClassification
			p.Schema.Columns[2] = dataset.Column{
				Name:       "y",
				Kind:       dataset.Category,
				Categories: []string{"a", "b", "c"},
			}
		},
		"with a delta of 0": func(p *Pipeline) {
			p.Budget.Delta = 0
		},
		"with method tukey": func(p *Pipeline) {
			p.Model = tukey.Tukey{}
		},
		"relation substitute-private-col": func(p *Pipeline) {
			p.Budget.Relation = budget.SubstitutePrivateColumns
			p.Schema.Columns[0].Private = true
		},
	} {
		p, _ := manyValued(t, false, adassp.JointGram{}, 1)
		change(p)
		_, err := p.Plan()
		if !errors.Is(err, targetencoding.ErrUnsupported) ||
			!strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "data.columns.k.encode") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestEncodingPrice checks that the sums take a fifth of the model's mu², and that one leaf names their statistic.
func TestEncodingPrice(t *testing.T) {
	p, _ := manyValued(t, false, adassp.JointGram{}, 1)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	values := 0.
	model := 0.
	for _, l := range plan.Leaves() {
		if l.Place.Stage != modelNode {
			continue
		}
		model += float64(l.Law.Draws) * l.Law.Mu * l.Law.Mu
		if l.Statistic == mechanism.StatValueSums {
			values += l.Law.Mu * l.Law.Mu
		}
	}
	share := values / model
	if math.Abs(share-.2) > 1e-6 {
		t.Errorf(
			"the sums take %v of the model's mu²",
			share,
		)
	}
}
