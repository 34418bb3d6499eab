package bench

import (
	"context"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

// openClassifier is openly for a target of classes, the column of that index. Rows
// in no class are left out by the baselines that read classes, and are 0 between
// -1 and +1 to the others, as they are to the private trainers of numbers.
func openClassifier(name string, column dataset.Column, target int, features []int) (trainer, error) {
	fit, err := classBaseline(name)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *dataset.Table) (predictor, error) {
		d := nonprivate.ClassDesign{Target: column.Name, Classes: column.Categories, Labels: t.Codes(target)}
		d.Names, d.X = expand(t, features)
		model, err := fit(ctx, d)
		if err != nil {
			return nil, err
		}
		return expanded(model, features), nil
	}, nil
}

// fitClasses trains a classifier on public rows.
type fitClasses func(context.Context, nonprivate.ClassDesign) (*regression.Classifier, error)

// classBaseline returns a baseline as a classifier: one that reads classes as it
// is, one of numbers as its scores.
func classBaseline(name string) (fitClasses, error) {
	if t, err := nonprivate.ClassBaseline(name); err == nil {
		return t.Fit, nil
	}
	b, err := nonprivate.Baseline(name)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, d nonprivate.ClassDesign) (*regression.Classifier, error) {
		return fitScores(ctx, b, d)
	}, nil
}

// fitScores fits one score of -1 and +1 for two classes, else one for each class
// against the others.
func fitScores(ctx context.Context, b nonprivate.Trainer, d nonprivate.ClassDesign) (*regression.Classifier, error) {
	c := &regression.Classifier{Target: d.Target, Classes: d.Classes}
	numbers := regression.Design{Names: d.Names, X: d.X, Target: d.Target, Y: make([]float64, len(d.Labels))}
	for k := range d.Classes {
		if len(d.Classes) == 2 && k == 0 {
			continue
		}
		for i, code := range d.Labels {
			switch {
			case int(code) == k:
				numbers.Y[i] = 1
			case int(code) < len(d.Classes):
				numbers.Y[i] = -1
			default:
				numbers.Y[i] = 0
			}
		}
		model, err := b.Fit(ctx, numbers)
		if err != nil {
			return nil, err
		}
		c.Scores = append(c.Scores, model)
	}
	return c, nil
}
