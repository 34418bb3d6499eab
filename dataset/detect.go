package dataset

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Note is a remark about the header of a file. It depends only on the header.
type Note struct {
	Code string // code of a warning; "" for a plain remark on how the file is read
	Text string
}

// detectFormat infers the undeclared settings of how cells are separated and quoted from the header line. If
// the header is ambiguous, it returns an error that names the setting to declare. It does not look at rows.
func (rd *reader) detectFormat(line []byte) error {
	if rd.format.packed != tablefile.NotPacked || rd.format.json || len(line) == 0 {
		return nil
	}
	var shown []string
	if rd.opts.Format.Separator == 0 {
		comma, err := rd.separatorOf(line)
		if err != nil {
			return err
		}
		if comma != rd.dialect.comma {
			rd.dialect.comma = comma
			shown = append(shown, formatOption("separator", string(rune(comma))))
		}
	}
	if rd.opts.Format.Quote == 0 && !rd.opts.Format.NoQuote &&
		singleQuoted(line, rd.dialect.comma) {
		escape := rd.dialect.escape
		rd.dialect.quote = '\''
		if escape == '"' {
			rd.dialect.escape = '\''
		}
		shown = append(shown, formatOption("quote", "single"))
	}
	if rd.opts.Format.Escape == 0 && rd.dialect.quote != 0 && !rd.dialect.wellFormed(line, false) {
		if bytes.IndexByte(line, backslash) >= 0 && rd.dialect.wellFormed(line, true) {
			rd.dialect.escape = backslash
			shown = append(shown, formatOption("escape", "backslash"))
		} else if rd.opts.Format.Lines() {
			rd.addNote("quotes",
				fmt.Sprintf(
					"a quote in the header does not enclose a name; if quotes have no special meaning in this file, add %s",
					formatOption("quote", "none")))
		}
	}
	if len(shown) > 0 {
		rd.addNote("", "read with "+strings.Join(shown, " ")+", as its header shows")
	}
	if rd.dialect.comma == ';' && rd.opts.Format.Decimal == 0 {
		rd.addNote("decimal-point",
			"cells are separated by semicolons, but numbers are read with a decimal point: if they are written 1,5 add "+
				formatOption("decimal", ",")+"; if not, add "+formatOption("decimal", ".")+
				" to silence this warning")
	}
	return nil
}

// addNote adds a remark about the header, or a warning with a code.
func (rd *reader) addNote(code, text string) {
	rd.notes = append(rd.notes, Note{code, text})
}

// separators are the characters that may separate cells, with their names in messages.
var separators = []struct {
	char byte
	name string
}{
	{';', "semicolons"},
	{'\t', "tabs"},
	{'|', "bars"},
	{',', "commas"},
	{'^', "carets"},
	{1, "the control character 1"},
}

// separatorOf returns the character that separates the names of a header line: the separator implied by the
// file name if it yields several names or all names that the caller knows, otherwise the only one that does.
func (rd *reader) separatorOf(line []byte) (byte, error) {
	usual := rd.dialect.comma
	names := rd.namesWith(line, usual)
	known := rd.knownNames()
	if len(known) > 0 && containsAll(names, known) {
		return usual, nil
	}
	type choice struct {
		char  byte
		name  string
		count int
	}
	var best []choice
	for _, s := range separators {
		if s.char == usual || bytes.IndexByte(line, s.char) < 0 {
			continue
		}
		other := rd.namesWith(line, s.char)
		if len(known) > 0 && containsAll(other, known) {
			return s.char, nil
		}
		switch {
		case len(other) < 2 || len(best) > 0 && len(other) < best[0].count:
		case len(best) > 0 && len(other) == best[0].count:
			best = append(best, choice{s.char, s.name, len(other)})
		default:
			best = []choice{{s.char, s.name, len(other)}}
		}
	}
	switch {
	case len(best) == 0:
		return usual, nil
	case len(names) > 1:
		if best[0].count > len(names) {
			rd.addNote("separator",
				fmt.Sprintf("the header has %d names; with %s it would have %d", len(names),
					formatOption("separator", string(rune(best[0].char))), best[0].count))
		}
		return usual, nil
	case len(best) > 1:
		return 0,
			&FileError{
				Path: rd.path,
				Line: 1,
				Msg: fmt.Sprintf("the column names may be separated by %s or by %s",
					best[0].name, best[1].name),
				Hint: formatRemedy("separator", string(rune(best[0].char))) + ", or another one",
				Err:  ErrFormat,
			}
	}
	return best[0].char, nil
}

// namesWith cuts a header line with another separator.
func (rd *reader) namesWith(line []byte, comma byte) []string {
	d := rd.dialect
	d.comma = comma
	if singleQuoted(line, comma) && rd.opts.Format.Quote == 0 && !rd.opts.Format.NoQuote {
		d.quote = '\''
	}
	cut := fieldCutter{d: &d}
	names := cut.firstFields(line, maxColumns+1)
	for i, name := range names {
		names[i] = cell.Trim(name)
	}
	return names
}

// knownNames returns the names of columns that the caller knows to be in the header.
func (rd *reader) knownNames() []string {
	known := slices.Clone(rd.opts.Known)
	for j := range rd.schema.Columns {
		known = append(known, rd.schema.Columns[j].dateSource())
	}
	if rd.hasUnit() {
		known = append(known, rd.schema.Unit)
	}
	return known
}

// containsAll reports whether all of some names are among others.
func containsAll(names, some []string) bool {
	have := make(map[string]bool, len(names))
	for _, name := range names {
		have[name] = true
	}
	return !slices.ContainsFunc(some, func(name string) bool {
		return !have[name]
	})
}

// singleQuoted reports whether a header line has several names, each in single quotes.
func singleQuoted(line []byte, comma byte) bool {
	d := dialect{comma: comma, quote: '\''}
	if len(line) == 0 || !d.completeRecord(line) {
		return false
	}
	cut := fieldCutter{d: &d}
	n := 0
	for cut.startRecord(line); cut.more; n++ {
		if rest := bytes.TrimLeftFunc(cut.rest, d.isBlank); len(rest) == 0 || rest[0] != '\'' {
			return false
		}
		cut.nextField(false)
	}
	return n > 1
}

// skipSeparatorLine reads the separator from a first line such as sep=; as written by Excel. The header is then
// the next line.
func (rd *reader) skipSeparatorLine(line []byte) bool {
	if rd.format.packed != tablefile.NotPacked || rd.format.json || len(line) > len(`"sep=;"`)+1 {
		return false
	}
	text, ok := strings.CutPrefix(strings.Trim(strings.TrimSuffix(string(line), "\n"), `"`), "sep=")
	if !ok || len(text) != 1 || strings.IndexByte(Separators, text[0]) < 0 {
		return false
	}
	if rd.opts.Format.Separator == 0 {
		rd.opts.Format.Separator = text[0]
		rd.dialect.comma = text[0]
		rd.addNote("", "read with "+formatOption("separator", text)+", as its first line declares")
	}
	return true
}

// unreadableHeader returns the error about a header that this reader cannot read, and nil for any other.
func (rd *reader) unreadableHeader(line int, names []string) error {
	refuse := func(msg, hint string) error {
		return &FileError{
			Path: rd.path,
			Line: line,
			Msg:  msg,
			Hint: hint,
			Err:  ErrFormat,
		}
	}
	if len(names) != 1 {
		return nil
	}
	if strings.Contains(names[0], `" "`) {
		return refuse("the header is a single field with quoted names separated by blanks",
			"write it with commas; R's write.csv does, with row.names=FALSE")
	}
	for _, s := range separators {
		if s.char == rd.dialect.comma || strings.IndexByte(names[0], s.char) < 0 ||
			rd.opts.Format.Separator == 0 {
			continue
		}
		hint := formatRemedy("separator", string(rune(s.char)))
		if s.char == ';' && rd.opts.Format.Decimal == 0 {
			hint += `, and decimal "," if numbers are written 1,5`
		}
		return refuse(
			fmt.Sprintf("the header is a single field that contains %s, which seem to separate the cells",
				s.name), hint)
	}
	return nil
}

// formatOption writes a flag with its value as it is typed in a shell.
func formatOption(name, value string) string {
	switch {
	case value == "\t":
		value = "tab"
	case value == "\x01":
		value = `$'\x01'`
	case strings.ContainsAny(value, `;|^\`):
		value = `"` + value + `"`
	}
	return "--" + name + " " + value
}

// formatRemedy names the recipe key and the flag that fix the format of a table.
func formatRemedy(key, value string) string {
	if value == "\t" {
		value = "tab"
	}
	shown := value
	if strings.ContainsAny(value, ",;|") {
		shown = `"` + value + `"`
	}
	return fmt.Sprintf("set %s with --%s %s, or in a recipe data.format: {%s: %s}", key, key, shown,
		key, shown)
}

// head keeps the first bytes of a file that is read through it.
type head struct {
	r     io.Reader
	first []byte
}

// Read implements io.Reader.
func (h *head) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if room := tablefile.HeadBytes - len(h.first); room > 0 {
		h.first = append(h.first, p[:min(n, room)]...)
	}
	return n, err
}

// misnamedFile returns an error if the content of a file with a header line contradicts its name, otherwise
// nil.
func (rd *reader) misnamedFile(first []byte) error {
	c, ok := tablefile.ContentOf(first)
	if !ok {
		return nil
	}
	if c.UTF16() && rd.opts.Format.isCoded() {
		return nil
	}
	if rd.nameless && !c.UTF16() {
		return &FileError{
			Path: rd.path,
			Msg:  "is " + c.What + ", not CSV",
			Hint: "send CSV in UTF-8, without compression",
			Err:  ErrFormat,
		}
	}
	return contentMismatch(rd.path, c)
}

// contentMismatch returns the error for a file whose content contradicts its name.
func contentMismatch(path string, c tablefile.Content) error {
	if c.UTF16() {
		return &FileError{
			Path: path,
			Line: 1,
			Msg:  "the header is UTF-16 text",
			Hint: c.Do,
			Err:  ErrFormat,
		}
	}
	e := &FileError{
		Path: path,
		Msg:  "is " + c.What + ", which does not match its name",
		Hint: c.Do,
		Err:  ErrFormat,
	}
	switch stdin := path == "stdin" || strings.HasPrefix(path, "stdin."); {
	case stdin && c.Kind.Coding != "":
		e.Hint = "give it as -.csv.gz in place of -, or decompress it first"
	case stdin && c.Kind.JSON:
		e.Hint = "give it as -.jsonl in place of -"
	case stdin && c.Kind.Parquet:
		e.Hint = "give it as -.parquet in place of -"
	case stdin && c.Kind.Packed == tablefile.Arrow:
		e.Hint = "give it as -.arrow in place of -"
	}
	return e
}

// misnamedFile checks a file that is read at offsets and that its own reader rejected with err. It returns an
// error that names the actual format, or err.
func misnamedFile(path string, at io.ReaderAt, size int64, err error) error {
	first := make([]byte, min(size, tablefile.HeadBytes))
	n, _ := at.ReadAt(first, 0)
	first = first[:n]
	own, _, _ := tablefile.ParsePath(path)
	c, ok := tablefile.ContentOf(first)
	switch {
	case ok &&
		(c.Kind.Parquet && own.Parquet ||
			c.Kind.Packed != tablefile.NotPacked && c.Kind.Packed == own.Packed),
		ok && own.Packed == tablefile.Sheet && c.Zip: // the archive is damaged
		return err
	case ok && c.UTF16():
		return &FileError{
			Path: path,
			Msg:  "is UTF-16 text, which does not match its name",
			Hint: "name it .csv, and add --encoding utf-16",
			Err:  ErrFormat,
		}
	case ok:
		return contentMismatch(path, c)
	case n == 0:
		return &FileError{
			Path: path,
			Msg:  "is empty",
			Hint: "copy or write it again",
			Err:  ErrCorrupt,
		}
	case tablefile.IsText(first):
		return &FileError{
			Path: path,
			Msg:  "is plain text, which does not match its name",
			Hint: "name it .csv",
			Err:  ErrFormat,
		}
	}
	return err
}
