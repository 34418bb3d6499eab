package terminal

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
)

// WantsColours reports whether a terminal should get colours: NO_COLOR is not set (https://no-color.org) and the
// terminal is not dumb.
func WantsColours() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// A Painter is a writer that adds bold type and colour to the labels in the margin: yellow for a warning, red for a
// budget that does not fit. It changes no other character. Its input must have passed an [EscapingWriter].
type Painter struct {
	w    io.Writer
	line []byte // incomplete line
}

// NewPainter returns a Painter that writes to w.
func NewPainter(w io.Writer) *Painter {
	return &Painter{w: w}
}

// label matches a label in the margin, as report.Paragraph writes it.
var label = regexp.MustCompile(
	`^(?:[A-Z][\pL²]*(?: [a-z]+)?|ok|failed|skipped|OK)(?:  +| $)`)

// heading matches the rank and the code that precede a warning.
var heading = regexp.MustCompile(`^(?:error|warning|note)\[[a-z-]+\]:`)

// headingColours are the colours of the ranks.
var headingColours = map[string]string{
	"error":   "1;31",
	"warning": "1;33",
	"note":    "1",
}

// Write implements io.Writer. Incomplete lines are buffered until they end.
func (p *Painter) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	end := bytes.LastIndexByte(p.line, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	var out []byte
	for line := range bytes.Lines(p.line[:end]) {
		out = append(out, paintLabel(line)...)
	}
	p.line = append([]byte(nil), p.line[end:]...)
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes a buffered incomplete line.
func (p *Painter) Flush() error {
	rest := p.line
	p.line = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := p.w.Write(paintLabel(rest))
	return err
}

// paintLabel returns line with the colour of its label.
func paintLabel(line []byte) []byte {
	if word := heading.Find(line); word != nil {
		return slices.Concat(
			[]byte("\x1b["+headingColours[string(word[:bytes.IndexByte(word, '[')])]+"m"),
			word,
			[]byte("\x1b[0m"),
			line[len(word):],
		)
	}
	at := label.Find(line)
	if at == nil {
		return line
	}
	word := bytes.TrimRight(at, " ")
	code := "1" // bold
	switch string(word) {
	case "Warning", "skipped":
		code = "1;33"
	case "failed":
		code = "1;31"
	case "ok", "OK":
		code = "1;32"
	}
	out := append([]byte("\x1b["+code+"m"), word...)
	return append(append(out, "\x1b[0m"...), line[len(word):]...)
}
