package mechanism

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// Errors of a release. They depend on the plan only, never on a record.
var (
	// ErrUnknownLeaf is returned for a leaf that is not in the plan.
	ErrUnknownLeaf = errors.New("the plan has no such leaf")
	// ErrSpent is returned for a draw of a leaf that is spent already, or that exceeds
	// the number of draws that the plan has priced.
	ErrSpent = errors.New("the leaf's draw is already spent")
	// ErrLaw is returned if a leaf was priced for another noise distribution than
	// that of the release.
	ErrLaw = errors.New("the leaf was priced for another law")
	// ErrStatistic is returned if a leaf is planned for another statistic than the one
	// that is released; see [budget.Node.WithStatistic].
	ErrStatistic = errors.New("the leaf was planned for another statistic")
	// ErrNorm is returned if the sensitivity of the value is in another norm than
	// the release needs.
	ErrNorm = errors.New("the sensitivity is of the wrong kind for this release")
	// ErrScale is returned for a noise scale outside [1, 2^55] grid units, or a scale
	// of a choice above 2^62 of its units.
	ErrScale = fault.New(fault.Budget, "the noise scale leaves the range of the integer grid")
	// ErrTry is returned for a leaf of a candidate of a private selection outside
	// a try of that candidate, and for a leaf of another step inside a try; see
	// [Best].
	ErrTry = errors.New("a candidate's leaf can be released inside a try of that candidate only")
	// ErrBranch is returned for a leaf of a branch if another branch was taken, or if
	// not all releases that choose between the branches have been made.
	ErrBranch = errors.New("one branch alone can be taken, after what chooses it")
	// ErrOpened is returned for a second session of a priced tree, which pays for a single
	// run; see [NewSession].
	ErrOpened = errors.New("the plan pays for one run, and its session was opened before")
	// ErrClosed is returned for every release after [Session.Close].
	ErrClosed = errors.New("the session is closed")
	// ErrEmpty is returned for a release without an entry or a candidate.
	ErrEmpty = errors.New("nothing to release")
)

// A Session is the only part of the program that can release private values. It holds the priced tree,
// the relation and a secret key that is fresh in every run. A Session points to a node of the
// tree, and [Session.Sub] returns the session of a child. All methods may be used by several
// goroutines at once.
type Session struct {
	Maker
	core *runState
	path string
}

// sessionAt returns a session for the node with the given path.
func (c *runState) sessionAt(path string) *Session {
	return &Session{Maker{c.priced.Target().Relation, c.tap}, c, path}
}

type runState struct {
	priced *budget.Priced
	narrow float64 // factor by which noise scales must stay below their limit; 1 except in a rehearsal
	key    noise.Key

	mu     sync.Mutex
	spent  map[string]map[int]bool
	parts  map[drawID]partProgress
	events map[string]Event
	tries  map[string]bool   // private selections that have started
	taken  map[string]string // path of the branch that was taken, by path of the Branches
	busy   bool              // whether a private selection is running
	closed bool

	// In a try of a private selection: the path of the candidate, the number of the
	// try from 1, and whether it is over.
	within string
	try    int
	over   bool

	tap tap
}

func newRunState(p *budget.Priced) *runState {
	return &runState{
		priced: p,
		narrow: 1,
		spent:  map[string]map[int]bool{},
		parts:  map[drawID]partProgress{},
		events: map[string]Event{},
		tries:  map[string]bool{},
		taken:  map[string]string{},
	}
}

// An Event describes the releases of a leaf after the run, with their noise distribution and
// scale. It contains public facts only.
type Event struct {
	Path        string
	Place       budget.Place
	Law         budget.Law // per draw, with the number of priced draws
	Released    int        // draws released; the others are charged too
	Sensitivity float64    // in the statistic's own measure
	Scale       float64    // noise scale in the same measure; 0 for a choice
	// Threshold is the noisy count from which a text category of one of Columns columns is published; 0 for every other
	// release.
	Threshold float64
	Columns   int
}

// NewSession opens the session of the run that a priced tree pays for, at its root. It
// returns [ErrOpened] for a second session of the same tree, even if the first run failed,
// because a failed run may have released something. [budget.Priced.Again] pays for another
// run. NewSession also fails if the operating system's random source fails; the tree can
// then still be opened.
func NewSession(p *budget.Priced) (*Session, error) {
	s, err := openSession(p, "run")
	if err == nil && !p.Open() {
		return nil, ErrOpened
	}
	return s, err
}

// openSession opens a session under a fresh key. In tests, whose keys come from a seed, the purpose
// gives runs and rehearsals different keys.
func openSession(p *budget.Priced, purpose string) (*Session, error) {
	c := newRunState(p)
	var err error
	if c.key, err = runKey(p, purpose); err != nil {
		return nil, fmt.Errorf("no random source: %w", err)
	}
	return c.sessionAt(p.Tree().Name), nil
}

// rehearsalMargin is the factor by which the scale of a draw may exceed its scale in a rehearsal
// without leaving the grid. Draws that are spent in parts need it: their scale grows with the
// square root of the number of parts.
const rehearsalMargin = 1 << 4

// NewRehearsal opens a session that rehearses a run on a table without records.
// Sensitivities depend on public facts and earlier releases only, so a scale that leaves
// the integer grid does so in the rehearsal too. The session refuses with [ErrScale] a
// scale within a factor of 2^4 of the limit, because earlier releases can increase it. (The
// width of a choice is a constant of its statistic.)
func NewRehearsal(p *budget.Priced) (*Session, error) {
	s, err := openSession(p, "rehearsal")
	if err == nil {
		s.core.narrow = rehearsalMargin
	}
	return s, err
}

// isRehearsal reports whether the session is one of [NewRehearsal].
func (c *runState) isRehearsal() bool {
	return c.narrow != 1
}

// KeepsColumns reports whether a run keeps columns whose ranges it could not find. A rehearsal
// does, because it has no records and checks the noise of the widest model.
func (s *Session) KeepsColumns() bool {
	return s.core.isRehearsal() || s.core.tap.keepsColumns()
}

// Sub returns the session of the node with the given name below this one.
func (s *Session) Sub(name string) *Session {
	return s.core.sessionAt(s.childPath(name))
}

// Path returns the path of a node below this one.
func (s *Session) Path(name string) string {
	return s.childPath(name)
}

func (s *Session) childPath(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "/" + name
}

// Events lists every leaf of the plan in tree order, released or not.
func (s *Session) Events() []Event {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	leaves := s.core.priced.Leaves()
	out := make([]Event, 0, len(leaves))
	for _, l := range leaves {
		e, ok := s.core.events[l.Path]
		if !ok {
			e = Event{Path: l.Path, Law: l.Law}
		}
		e.Place = l.Place
		out = append(out, e)
	}
	return out
}

// ticket is the right to release one draw of a leaf.
type ticket struct {
	path   string
	draw   int
	part   int // of a draw that is spent in parts
	try    int // of a private selection, from 1; 0 outside
	law    budget.Law
	random *noise.Stream
}

// takeDraw spends draw i of a leaf for a statistic.
func (s *Session) takeDraw(
	name string,
	draw int,
	kind budget.Kind,
	of budget.Statistic,
) (ticket, error) {
	path := s.childPath(name)
	leaf, ok := s.core.priced.Leaf(path)
	if !ok {
		return ticket{}, fmt.Errorf("%w: %q", ErrUnknownLeaf, path)
	}
	law := leaf.Law
	if leaf.Candidate != s.core.within {
		return ticket{}, fmt.Errorf("%w: %q", ErrTry, path)
	}
	if law.Kind != kind {
		return ticket{},
			fmt.Errorf("%w: %q is priced as %v, the release is %v", ErrLaw, path, law.Kind, kind)
	}
	if leaf.Statistic != "" && leaf.Statistic != of {
		return ticket{},
			fmt.Errorf("%w: %q is planned for %q, the release is of %q", ErrStatistic, path,
				leaf.Statistic, of)
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if err := s.core.checkReady(path); err != nil {
		return ticket{}, err
	}
	if draw < 0 || draw >= law.Draws || s.core.spent[path][draw] {
		return ticket{},
			fmt.Errorf("%w: draw %d of %q (%d priced)", ErrSpent, draw, path, law.Draws)
	}
	if err := s.core.takeBranches(path); err != nil {
		return ticket{}, err
	}
	if s.core.spent[path] == nil {
		s.core.spent[path] = map[int]bool{}
	}
	s.core.spent[path][draw] = true
	return ticket{
		path:   path,
		draw:   draw,
		try:    s.core.try,
		law:    s.core.tap.pricedLaw(law),
		random: noise.NewStream(s.core.key.Derive("noise", path, uint64(draw))),
	}, nil
}

// noteRelease records the public description of a release.
func (s *Session) noteRelease(t ticket, sensitivity, scale float64) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	e := s.core.events[t.path]
	e.Path = t.path
	e.Law = t.law
	e.Released++
	e.Sensitivity = math.Max(e.Sensitivity, sensitivity)
	e.Scale = math.Max(e.Scale, scale)
	s.core.events[t.path] = e
}

// noteThreshold records the threshold of a release that was noted.
func (s *Session) noteThreshold(t ticket, threshold float64, columns int) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	e := s.core.events[t.path]
	e.Threshold = threshold
	e.Columns = columns
	s.core.events[t.path] = e
}

// scaleUp returns the smallest integer scale not below x, or ErrScale.
func (s *Session) scaleUp(x float64) (uint64, error) {
	return scaleWithin(x, noise.MaxScale/s.core.narrow)
}

// scaleWithin is scaleUp with another limit, below 2^63.
func scaleWithin(x, most float64) (uint64, error) {
	x = math.Ceil(x)
	if !(x <= most) {
		return 0, ErrScale
	}
	return uint64(math.Max(x, 1)), nil
}

// roundUp increases a computed sensitivity by more than its rounding error.
func roundUp(x float64) float64 {
	return x * (1 + 0x1p-48)
}

// Scale returns the noise scale of a released leaf in the statistic's own measure, a public fact
// that depends on the plan only. It is 0 before the release.
func (s *Session) Scale(name string) float64 {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.events[s.childPath(name)].Scale
}

// Sensitivity returns the sensitivity of a released leaf for the privacy unit, or for a choice the
// width of the change of its scores, in the statistic's own measure. It is a public fact that
// depends on the plan only, and 0 before the release.
func (s *Session) Sensitivity(name string) float64 {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.events[s.childPath(name)].Sensitivity
}

// Epsilon returns the epsilon of one draw of a leaf, a public fact of the plan.
func (s *Session) Epsilon(name string) float64 {
	law, _ := s.core.priced.Law(s.childPath(name))
	return law.Epsilon
}
