package mechanism

import (
	"fmt"
	"strings"
)

// Close ends the session. Later releases fail with [ErrClosed].
func (s *Session) Close() {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	s.core.closed = true
}

// checkReady returns an error if the session is closed, if its try is over or if it waits for the
// tries of a private selection. The caller holds the lock.
func (c *runState) checkReady(path string) error {
	switch {
	case c.closed:
		return fmt.Errorf("%w: %q", ErrClosed, path)
	case c.over:
		return fmt.Errorf("%w: %q, and the try is over", ErrTry, path)
	case c.busy:
		return fmt.Errorf(
			"%w: %q, while a private selection is carried out",
			ErrTry,
			path,
		)
	}
	return nil
}

// takeBranches takes the branches that lead to a leaf or a private selection, or returns
// [ErrBranch]. The price of a Branches node covers its informers and one branch. The first release in a
// branch takes this branch, and it must follow every draw of the informers. Inside a try the
// choices outside the try have been made. The caller holds the lock.
func (c *runState) takeBranches(path string) error {
	choices := c.priced.Choices(path)
	for _, x := range choices {
		if c.within != "" && !strings.HasPrefix(x.Branch, c.within+"/") {
			continue
		}
		if taken, ok := c.taken[x.Node]; ok && taken != x.Branch {
			return fmt.Errorf("%w: %q, and %q was taken", ErrBranch, path, taken)
		}
		for _, informer := range x.Informers {
			if law, _ := c.priced.Law(informer); len(c.spent[informer]) < law.Draws {
				return fmt.Errorf("%w: %q before %q", ErrBranch, path, informer)
			}
		}
	}
	for _, x := range choices {
		c.taken[x.Node] = x.Branch
	}
	return nil
}

// endSelection ends a private selection.
func (c *runState) endSelection() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
}
