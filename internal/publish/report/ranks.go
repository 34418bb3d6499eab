package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// A rank orders warnings by urgency.
type rank int

// The ranks, the most urgent first.
const (
	rankError   rank = iota // the result must not be used
	rankWarning             // a limit to know before using a number
	rankNote                // for completeness
)

// String returns the word that precedes the code of a warning.
func (k rank) String() string {
	return []string{"error", "warning", "note"}[k]
}

// errorCodes are the warnings after which there is no usable result.
var errorCodes = []string{stage.CodeAbstained, stage.CodeFewRecords, stage.CodeNoClasses, stage.CodeNoSignal, noTargetCode,
	stage.CodeSeveralNames, stage.CodeTrainingUnprotected}

// rankOf returns the rank of a warning. The ledger is optional, so a run without one gets a note.
func rankOf(w pipeline.Warning) rank {
	switch {
	case slices.Contains(errorCodes, w.Code),
		w.Code == stage.CodeExtremeNumbers && w.Severity == pipeline.Critical: // of the target
		return rankError
	case w.Code == stage.CodeNoLedger || w.Severity == pipeline.Negligible:
		return rankNote
	}
	return rankWarning
}

// ranked returns the warnings in decreasing order of urgency, without those with the codes in without.
func ranked(list []pipeline.Warning, without ...string) []pipeline.Warning {
	out := slices.DeleteFunc(slices.Clone(list), func(w pipeline.Warning) bool {
		return slices.Contains(without, w.Code)
	})
	slices.SortStableFunc(out, func(a, b pipeline.Warning) int {
		return int(rankOf(a)) - int(rankOf(b))
	})
	return out
}

// heading is the rank and the code of a warning, as compilers print them.
func heading(w pipeline.Warning) string {
	return fmt.Sprintf("%s[%s]:", rankOf(w), w.Code)
}

// warningText prints warnings by rank, each as a paragraph whose continuation lines are indented.
func warningText(list []pipeline.Warning, without ...string) string {
	var b strings.Builder
	for _, w := range ranked(list, without...) {
		b.WriteString(strings.Join(wrapText(heading(w)+" "+w.Text, textWidth, "  "), "\n") + "\n")
	}
	return b.String()
}

// wrapText breaks a text into lines of at most width characters. Lines after the first start with indent.
func wrapText(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(strings.Map(printable, text)) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
