package export

import (
	"bytes"
	_ "embed" // the programs
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/regression"
)

//go:embed code/model.py
var pythonCode string

//go:embed code/model.js
var jsCode string

// goCode is the program of a Go package. Its name keeps it from being built here.
//
//go:embed code/model.go.txt
var goCode string

// program writes a program with the model in it. In the text of the program @MODEL@ stands for the file of
// the model, as JSON that can be put between three double quotes, between backquotes or after an equals sign.
func program(w io.Writer, code string, m regression.Model) error {
	var file bytes.Buffer
	if err := regression.EncodeModel(&file, m); err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, file.Bytes()); err != nil {
		return fmt.Errorf("a model file that is no JSON: %w", err)
	}
	_, err := io.WriteString(w, strings.Replace(code, "@MODEL@", ascii(compact.String()), 1))
	return err
}

// ascii writes what is not ASCII in JSON, and the backquote, as escapes. They occur within texts only.
func ascii(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '`' || r > '~' && r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		}
	}
	return out.String()
}
