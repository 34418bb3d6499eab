package terminal

import (
	"bytes"
	"io"
	"os"
	"regexp"
)

// Colours says whether a terminal wants colours: not where NO_COLOR is set (https://no-color.org), nor on one that is dumb.
func Colours() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// A Painter writes to a terminal what went through a [Visible], and makes the labels in the margin bold, that of a warning
// yellow, and that of what does not fit red. It changes no character.
type Painter struct {
	w    io.Writer
	line []byte // that has not ended
}

// NewPainter returns one that writes to w.
func NewPainter(w io.Writer) *Painter { return &Painter{w: w} }

// label is a word in the margin, as report.Paragraph writes it.
var label = regexp.MustCompile(`^(?:[A-Z][\pL²]*(?: [a-z]+)?|ok|does not fit|not checked|verdict)(?:  +| $)`)

// Write implements io.Writer. A line is written when it ends.
func (p *Painter) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	end := bytes.LastIndexByte(p.line, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	var out []byte
	for line := range bytes.Lines(p.line[:end]) {
		out = append(out, painted(line)...)
	}
	p.line = append([]byte(nil), p.line[end:]...)
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes a line that never ended.
func (p *Painter) Flush() error {
	rest := p.line
	p.line = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := p.w.Write(painted(rest))
	return err
}

// painted returns a line with the colour of its label.
func painted(line []byte) []byte {
	at := label.Find(line)
	if at == nil {
		return line
	}
	word := bytes.TrimRight(at, " ")
	code := "1" // bold
	switch string(word) {
	case "Warning", "not checked":
		code = "1;33"
	case "does not fit":
		code = "1;31"
	case "ok", "verdict":
		code = "1;32"
	}
	out := append([]byte("\x1b["+code+"m"), word...)
	return append(append(out, "\x1b[0m"...), line[len(word):]...)
}
