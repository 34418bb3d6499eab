package terminal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestMeter checks that a terminal shows one line with the remaining time, that a pipe gets a line at intervals, and
// that quick work shows no progress.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen, pipe bytes.Buffer
		live := NewMeter(&screen, true, "dptrain", "models")
		dumb := NewMeter(&pipe, false, "dptrain", "models")
		for i := range 100 {
			live.Show(float64(i), 100, "")
			dumb.Show(float64(i), 100, "fitting")
			time.Sleep(2 * time.Second)
		}
		live.Clear()
		lines := strings.Split(screen.String(), "\r\x1b[K")
		if lines[1] != "dptrain: 0 of 100 models" ||
			lines[51] != "dptrain: 50 of 100 models, about 2 min left" ||
			lines[len(lines)-1] != "" ||
			strings.Contains(screen.String(), "\n") {
			t.Errorf("%q", lines)
		}
		want := "dptrain: 30 of 100 models, fitting, about 2 min left\ndptrain: 60 of 100 models, fitting, about 80 s left\ndptrain: 90 of 100 models, fitting, about 20 s left\n"
		if pipe.String() != want {
			t.Errorf("%q", pipe.String())
		}
		share := NewMeter(&pipe, true, "x", "")
		pipe.Reset()
		share.Show(.25, 1, "")
		if pipe.String() != "\r\x1b[Kx: 25%" {
			t.Errorf("%q", pipe.String())
		}
	})
	for d, want := range map[time.Duration]string{
		time.Millisecond:  "1 s",
		99 * time.Second:  "99 s",
		10 * time.Minute:  "10 min",
		150 * time.Minute: "2 h 30 min",
	} {
		if got := roundDuration(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

// TestPainter checks that only labels are coloured, however the text is split into writes, and that no other
// character changes.
func TestPainter(t *testing.T) {
	text := "Privacy    The unit\n" +
		"           Warning  here\n" +
		"Warning    This run\n" +
		"Data set   x\n" +
		"R²         0.5\n" +
		"ok            report.json: fine\n" +
		"failed  model.json: no\n" +
		"step  law\n" +
		"price  area\n" +
		"error[no-signal]: x\n" +
		"  warning[y]: z\n" +
		"note[a-b]: c\n" +
		"OK            2\n" +
		"last"
	want := "\x1b[1mPrivacy\x1b[0m    The unit\n" +
		"           Warning  here\n" +
		"\x1b[1;33mWarning\x1b[0m    This run\n" +
		"\x1b[1mData set\x1b[0m   x\n" +
		"\x1b[1mR²\x1b[0m         0.5\n" +
		"\x1b[1;32mok\x1b[0m            report.json: fine\n" +
		"\x1b[1;31mfailed\x1b[0m  model.json: no\n" +
		"step  law\n" +
		"price  area\n" +
		"\x1b[1;31merror[no-signal]:\x1b[0m x\n" +
		"  warning[y]: z\n" +
		"\x1b[1mnote[a-b]:\x1b[0m c\n" +
		"\x1b[1;32mOK\x1b[0m            2\n" +
		"last"
	for size := 1; size <= len(text); size++ {
		var got bytes.Buffer
		p := NewPainter(&got)
		for rest := text; rest != ""; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			n, err := p.Write([]byte(piece))
			if n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		err := p.Flush()
		if err != nil || got.String() != want {
			t.Fatalf(
				"in pieces of %d:\n%q, %v",
				size, got.String(), err,
			)
		}
	}
}

func TestColours(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	if !WantsColours() {
		t.Error("no colours")
	}
	t.Setenv("TERM", "dumb")
	if WantsColours() {
		t.Error("colours on a dumb terminal")
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	if WantsColours() {
		t.Error("colours with NO_COLOR")
	}
}
