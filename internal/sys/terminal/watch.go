package terminal

import (
	"fmt"
	"io"
	"time"
)

// A Watch shows on a terminal how far a pass over records is that nobody protects.
type Watch struct {
	w     io.Writer // nil: shows nothing
	every time.Duration
	next  time.Time
	shown bool
}

// NewWatch returns one that shows something after a second; nothing if w is nil.
func NewWatch(w io.Writer) *Watch {
	return &Watch{w: w, every: time.Second, next: time.Now().Add(time.Second)}
}

// Shows reports whether it shows anything.
func (w *Watch) Shows() bool { return w.w != nil }

// Show says how many records are done, and of the file, if its size is known, how
// much.
func (w *Watch) Show(records int, done, size int64) {
	if !w.Shows() || time.Now().Before(w.next) {
		return
	}
	text := fmt.Sprintf("dptrain: %d records", records)
	if size > 0 {
		text += fmt.Sprintf(", %d%% of the file", min(100, 100*done/size))
	}
	fmt.Fprintf(w.w, "\r%-60s", text)
	w.next, w.shown = time.Now().Add(w.every), true
}

// Clear leaves an empty line.
func (w *Watch) Clear() {
	if w.shown {
		fmt.Fprintf(w.w, "\r%-60s\r", "")
		w.shown = false
	}
}
