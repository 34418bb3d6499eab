package terminal

import (
	"fmt"
	"io"
	"os"
	"time"
)

// How often a Meter says something.
const (
	onScreen = 100 * time.Millisecond
	inPipe   = time.Minute
)

// ProgressEnv is the environment variable that, set to "off", keeps the lines of a Meter from logs.
const ProgressEnv = "DPTRAIN_PROGRESS"

// A Meter shows how far work is whose length tells nothing of a private record: on a terminal on one line that
// it writes anew, elsewhere now and then on a line of its own. It says about how long the rest takes.
type Meter struct {
	w     io.Writer
	live  bool
	name  string // of the work, before a colon
	what  string // is counted; empty for a share
	begun time.Time
	said  time.Time
	shown bool
	known bool    // that Show was called
	first float64 // done when it was: an experiment may go on where it ended
}

// NewMeter returns one that writes to w; live says that w is a terminal. What is counted is named, such as "models"; without
// a name it shows the share.
func NewMeter(w io.Writer, live bool, name, what string) *Meter {
	if !live && os.Getenv(ProgressEnv) == "off" {
		w = io.Discard
	}
	now := time.Now()
	return &Meter{w: w, live: live, name: name, what: what, begun: now, said: now}
}

// Show says that done of total are done. note, if any, says which is under way.
func (m *Meter) Show(done, total float64, note string) {
	now := time.Now()
	if !m.known {
		m.known, m.first = true, done
	}
	every := inPipe
	if m.live {
		every = onScreen
	}
	if now.Sub(m.said) < every && (m.shown || !m.live) {
		return
	}
	m.said, m.shown = now, true
	text := fmt.Sprintf("%s: %.0f%%", m.name, 100*done/max(total, 1e-300))
	if m.what != "" {
		text = fmt.Sprintf("%s: %.0f of %.0f %s", m.name, done, total, m.what)
	}
	if note != "" {
		text += ", " + note
	}
	text += left(now.Sub(m.begun), done-m.first, total-m.first)
	if m.live {
		fmt.Fprintf(m.w, "\r\x1b[K%.78s", text)
		return
	}
	fmt.Fprintln(m.w, text)
}

// Clear takes the line away from a terminal.
func (m *Meter) Clear() {
	if m.live && m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}

// left says how long the rest takes if it goes on as so far; nothing in the first moments.
func left(since time.Duration, done, total float64) string {
	if done <= 0 || done >= total || since < 2*time.Second {
		return ""
	}
	return ", about " + about(time.Duration(float64(since)/done*(total-done))) + " left"
}

// about prints a duration in one unit, or two.
func about(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", max(1, int(d.Seconds()+.5)))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+.5))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
