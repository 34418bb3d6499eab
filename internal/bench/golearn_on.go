//go:build golearn || replay

package bench

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/golearn"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// byGolearn trains a method of golearn on the columns that the pipeline's selector keeps. seed differs between trials,
// which can therefore be repeated.
func byGolearn(
	name string,
	p *pipeline.Pipeline,
	seed uint64,
) (trainer, error) {
	target := p.Schema.Index(p.Target)
	features, err := publicChoice(p, target)
	if err != nil {
		return nil, err
	}
	train, err := golearn.ForTable(name, p.Task == regression.TaskClassification)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *dataset.Table) (predictor, error) {
		model, err := train(
			ctx,
			newGenerator(seed, fingerprint(t)),
			t.View(),
			target,
			features,
		)
		if err != nil {
			return predictor{}, err
		}
		return predictor{predict: func(t *dataset.Table) ([]float64, error) {
			return model.Predict(ctx, t.View())
		}}, nil
	}, nil
}
