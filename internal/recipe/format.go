package recipe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// Format describes how the text of the table is written; see [dataset.Format]. An absent separator or quote is
// inferred from the header line. The other defaults are decimal points, no thousands separator, utf-8, quotes
// doubled or escaped, whichever is unambiguous, and no line before the header.
type Format struct {
	Separator string    `yaml:"separator,omitempty" json:"separator,omitempty" jsonschema_description:"Separator of the cells of a line: a comma, a semicolon, tab, a bar, : ^ or ~. Default: detected from the header line, or else from the file name."`
	Decimal   string    `yaml:"decimal,omitempty" json:"decimal,omitempty" jsonschema_description:"Decimal mark of numbers: a point (default) or a comma."`
	Thousands string    `yaml:"thousands,omitempty" json:"thousands,omitempty" jsonschema_description:"Mark between groups of three digits: a comma, a point, an apostrophe, _ or blank."`
	Encoding  string    `yaml:"encoding,omitempty" json:"encoding,omitempty" jsonschema_description:"Character set: utf-8 (default), utf-16, latin1, windows-1252 or another code page."`
	Quote     string    `yaml:"quote,omitempty" json:"quote,omitempty" jsonschema_description:"Quotes around cells that contain separators: double (default), single or none."`
	Escape    string    `yaml:"escape,omitempty" json:"escape,omitempty" jsonschema_description:"How a quote inside a quoted cell is written: doubled (as two quotes) or backslash (after a backslash). Default: either, if the line is unambiguous."`
	Header    string    `yaml:"header,omitempty" json:"header,omitempty" jsonschema_description:"line (default): the first line names the columns. none: the first line is a record, and data.header names the columns."`
	Skip      int       `yaml:"skip,omitempty" json:"skip,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"Number of lines before the header line."`
	Sheet     string    `yaml:"sheet,omitempty" json:"sheet,omitempty" jsonschema_description:"Sheet of a workbook (.xlsx) that contains the table. Default: the first one."`
	Missing   []float64 `yaml:"missing,omitempty" json:"missing,omitempty" jsonschema_description:"Numbers that mean a missing value, such as -999."`
}

// Names of characters in the keys of a format, accepted in addition to the characters themselves.
var (
	separatorWords = map[string]byte{
		"comma":     ',',
		"semicolon": ';',
		"tab":       '\t',
		"bar":       '|',
	}
	markWords = map[string]byte{
		"comma":      ',',
		"point":      '.',
		"blank":      ' ',
		"apostrophe": '\'',
	}
	quoteWords = map[string]byte{
		"double": '"',
		"single": '\'',
		"none":   0,
	}
	escapeWords = map[string]byte{
		"doubled":   '"',
		"backslash": '\\',
	}
	numberWords = []string{numbersLenient, numbersStrict}
)

const (
	numbersLenient = "lenient"
	numbersStrict  = "strict"
	maxMissing     = 16   // numbers that mean a missing cell
	maxSkip        = 1000 // lines before the header line
)

// character returns the character that a name or a character of a list denotes; ok is also true for an empty
// text.
func character(
	text string,
	words map[string]byte,
	list string,
) (c byte, ok bool) {
	if text == "" {
		return 0, true
	}
	if c, ok := words[text]; ok {
		return c, true
	}
	if text == `\t` {
		text = "\t"
	}
	return text[0], len(text) == 1 && strings.Contains(list, text)
}

// escapes are the characters before a quote within quotes.
const escapes = `"\`

// marks are the characters between groups of digits.
const marks = ",.'_ "

// Reading returns how the table is read.
func (d *Data) Reading() dataset.ReadOptions {
	var o dataset.ReadOptions
	o.Format.MultilineQuotes = d.MultilineQuotes
	o.Format.Strict = d.Numbers == numbersStrict
	f := d.Format
	if kind, _, _ := tablefile.ParsePath(d.Path); len(d.Header) > 0 && (kind.JSON || f != nil && f.Header == "none") {
		o.Names = d.Header
	}
	if f == nil {
		return o
	}
	o.Format.Separator, _ = character(f.Separator, separatorWords, dataset.Separators)
	o.Format.Decimal, _ = character(f.Decimal, markWords, ",.")
	o.Format.Thousands, _ = character(f.Thousands, markWords, marks)
	o.Format.Encoding = f.Encoding
	o.Format.Skip = f.Skip
	o.Format.Missing = f.Missing
	o.Format.Sheet = f.Sheet
	o.Format.Quote, _ = character(f.Quote, quoteWords, `"'`)
	o.Format.NoQuote = f.Quote == "none"
	o.Format.Escape, _ = character(f.Escape, escapeWords, escapes)
	return o
}

// SetReading sets the section so that [Data.Reading] returns o. A format equal to the default is omitted.
func (d *Data) SetReading(o dataset.ReadOptions) {
	d.MultilineQuotes = o.Format.MultilineQuotes
	d.Numbers = ""
	d.Format = nil
	if o.Format.Strict {
		d.Numbers = numbersStrict
	}
	word := func(c byte, words map[string]byte) string {
		if c == 0 {
			return ""
		}
		for w, x := range words {
			if x == c && w != "comma" && w != "point" && w != "semicolon" {
				return w
			}
		}
		return string(rune(c))
	}
	f := Format{
		Separator: word(o.Format.Separator, separatorWords),
		Decimal:   word(o.Format.Decimal, markWords),
		Thousands: word(o.Format.Thousands, markWords),
		Encoding:  o.Format.Encoding,
		Quote:     word(o.Format.Quote, quoteWords),
		Escape:    word(o.Format.Escape, escapeWords),
		Skip:      o.Format.Skip,
		Sheet:     o.Format.Sheet,
		Missing:   o.Format.Missing,
	}
	if o.Format.NoQuote {
		f.Quote = "none"
	}
	if kind, _, _ := tablefile.ParsePath(d.Path); o.Names != nil {
		if d.Header = o.Names; !kind.JSON {
			f.Header = "none"
		}
	}
	if f.Separator != "" || f.Decimal+f.Thousands+f.Encoding+f.Quote+f.Escape+f.Header+f.Sheet != "" || f.Skip != 0 || len(f.Missing) > 0 {
		d.Format = &f
	}
}

// describesText reports whether the section describes how text is written, which a query has no place for.
func (d *Data) describesText() bool { return d.Format != nil || d.MultilineQuotes }

// formatNames lists the permitted values of the keys of a format.
func formatNames() map[string][]string {
	with := func(words map[string]byte, characters string) []string {
		return append(slices.Sorted(maps.Keys(words)), strings.Split(characters, "")...)
	}
	return map[string][]string{
		"separator": with(separatorWords, dataset.Separators),
		"thousands": with(markWords, marks),
		"quote":     with(quoteWords, `"'`),
		"escape":    with(escapeWords, escapes),
		"decimal":   {".", ",", "point", "comma"},
		"header":    {"line", "none"},
	}
}

// reading validates the keys that describe how the table is read.
func (c *checker) reading() {
	d := &c.r.Data
	if d.Numbers != "" {
		c.name("data.numbers", d.Numbers, numberWords, numberWords)
	}
	f := d.Format
	if f == nil {
		return
	}
	c.checkCharacters(d)
	c.checkEncoding(f)
	c.checkHeaderLine(d)
	if f.Skip < 0 || f.Skip > maxSkip {
		c.add(
			"data.format.skip",
			fmt.Sprintf("data.format.skip must be from 0 to %d, not %d", maxSkip, f.Skip),
			"",
		)
	}
	c.checkSheet(d)
	c.checkMissing(f)
}

// checkCharacters validates the separator, the marks in numbers and the quotes.
func (c *checker) checkCharacters(d *Data) {
	f := d.Format
	accepts := func(key, text string, words map[string]byte, list, hint string) bool {
		path := "data.format." + key
		_, ok := character(text, words, list)
		if text == "" && c.given(path) {
			ok = false
		}
		if !ok {
			c.add(path, path+": "+quoted(text)+" is not accepted", hint)
		}
		return ok
	}
	accepts(
		"separator",
		f.Separator,
		separatorWords,
		dataset.Separators,
		`one of ",", ";", tab, "|", ":", "^", "~"`,
	)
	decimal := accepts(
		"decimal",
		f.Decimal,
		map[string]byte{"comma": ',', "point": '.'},
		",.",
		`"." or ","`,
	)
	accepts("quote", f.Quote, quoteWords, `"'`, "double, single or none")
	accepts("escape", f.Escape, escapeWords, escapes, "doubled or backslash")
	thousands := accepts(
		"thousands",
		f.Thousands,
		markWords,
		marks,
		`one of ",", ".", apostrophe, _, blank`,
	)
	if !thousands || !decimal || f.Thousands == "" {
		return
	}
	o := d.Reading().Format
	mark := o.Decimal
	if mark == 0 {
		mark = '.'
	}
	if mark == o.Thousands {
		c.add(
			"data.format.thousands",
			"data.format.thousands equals the decimal mark",
			`write decimal: ",", or another mark`,
		)
	}
}

// checkEncoding validates the name of the encoding.
func (c *checker) checkEncoding(f *Format) {
	const path = "data.format.encoding"
	known := (&dataset.Format{Encoding: f.Encoding}).Known()
	if f.Encoding == "" {
		known = !c.given(path)
	}
	if known {
		return
	}
	hint := "such as windows-1252, latin1, utf-16 or utf-8"
	if best, ok := nearest(f.Encoding, dataset.Encodings()); ok {
		hint = "did you mean " + best + "?"
	}
	c.add(path, path+": "+quoted(f.Encoding)+" is not known", hint)
}

// checkHeaderLine checks that a table without a header line has names in the recipe.
func (c *checker) checkHeaderLine(d *Data) {
	const path = "data.format.header"
	if d.Format.Header == "" && !c.given(path) {
		return
	}
	words := []string{"line", "none"}
	if !c.name(path, d.Format.Header, words, words) {
		return
	}
	if d.Format.Header == "none" && len(d.Header) == 0 {
		c.add(
			path,
			path+": none needs data.header with the column names",
			"data.header: [a, b, c], or --header a,b,c",
		)
	}
}

// checkSheet checks that only workbooks have a sheet.
func (c *checker) checkSheet(d *Data) {
	const path = "data.format.sheet"
	misplaced := c.given(path)
	if d.Format.Sheet != "" {
		kind, _, ok := tablefile.ParsePath(d.Path)
		misplaced = ok && kind.Packed != tablefile.Sheet
	}
	if misplaced {
		c.add(path, path+" is only for workbooks (.xlsx)", "omit it for other tables")
	}
}

// checkMissing validates the numbers that mean a missing value.
func (c *checker) checkMissing(f *Format) {
	const path = "data.format.missing"
	for i, x := range f.Missing {
		if !finiteNumber(x) {
			c.add(item(path, i), path+" must be finite numbers", "")
		}
	}
	if len(f.Missing) > maxMissing {
		c.add(path, fmt.Sprintf("%s lists more than %d numbers", path, maxMissing), "")
	}
}
