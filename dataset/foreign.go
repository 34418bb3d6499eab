package dataset

import (
	"fmt"
	"strings"
)

// foreign refuses a header that was written for another reader, and names the key of a recipe, and the flag, that mends
// it. It looks at the header line alone, which is public: nothing is guessed from rows.
func (rd *reader) foreign(line int, names []string) error {
	refuse := func(msg, hint string) error {
		return &FileError{Path: rd.path, Line: line, Msg: msg, Hint: hint, Err: ErrFormat}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "\xff\xfe") || strings.HasPrefix(name, "\xfe\xff") || strings.Contains(name, "\x00") {
			return refuse("the header is UTF-16 text", mend("encoding", utf16Of(names[0])))
		}
	}
	if len(names) > 1 && rd.quote != '\'' && allWithin(names, "'") {
		return refuse("every name is in single quotes: they seem to surround the cells", mend("quote", "single"))
	}
	if len(names) != 1 {
		return nil
	}
	if sep, ok := strings.CutPrefix(names[0], "sep="); ok && len(sep) <= 1 {
		hint := mend("skip", fmt.Sprint(rd.opts.Format.Skip+1))
		if sep != "" && sep != "," {
			hint += ", and " + mend("separator", sep)
		}
		return refuse("the first line names a separator and no columns", hint)
	}
	if strings.Contains(names[0], `" "`) {
		return refuse("the header is one field that holds names in quotes with blanks between them", "write it with commas; R's write.csv does, with row.names=FALSE")
	}
	for _, sep := range []struct {
		char rune
		name string
	}{{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}, {',', "commas"}, {'^', "carets"}} {
		if sep.char == rune(rd.format.comma) || !strings.ContainsRune(names[0], sep.char) {
			continue
		}
		hint := mend("separator", string(sep.char))
		if sep.char == ';' && rd.opts.Format.Decimal == 0 {
			hint += `, and decimal "," if numbers are written 1,5`
		}
		return refuse(fmt.Sprintf("the header is one field that holds %s: cells seem to be separated by them", sep.name), hint)
	}
	return nil
}

// mend names the key and the flag of a format that mend a table.
func mend(key, value string) string {
	if value == "\t" {
		value = "tab"
	}
	shown := value
	if strings.ContainsAny(value, ",;|") {
		shown = `"` + value + `"`
	}
	return fmt.Sprintf("set %s with --%s %s, or in a recipe data.format: {%s: %s}", key, key, shown, key, shown)
}

// utf16Of returns the name of the encoding of a header whose bytes begin like this.
func utf16Of(start string) string {
	switch {
	case strings.HasPrefix(start, "\xff\xfe"), strings.HasPrefix(start, "\xfe\xff"):
		return "utf-16"
	case strings.HasPrefix(start, "\x00"):
		return "utf-16be"
	}
	return "utf-16le"
}

// allWithin reports whether every name stands between two of the same quotes.
func allWithin(names []string, quote string) bool {
	for _, name := range names {
		if len(name) < 2 || !strings.HasPrefix(name, quote) || !strings.HasSuffix(name, quote) {
			return false
		}
	}
	return true
}
