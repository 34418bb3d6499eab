package export

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/dptrain/dptrain/regression"
)

// unicodeTablesOf returns the Unicode tables that a Go program needs for the texts of a model, or "" for a
// model without text columns. Python and JavaScript have them in their libraries.
func unicodeTablesOf(m regression.Model) string {
	if findColumn(m, func(c regression.Column) bool {
		return c.Text()
	}) == "" {
		return ""
	}
	return unicodeTables()
}

// unicodeTables returns, as compressed base64, one line for each character that is a composition or a combining mark:
// its number, its combining class, whether it is recomposed, and its full decomposition. Hangul syllables are
// omitted, because they are composed by arithmetic. They are the same for all models.
var unicodeTables = sync.OnceValue(func() string {
	var lines bytes.Buffer
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		text := string(r)
		p := norm.NFD.PropertiesString(text)
		if hangul := r >= 0xac00 && r <= 0xd7a3; hangul ||
			p.CCC() == 0 && p.Decomposition() == nil {
			continue
		}
		composed := 0
		if norm.NFC.String(text) == text {
			composed = 1
		}
		fmt.Fprintf(&lines, "%x %d %d", r, p.CCC(), composed)
		for _, part := range string(p.Decomposition()) {
			fmt.Fprintf(&lines, " %x", part)
		}
		lines.WriteByte('\n')
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, _ = w.Write(lines.Bytes()) // a Buffer never fails
	_ = w.Close()
	return wrapLines(base64.StdEncoding.EncodeToString(packed.Bytes()))
})

// wrapLines breaks a long text into lines.
func wrapLines(text string) string {
	const width = 120
	var out strings.Builder
	for len(text) > width {
		out.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return out.String() + text
}
