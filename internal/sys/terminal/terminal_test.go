package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// hostileName holds characters that a terminal may interpret as commands: ESC, BEL, DEL, a C1 control, a character
// that reverses the writing direction, and one beyond 16 bits.
const hostileName = "a\x1b[2J\a\x7f\u009b2K\u202egpj\u2066\U000e0041"

func TestVisible(t *testing.T) {
	text := "é\t" + hostileName + "\r\x00 \xff\xc3 日本\u00a0\u2028.\n\xe2\x82"
	want := "é\ta\\u001b[2J\\u0007\\u007f\\u009b2K\\u202egpj\\u2066\\udb40\\udc41\\u000d\\u0000 \\xff\\xc3 日本\u00a0\\u2028.\n\\xe2\\x82"
	for size := 1; size <= len(text); size++ { // for every split into writes
		var got bytes.Buffer
		v := NewEscapingWriter(&got)
		for rest := text; rest != ""; {
			piece := rest[:min(size, len(rest))]
			rest = rest[len(piece):]
			n, err := v.Write([]byte(piece))
			if n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		err := v.Flush()
		if err != nil || got.String() != want {
			t.Fatalf(
				"in pieces of %d:\n%s, %v\n%s",
				size, got.String(), err, want,
			)
		}
	}
	quoted, err := json.Marshal(hostileName)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	err = json.Unmarshal(escapeControls(quoted), &back)
	if err != nil || back != hostileName {
		t.Errorf("in JSON: %q, %v", back, err)
	}
}

// TestWatch checks that progress appears only after a delay, and only on a terminal.
func TestWatch(t *testing.T) {
	var stderr bytes.Buffer
	w := NewWatch(&stderr)
	w.Show(7, 3, 30)
	if stderr.Len() > 0 {
		t.Errorf("%q", stderr.String())
	}
	w.next = w.next.Add(-2 * w.interval)
	w.Show(123456, 21, 30)
	w.Clear()
	got := stderr.String()
	if !strings.HasPrefix(got,
		"\rdptrain: 123456 records, 70% of the file") || !strings.HasSuffix(got, " \r") {
		t.Errorf("%q", got)
	}
	none := NewWatch(nil)
	none.next = none.next.AddDate(-1, 0, 0)
	none.Show(1, 2, 3)
	none.Clear()
	if none.Enabled() || !w.Enabled() {
		t.Error("what has no terminal shows something")
	}
}
