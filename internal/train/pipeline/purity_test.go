package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/regression"
)

// pureRun is a run without a delta, on seven numeric columns without declarations.
func pureRun(
	classes int,
	relation budget.Relation,
	s selection.Selector,
	t method.Trainer,
) *Pipeline {
	p := &Pipeline{
		Target:   "y",
		Budget:   budget.Target{Epsilon: 2, Relation: relation},
		Selector: s,
		Model:    t,
	}
	for j := range 7 {
		p.Schema.Columns = append(
			p.Schema.Columns,
			dataset.Column{
				Name:    fmt.Sprintf("x%d", j),
				Private: relation == budget.SubstitutePrivateColumns,
			},
		)
	}
	target := dataset.Column{Name: "y"}
	if classes > 0 {
		p.Task = regression.TaskClassification
		target.Kind = dataset.Category
		target.Categories = []string{"a", "b", "c"}[:classes]
	}
	p.Schema.Columns = append(p.Schema.Columns, target)
	return p
}

// gaussianByNature are the stages without a form of pure noise: each releases sums of products, histograms of many entries or a
// point that passed a check of probability delta.
var gaussianByNature = strings.Fields(
	"dpfsdr dpfs crfs greedy-gram adassp boosted-adassp tukey boosted-additive boosted-kernel cost-tree prototypes")

// TestPureMatrix plans every selector with every method, target and relation at delta 0. A run is refused for lack of
// a delta only if it has one of the stages that are Gaussian by nature, and every such run that has a plan has only
// pure leaves.
func TestPureMatrix(t *testing.T) {
	type cell struct{ selector, model string }
	planned := map[cell]bool{}
	for _, classes := range []int{0, 2, 3} {
		for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute,
			budget.SubstitutePrivateColumns} {
			for _, s := range Selectors() {
				for _, m := range Trainers() {
					selector := s.New(
						SelectorSettings{
							K:      2,
							Values: method.Values{"features": []string{"x0", "x3"}},
						})
					p := pureRun(classes, relation, selector, m.New(nil))
					_, err := p.Plan()
					checkPure(t, p, err)
					if err == nil {
						planned[cell{s.Name, m.Name}] = true
						continue
					}
					named := slices.Contains(gaussianByNature, s.Name) ||
						slices.Contains(gaussianByNature, m.Name) ||
						m.Name == "joint-gram" &&
							relation == budget.SubstitutePrivateColumns // exact blocks of public columns together with noisy ones
					if named && errors.Is(err, ErrNotPure) {
						continue
					}
					other := *p
					other.Budget.Delta = 1e-6
					_, otherwise := other.Plan()
					if otherwise == nil { // it was not refused for another reason
						t.Errorf(
							"%s and %s, %d classes, %v: %v",
							s.Name,
							m.Name,
							classes,
							relation,
							err,
						)
					}
				}
			}
		}
	}
	for _, s := range Selectors() {
		for _, m := range Trainers() {
			want := !slices.Contains(gaussianByNature, s.Name) &&
				!slices.Contains(gaussianByNature, m.Name)
			if planned[cell{s.Name, m.Name}] != want {
				t.Errorf(
					"%s and %s have a plan at delta 0: %v",
					s.Name, m.Name, !want,
				)
			}
		}
	}
}

// checkPure checks that a plan has only pure leaves, and that a refusal for lack of a delta names the place and a
// remedy.
func checkPure(t *testing.T, p *Pipeline, err error) {
	t.Helper()
	if err == nil {
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range plan.Leaves() {
			if l.Law.Kind == budget.Gaussian ||
				l.Law.Kind == budget.Approximate ||
				l.Law.Delta != 0 {
				t.Errorf(
					"%s is %+v",
					l.Path, l.Law,
				)
			}
		}
		return
	}
	var wrong *fault.Error
	if errors.Is(err, ErrNotPure) &&
		(!errors.As(err, &wrong) ||
			wrong.Field != deltaField ||
			wrong.Hint == "" ||
			!strings.HasPrefix(wrong.Message, "privacy.delta must be above 0: the ")) {
		t.Errorf("%v", err)
	}
}

// TestNeedsDelta checks that the message names every stage that needs a delta, and the settings that would run
// without one.
func TestNeedsDelta(t *testing.T) {
	for name, c := range map[string]struct {
		p    *Pipeline
		want string
	}{
		"held out by group": {
			func() *Pipeline {
				p := pureRun(2, budget.AddRemove, selection.Kendall{K: 2}, svm.SVM{})
				p.Holdout = .2
				p.Groups = "x0"
				return p
			}(),
			"the held-out metric by group draws Gaussian noise, which always needs a delta; omit evaluate.by",
		},
		"a form that is named": {
			pureRun(
				2,
				budget.AddRemove,
				selection.None{},
				boosting.BRC{Form: boosting.Gaussian},
			),
			"the model (brc) draws Gaussian noise, which always needs a delta; omit model.form: by default, brc uses a form with pure noise",
		},
		"gradients": {
			pureRun(
				2,
				budget.AddRemove,
				selection.None{},
				logistic.Logistic{Form: logistic.Gradients},
			),
			"the model (logistic) draws Gaussian noise, which always needs a delta; omit model.form: by default, logistic uses a form with pure noise",
		},
		"both": {
			pureRun(3, budget.AddRemove, selection.DPFS{K: 2}, nil),
			"the selection (dpfs) draws Gaussian noise, which always needs a delta; no selector has pure noise in this run",
		},
		"selection": {
			pureRun(2, budget.AddRemove, selection.GreedyGram{K: 2}, nil),
			"the selection (greedy-gram) draws Gaussian noise, which always needs a delta; select with kendall, sublasso or sis",
		},
		"numbers": {
			pureRun(0, budget.AddRemove, nil, boosting.Kernel{}),
			"the model (boosted-kernel) draws Gaussian noise, which always needs a delta; train joint-gram",
		},
		"partly private": {
			pureRun(0, budget.SubstitutePrivateColumns, nil, nil),
			"the model (joint-gram) draws Gaussian noise, which always needs a delta; no training method has pure noise in this run",
		},
	} {
		wrong := c.p.NeedsDelta()
		if wrong == nil ||
			!strings.HasPrefix(wrong.Message+"; "+wrong.Hint,
				"privacy.delta must be above 0: "+c.want) {
			t.Errorf("%s: %v", name, wrong)
		}
		c.p.Budget.Delta = 1e-6
		if wrong := c.p.NeedsDelta(); wrong != nil {
			t.Errorf(
				"%s, with a delta: %v",
				name, wrong,
			)
		}
	}
}

// TestPureNumber trains on a numeric target without a delta: joint-gram, after a selection, explains most of it, and the released
// R² is close to the exact one.
func TestPureNumber(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(5, 5))
	for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		p := pureRun(0, relation, selection.Kendall{K: 2}, nil)
		p.Budget.Epsilon = 8
		p.Holdout = .2
		data := make([]dataset.ColumnData, 8)
		mean := 0.
		squares := 0.
		rest := 0.
		for range n {
			x := make([]float64, 7)
			for j := range x {
				x[j] = 10 * rng.NormFloat64()
				data[j].Floats = append(data[j].Floats, x[j])
			}
			data[7].Floats = append(
				data[7].Floats,
				3*x[1]-2*x[4]+5*rng.NormFloat64(),
			)
			mean += data[7].Floats[len(data[7].Floats)-1] / n
		}
		table, err := dataset.NewTable(p.Schema, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Fit(context.Background(), table, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows := regression.Rows{N: n, Numeric: map[string][]float64{}}
		for j := range 7 {
			rows.Numeric[p.Schema.Columns[j].Name] = data[j].Floats
		}
		got, err := res.Model.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range data[7].Floats {
			squares += (y - mean) * (y - mean)
			rest += (y - got[i]) * (y - got[i])
		}
		r2 := 1 - rest/squares
		if r2 < .8 { // .98 without noise
			t.Errorf("%v: R2 %v", relation, r2)
		}
		// All but the limits of errors and the sampling error, below .01, is the same.
		m := res.R2
		if m == nil ||
			m.Lower > r2+.02 ||
			m.Upper < r2-.02 ||
			m.Upper-m.Lower > .1 {
			t.Errorf(
				"%v: released %v, exact %v",
				relation, res.R2, r2,
			)
		}
	}
}

// TestPureFits trains without a delta and checks that ranges, selection and model reflect a table of two classes, and that the
// released accuracy is close to the exact one.
func TestPureFits(t *testing.T) {
	const n = 6000
	rng := rand.New(rand.NewPCG(4, 4))
	for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for _, trainer := range []method.Trainer{
			nil,
			adassp.JointGram{},
			svm.SVM{},
			logistic.Logistic{},
			boosting.BRC{},
			boosting.BRC{Intercept: "exponential"},
		} {
			p := pureRun(2, relation, selection.Kendall{K: 2}, trainer)
			p.Budget.Epsilon = 8
			p.Holdout = .2
			data := make([]dataset.ColumnData, 8)
			for range n {
				x := make([]float64, 7)
				for j := range x {
					x[j] = 10 * rng.NormFloat64()
					data[j].Floats = append(data[j].Floats, x[j])
				}
				code := int32(0)
				if x[1]-x[4]+3*rng.NormFloat64() > 0 {
					code = 1
				}
				data[7].Codes = append(data[7].Codes, code)
			}
			table, err := dataset.NewTable(p.Schema, data, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := p.Fit(context.Background(), table, Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows := regression.Rows{N: n, Numeric: map[string][]float64{}}
			for j := range 7 {
				rows.Numeric[p.Schema.Columns[j].Name] = data[j].Floats
			}
			got, err := res.Model.Predict(nil, rows)
			if err != nil {
				t.Fatal(err)
			}
			right := 0.
			for i, c := range data[7].Codes {
				if got[i] == float64(c) {
					right++
				}
			}
			if right/n < .75 { // .5 by chance, about .9 without noise
				t.Errorf(
					"%v, %s: accuracy %v",
					relation, nameOf(trainer), right/n,
				)
			}
			m := res.Confusion
			if m == nil || m.Accuracy.Lower > right/n+.02 || m.Accuracy.Upper < right/n-.02 ||
				m.Accuracy.Upper-m.Accuracy.Lower > .1 {
				t.Errorf(
					"%v, %s: released %+v, exact %v",
					relation, nameOf(trainer), m, right/n,
				)
			}
		}
	}
}
