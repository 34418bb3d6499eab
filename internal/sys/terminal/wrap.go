package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// minWidth is the width, in columns, below which lines stay as they are: each would have only a few words.
const minWidth = 40

// A Wrapper is a writer that breaks lines between words if they are wider than the terminal, which would break them
// within words. A command in backquotes stays on one line, so that it can be copied. The other parts of a line are
// indented by two more columns. Its input must have passed an [EscapingWriter].
type Wrapper struct {
	w     io.Writer
	width func() int
	line  []byte // incomplete line
}

// NewWrapper returns a Wrapper that writes to w. The function width returns the width of the terminal in columns, and
// is called for each line, because users resize windows.
func NewWrapper(w io.Writer, width func() int) *Wrapper {
	return &Wrapper{w: w, width: width}
}

// Width returns the number of columns of the terminal f, or 0 if f is not a terminal.
func Width(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Write implements io.Writer. Incomplete lines are buffered until they end.
func (v *Wrapper) Write(p []byte) (int, error) {
	v.line = append(v.line, p...)
	end := bytes.LastIndexByte(v.line, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var out []byte
	for line := range bytes.Lines(v.line[:end]) {
		out = append(out, wrap(string(line), v.width())...)
	}
	v.line = append([]byte(nil), v.line[end:]...)
	if _, err := v.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes a buffered incomplete line.
func (v *Wrapper) Flush() error {
	rest := v.line
	v.line = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := v.w.Write([]byte(wrap(string(rest), v.width())))
	return err
}

// wrap returns line with breaks at spaces, so that each part has at most width columns. Words wider than that stay
// whole.
func wrap(line string, width int) string {
	if width < minWidth || text.StringWidth(strings.TrimSuffix(line, "\n")) <= width {
		return line
	}
	margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var b strings.Builder
	b.WriteString(margin)
	column := len(margin)
	for i, word := range words(strings.Trim(line, " \n")) {
		n := text.StringWidth(word)
		switch {
		case i == 0:
		case column+1+n <= width:
			b.WriteByte(' ')
			column++
		default:
			b.WriteString("\n  " + margin)
			column = len(margin) + 2
		}
		b.WriteString(word)
		column += n
	}
	if strings.HasSuffix(line, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// words splits s at spaces, except spaces between two backquotes.
func words(s string) []string {
	var out []string
	start, quoted := 0, false
	for i := range len(s) {
		switch s[i] {
		case '`':
			quoted = !quoted && strings.IndexByte(s[i+1:], '`') >= 0
		case ' ':
			if !quoted {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}
