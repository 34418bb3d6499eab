package dptrain

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A Trainer is a method with its settings, such as [tukey.Tukey] or [adassp.JointGram].
type Trainer = method.Trainer

// A Search tries several candidates, a secret number of times, and keeps the best by a private score
// (docs/proofs/search.md, "What it does").
type Search = pipeline.Search

// A Candidate of a [Search] is one combination of selection and training.
type Candidate = pipeline.Candidate

// A Session makes the releases of a [selection.Selector]. A selector from another module requires
// UncheckedSelector in its [Run].
type Session = mechanism.Session

// Records are those that a [selection.Selector] chooses from.
type Records = mechanism.Records

// An Engine holds the records of a run, possibly in other processes, and computes sums over them; see
// [Plan.FitOn].
type Engine = mechanism.Engine

// A Pass is a request to an [Engine]: a statistic over a part of the records. Its method Over computes it where
// the records are, and Merge adds up the results of several places.
type Pass = mechanism.Pass

// A Part selects the records of a [Pass]. Its method Of returns them.
type Part = mechanism.Part

// A State is the data that an [Engine] may keep for the records between passes.
type State = mechanism.State

// RegisterPasses makes the statistics of all methods known to encoding/gob, so that a [Pass] can be sent to
// the workers of an [Engine].
func RegisterPasses() {
	pipeline.RegisterStatistics()
}

// ErrOpened is returned for a plan that has been executed already: it pays for one run.
var ErrOpened = mechanism.ErrOpened
