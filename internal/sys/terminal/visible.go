package terminal

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible writes text to a terminal that is not taken for a command of it: what is
// neither a graphic character nor the end of a line or a tab, such as ESC, the C1
// controls and those that turn the direction of writing, becomes \u and its number.
// In JSON that is the same text. A byte that is not UTF-8 becomes \x and its number.
//
// All that the command prints goes through one, except predictions that go to a file or
// a pipe, which copy the user's own table, and progress lines, which hold no name.
type Visible struct {
	w    io.Writer
	half []byte // the beginning of a character, at most 3 bytes
}

// NewVisible returns one that writes to w.
func NewVisible(w io.Writer) *Visible { return &Visible{w: w} }

// Write implements io.Writer.
func (v *Visible) Write(p []byte) (int, error) {
	text := slices.Concat(v.half, p)
	end := len(text)
	for k := 1; k < utf8.UTFMax && k <= end; k++ {
		if utf8.RuneStart(text[end-k]) {
			if !utf8.FullRune(text[end-k:]) {
				end -= k
			}
			break
		}
	}
	v.half = append([]byte(nil), text[end:]...)
	if _, err := v.w.Write(escaped(text[:end])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is left of a character that never ended.
func (v *Visible) Flush() error {
	rest := v.half
	v.half = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := v.w.Write(escaped(rest))
	return err
}

// escaped returns text with escapes, or text itself if it needs none.
func escaped(text []byte) []byte {
	var out []byte
	kept := 0 // text[:kept] is in out
	for i := 0; i < len(text); {
		c, n := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(text[i:])
		}
		invalid := c == utf8.RuneError && n == 1
		if !invalid && (c == '\n' || c == '\t' || unicode.IsGraphic(c)) {
			i += n
			continue
		}
		out = append(out, text[kept:i]...)
		switch high, low := utf16.EncodeRune(c); {
		case invalid:
			out = fmt.Appendf(out, `\x%02x`, text[i])
		case high != unicode.ReplacementChar:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
		i += n
		kept = i
	}
	if kept == 0 {
		return text
	}
	return append(out, text[kept:]...)
}
