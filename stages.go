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

// A Candidate of a [Search] is one way to select and train.
type Candidate = pipeline.Candidate

// A Session is what a [selection.Selector] releases something with. A selector from elsewhere needs
// UncheckedSelector in its [Run].
type Session = mechanism.Session

// Records are those that a [selection.Selector] chooses from.
type Records = mechanism.Records

// An Engine holds the records of a run, perhaps in other processes, and adds up what it is asked; see
// [Plan.FitOn].
type Engine = mechanism.Engine

// A Pass is what an [Engine] is asked: a statistic over a part of the records. Its method Over does the work
// where the records are, and Merge adds up what several places returned.
type Pass = mechanism.Pass

// A Part says which records a [Pass] is about. Its method Of picks them.
type Part = mechanism.Part

// A State is what an [Engine] may keep of the records between passes.
type State = mechanism.State

// RegisterPasses makes the statistics of all methods known to encoding/gob, so that a [Pass] can be sent to
// the workers of an [Engine].
func RegisterPasses() { pipeline.RegisterStatistics() }

// ErrOpened is returned for a plan that was carried out before: it pays for one run.
var ErrOpened = mechanism.ErrOpened
