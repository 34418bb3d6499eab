package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
)

// Seed001 is the name of the experiment on linear regression of "Better Private
// Linear Regression Through Better Private Feature Selection", section 4.
const Seed001 = "seed-001"

// The parts of seed-001.
var (
	regressionKs         = [...]int{5, 10}
	regressionModels     = [...]string{"boosted-adassp", "tukey"}
	regressionSelections = [...]string{"sublasso", "kendall"}
)

const nonPrivate = "nonprivate-ols"

// regressionMethods lists the methods of seed-001 with their k, which is 0 for methods that choose no fixed number of
// columns.
func regressionMethods() (names []string, ks map[string]int) {
	ks = map[string]int{}
	add := func(name string, k int) {
		names = append(names, name)
		ks[name] = k
	}
	add(nonPrivate, 0)
	add("joint-gram", 0)
	add("auto", 0)
	for _, model := range regressionModels {
		add(model, 0)
	}
	for _, k := range regressionKs {
		for _, model := range regressionModels {
			for _, selection := range regressionSelections {
				add(fmt.Sprintf("%s:%d+%s", selection, k, model), k)
			}
		}
	}
	return names, ks
}

// regressionRounds are the numbers of rounds of Boosted AdaSSP that are compared with its default.
var regressionRounds = [...]int{1, 3, 10, 100}

// roundsMethod returns the name of Boosted AdaSSP with a fixed number of rounds.
func roundsMethod(rounds int) string {
	return fmt.Sprintf("%s:%d", regressionModels[0], rounds)
}

// regressionCell returns the cell of a method of seed-001 on a table.
func regressionCell(data, method string, ks map[string]int) Cell {
	c := Cell{
		Data:    data,
		Method:  method,
		Setting: Setting{K: ks[method]},
	}
	if method != nonPrivate {
		c.Setting.Epsilon = bench.DefaultEpsilon
		c.Setting.Delta = bench.DefaultDelta
	}
	return c
}

// regressionPlan is the experiment seed-001 on the tables of a folder.
func regressionPlan(o Options) (*Plan, error) {
	tables, err := listTables(o.Data)
	if err != nil {
		return nil, err
	}
	methods, ks := regressionMethods()
	p := &Plan{Page: regressionPage}
	for _, t := range tables {
		var cells []Cell
		for _, m := range methods {
			cells = append(cells, regressionCell(t.name, m, ks))
		}
		for _, rounds := range regressionRounds {
			cells = append(cells, regressionCell(t.name, roundsMethod(rounds), nil))
		}
		p.Tasks = append(p.Tasks, planTask(t, methods, ks), Task{
			Name:   t.name,
			Cells:  cells,
			Trials: o.trials(bench.DefaultTrials),
			Run: regressionRun{
				path:   t.path,
				seed:   o.Seed,
				trials: o.trials(bench.DefaultTrials),
			}.run,
		}, publishedTask(t, o))
	}
	return p, nil
}

// regressionRun runs methods on one table through package bench.
type regressionRun struct {
	path   string
	seed   uint64
	trials int
}

func (x regressionRun) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	var methods []string
	wanted := map[string]map[int]Key{}
	for _, k := range todo {
		if wanted[k.Method] == nil {
			wanted[k.Method] = map[int]Key{}
			methods = append(methods, k.Method)
		}
		wanted[k.Method][k.Trial] = k
	}
	fail := func(method string, status Status, err error) {
		for _, k := range todo {
			if _, open := wanted[method][k.Trial]; open && k.Method == method {
				emit(k, failure(status, err))
			}
		}
		delete(wanted, method)
	}
	methods = slices.DeleteFunc(methods, func(name string) bool {
		_, err := bench.ParseMethod(name)
		if err != nil {
			fail(name, Unavailable, err)
		}
		return err != nil
	})
	if len(methods) == 0 {
		return ctx.Err()
	}
	deliver := func(r bench.Row) {
		if k, ok := wanted[r.Method][r.Trial]; ok {
			delete(wanted[r.Method], r.Trial)
			emit(k, outcomeOf(r))
		}
	}
	if err := x.methods(ctx, methods, wanted, deliver); err == nil || stops(ctx, err) {
		return err
	}
	// A method that cannot be planned must not stop the others.
	for _, m := range methods {
		if err := x.methods(ctx, []string{m}, wanted, deliver); stops(ctx, err) {
			return err
		} else if err != nil {
			fail(m, failed(err).Status, err)
		}
	}
	return nil
}

// methods runs the remaining trials of some methods.
func (x regressionRun) methods(
	ctx context.Context,
	methods []string,
	wanted map[string]map[int]Key,
	deliver func(bench.Row),
) error {
	open := map[string]map[int]bool{} // a copy, since Skip and deliver run concurrently
	for _, m := range methods {
		open[m] = map[int]bool{}
		for trial := range wanted[m] {
			open[m][trial] = true
		}
	}
	_, err := bench.Run(ctx, bench.Config{
		Public:  true,
		Data:    []string{x.path},
		Methods: methods,
		Trials:  x.trials,
		Seed:    x.seed,
		Budget: budget.Target{
			Epsilon: bench.DefaultEpsilon,
			Delta:   bench.DefaultDelta,
		},
		Skip: func(_, method string, trial int) bool {
			return !open[method][trial]
		},
	}, deliver)
	return err
}

// stops reports whether an error ends the experiment, rather than one trial of a method.
func stops(ctx context.Context, err error) bool {
	var file *dataset.FileError
	return ctx.Err() != nil || errors.As(err, &file)
}

// outcomeOf converts a row of package bench.
func outcomeOf(r bench.Row) Outcome {
	o := Outcome{Status: OK, Seconds: r.Seconds}
	switch {
	case errors.Is(r.Err, bench.ErrAbstained):
		o.Status, o.Reason = Abstained, r.Err.Error()
	case r.Err != nil:
		o.Status, o.Reason = failed(r.Err).Status, r.Err.Error()
	default:
		o.Values = map[string]float64{bench.MetricR2: r.Value}
	}
	return o
}
