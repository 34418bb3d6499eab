package pipeline

import "github.com/dptrain/dptrain/internal/train/method"

// defaultTrainer returns the default trainer of a method, nil for auto, and a trainer from outside this module for an unknown
// name.
func defaultTrainer(name string) method.Trainer {
	if name == "" || name == Auto {
		return nil
	}
	if m, ok := TrainerNamed(name); ok {
		return m.New(nil)
	}
	return stranger{name: name}
}

// trainerInForm is like defaultTrainer for a form of the method.
func trainerInForm(name, form string) method.Trainer {
	if m, ok := TrainerNamed(name); ok {
		return m.New(method.Values{"form": form})
	}
	return defaultTrainer(name)
}

type stranger struct {
	method.Trainer
	name string
}

func (x stranger) Name() string {
	return x.name
}
