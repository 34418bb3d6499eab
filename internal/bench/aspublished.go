package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/published"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// asPublished is the name prefix of published variants without a valid proof.
const (
	asPublished      = "as-published-"
	asPublishedTukey = asPublished + "tukey" // the one that trains a model itself
)

// golearnMethods is the name prefix of the methods of golearn.
const golearnMethods = "golearn-"

// givesPrivacy reports whether a model method satisfies its privacy budget: baselines have none, and the proofs
// of published variants fail.
func givesPrivacy(method string) bool {
	return !slices.Contains(recipe.AvailableInBench(), method)
}

// Uint64 makes the generator a source of public experiments.
func (g *generator) Uint64() uint64 {
	return g.next()
}

// publishedTrainer trains a published variant. A variant that selects columns spends the default share of
// epsilon on that and the rest on joint-gram with the selected columns.
//
// Its randomness is public, because an experiment on public data protects no records. seed differs between
// trials, which can therefore be repeated.
func publishedTrainer(
	name string,
	p *pipeline.Pipeline,
	seed uint64,
) (trainer, error) {
	target := p.Schema.Index(p.Target)
	features := len(p.Schema.Columns) - 1
	method, err := published.New(name,
		published.Options{K: min(selection.DefaultK, max(1, features-1))})
	if err != nil {
		return nil, err
	}
	epsilon := p.Budget.Epsilon
	if name != asPublishedTukey {
		epsilon *= pipeline.DefaultSelectionShare
	}
	return func(ctx context.Context, t *dataset.Table) (predictor, error) {
		fitted, err := method.Fit(
			ctx,
			newGenerator(seed, fingerprint(t)),
			t.View(),
			target,
			epsilon,
			p.Budget.Delta,
		)
		if err != nil {
			return predictor{}, err
		}
		if m := fitted.Model; m != nil {
			return predictor{predict: func(t *dataset.Table) ([]float64, error) {
				return m.Predict(nil, pipeline.RowsOf(t.View()))
			}}, nil
		}
		chosen := make([]string, 0, len(fitted.Columns))
		seen := map[int]bool{}
		for _, j := range fitted.Columns {
			if !seen[j] {
				chosen = append(chosen, p.Schema.Columns[j].Name)
			}
			seen[j] = true
		}
		after := *p
		after.Selector = selection.Fixed{Features: chosen}
		after.Model = adassp.JointGram{}
		after.Budget.Epsilon = p.Budget.Epsilon - epsilon
		if after.Budget.Epsilon <= 0 {
			return predictor{},
				fmt.Errorf("%w: nothing is left of epsilon %v", published.ErrBudget,
					p.Budget.Epsilon)
		}
		plan, err := after.Plan()
		if err != nil {
			return predictor{}, err
		}
		return newPrivateTrainer(&after, plan)(ctx, t)
	}, nil
}

// fingerprint distinguishes the training parts of trials by their first rows.
func fingerprint(t *dataset.Table) uint64 {
	h := uint64(t.Len())
	for i := range min(t.Len(), 64) {
		h = (h ^ t.ID(i)) * 0x100000001b3
	}
	return h
}
