package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// errPrivateSelection is the answer to a recipe whose selection spends budget
// and whose model gives no privacy.
var errPrivateSelection = errors.New(
	"a private selection cannot be combined with a non-private model")

// errPublishedTask is the answer to a published variant in a classification.
var errPublishedTask = errors.New("this published variant is for regression only")

// errOpenTransform is the answer to a recipe that transforms the target of a model without privacy.
var errOpenTransform = errors.New("a transform of the target is only for private models")

// predictor predicts the rows of a table in order.
type predictor struct {
	predict func(t *dataset.Table) ([]float64, error)
	// costs returns the cost of the features for each row; nil if features have no cost.
	costs func(t *dataset.Table) ([]float64, error)
}

// trainer fits a model to every row of a table. It may be called from several
// goroutines at once.
type trainer func(ctx context.Context, t *dataset.Table) (predictor, error)

// newContender plans a method for a table. What is in the way is kept in err.
func newContender(
	m *method,
	header []string,
	target string,
	facts tableFacts,
	seed uint64,
) *contender {
	k := &contender{method: m, features: len(header) - 1}
	r := m.recipe
	k.private = givesPrivacy(r.Model.Method)
	r.Holdout = 0
	if r.Data.Target == "" {
		r.Data.Target = target
	}
	if !m.file {
		r.Data.Classes = recipe.Names{List: facts.classes}
		r.Data.Columns = facts.columns
	}
	p, err := r.Pipeline(header)
	if err != nil {
		k.err = err
		return k
	}
	k.schema, k.features, k.target = p.Schema, len(p.Schema.Columns)-1, p.Schema.Index(p.Target)
	if r.Task == regression.TaskClassification && k.target >= 0 {
		k.classes = p.Schema.Columns[k.target].Categories
	}
	if k.private {
		var plan *pipeline.Plan
		if plan, k.err = p.Plan(); k.err == nil {
			k.trainer = newPrivateTrainer(p, plan)
		}
		return k
	}
	if classes := k.classes != nil; k.target < 0 || classes && len(k.classes) < 2 ||
		!classes && p.Schema.Columns[k.target].Kind != dataset.Numeric {
		k.err = fmt.Errorf("%w: %q", pipeline.ErrTarget, p.Target)
		return k
	}
	if p.Transform != rescale.None {
		k.err = errOpenTransform
		return k
	}
	form, exactForm := exact[r.Model.Method]
	switch published := strings.HasPrefix(r.Model.Method, asPublished); {
	case exactForm:
		k.trainer, k.err = newExactTrainer(form, r.Model.Exact(), p)
	case published && k.classes != nil:
		k.err = errPublishedTask
	case published:
		k.trainer, k.err = publishedTrainer(r.Model.Method, p, seed)
	case strings.HasPrefix(r.Model.Method, golearnMethods):
		k.trainer, k.err = byGolearn(r.Model.Method, p, seed)
	default:
		k.trainer, k.err = newBaselineTrainer(r.Model.Method, p)
	}
	return k
}

// newPrivateTrainer trains as every private run does, without a held-out part of its
// own. Every call of the trainer is one run more of the plan, which p made: it takes longer to price than a small
// table takes to train on.
func newPrivateTrainer(p *pipeline.Pipeline, plan *pipeline.Plan) trainer {
	return func(ctx context.Context, t *dataset.Table) (predictor, error) {
		result, err := p.FitPlan(ctx, plan.Again(), t, pipeline.Options{})
		if err != nil {
			return predictor{}, err
		}
		if result.Model == nil {
			return predictor{}, ErrAbstained
		}
		return predictor{
			predict: func(t *dataset.Table) ([]float64, error) {
				return result.Model.Predict(nil, pipeline.RowsFor(result.Model, t.View()))
			},
			costs: costsOf(result.Model),
		}, nil
	}
}

// costsOf returns a function that computes the cost of the features that a model reads, for each row of a
// table; nil if they have no cost.
func costsOf(m regression.Model) func(t *dataset.Table) ([]float64, error) {
	x, ok := m.(interface {
		CostsOf(dst []float64, rows regression.Rows) ([]float64, error)
	})
	if c, classes := m.(*regression.Classifier); !ok || classes && !isTree(c.Scores[0]) {
		return nil
	}
	return func(t *dataset.Table) ([]float64, error) {
		return x.CostsOf(nil, pipeline.RowsFor(m, t.View()))
	}
}

func isTree(m regression.Model) bool {
	_, ok := m.(*regression.Tree)
	return ok
}

// newBaselineTrainer trains a baseline of package nonprivate on the columns that the
// pipeline's selector keeps.
func newBaselineTrainer(name string, p *pipeline.Pipeline) (trainer, error) {
	target := p.Schema.Index(p.Target)
	features, err := publicChoice(p, target)
	if err != nil {
		return nil, err
	}
	train, err := nonprivate.ForTable(name, p.Task == regression.TaskClassification)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *dataset.Table) (predictor, error) {
		model, err := train(ctx, t.View(), target, features)
		if err != nil {
			return predictor{}, err
		}
		return predictor{predict: func(t *dataset.Table) ([]float64, error) {
			return model.Predict(t.View())
		}}, nil
	}, nil
}

// publicChoice returns the columns that a selector keeps without looking at a
// row.
func publicChoice(p *pipeline.Pipeline, target int) ([]int, error) {
	facts := selection.Facts{
		Target:   p.Schema.Columns[target],
		Relation: p.Budget.Relation,
	}
	var columns []int
	for j, c := range p.Schema.Columns {
		if j != target {
			facts.Columns = append(facts.Columns, c)
			columns = append(columns, j)
		}
	}
	_, private, err := p.Selector.Plan(facts)
	switch {
	case err != nil:
		return nil, err
	case private:
		return nil, errPrivateSelection
	case len(columns) == 0:
		return nil, pipeline.ErrNoFeature
	}
	kept, err := p.Selector.Select(
		context.Background(),
		nil,
		facts,
		memory.NewRecords(dataset.View{}),
	)
	for i, j := range kept {
		kept[i] = columns[j]
	}
	return kept, err
}
