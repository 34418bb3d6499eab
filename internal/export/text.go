package export

import (
	"bytes"
	_ "embed" // the programs
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
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

// writeProgram writes a program that contains the model. In the text of the program, @MODEL@ is replaced by the
// description of the model: JSON that can be put between three double quotes, between backquotes or after an
// equals sign.
func writeProgram(w io.Writer, code string, m regression.Model) error {
	known, err := knownOf(m)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(known); err != nil {
		return fmt.Errorf("a model file that is not JSON: %w", err)
	}
	code = strings.Replace(code, "@UNICODE@", unicodeTablesOf(m), 1)
	_, err = io.WriteString(w,
		strings.Replace(code, "@MODEL@", escapeNonASCII(strings.TrimSpace(text.String())), 1))
	return err
}

// A cellRule holds the rules of package cell that programs need.
type cellRule struct {
	Decimal    string    `json:"decimal"`
	Thousands  string    `json:"thousands"`
	Lenient    bool      `json:"lenient"`
	Missing    []float64 `json:"missing"`
	Words      []string  `json:"words"` // texts for missing
	Units      []string  `json:"units"`
	Currencies []string  `json:"currencies"`
	Bounds     []string  `json:"bounds"`
	Blanks     string    `json:"blanks"`
	Invisible  string    `json:"invisible"`
	Removed    string    `json:"removed"`
	Narrow     string    `json:"narrow"`
	MaxLenient int       `json:"max_lenient"`
	MaxDate    int       `json:"max_date"`

	Layouts map[string]cell.DatePattern `json:"layouts"`
}

// knownOf returns the file of a model with the information that a program needs to read cells: the rules in
// place of the key reading, and in each column the spellings of its categories and its source.
func knownOf(m regression.Model) (map[string]any, error) {
	var file bytes.Buffer
	if err := regression.EncodeModel(&file, m); err != nil {
		return nil, err
	}
	var known map[string]any
	decoder := json.NewDecoder(&file)
	decoder.UseNumber()
	if err := decoder.Decode(&known); err != nil {
		return nil, fmt.Errorf("a model file that is not JSON: %w", err)
	}
	rule := cellRule{
		Decimal:    ".",
		Lenient:    true,
		Missing:    []float64{},
		Words:      cell.MissingWords(),
		Units:      cell.Units,
		Currencies: cell.Currencies,
		Bounds:     cell.Bounds,
		Blanks:     cell.Blanks,
		Invisible:  cell.Invisible,
		Removed:    cell.Removed,
		Narrow:     cell.Narrow,
		MaxLenient: cell.MaxLenient,
		MaxDate:    cell.MaxDate,
		Layouts:    map[string]cell.DatePattern{},
	}
	for _, c := range m.Inputs() {
		r := c.Reading
		if r.Decimal != 0 {
			rule.Decimal = string(rune(r.Decimal))
		}
		if r.Thousands != 0 {
			rule.Thousands = string(rune(r.Thousands))
		}
		rule.Lenient = !r.Strict
		rule.Missing = append([]float64{}, r.Missing...)
		if r.Source == "" {
			continue
		}
		if pattern, ok := cell.DatePatternOf(r.Date); ok {
			rule.Layouts[r.Date] = pattern
		}
	}
	known["reading"] = rule
	lists := []any{known["columns"]}
	if scores, ok := known["scores"].([]any); ok {
		lists = nil
		for _, score := range scores {
			lists = append(lists, score.(map[string]any)["columns"])
		}
	}
	for i, score := range scoresOf(m) {
		for j, c := range score.Inputs() {
			addReading(lists[i].([]any)[j].(map[string]any), &c, rule.Layouts)
		}
	}
	return known, nil
}

// addReading adds the reading of its cells to a column of a file. The date is omitted if its layout has no pattern:
// the record then needs the parts.
func addReading(
	column map[string]any,
	c *regression.Column,
	layouts map[string]cell.DatePattern,
) {
	if c.Text() {
		column["spellings"] = namesOf(c).Spellings()
	}
	if _, known := layouts[c.Reading.Date]; known && c.Reading.Source != "" {
		column["source"] = c.Reading.Source
		column["part"] = c.Reading.Part
		column["layout"] = c.Reading.Date
	}
}

// namesOf returns the finder for the categories of a column.
func namesOf(c *regression.Column) *cell.Names {
	return cell.NewNames(c.Categories, cell.Text(c.TextRule), c.Reading.Decimal)
}

// escapeNonASCII replaces non-ASCII characters in JSON, and the backquote, by escapes. They occur only within texts.
func escapeNonASCII(text string) string {
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
