package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const (
	progressAfter    = 2 * time.Second // runs that take longer show their progress
	progressInterval = 500 * time.Millisecond
)

// A progressLine shows the stage, the pass over the records, the elapsed time and an estimate of the remaining time
// on a line of the terminal, and erases the line when the run ends. The duration of a run depends on the table, so
// the line appears only on a terminal and is not kept in any output. The number of passes follows from the plan and
// from released values, except where a run keeps one of several tries: the number of tries is then secret, and the
// line shows no passes. The progress within a pass is not shown because it would reveal the number of records.
type progressLine struct {
	w      io.Writer // nil disables the line
	now    func() time.Time
	passes bool

	mu           sync.Mutex
	start, begun time.Time // of the run and of the current stage
	stages       []string  // of the run, in order
	at           int       // index of the current stage; -1 before the first
	pass         int
	visible      bool
	stop         chan struct{}
}

// progressLine returns the progress line for a run.
func (a *app) progressLine(plan *pipeline.Plan, how fitHow) *progressLine {
	m := &progressLine{
		now:    time.Now,
		stages: slices.Concat([]string{"read"}, plan.Stages(), []string{"write"}),
		at:     -1,
	}
	m.start = m.now()
	m.passes = !slices.ContainsFunc(plan.Leaves(), func(l budget.PricedLeaf) bool {
		return l.Place.Candidate != "" || l.Place.Size != ""
	})
	if a.terminal && !how.quiet && !how.progress {
		m.w = a.screen
	}
	return m
}

// run redraws the line at regular intervals until clear is called.
func (m *progressLine) run() {
	if m.w == nil {
		return
	}
	m.stop = make(chan struct{})
	tick := time.NewTicker(progressInterval)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-m.stop:
				return
			case <-tick.C:
				m.draw()
			}
		}
	}()
}

// stage records the start of a stage.
func (m *progressLine) stage(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.Index(m.stages, name); at > m.at {
		m.at = at
	}
	m.begun = m.now()
	m.pass = 0
}

// beginPass records the start of a pass over the records.
func (m *progressLine) beginPass() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass++
}

// draw draws the line once the run has taken longer than progressAfter.
func (m *progressLine) draw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	elapsed := m.now().Sub(m.start)
	if m.w == nil || m.at < 0 || elapsed < progressAfter {
		return
	}
	text := fmt.Sprintf("dptrain: %d of %d: %s", m.at+1, len(m.stages), m.stages[m.at])
	if m.passes && m.pass > 0 {
		text += fmt.Sprintf(", pass %d", m.pass)
	}
	text += fmt.Sprintf(" · %s elapsed", seconds(elapsed))
	if left := m.remaining(); left > 0 {
		text += fmt.Sprintf(", about %s left", seconds(left))
	}
	fmt.Fprintf(m.w, "\r\x1b[K%.79s", text)
	m.visible = true
}

// clear erases the line and stops its updates.
func (m *progressLine) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		close(m.stop)
		m.stop = nil
	}
	if m.visible {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.visible = false
	}
	m.w = nil
}

// stageWeight estimates the duration of a stage relative to that of the held-out metric.
func stageWeight(stage string) float64 {
	switch stage {
	case "search":
		return 30
	case "model":
		return 8
	case "read":
		return 3
	case "vocabulary", "scaling", "selection":
		return 2
	}
	return 1
}

// remaining estimates the remaining time from the completed stages. It returns 0 if no stage is complete.
func (m *progressLine) remaining() time.Duration {
	done := 0.
	left := 0.
	for i, stage := range m.stages {
		switch {
		case i < m.at:
			done += stageWeight(stage)
		case i > m.at:
			left += stageWeight(stage)
		}
	}
	before := m.begun.Sub(m.start)
	within := m.now().Sub(m.begun)
	if done == 0 || before <= 0 {
		return 0
	}
	current := stageWeight(m.stages[m.at])
	atSpeedBefore := time.Duration(float64(before)/done*(current+left)) - within
	atSpeedNow := time.Duration(float64(before+within) / (done + current) * left)
	return max(atSpeedBefore, atSpeedNow)
}

// seconds formats a duration in seconds, or in minutes and seconds.
func seconds(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s < 120 {
		return fmt.Sprintf("%d s", max(s, 1))
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}
