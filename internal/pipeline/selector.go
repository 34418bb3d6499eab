package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/selection"
)

// checkSelector refuses a selector whose code is not of this module, unless the caller
// answers for it: a selector is handed the exact records, and its choice is published.
func (p *Pipeline) checkSelector() error {
	selectors := []selection.Selector{p.Selector}
	if p.Search != nil {
		for _, c := range p.Search.Candidates {
			selectors = append(selectors, c.Selector)
		}
	}
	for _, s := range selectors {
		if s != nil && !ownSelector(s) && !p.UncheckedSelector {
			return fmt.Errorf("%w: %q", ErrSelector, s.Name())
		}
	}
	return nil
}
