package pipeline

import (
	"errors"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// TestEveryMethodUnderEveryRelation checks that no selector and no model is refused because of the relation. The only
// other valid reason is a task that the method does not support.
func TestEveryMethodUnderEveryRelation(t *testing.T) {
	relations := []budget.Relation{budget.AddRemove, budget.Substitute,
		budget.SubstitutePrivateColumns}
	planned := 0
	for _, rel := range relations {
		for _, task := range []string{regression.TaskRegression, regression.TaskClassification} {
			for _, s := range Selectors() {
				for _, m := range Trainers() {
					if task == regression.TaskRegression &&
						(s.NeedsClasses || m.ClassesOnly()) {
						continue
					}
					if s.Name != "kendall" && m.Name != "joint-gram" { // the rules look at one stage at a time
						continue
					}
					p := &Pipeline{
						Task: task, Target: "y", Holdout: .2, Model: m.New(nil),
						Selector: s.New(
							SelectorSettings{
								K:      2,
								Share:  .1,
								Values: method.Values{"features": []string{"a", "b"}},
							}),
						Budget: budget.Target{
							Epsilon:     8,
							Delta:       1e-5,
							Relation:    rel,
							Composition: budget.Basic,
						}, // which is priced fastest
					}
					for _, name := range []string{
						"a", "b", "c",
						"d",
					} {
						private := rel == budget.SubstitutePrivateColumns && name != "a"
						p.Schema.Columns = append(
							p.Schema.Columns,
							dataset.Column{
								Name:    name,
								Ranged:  true,
								Lower:   -1,
								Upper:   1,
								Private: private,
							},
						)
					}
					target := dataset.Column{
						Name:   "y",
						Ranged: true,
						Lower:  -1,
						Upper:  1,
					}
					if task == regression.TaskClassification {
						target = dataset.Column{
							Name:       "y",
							Kind:       dataset.Category,
							Categories: []string{"no", "yes"},
							Labels:     true,
						}
					}
					p.Schema.Columns = append(p.Schema.Columns, target)
					if _, err := p.Plan(); err != nil {
						t.Errorf(
							"%v, %s, %s, %s: %v",
							rel, task, s.Name, m.Name, err,
						)
						if errors.Is(err, ErrRelation) {
							t.Error("it is refused because of the relation")
						}
						continue
					}
					planned++
				}
			}
		}
	}
	if planned < 70 {
		t.Errorf("%d combinations were planned", planned)
	}
}
