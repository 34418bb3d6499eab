package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// The forms of BRC, as recipes name them (docs/methods/brc.md).
const (
	// BRCGaussian has Gaussian noise on a sum, 100 rounds, and starts from the
	// public columns.
	BRCGaussian = "gaussian"
	// BRCLaplace is that with Laplace noise, which a run with delta 0 needs.
	BRCLaplace = "laplace"
	// BRCPaper is the algorithm as published: 25 rounds, Laplace noise on a ratio,
	// random classifiers of all columns. It needs a public number of records.
	BRCPaper = "paper"
)

// ErrForm is returned for a form that a method does not have.
var ErrForm = errors.New("pipeline: unknown form of a method")

// Forms lists the forms that a method has, the default first; nil for one that has none.
func Forms(method string) []string {
	switch method {
	case BRC:
		return []string{BRCGaussian, BRCLaplace, BRCPaper}
	case Logistic:
		return []string{LogisticGradients, LogisticOutput}
	}
	return nil
}

// checkForm refuses a form that the model's method does not have.
func (p *Pipeline) checkForm() error {
	if p.Form != "" && !slices.Contains(Forms(p.Model), p.Form) {
		return fmt.Errorf("%w: model %q, form %q; use one of %v", ErrForm, p.Model, p.Form, Forms(p.Model))
	}
	return nil
}

// brc is boosting with random classifiers.
type brc struct{ boosting.BRC }

// brc returns the trainer of a setting.
func (x setting) brc() (trainer, error) {
	t := boosting.BRC{Columns: x.columns, Relation: x.relation, Rounds: x.rounds}
	switch x.form {
	case "", BRCGaussian:
	case BRCLaplace:
		t.Laplace = true
	case BRCPaper:
		t.AsPublished = true
	default:
		return nil, fmt.Errorf("%w: brc %q; use one of %v", ErrForm, x.form, Forms(BRC))
	}
	return brc{t}, nil
}

// Run trains; see [trainer].
func (t brc) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fit, err := t.BRC.Run(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	return &fitted{classifier: fit.Model, scale: logOdds}, nil
}
