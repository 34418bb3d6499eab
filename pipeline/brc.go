package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
	"github.com/dptrain/dptrain/scaling"
)

// The forms of BRC, as recipes name them (docs/brc.md).
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

// BRCForms lists the forms of BRC.
func BRCForms() []string { return []string{BRCGaussian, BRCLaplace, BRCPaper} }

// ErrForm is returned for a form that BRC does not have.
var ErrForm = errors.New("pipeline: unknown form of brc")

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
		return nil, fmt.Errorf("%w: %q; use one of %v", ErrForm, x.form, BRCForms())
	}
	return brc{t}, nil
}

// Run trains; see [trainer].
func (t brc) Run(ctx context.Context, s *mechanism.Session, v dataset.View, ranges []scaling.Range) (*fitted, error) {
	fit, err := t.BRC.Run(ctx, s, v, ranges)
	if err != nil {
		return nil, err
	}
	return &fitted{classifier: fit.Model}, nil
}
