package suite

import (
	"context"
	"errors"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// planned is the prefix of the names of methods that report what `dptrain plan` states about a method before any row
// is read.
const planned = "plan of "

// The metrics of a plan.
const (
	metricNeeded = "rows_needed" // for the method to answer 95% of the time
	metricTrain  = "rows"        // of the training part of a trial
)

// planTask determines, for one table, the number of rows that is required by the plans of the methods that may
// abstain.
func planTask(t tableFile, methods []string, ks map[string]int) Task {
	task := Task{Name: t.name + ", plans", Trials: 1}
	for _, m := range methods {
		if parsed, err := bench.ParseMethod(m); err == nil && pipeline.MayAbstain(parsed.Model) {
			task.Cells = append(task.Cells, planCell(t.name, m, ks))
		}
	}
	task.Run = func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
		header, err := dataset.Header(t.path, dataset.ReadOptions{})
		if err != nil {
			return err
		}
		target := header[len(header)-1]
		rows, _, err := dataset.Read(
			ctx,
			t.path,
			dataset.Schema{Columns: []dataset.Column{{Name: target}}},
			dataset.ReadOptions{},
		)
		if err != nil {
			return err
		}
		return forEachTrial(ctx, todo, func(_ context.Context, k Key) Outcome {
			needed, err := rowsNeeded(
				strings.TrimPrefix(k.Method, planned),
				header,
				target,
			)
			if err != nil {
				return failed(err)
			}
			return Outcome{
				Status: OK,
				Values: map[string]float64{
					metricNeeded: float64(needed),
					metricTrain:  float64(rows.Len() - rows.Len()/10),
				},
			}
		}, emit)
	}
	return task
}

func planCell(data, method string, ks map[string]int) Cell {
	c := regressionCell(data, method, ks)
	c.Method = planned + method
	return c
}

// rowsNeeded plans a method on columns without declarations.
func rowsNeeded(name string, header []string, target string) (int, error) {
	m, err := bench.ParseMethod(name)
	if err != nil {
		return 0, err
	}
	r := recipe.Default()
	r.Data.Target = target
	r.Holdout = 0
	r.Privacy.Epsilon = bench.DefaultEpsilon
	r.Privacy.Delta = bench.DefaultDelta
	r.Selection.Method, r.Model.Method = m.Selection, m.Model
	r.Selection.Set("k", m.K)
	p, err := r.Pipeline(header)
	if err != nil {
		return 0, err
	}
	plan, err := p.Plan()
	if err != nil {
		return 0, err
	}
	if plan.Records() == 0 {
		return 0, errors.New("the plan does not say how many rows it needs")
	}
	return plan.Records(), nil
}
