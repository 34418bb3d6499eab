package terminal

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Minimum intervals between two updates of a Meter.
const (
	screenInterval = 100 * time.Millisecond
	pipeInterval   = time.Minute
)

// ProgressEnv is the environment variable that, if set to "off", keeps the lines of a Meter out of logs.
const ProgressEnv = "DPTRAIN_PROGRESS"

// A Meter shows the progress of work whose length does not depend on private records, and estimates the remaining
// time. On a terminal it rewrites one line; elsewhere it prints a new line once a minute.
type Meter struct {
	out       io.Writer
	live      bool
	name      string // name of the work, before a colon
	unit      string // unit that is counted; empty for a share
	start     time.Time
	lastShown time.Time
	shown     bool
	started   bool    // Show was called
	initial   float64 // amount done at the first Show: an experiment may continue an earlier one
}

// NewMeter returns a Meter that writes to w; live marks w as a terminal. unit names the counted items, such as
// "models"; if it is empty the meter shows a percentage.
func NewMeter(w io.Writer, live bool, name, unit string) *Meter {
	if !live && os.Getenv(ProgressEnv) == "off" {
		w = io.Discard
	}
	now := time.Now()
	return &Meter{
		out:       w,
		live:      live,
		name:      name,
		unit:      unit,
		start:     now,
		lastShown: now,
	}
}

// Show updates the meter: done of total units are complete. note, if not empty, describes the current step.
func (m *Meter) Show(done, total float64, note string) {
	now := time.Now()
	if !m.started {
		m.started = true
		m.initial = done
	}
	interval := pipeInterval
	if m.live {
		interval = screenInterval
	}
	if now.Sub(m.lastShown) < interval && (m.shown || !m.live) {
		return
	}
	m.lastShown = now
	m.shown = true
	text := fmt.Sprintf("%s: %.0f%%", m.name, 100*done/max(total, 1e-300))
	if m.unit != "" {
		text = fmt.Sprintf("%s: %.0f of %.0f %s", m.name, done, total, m.unit)
	}
	if note != "" {
		text += ", " + note
	}
	text += remainingText(now.Sub(m.start), done-m.initial, total-m.initial)
	if m.live {
		fmt.Fprintf(m.out, "\r\x1b[K%.78s", text)
		return
	}
	fmt.Fprintln(m.out, text)
}

// Clear erases the line of the meter on a terminal.
func (m *Meter) Clear() {
	if m.live && m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

// remainingText estimates the remaining time from the average speed so far. It returns an empty string in the first
// two seconds.
func remainingText(since time.Duration, done, total float64) string {
	if done <= 0 || done >= total || since < 2*time.Second {
		return ""
	}
	return ", about " + roundDuration(time.Duration(float64(since)/done*(total-done))) + " left"
}

// roundDuration formats a duration in seconds, minutes, or hours and minutes.
func roundDuration(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", max(1, int(d.Seconds()+.5)))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+.5))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
