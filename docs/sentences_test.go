package docs

import "regexp"

var sentenceEnd = regexp.MustCompile("[.!?][)\"*]*\\s+([A-Z`*(\"\\[0-9])")

// sentences splits a paragraph.
func sentences(text string) []string {
	var out []string
	for {
		m := sentenceEnd.FindStringSubmatchIndex(text)
		if m == nil {
			return append(out, text)
		}
		out, text = append(out, text[:m[2]]), text[m[2]:]
	}
}
