package cell

import "strings"

// AppendCell appends a text to a line of comma-separated cells, quoted if necessary. It replaces a line end within the
// text by a blank.
func AppendCell(line []byte, text string) []byte {
	if !strings.ContainsAny(text, "\",\r\n") {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, quoted.Replace(text)...)
	return append(line, '"')
}

// quoted escapes a text for use within quotes on a single line.
var quoted = strings.NewReplacer(`"`, `""`, "\r\n", " ", "\n", " ")
