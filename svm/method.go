package svm

import "github.com/dptrain/dptrain/internal/method"

// The forms of [Logistic], as recipes name them.
const (
	Gradients = "gradients" // releases noisy gradients
	Output    = "output"    // releases the minimiser with noise
)

// Method describes the trainer.
func (SVM) Method() method.Method {
	return method.Method{
		Name: SVM{}.Name(), Summary: "the support vector machine, released with noise",
		ClassesFrom: 2, Relations: method.EveryRecord(),
		New: func(method.Values) method.Trainer { return SVM{} },
	}
}

// Method describes the trainer.
func (Logistic) Method() method.Method {
	return method.Method{
		Name: Logistic{}.Name(), Summary: "logistic regression, by noisy gradients or a noisy minimiser",
		ClassesFrom: 2, Relations: method.EveryRecord(),
		Keys: []method.Key{{
			Name: "form", Kind: method.Word, Text: "The form of the method", Own: "gradients, or output (noise on the minimiser)",
			Words: []string{Gradients, Output},
			Doc:   "Of `logistic`: `gradients` releases noisy gradients, `output` the minimiser with noise.",
		}},
		New: func(v method.Values) method.Trainer { return Logistic{Form: v.Word("form")} },
	}
}
