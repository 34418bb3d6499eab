package terminal

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// An EscapingWriter writes text to a terminal so that no part of it acts as a control sequence. Every character that
// is not graphic, a newline or a tab (ESC, C1 controls, controls of the writing direction) becomes \u and its number,
// which in JSON denotes the same text. A byte that is not UTF-8 becomes \x and its number.
//
// All output of the command passes one, except predictions written to a file or a pipe, which copy the user's own
// table, and progress lines, which contain no name.
type EscapingWriter struct {
	w          io.Writer
	incomplete []byte // the start of a character, at most 3 bytes
}

// NewEscapingWriter returns an EscapingWriter that writes to w.
func NewEscapingWriter(w io.Writer) *EscapingWriter {
	return &EscapingWriter{w: w}
}

// Write implements io.Writer.
func (v *EscapingWriter) Write(p []byte) (int, error) {
	text := slices.Concat(v.incomplete, p)
	end := len(text)
	for k := 1; k < utf8.UTFMax && k <= end; k++ {
		if utf8.RuneStart(text[end-k]) {
			if !utf8.FullRune(text[end-k:]) {
				end -= k
			}
			break
		}
	}
	v.incomplete = append([]byte(nil), text[end:]...)
	if _, err := v.w.Write(escapeControls(text[:end])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the bytes of an incomplete character.
func (v *EscapingWriter) Flush() error {
	rest := v.incomplete
	v.incomplete = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := v.w.Write(escapeControls(rest))
	return err
}

// escapeControls returns text with control characters escaped, or text itself if it needs no escapes.
func escapeControls(text []byte) []byte {
	var out []byte
	kept := 0 // text[:kept] is in out
	for i := 0; i < len(text); {
		c := rune(text[i])
		n := 1
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
