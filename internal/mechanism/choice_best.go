package mechanism

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/noise"
)

// A Winner is the best try of a private selection.
type Winner[T any] struct {
	Candidate int     // index of the candidate, in the order of the plan
	Result    T       // result of the try
	Score     float64 // score of the try; -Inf if no try had a score
}

// Best runs the private selection that is planned as the node name. It draws the
// number of tries K from the distribution of the node and calls try K times, each
// time with a candidate drawn uniformly and a session at that candidate's node. It
// returns the first try with the largest score; a NaN score is below all others. The
// number of tries must stay secret, so try must not reveal it by messages, counts,
// files or timings.
//
// Inside a try each leaf of its candidate can be spent once, and no other leaf can.
// Until Best returns, s cannot spend leaves either, and the session of a try cannot
// after the try is over. Noise, coins and public streams are keyed by (run key, try,
// path), so those of two tries are independent. Afterwards [Session.Events] shows the
// winner's releases as if there had been one try, and no releases of other candidates.
//
// The result and the score must be functions of released values, and try must not
// depend on earlier tries or stop early. Best returns [ErrLaw] unless the
// distribution has eta = 0 (the logarithmic distribution), [ErrUnknownLeaf] for a node
// that is not a selection, [ErrSpent] for a selection that has started before, and
// [ErrTry] for one inside a try. An error of try ends the selection and is returned.
//
// In a session of [NewRehearsal], which has no records, every candidate is tried once
// and the first is returned. With records, the best of a known number of tries would
// cost more than the plan has priced.
//
// # Privacy
//
// A try is a run of one mechanism Q: a candidate, its releases, and its result with the
// score. The tries are independent and identically distributed, K is secret and
// independent of them, and the maximum is over a total order, so this is Algorithm 1 of
// N. Papernot and T. Steinke ("Hyperparameter tuning with Rényi differential privacy",
// 2022), whose Theorem 2 is the price of the node. Three details:
//
//   - Ties. Let every output of Q carry a uniform number that is independent of the
//     records, and order by (score, number). That order is total and Q as private as
//     before. The tries are exchangeable, so the first of the best tries is distributed
//     as the one with the largest number.
//   - Errors. An error counts as a score above all others, so stopping at the first
//     error gives the same output. Errors do not depend on a record anyway.
//   - The split into training and scoring records and the cap on a privacy unit come
//     from coins drawn before the first try. Given the coins the tries are independent
//     and the theorem holds; the mixture over the coins is no less private.
func Best[T any](
	s *Session,
	name string,
	try func(candidate int, s *Session) (T, float64, error),
) (Winner[T], error) {
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
			best = Winner[T]{c, result, score}
			events = won
		}
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for path, e := range events {
		s.core.events[path] = e
	}
	return best, nil
}

// beginSelection starts the selection at name. It returns K and the candidates.
func (s *Session) beginSelection(name string) (runs int, candidates []string, err error) {
	path := s.childPath(name)
	law, candidates, ok := s.core.priced.Selection(path)
	switch {
	case !ok:
		return 0, nil, fmt.Errorf("%w: %q is no private selection", ErrUnknownLeaf, path)
	case s.core.try > 0:
		return 0, nil, fmt.Errorf("%w: %q is a selection inside a try", ErrTry, path)
	case law.Eta != 0:
		return 0, nil,
			fmt.Errorf("%w: the number of tries of %q has eta %v, and 0 alone can be drawn", ErrLaw,
				path, law.Eta)
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
	s.core.tries[path] = true
	s.core.busy = true
	if s.core.isRehearsal() {
		return len(candidates), candidates, nil
	}
	return s.core.tap.watchTries(path,
			noise.NewStream(s.core.key.Derive("tries", path, 0)).Logarithmic(law.Gamma)),
		candidates,
		nil
}

// newTry returns a session for try i, from 1, and the index of its candidate. The session
// has a separate key, derived from the run key, the selection and the try.
func (s *Session) newTry(
	name string,
	i int,
	candidates []string,
) (*Session, int) {
	path := s.childPath(name)
	c := newRunState(s.core.priced)
	c.key = s.core.key.Derive("try", path, uint64(i))
	c.tap = s.core.tap
	c.try = i
	c.narrow = s.core.narrow
	j := int(noise.NewStream(c.key.Derive("candidate", path, 0)).Uniform(uint64(len(candidates))))
	if c.isRehearsal() {
		j = i - 1
	}
	c.within = path + "/" + candidates[j]
	return c.sessionAt(c.within), j
}

// endTry closes a try and returns its releases.
func (c *runState) endTry() map[string]Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.events
}
