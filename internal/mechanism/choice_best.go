package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/noise"
)

// A Winner is the best try of a private selection.
type Winner[T any] struct {
	Candidate int     // which candidate it was of, in the order of the plan
	Result    T       // what it returned
	Score     float64 // by which it won; -Inf if no try had a score
}

// Best carries out the private selection that is planned as the node name: it
// draws the number of tries K from the node's law, calls try K times, each time
// with a candidate drawn uniformly and a session at that candidate's node, and
// returns the try with the largest score; of equal ones the first. A score that is
// not a number is below all others. How often try was called is no part of the
// result, and whoever writes try must let it reach nothing that leaves: no
// message, count, file or timing of a single try.
//
// Inside a try every leaf of its candidate can be spent, once; leaves of other
// candidates and of the rest of the plan cannot, in this session neither until Best
// returns, and nothing can after the try is over. Noise, coins and public streams are keyed by (run key, try, path), so
// those of two tries are independent. [Session.Events] then shows the winner's
// releases as if there had been one try, and none of the other candidates',
// whether they were tried or not.
//
// The result and the score must follow from what was released, and try must not
// look at how earlier tries ended. It must not be told to stop early. The law
// must have eta = 0, the logarithmic law, or Best returns [ErrLaw]; a node that
// is no selection is [ErrUnknownLeaf], one that was begun before [ErrSpent], and
// one inside a try [ErrTry]. An error of try ends the selection and is returned.
//
// In a session of [NewRehearsal], which sees no records, every candidate is tried once
// and the first is returned: the best of a number of tries that is known would cost more
// than the plan has priced, if records were there all the same.
//
// # Why it is private
//
// A try is a run of one mechanism Q: a candidate, its releases, its result with the
// score. The tries are independent and equal in law, K is independent of
// all of them and secret, and the maximum is over a total order, so this is
// Algorithm 1 of N. Papernot and T. Steinke ("Hyperparameter tuning with Rényi
// differential privacy", 2022), whose Theorem 2 is the price of the node. Three
// details:
//
//   - Ties. Let every output of Q carry a uniform number of its own, which no
//     record has a part in, and order by (score, number). That order is total and
//     Q as private as before. The tries are exchangeable, so the first of the
//     best ones is distributed as the one with the largest number.
//   - Errors. An error counts as a score above all others; ending at the first is
//     then only a shorter way to the same output. Errors do not depend on a record
//     anyway.
//   - The split into records that train and records that score, and the cap on a
//     privacy unit, come from coins drawn before the first try. Given them the
//     tries are independent and the theorem holds; the mixture over the coins is
//     no less private.
func Best[T any](s *Session, name string, try func(candidate int, s *Session) (T, float64, error)) (Winner[T], error) {
	best := Winner[T]{Score: math.Inf(-1)}
	runs, candidates, err := s.beginSelection(name)
	if err != nil {
		return best, err
	}
	defer s.core.endSelection()
	var events map[string]Event
	for i := 1; i <= runs; i++ {
		t, c := s.newTry(name, i, candidates)
		result, score, err := try(c, t)
		won := t.core.endTry()
		if err != nil {
			return Winner[T]{}, err
		}
		if events == nil || score > best.Score && !s.core.isRehearsal() {
			if score != score {
				score = math.Inf(-1)
			}
			best, events = Winner[T]{c, result, score}, won
		}
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for path, e := range events {
		s.core.events[path] = e
	}
	return best, nil
}

// beginSelection takes the selection at name, draws K and lists the candidates.
func (s *Session) beginSelection(name string) (runs int, candidates []string, err error) {
	path := s.childPath(name)
	law, candidates, ok := s.core.priced.Selection(path)
	switch {
	case !ok:
		return 0, nil, fmt.Errorf("%w: %q is no private selection", ErrUnknownLeaf, path)
	case s.core.try > 0:
		return 0, nil, fmt.Errorf("%w: %q is a selection inside a try", ErrTry, path)
	case law.Eta != 0:
		return 0, nil, fmt.Errorf("%w: the number of tries of %q has eta %v, and 0 alone can be drawn", ErrLaw, path, law.Eta)
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if s.core.tries[path] {
		return 0, nil, fmt.Errorf("%w: the selection %q", ErrSpent, path)
	}
	if err := s.core.checkReady(path); err != nil {
		return 0, nil, err
	}
	if err := s.core.takeBranches(path); err != nil {
		return 0, nil, err
	}
	s.core.tries[path], s.core.busy = true, true
	if s.core.isRehearsal() {
		return len(candidates), candidates, nil
	}
	return s.core.tap.watchTries(path, noise.NewStream(s.core.key.Derive("tries", path, 0)).Logarithmic(law.Gamma)), candidates, nil
}

// newTry returns a session for try i, from 1, and its candidate. Its key is that of
// a run of its own, derived from the run key, the selection and the try.
func (s *Session) newTry(name string, i int, candidates []string) (*Session, int) {
	path := s.childPath(name)
	c := newCore(s.core.priced)
	c.key, c.tap, c.try, c.narrow = s.core.key.Derive("try", path, uint64(i)), s.core.tap, i, s.core.narrow
	j := int(noise.NewStream(c.key.Derive("candidate", path, 0)).Uniform(uint64(len(candidates))))
	if c.isRehearsal() {
		j = i - 1
	}
	c.within = path + "/" + candidates[j]
	return c.sessionAt(c.within), j
}

// endTry closes a try and returns what it released.
func (c *core) endTry() map[string]Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.events
}
