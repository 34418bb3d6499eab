package pipeline

import (
	"errors"
	"fmt"
	"slices"
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

// The forms of Logistic, as recipes name them (docs/logistic.md).
const (
	// LogisticGradients releases noisy gradients.
	LogisticGradients = "gradients"
	// LogisticOutput releases the minimiser with noise.
	LogisticOutput = "output"
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
