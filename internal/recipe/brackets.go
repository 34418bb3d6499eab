package recipe

import "strings"

// openBracket finds the first bracket or brace of a YAML text that is not closed, or is closed by one of the other
// kind, and returns its line and column, counted from 1, in bytes. ok is false if all brackets match. The function
// exists because the YAML library reports a different line. It handles flow brackets at the start of values and
// entries, quotes and comments; it treats block texts (| and >), which recipes do not need, as values.
func openBracket(src string) (line, col int, ok bool) {
	type bracket struct {
		closes byte
		line   int
		col    int
	}
	var open []bracket
	line = 1
	start := 0       // of the line
	begins := true   // a value may start here
	quote := byte(0) // inside such quotes
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case c == '\n':
			line++
			start = i + 1
			begins = begins || quote == 0
		case quote != 0:
			escapes := c == '\\' && quote == '"' ||
				c == '\'' && quote == c && strings.HasPrefix(src[i:], "''")
			if escapes && !strings.HasPrefix(src[i+1:], "\n") {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '#' && (i == start || strings.IndexByte(" \t", src[i-1]) >= 0):
			end := strings.IndexByte(src[i:], '\n')
			if end < 0 {
				end = len(src) - i
			}
			i += end - 1
		case (c == '"' || c == '\'') && begins:
			quote = c
			begins = false
		case c == '[' && begins:
			open = append(open, bracket{']', line, i - start + 1})
		case c == '{' && begins:
			open = append(open, bracket{'}', line, i - start + 1})
		case (c == ']' || c == '}') && len(open) > 0:
			last := open[len(open)-1]
			if last.closes != c {
				return last.line, last.col, true
			}
			open = open[:len(open)-1]
			begins = false
		case c == ',' && len(open) > 0,
			c == ':' && strings.Trim(src[i+1:min(i+2, len(src))], " \t\r\n") == "",
			c == '-' && begins:
			begins = true
		case c != ' ' && c != '\t' && c != '\r':
			begins = false
		}
	}
	if len(open) == 0 {
		return 0, 0, false
	}
	return open[0].line, open[0].col, true
}
