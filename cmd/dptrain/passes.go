package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// passMeter shows on a terminal which pass over the records a stage has come to, on a line that it takes away again. How many passes
// a stage makes follows from the plan and from what was released, but where one of several tries is kept: how often is tried is
// secret, so such a run shows nothing. How far a pass is, as a share of its splits, would tell of the number of records.
type passMeter struct {
	w     io.Writer // nil: nothing is shown
	mu    sync.Mutex
	n     int
	shown bool
}

// passMeter returns that of a run.
func (a *app) passMeter(plan *pipeline.Plan, how fitHow) *passMeter {
	tries := slices.ContainsFunc(plan.Leaves(), func(l budget.PricedLeaf) bool { return l.Place.Candidate != "" || l.Place.Size != "" })
	if !a.terminal || how.quiet || tries {
		return &passMeter{}
	}
	return &passMeter{w: a.screen}
}

// begin says that a stage begins.
func (m *passMeter) begin() {
	m.clear()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n = 0
}

// pass says that a pass begins.
func (m *passMeter) pass() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.w == nil {
		return
	}
	m.n++
	m.shown = true
	fmt.Fprintf(m.w, "\r\x1b[Kdptrain: pass %d", m.n)
}

// clear takes the line away.
func (m *passMeter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}
