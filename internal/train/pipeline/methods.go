package pipeline

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/costtree"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/prototypes"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// Trainers lists the methods that can train a model, in the order of recipes and messages. Recipes, the command
// line, the audit and the documentation derive from this list; a new method is one more entry.
func Trainers() []method.Method {
	return []method.Method{
		adassp.JointGram{}.Method(),
		adassp.AdaSSP{}.Method(),
		boosting.BoostedAdaSSP{}.Method(),
		tukey.Tukey{}.Method(),
		boosting.Additive{}.Method(),
		boosting.Kernel{}.Method(),
		boosting.BRC{}.Method(),
		svm.SVM{}.Method(),
		logistic.Logistic{}.Method(),
		costtree.CostTree{}.Method(),
		prototypes.Prototypes{}.Method(),
	}
}

// Auto is the name of the automatic choice, for a pipeline without a model. It depends on public facts:
// [boosting.Kernel] for a number or two classes under tight composition, or [logistic.Logistic] for these if a
// noisy count shows few records; [prototypes.Prototypes] for more classes; [adassp.JointGram] under basic
// composition.
const Auto = "auto"

// TrainerNamed returns the method of that name.
func TrainerNamed(name string) (method.Method, bool) {
	list := Trainers()
	i := slices.IndexFunc(list, func(m method.Method) bool {
		return m.Name == name
	})
	if i < 0 {
		return method.Method{}, false
	}
	return list[i], true
}

// TrainerFromSettings returns the trainer for a value of the settings type of a method, and whether there is one.
func TrainerFromSettings(value any) (method.Trainer, bool) {
	for _, m := range Trainers() {
		if t, ok := m.FromSettings(value); ok {
			return t, true
		}
	}
	return nil, false
}

// methodOf returns the method of a trainer, which must be of the type that it makes: what others do with the records that they
// are handed has not been checked.
func methodOf(t method.Trainer) (method.Method, error) {
	m, ok := TrainerNamed(nameOf(t))
	if !ok || !m.Is(t) {
		return method.Method{}, fmt.Errorf("%w: %q", ErrModel, nameOf(t))
	}
	return m, nil
}

// nameOf returns the name of a trainer, or [Auto] for nil.
func nameOf(t method.Trainer) string {
	if t == nil {
		return Auto
	}
	return t.Name()
}

// ModelName returns the name of the method of Model, [Auto] if it is nil.
func (p *Pipeline) ModelName() string {
	return nameOf(p.Model)
}

// namesOf lists the names of the methods for which holds returns true.
func namesOf(holds func(method.Method) bool) []string {
	var out []string
	for _, m := range Trainers() {
		if holds(m) {
			out = append(out, m.Name)
		}
	}
	return out
}

// Methods lists the model methods of a task.
func Methods(task string) []string {
	return namesOf(func(m method.Method) bool {
		return slices.Contains(m.Tasks(), task)
	})
}

// PrivateColumnsMethods lists the model methods that use the public columns under
// [budget.SubstitutePrivateColumns] if the target is public. The others run there too: tables that differ in the private
// columns of one record differ in one record, so the sensitivities of [budget.Substitute] apply.
func PrivateColumnsMethods() []string {
	return namesOf(func(m method.Method) bool {
		return m.Supports(budget.SubstitutePrivateColumns)
	})
}

// PrivateTargetMethods lists the model methods that make use of public features with a private target.
func PrivateTargetMethods() []string {
	return namesOf(func(m method.Method) bool {
		return m.PublicFeatures
	})
}

// MayAbstain reports whether a run of a method may end without a model.
func MayAbstain(name string) bool {
	m, _ := TrainerNamed(name)
	return m.Abstains
}
