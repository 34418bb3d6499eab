package suite

import (
	"context"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// The names of the methods of seed-004.
const (
	openLogistic    = "nonprivate-logistic"
	publicLogistic  = "public columns only"
	partlyBRC       = "brc"
	partlyPublished = "brc, as published"
	partlyGram      = "joint-gram"
	partlyPATE      = "pate"
	partlyPeople    = "boosting-for-people"
	wholeLogistic   = "logistic, all private"
	wholeOutput     = "logistic with output perturbation, all private"
	wholeBRC        = "brc, all private"
	wholePublished  = "brc, as published, all private"
	wholeGram       = "joint-gram, all private"
)

// These are the public numbers of the PATE extension: records per teacher, teachers and answers.
const (
	pateRecords  = 60
	pateTeachers = 250
	pateQueries  = 500
)

// partlyMethods lists the methods of figures 2 and 3, in the order of the page.
func partlyMethods() []partlyMethod {
	part := budget.SubstitutePrivateColumns
	sub := budget.Substitute
	add := budget.AddRemove
	return []partlyMethod{
		{openLogistic, true, openRun(true)},
		{publicLogistic, true, openRun(false)},
		{partlyBRC, false, fitRun(boosting.BRC{}, part)},
		{partlyPublished, false, publishedRun(part)},
		{partlyGram, false, fitRun(adassp.JointGram{}, part)},
		{partlyPATE, false, pateRun},
		{partlyPeople, false, peopleRun},
		{wholeLogistic, false, fitRun(logistic.Logistic{}, add)},
		{wholeOutput, false, fitRun(logistic.Logistic{Form: logistic.Output}, add)},
		{wholeBRC, false, fitRun(boosting.BRC{}, add)},
		{wholePublished, false, publishedRun(sub)},
		{wholeGram, false, fitRun(adassp.JointGram{}, add)},
	}
}

// openRun is logistic regression without privacy, on all columns or only the public ones.
func openRun(all bool) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		columns := x.train.Schema().Columns
		var used []int
		for j, c := range columns[:len(columns)-1] {
			if all || !c.Private {
				used = append(used, j)
			}
		}
		m, err := baseline.FitOpen(ctx, nonprivate.NonprivateLogistic, x.train, used)
		if err != nil {
			return failed(err)
		}
		return judge(m.Predict(x.test))(x.test)
	}
}

// judge converts a prediction into an outcome.
func judge(classes []int32, err error) func(dataset.View) Outcome {
	return func(test dataset.View) Outcome {
		if err != nil {
			return failed(err)
		}
		return accuracy(classes, test)
	}
}

// records returns the training records under a relation. Only one relation has private columns.
func (x partlyTrial) records(r budget.Relation) (*dataset.Table, error) {
	columns := x.train.Schema().Clone().Columns
	for j := range columns {
		columns[j].Private = columns[j].Private && r == budget.SubstitutePrivateColumns
	}
	return redeclare(x.train, columns)
}

// fitRun runs a method that is available in recipes.
func fitRun(
	model method.Trainer,
	r budget.Relation,
) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		x.target.Relation = r
		t, err := x.records(r)
		if err != nil {
			return failed(err)
		}
		result, err := fitJob{
			model:  model,
			target: x.target,
		}.fit(ctx, t)
		if err != nil {
			return failed(err)
		}
		return judge(predicted(result.Model, x.test))(x.test)
	}
}

// boost runs BRC on its own.
func (x partlyTrial) boost(
	ctx context.Context,
	b boosting.BRC,
	r budget.Relation,
) (*regression.Classifier, error) {
	x.target.Relation = r
	t, err := x.records(r)
	if err != nil {
		return nil, err
	}
	facts := method.Facts{
		Columns:  t.Schema().Columns,
		Relation: r,
	}
	s, ranges, err := priced(ctx, func() (budget.Node, error) {
		return b.Plan(facts)
	}, t.View(), x.target, true)
	if err != nil {
		return nil, err
	}
	fit, err := b.Fit(
		ctx,
		s,
		method.Data{
			Facts:   facts,
			Records: memory.NewRecords(t.View()),
			Ranges:  ranges,
		},
	)
	if err != nil {
		return nil, err
	}
	return fit.Model.(*regression.Classifier), nil
}

// publishedRun is BRC as published.
func publishedRun(r budget.Relation) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		model, err := x.boost(ctx, boosting.BRC{Form: boosting.Paper}, r)
		if err != nil {
			return failed(err)
		}
		return judge(predicted(model, x.test))(x.test)
	}
}

// pateRun answers the first pateQueries of the test records.
func pateRun(ctx context.Context, x partlyTrial) Outcome {
	x.target.Relation = budget.SubstitutePrivateColumns
	p := baseline.PATE{
		Columns: x.train.Schema().Columns,
		Queries: min(pateQueries, x.test.Len()),
		Buckets: min(max(x.train.Len()/pateRecords, 3), pateTeachers),
	}
	s, _, err := priced(ctx, p.Plan, x.train, x.target, false)
	if err != nil {
		return failed(err)
	}
	return judge(p.Run(ctx, s, x.train, x.test))(x.test)
}

func peopleRun(ctx context.Context, x partlyTrial) Outcome {
	x.target.Relation = budget.SubstitutePrivateColumns
	p := baseline.People{Columns: x.train.Schema().Columns}
	s, ranges, err := priced(ctx, p.Plan, x.train, x.target, true)
	if err != nil {
		return failed(err)
	}
	m, err := p.Run(ctx, s, x.train, ranges)
	if err != nil {
		return failed(err)
	}
	return judge(m.Predict(x.test))(x.test)
}
