package bench

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/astc"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// errExactClasses is the answer to an exact form in a classification with more classes than two.
var errExactClasses = errors.New("exact trees support only numeric targets and two classes")

// exactRidge is added to the second moments of the exact trees.
const exactRidge = 1e-3

// exact are the exact forms of methods whose features have a cost, which package astc of the experiments has. Each
// takes a table without the target in its rows, which are scaled or standardised.
var exact = map[string]exactForm{
	"nonprivate-cost-tree":      {astc.Scaled, exactTree},
	"nonprivate-cost-tree-soft": {astc.Scaled, exactTree},
	"nonprivate-cstc":           {astc.Scaled, exactCSTC},
	"nonprivate-cost-logistic":  {astc.Standardised, exactLogistic},
}

type exactForm struct {
	encode func(train *dataset.Table, columns []int) astc.Encoder
	fit    func(ctx context.Context, t astc.Table, s recipe.Exact) (exactModel, error)
}

// An exactModel returns the score and the cost of every row.
type exactModel func(rows [][]float64) (scores, paid []float64)

func exactTree(
	ctx context.Context,
	t astc.Table,
	s recipe.Exact,
) (exactModel, error) {
	f, err := astc.Fit(
		ctx,
		t,
		astc.Options{
			Depth:  s.Depth,
			Budget: s.Budget,
			Soft:   s.Soft,
			Ridge:  exactRidge,
		},
	)
	if err != nil {
		return nil, err
	}
	return f.Predict, nil
}

func exactCSTC(
	ctx context.Context,
	t astc.Table,
	s recipe.Exact,
) (exactModel, error) {
	f, err := astc.CSTC(ctx, t, astc.CSTCOptions{
		Depth:  s.Depth,
		Lambda: s.Penalty,
	})
	if err != nil {
		return nil, err
	}
	return f.Predict, nil
}

func exactLogistic(
	ctx context.Context,
	t astc.Table,
	s recipe.Exact,
) (exactModel, error) {
	beta, err := astc.Logistic(ctx, t, s.Penalty, nil)
	if err != nil {
		return nil, err
	}
	return func(rows [][]float64) (scores, paid []float64) {
		return t.Scores(beta, rows)
	}, nil
}

// newExactTrainer trains an exact form on the columns that the pipeline's selector keeps.
func newExactTrainer(
	form exactForm,
	s recipe.Exact,
	p *pipeline.Pipeline,
) (trainer, error) {
	target := p.Schema.Index(p.Target)
	classes := p.Task == regression.TaskClassification
	if classes && len(p.Schema.Columns[target].Categories) > 2 {
		return nil, errExactClasses
	}
	features, err := publicChoice(p, target)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, train *dataset.Table) (predictor, error) {
		read := exactTarget{
			target:  target,
			classes: classes,
		}
		train, y := read.recordsWithTarget(train)
		enc := form.encode(train, features)
		t := enc.Table(train)
		t.Y = y
		for k, j := range features {
			if price, is := s.Costs[train.Schema().Columns[j].Name]; is {
				t.Cost[k] = price
			}
		}
		model, err := form.fit(ctx, t, s)
		if err != nil {
			return predictor{}, err
		}
		return predictor{
			predict: func(t *dataset.Table) ([]float64, error) {
				scores, _ := model(enc.Table(t).Rows)
				return read.predictionsOf(scores), nil
			},
			costs: func(t *dataset.Table) ([]float64, error) {
				_, paid := model(enc.Table(t).Rows)
				return paid, nil
			},
		}, nil
	}, nil
}

// exactTarget reads targets: -1 and +1 for two classes, numbers with the mean 0 and the variance 1.
type exactTarget struct {
	target  int
	classes bool
	mean    float64
	sd      float64
}

// recordsWithTarget returns the records that have a target, and their targets.
func (x *exactTarget) recordsWithTarget(t *dataset.Table) (*dataset.Table, []float64) {
	var keep []int32
	var y []float64
	if x.classes {
		for i, code := range t.Codes(x.target) {
			if code < 2 {
				keep = append(keep, int32(i))
				y = append(y, 2*float64(code)-1)
			}
		}
		return t.Select(keep).Compact(), y
	}
	for i, v := range t.Float(x.target) {
		if v == v {
			keep = append(keep, int32(i))
			y = append(y, v)
		}
	}
	x.mean, x.sd = stat.PopMeanStdDev(y, nil)
	x.sd = max(x.sd, math.SmallestNonzeroFloat64)
	for i := range y {
		y[i] = (y[i] - x.mean) / x.sd
	}
	return t.Select(keep).Compact(), y
}

// predictionsOf returns predictions from scores: codes of classes, or numbers in original units.
func (x *exactTarget) predictionsOf(scores []float64) []float64 {
	for i, s := range scores {
		switch {
		case !x.classes:
			scores[i] = x.mean + x.sd*s
		case s > 0:
			scores[i] = 1
		default:
			scores[i] = 0
		}
	}
	return scores
}
