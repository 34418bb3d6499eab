package dataset

import (
	"fmt"
	"strings"
)

// foreign refuses a header that was written for another reader, and names the remedy. It
// looks at the header line alone, which is public: nothing is guessed from rows.
func (rd *reader) foreign(line int, names []string) error {
	refuse := func(msg, hint string) error {
		return &FileError{Path: rd.path, Line: line, Msg: msg, Hint: hint, Err: ErrFormat}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "\xff\xfe") || strings.HasPrefix(name, "\xfe\xff") || strings.Contains(name, "\x00") {
			return refuse("the header is UTF-16 text", "save the table as UTF-8; on a command line: iconv -f UTF-16 -t UTF-8")
		}
	}
	if len(names) != 1 {
		return nil
	}
	for _, sep := range []struct {
		char rune
		name string
	}{{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}, {',', "commas"}} {
		if sep.char == rune(rd.format.comma) || !strings.ContainsRune(names[0], sep.char) {
			continue
		}
		hint := "save the table with commas between the cells and points in the numbers (1.5, not 1,5)"
		switch {
		case sep.char == '\t':
			hint = "name the file .tsv, or save it with commas between the cells"
		case sep.char == ',':
			hint = "name the file .csv"
		}
		return refuse(fmt.Sprintf("the header is one field that holds %s: cells seem to be separated by them", sep.name), hint)
	}
	return nil
}
