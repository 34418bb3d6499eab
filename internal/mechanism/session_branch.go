package mechanism

import (
	"fmt"
	"strings"
)

// Close ends the session: nothing is released in it from now on, whoever still holds it.
// What was released stays.
func (s *Session) Close() {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	s.core.closed = true
}

// ready returns an error where nothing can be released now: a session that is closed, a
// try that is over, or a session that waits for the tries of a private selection. The
// caller holds the lock.
func (c *core) ready(path string) error {
	switch {
	case c.closed:
		return fmt.Errorf("%w: %q", ErrClosed, path)
	case c.over:
		return fmt.Errorf("%w: %q, and the try is over", ErrTry, path)
	case c.busy:
		return fmt.Errorf("%w: %q, while a private selection is carried out", ErrTry, path)
	}
	return nil
}

// enter takes the branches that lead to a leaf or a private selection. The price of a
// OneOf is that of its informer and of one branch: the first release in a branch settles
// which it is, and none comes before every draw of the informer. Inside a try the choices
// outside of it are settled already. The caller holds the lock.
func (c *core) enter(path string) error {
	choices := c.priced.Choices(path)
	for _, x := range choices {
		if c.within != "" && !strings.HasPrefix(x.Branch, c.within+"/") {
			continue
		}
		if taken, ok := c.taken[x.OneOf]; ok && taken != x.Branch {
			return fmt.Errorf("%w: %q, and %q was taken", ErrBranch, path, taken)
		}
		for _, informer := range x.Informers {
			if law, _ := c.priced.Law(informer); len(c.spent[informer]) < law.Draws {
				return fmt.Errorf("%w: %q before %q", ErrBranch, path, informer)
			}
		}
	}
	for _, x := range choices {
		c.taken[x.OneOf] = x.Branch
	}
	return nil
}

// finish ends a private selection.
func (c *core) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
}
