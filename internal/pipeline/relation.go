package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/selection"
)

// checkRelation refuses stages that do not support the run's relation.
//
// Under private columns the target and every column that is not private are
// public. No selector makes use of that, and one that did not know would be
// charged for protecting public columns, so only those that release nothing run.
func (p *Pipeline) checkRelation() error {
	switch p.Budget.Relation {
	case budget.AddRemove, budget.Substitute:
		return nil
	case budget.SubstitutePrivateColumns:
	default:
		return fmt.Errorf("%w: %v", ErrRelation, p.Budget.Relation)
	}
	private := false
	for _, c := range p.Schema.Columns {
		if c.Private && c.Name == p.Target {
			return fmt.Errorf("%w: under %v the target is public, and %q is marked as private", ErrRelation, p.Budget.Relation, p.Target)
		}
		private = private || c.Private
	}
	if !private {
		return fmt.Errorf("%w: %v needs at least one private column", ErrRelation, p.Budget.Relation)
	}
	switch p.Selector.(type) {
	case nil, selection.None, selection.Fixed:
	default:
		return fmt.Errorf("%w: selection %q under %v; use none or fixed", ErrRelation, p.Selector.Name(), p.Budget.Relation)
	}
	if p.Model == nil {
		return nil
	}
	if m, err := methodOf(p.Model); err != nil || m.Supports(p.Budget.Relation) {
		return err
	}
	return fmt.Errorf("%w: model %q under %v; use one of %v", ErrRelation, p.Model.Name(), p.Budget.Relation, PrivateColumnsMethods())
}
