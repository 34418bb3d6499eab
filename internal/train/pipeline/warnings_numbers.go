package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// ReadAsText returns the recipe key, with its flag, that makes categories of the values of a column, whether they are
// numbers or not. It is empty for other columns, and for a column whose categories are listed.
func (p *Pipeline) ReadAsText(column string) string {
	j := p.Schema.Index(column)
	if j < 0 || column == p.Target {
		return ""
	}
	switch c := p.Schema.Columns[j]; {
	case c.Kind != dataset.Category || !c.Found:
	case c.TargetEncoded:
		return "encode (--encode)"
	case column == p.Groups:
		return "evaluate.by (--by)"
	}
	return ""
}

// numberWarnings describes columns that groups or a target encoding make categories of, although their values seem to be
// numbers: those that were found are, or all were too rare to be found. It depends on released values only.
func (p *Pipeline) numberWarnings(f stage.Findings) []Warning {
	var out []Warning
	for _, v := range f.Vocabulary {
		key := p.ReadAsText(v.Column)
		if key == "" || !p.seemNumbers(v.Words) {
			continue
		}
		text := fmt.Sprintf("The values of %q that were found are numbers, but %s makes them text categories, whose order the model does not know. Remove the column there if they are measurements.",
			v.Column, key)
		if len(v.Words) == 0 {
			text = fmt.Sprintf("No value of %q is frequent enough to be one of the text categories that %s makes of them. Remove the column there if they are numbers.",
				v.Column, key)
		}
		out = append(out, Warning{
			Code:     stage.CodeNumbersAsText,
			Severity: Theoretical,
			Text:     text,
		})
	}
	return out
}

// seemNumbers reports whether all words are numbers. Two of them may as well be the codes of a category with two values.
func (p *Pipeline) seemNumbers(words []string) bool {
	var f dataset.Format
	f.SetNumbers(p.Schema.Numbers)
	return (len(words) == 0 || len(words) > 2) && !slices.ContainsFunc(words, func(text string) bool {
		return !strings.ContainsAny(text, "0123456789") || !f.Reads(text)
	})
}
