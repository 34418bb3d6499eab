package terminal

import (
	"fmt"
	"io"
	"time"
)

// A Watch shows on a terminal the progress of a pass over records that need no protection.
type Watch struct {
	w        io.Writer // nil to show no progress
	interval time.Duration
	next     time.Time
	shown    bool
}

// NewWatch returns a Watch that starts to show progress after one second. If w is nil, it never shows progress.
func NewWatch(w io.Writer) *Watch {
	return &Watch{
		w:        w,
		interval: time.Second,
		next:     time.Now().Add(time.Second),
	}
}

// Enabled reports whether the watch shows progress.
func (w *Watch) Enabled() bool {
	return w.w != nil
}

// Show updates the number of records read and, if the size of the file is known, the percentage of its bytes.
func (w *Watch) Show(records int, done, size int64) {
	if !w.Enabled() || time.Now().Before(w.next) {
		return
	}
	text := fmt.Sprintf("dptrain: %d records", records)
	if size > 0 {
		text += fmt.Sprintf(", %d%% of the file", min(100, 100*done/size))
	}
	fmt.Fprintf(w.w, "\r%-60s", text)
	w.next = time.Now().Add(w.interval)
	w.shown = true
}

// Clear replaces the progress line by an empty one.
func (w *Watch) Clear() {
	if w.shown {
		fmt.Fprintf(w.w, "\r%-60s\r", "")
		w.shown = false
	}
}
