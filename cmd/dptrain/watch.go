package main

import (
	"fmt"
	"io"
	"time"
)

// watch shows on a terminal how far predict is: its table is not protected.
type watch struct {
	w     io.Writer // nil: shows nothing
	every time.Duration
	next  time.Time
	shown bool
}

// watch returns one that shows something if shown is true and standard error is a
// terminal.
func (a *app) watch(shown bool) *watch {
	w := &watch{every: time.Second}
	if shown && a.terminal {
		w.w, w.next = a.screen, time.Now().Add(w.every)
	}
	return w
}

// show says how many records are done, and of the file, if its size is known, how
// much.
func (w *watch) show(records int, done, size int64) {
	if w.w == nil || time.Now().Before(w.next) {
		return
	}
	text := fmt.Sprintf("dptrain: %d records", records)
	if size > 0 {
		text += fmt.Sprintf(", %d%% of the file", min(100, 100*done/size))
	}
	fmt.Fprintf(w.w, "\r%-60s", text)
	w.next, w.shown = time.Now().Add(w.every), true
}

// clear leaves an empty line.
func (w *watch) clear() {
	if w.shown {
		fmt.Fprintf(w.w, "\r%-60s\r", "")
		w.shown = false
	}
}
