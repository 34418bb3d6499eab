//go:build replay

package audit

import (
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// trainerInForm returns the trainer of a method in one of its forms, nil for auto.
func trainerInForm(name, form string) method.Trainer {
	if m, ok := pipeline.TrainerNamed(name); ok {
		return m.New(method.Values{"form": form})
	}
	return nil
}

// formsOf lists the forms of a method, and the default.
func formsOf(name string) []string {
	m, _ := pipeline.TrainerNamed(name)
	k, _ := m.Key("form")
	return append(k.Words, "")
}
