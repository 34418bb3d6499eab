package pipeline

import (
	"flag"
	"os"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
)

// TestMain limits the landmarks of kernels, which take most of the time of a fit, unless tests are to try everything or noise
// is fresh: then odds of false alarms were found with the default.
func TestMain(m *testing.M) {
	flag.Parse()
	if !testkit.Full() && !isExhaustive() {
		autoKernel.Landmarks = 60
	}
	os.Exit(m.Run())
}

// defaultTrainer returns the default trainer of a method, with few landmarks if it is a kernel, nil for auto, and a trainer
// from outside this module for an unknown name.
func defaultTrainer(name string) method.Trainer {
	if name == "" || name == Auto {
		return nil
	}
	if m, ok := TrainerNamed(name); ok {
		t := m.New(nil)
		if t == method.Trainer(boosting.Kernel{}) {
			return autoKernel
		}
		return t
	}
	return stranger{name: name}
}

// trainerInForm is like defaultTrainer for a form of the method.
func trainerInForm(name, form string) method.Trainer {
	if m, ok := TrainerNamed(name); ok && form != "" {
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
