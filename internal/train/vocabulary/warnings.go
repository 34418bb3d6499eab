package vocabulary

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/train/stage"
)

// Warnings describes the findings about columns and classes, and values that were too rare to be found.
func (x Stage) Warnings(f stage.Findings, target string) []stage.Warning {
	var out []stage.Warning
	var texts, none []string
	cut := false
	least := 0.
	for _, v := range f.Vocabulary {
		least = v.Least
		switch {
		case v.Column == target:
			out = append(out, classesFound(v)...)
		case len(v.Words) == 0:
			none = append(none, v.Column)
		default:
			texts = append(texts, fmt.Sprintf("%q (%d)", v.Column, len(v.Words)))
			cut = cut || v.Cut
		}
	}
	if len(texts) > 0 {
		rest := "all other values count as one category"
		if cut {
			rest = "where there are too many, the most frequent ones are used, and " + rest
		}
		out = append(out, stage.Warning{
			Code:     stage.CodeWordsFound,
			Severity: stage.Negligible,
			Text: fmt.Sprintf(
				"Text columns were detected privately, with this number of categories: %s. A value becomes a category if about %.0f training records have it; %s.", stage.ListParts(texts), math.Ceil(least), rest),
		})
	}
	if len(none) > 0 {
		out = append(out, stage.Warning{
			Code:     stage.CodeNoWords,
			Severity: stage.Theoretical,
			Text: fmt.Sprintf(
				"No value of %s occurs in enough records to be found at this budget, as in a column of names, identifiers or dates. They are not in the model. Declare their categories if they are public, group their values by a prefix (prefix: 3) or into buckets (hash: 64), or declare dates (date: auto). Exclude names and identifiers.", stage.ListNames(none)),
		})
	}
	return out
}

// classesFound describes the classes that were found.
func classesFound(v stage.Vocabulary) []stage.Warning {
	switch n := len(v.Words); {
	case n < 2:
		return []stage.Warning{{
			Code:     stage.CodeNoClasses,
			Severity: stage.Critical,
			Text: fmt.Sprintf(
				"%s of the target %q was found, and two are needed, so there is no model, and the budget is spent. The others are too rare at this budget, or there are none. List them (data.classes) if they are public, or use more records or a larger epsilon.",
				[]string{"No class", "Only one class"}[n], v.Column),
		}}
	case v.Cut:
		return []stage.Warning{{
			Code:     stage.CodeClassesCut,
			Severity: stage.Critical,
			Text: fmt.Sprintf(
				"More than %[2]d classes of the target %[1]q are frequent enough, but the model may have only %[2]d. It does not know the less frequent ones, and their records count as errors. Raise data.most_classes.", v.Column, n),
		}}
	default:
		return []stage.Warning{{
			Code:     stage.CodeClassesFound,
			Severity: stage.Negligible,
			Text: fmt.Sprintf(
				"%d classes of the target %q were found privately. A label becomes a class if about %.0f training records have it; records with another label train nothing and count as errors.", n, v.Column, math.Ceil(v.Least)),
		}}
	}
}
