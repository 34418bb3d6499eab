package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Format describes how the text of a table is written. All of it is public: it is declared, or inferred from
// the header line. The zero Format is comma-separated UTF-8 (tab-separated if the file name implies it) with
// decimal points, parsed leniently.
type Format struct {
	Separator byte // between cells: one of [Separators]; 0: implied by the file suffix
	Decimal   byte // ',' or '.'; 0: '.'
	Thousands byte // between groups of three digits: one of , . ' _ or a blank; 0: none
	// Quote surrounds cells that contain separators: '"' or '\''; 0: '"'.
	Quote byte
	// NoQuote disables quoting.
	NoQuote bool
	// Escape is the character before a quote within a quoted cell: '"' if the quote is doubled, or '\\'; 0:
	// whichever of them makes a line well-formed.
	Escape byte
	// Encoding is the name of a character set, as [Encodings] lists them; empty: UTF-8.
	Encoding string
	// Skip is the number of lines before the header line.
	Skip int
	// Missing lists numbers that mean a missing cell, such as -999.
	Missing []float64
	// Sheet is the name of the sheet of a workbook to read; empty: the first one.
	Sheet string
	// Strict accepts only plain numbers; package cell lists the other accepted spellings.
	Strict bool
	// MultilineQuotes lets a quoted CSV field contain newlines. A quote left open then swallows every row up to
	// the next quote, and reading is slower.
	MultilineQuotes bool
}

// Lines reports whether every line is a record of its own, regardless of its quotes.
func (f *Format) Lines() bool {
	return !f.MultilineQuotes
}

// Separators are the characters that may separate cells.
const Separators = ",;\t|:^~\x01"

// maxSkip is the maximum of Skip.
const maxSkip = 1000

// validate reports the first setting of a format that is unknown or contradicts another.
func (f *Format) validate() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: format: %s", ErrSchema, fmt.Sprintf(format, args...))
	}
	_, known := lookupCharset(f.Encoding)
	decimal := byte('.')
	if f.Decimal != 0 {
		decimal = f.Decimal
	}
	switch sep := f.Separator; {
	case sep != 0 && strings.IndexByte(Separators, sep) < 0:
		return wrong("unknown separator %q", sep)
	case f.Decimal != 0 && f.Decimal != '.' && f.Decimal != ',':
		return wrong("the decimal mark must be a point or a comma")
	case f.Thousands != 0 && strings.IndexByte(",.'_ ", f.Thousands) < 0:
		return wrong("unknown thousands mark %q", f.Thousands)
	case f.Thousands != 0 && f.Thousands == decimal:
		return wrong("the decimal mark and the thousands mark are the same")
	case f.Quote != 0 && f.Quote != '"' && f.Quote != '\'' || f.Quote != 0 && f.NoQuote:
		return wrong("the quote must be double or single")
	case f.Escape != 0 && f.Escape != '"' && f.Escape != backslash:
		return wrong("a quote must be escaped by another quote or by a backslash")
	case !known:
		return wrong("unknown encoding %q", f.Encoding)
	case f.Skip < 0 || f.Skip > maxSkip:
		return wrong("skips %d lines, more than %d", f.Skip, maxSkip)
	case slices.ContainsFunc(f.Missing, func(x float64) bool {
		return !isFinite(x)
	}):
		return wrong("a missing number is not finite")
	}
	return nil
}

// dialect returns how records are split into fields, as far as that is declared; the separator may be 0.
func (f *Format) dialect() dialect {
	d := dialect{
		comma:  f.Separator,
		quote:  '"',
		escape: f.Escape,
	}
	switch {
	case f.NoQuote:
		d.quote = 0
	case f.Quote != 0:
		d.quote = f.Quote
	}
	if d.escape == '"' {
		d.escape = d.quote
	}
	return d
}

// Numbers describes how the numbers of a table are written. The zero Numbers is lenient parsing with decimal
// points.
type Numbers struct {
	Decimal   byte      // ',' or '.'; 0: '.'
	Thousands byte      // between groups of three digits: one of , . ' _ or a blank; 0: none
	Strict    bool      // see [Format.Strict]
	Missing   []float64 // numbers that mean a missing cell
}

// IsZero reports whether n is the zero Numbers.
func (n Numbers) IsZero() bool {
	return n.Decimal == 0 && n.Thousands == 0 && !n.Strict && len(n.Missing) == 0
}

// Numbers returns the settings of the format for numbers.
func (f *Format) Numbers() Numbers {
	return Numbers{f.Decimal, f.Thousands, f.Strict, f.Missing}
}

// SetNumbers replaces the settings of the format for numbers.
func (f *Format) SetNumbers(n Numbers) {
	f.Decimal = n.Decimal
	f.Thousands = n.Thousands
	f.Strict = n.Strict
	f.Missing = n.Missing
}

// fillNumbers returns the format with unset number settings taken from n.
func (f Format) fillNumbers(n Numbers) Format {
	if f.Numbers().IsZero() {
		f.SetNumbers(n)
	}
	return f
}

// numberRule returns how numbers are written.
func (f *Format) numberRule() cell.Rule {
	return cell.Numbers(f.Numbers()).Rule()
}

// Character sets other than UTF-8. Stateful sets, whose state lasts beyond a line, are excluded, because a
// record could change how others are read. Multi-byte sets are excluded because of the size of their tables.
var charsets = func() map[string]encoding.Encoding {
	out := map[string]encoding.Encoding{
		"utf-16":    unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf-16le":  unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be":  unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"latin1":    charmap.ISO8859_1,
		"macintosh": charmap.Macintosh,
	}
	for _, c := range charmap.All {
		name := strings.ToLower(fmt.Sprint(c))
		switch {
		case strings.HasPrefix(name, "iso 8859-") && !strings.HasSuffix(name, "e") &&
			!strings.HasSuffix(name, "i"):
			out[strings.Replace(name, " ", "-", 1)] = c
		case strings.HasPrefix(name, "windows 1"), strings.HasPrefix(name, "windows 8"):
			out[strings.Replace(name, " ", "-", 1)] = c
		case strings.HasPrefix(name, "ibm code page "):
			out["cp"+strings.TrimPrefix(name, "ibm code page ")] = c
		case strings.HasPrefix(name, "koi8"):
			out[name] = c
		}
	}
	return out
}()

// Encodings lists the names of character sets, utf-8 first. Spellings such as UTF8, latin-1, cp1252 and iso8859-15 are
// known too.
func Encodings() []string {
	var out []string
	for name := range charsets {
		out = append(out, name)
	}
	slices.Sort(out)
	return append([]string{"utf-8"}, out...)
}

// lookupCharset returns the character set of a name, nil for UTF-8. Case, _ and the hyphens of utf-8 and utf-16 do not matter.
func lookupCharset(name string) (encoding.Encoding, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, alias := range [][2]string{
		{"utf8", "utf-8"},
		{"utf16", "utf-16"},
		{"latin-1", "latin1"},
		{"iso8859", "iso-8859"},
		{"cp12", "windows-12"},
		{"mac-roman", "macintosh"},
	} {
		if rest, ok := strings.CutPrefix(name, alias[0]); ok {
			name = alias[1] + rest
		}
	}
	if name == "" || name == "utf-8" {
		return nil, true
	}
	c, ok := charsets[name]
	return c, ok
}

// Known reports whether the encoding of f is known.
func (f *Format) Known() bool {
	_, ok := lookupCharset(f.Encoding)
	return ok
}

// Reads reports whether a numeric cell of the format is missing or a finite number.
func (f *Format) Reads(text string) bool {
	rule := f.numberRule()
	_, class := rule.Number(text)
	return class == good || class == missing
}

// utf8 decodes the text of a file. It is total: invalid bytes become U+FFFD.
func (f *Format) utf8(r io.Reader) io.Reader {
	c, _ := lookupCharset(f.Encoding)
	if c == nil {
		return r
	}
	return transform.NewReader(r, c.NewDecoder())
}

// isCoded reports whether the bytes of the file differ from those of the text.
func (f *Format) isCoded() bool {
	c, _ := lookupCharset(f.Encoding)
	return c != nil
}
