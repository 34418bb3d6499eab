package suite

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/svm"
)

// A separationMethod is a method of seed-003.
type separationMethod struct {
	name      string
	epsilons  []float64 // nil: one cell, without privacy
	table     bool      // runs on the table
	generated bool      // runs on generated tables of all sizes
	small     bool      // but not on large ones, which take long
	scores    bool      // measures F-scores
	run       func(context.Context, separationTrial) Outcome
}

// The names of the methods of seed-003.
const (
	openDFS     = "dfs + nonprivate-svm"
	openAll     = "nonprivate-svm, all columns"
	methodDR    = "dpfsdr + svm"
	methodDPFS  = "dpfs + svm"
	methodCRFS  = "crfs + svm"
	methodSVM   = "svm, all columns"
	wholeDR     = "dpfsdr + svm, whole budget"
	wholeSVM    = "svm, all columns, whole budget"
	wholeLinear = "logistic, all columns, whole budget"
	methodF     = "F-scores"
)

// separationMethods lists the methods. Selectors may choose any number of columns. For methods with "whole budget"
// the epsilon covers everything; for the others it is that of the model, in addition to chooseEpsilon for the
// selection.
func separationMethods() []separationMethod {
	dr := func(d int) selection.Selector { return selection.DPFSDR{K: d} }
	dpfs := func(d int) selection.Selector { return selection.DPFS{K: d} }
	crfs := func(d int) selection.Selector { return selection.CRFS{K: d} }
	all := func(int) selection.Selector { return selection.None{} }
	second := separationEpsilons[:]
	whole := wholeEpsilons[:]
	return []separationMethod{
		{name: openDFS, table: true, generated: true, run: openSeparation(true)},
		{name: openAll, table: true, generated: true, run: openSeparation(false)},
		{
			name:      methodDR,
			epsilons:  second,
			table:     true,
			generated: true,
			run:       separate(dr, svm.SVM{}, false),
		},
		{name: methodPublishedDR, epsilons: second, table: true, run: separatePublished},
		{
			name:      methodDPFS,
			epsilons:  second,
			table:     true,
			generated: true,
			small:     true,
			run:       separate(dpfs, svm.SVM{}, false),
		},
		{
			name:      methodCRFS,
			epsilons:  second,
			table:     true,
			generated: true,
			small:     true,
			run:       separate(crfs, svm.SVM{}, false),
		},
		{name: methodSVM, epsilons: second, table: true, run: separate(all, svm.SVM{}, false)},
		{
			name:      wholeDR,
			epsilons:  whole,
			table:     true,
			generated: true,
			run:       separate(dr, svm.SVM{}, true),
		},
		{name: wholeSVM, epsilons: whole, table: true, run: separate(all, svm.SVM{}, true)},
		{
			name:     wholeLinear,
			epsilons: whole,
			table:    true,
			run:      separate(all, logistic.Logistic{}, true),
		},
		{name: methodF, epsilons: scoreEpsilons[:], scores: true, run: scoreError},
	}
}

func separationCell(data, method string, epsilon float64, n int) Cell {
	c := Cell{
		Data:    data,
		Method:  method,
		Setting: Setting{Epsilon: epsilon, N: n},
	}
	if epsilon != 0 {
		c.Setting.Delta = separationDelta
	}
	return c
}

func (m separationMethod) cells(data string, n int) []Cell {
	if m.epsilons == nil {
		return []Cell{separationCell(data, m.name, 0, n)}
	}
	var out []Cell
	for _, epsilon := range m.epsilons {
		out = append(out, separationCell(data, m.name, epsilon, n))
	}
	return out
}

// openSeparation is a support vector machine without privacy, on all columns or those that DFS chooses.
func openSeparation(choose bool) func(context.Context, separationTrial) Outcome {
	return func(ctx context.Context, x separationTrial) Outcome {
		f := x.facts()
		picked := count(0, len(f.Columns))
		if choose {
			var err error
			if picked, err = selection.DFS(ctx, selection.DPFSDR{K: len(f.Columns)}, f,
				x.train); err != nil {
				return failed(err)
			}
		}
		m, err := baseline.FitOpen(ctx, nonprivate.NonprivateSVM, x.train, picked)
		if err != nil {
			return failed(err)
		}
		return judge(m.Predict(x.test))(x.test).withTrial(x, picked)
	}
}

// withTrial adds the facts of a trial to its values.
func (o Outcome) withTrial(x separationTrial, picked []int) Outcome {
	if o.Status == OK {
		o.Picked = fromOne(picked)
		o.Values[metricFeatures], o.Values[metricTrainRows] = float64(len(picked)),
			float64(x.train.Len())
	}
	return o
}

// splitBudget returns the epsilon of two steps of epsilon_1 and epsilon_2 together, each with the whole delta, and
// the share of mu^2 of the first. Since mu^2 adds up, the result is less than epsilon_1 + epsilon_2 with twice the
// delta.
func splitBudget(first, second, delta float64) (epsilon, share float64) {
	a := budget.GaussianMu(first, delta)
	b := budget.GaussianMu(second, delta)
	return budget.GaussianEpsilon(math.Hypot(a, b), delta), a * a / (a*a + b*b)
}

// separate selects and trains. If whole is true, the epsilon of the trial covers both steps, otherwise only the
// model.
func separate(
	selector func(d int) selection.Selector,
	model method.Trainer,
	whole bool,
) func(context.Context, separationTrial) Outcome {
	return func(ctx context.Context, x separationTrial) Outcome {
		f := x.facts()
		job := fitJob{
			model:    model,
			selector: selector(len(f.Columns)),
			target: budget.Target{
				Epsilon: x.epsilon,
				Delta:   separationDelta,
			},
			share: pipeline.ClassedSelectionShare,
		}
		if !whole {
			job.target.Epsilon, job.share = splitBudget(chooseEpsilon, x.epsilon, separationDelta)
		}
		result, err := job.fit(ctx, x.train.Compact())
		if err != nil {
			return failed(err)
		}
		var picked []int
		for j, c := range f.Columns {
			for _, name := range result.Selected {
				if name == c.Name {
					picked = append(picked, j)
				}
			}
		}
		o := judge(predicted(result.Model, x.test))(x.test).withTrial(x, picked)
		if o.Status == OK {
			o.Values[metricTotal] = job.target.Epsilon
		}
		return o
	}
}

// scoreError releases the F-scores and compares them with the exact ones.
func scoreError(ctx context.Context, x separationTrial) Outcome {
	f := x.facts()
	exact, err := selection.ExactScores(ctx, f, x.train)
	if err != nil {
		return failed(err)
	}
	s, err := scoreSession(f, x.epsilon)
	if err != nil {
		return failed(err)
	}
	noisy, err := selection.DPFSDR{}.Scores(ctx, s, f, memory.NewRecords(x.train))
	if err != nil {
		return failed(err)
	}
	scores, importance := noisy.MeanError(exact)
	return Outcome{
		Status: OK,
		Values: map[string]float64{
			metricF:          scores,
			metricImportance: importance,
			metricMeanF:      average(exact.F),
			metricTrainRows:  float64(x.train.Len()),
		},
	}
}

// scoreSession opens a session with the whole budget for the selection.
func scoreSession(
	f selection.Facts,
	epsilon float64,
) (*mechanism.Session, error) {
	node, _, err := selection.DPFSDR{}.Plan(f)
	if err != nil {
		return nil, err
	}
	p, err := budget.Calibrate(budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    separationDelta,
			Relation: f.Relation,
		})
	if err != nil {
		return nil, err
	}
	return mechanism.NewSession(p)
}
