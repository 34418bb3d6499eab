package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// classWarnings returns the warnings about a classifier's held-out metric. They depend on released
// counts only. found reports whether the classes were found privately.
func classWarnings(c *evaluate.Confusion, found bool) []Warning {
	var out []Warning
	noSignal := c.Balanced.Lower <= 1/float64(len(c.Classes)) && !ranksClasses(c)
	if noSignal {
		out = append(out, Warning{
			Code:     stage.CodeNoSignal,
			Severity: Critical,
			Text:     "The held-out balanced accuracy is not significantly above that of guessing, so at this budget the model may not distinguish the classes. Use more records, a larger epsilon or fewer columns.",
		})
	}
	if a := c.Accuracy; a.Upper-a.Lower > WideInterval {
		out = append(out, Warning{
			Code:     stage.CodeWideInterval,
			Severity: Critical,
			Text: "The interval of the held-out accuracy is wide, so it reveals little about the model. " +
				narrowingAdvice(accuracyNoise(c)),
		})
	}
	if x := c.Largest; !noSignal && x.GainLower <= 0 {
		out = append(out, Warning{
			Code:     stage.CodeMajorityClass,
			Severity: Critical,
			Text: fmt.Sprintf(
				"Always answering the most frequent class, %q, may be as accurate as this model: %.3f of the held-out records, against %.3f. %s",
				c.Classes[x.Class], x.Share.Value, c.Accuracy.Value, majorityAdvice(c)),
		})
	}
	out = append(out, unknownClasses(c.OtherShare, found)...)
	if s := evaluate.ShareOf(c.Missing, c.Records); s.Lower > missingWarns {
		out = append(out, Warning{
			Code:     stage.CodeMissingTargets,
			Severity: Theoretical,
			Text: fmt.Sprintf(
				"About %.1f%% of the records (%.1f%% to %.1f%%) have no label. They are not used for training or for the accuracy.",
				100*s.Value, 100*s.Lower, 100*s.Upper),
		})
	}
	return append(out, groupWarnings(c.Groups, "accuracy")...)
}

// ranksClasses reports whether the scores of two classes order records significantly better than chance.
func ranksClasses(c *evaluate.Confusion) bool {
	return c.Scores != nil && c.Scores.AUC != nil && c.Scores.AUC.Lower > .5
}

// OrderedScores ends the text of [stage.CodeMajorityClass] for a model whose scores order records.
const OrderedScores = "But its scores order records (AUC): use probabilities or another threshold."

// majorityAdvice returns the advice for a classifier that is no more accurate than the most frequent class.
func majorityAdvice(c *evaluate.Confusion) string {
	if ranksClasses(c) {
		return OrderedScores
	}
	return "Look at the balanced accuracy and the recalls."
}

// accuracyNoise estimates the part of the variance of the accuracy that is privacy noise, in [0, 1]: that of the interval less
// the sampling variance a (1 - a)/n.
func accuracyNoise(c *evaluate.Confusion) float64 {
	a := c.Accuracy
	total := (a.Upper - a.Lower) / (2 * 1.96)
	sampling := a.Value * (1 - a.Value) / max(c.Records.Value, 1)
	return min(max(1-sampling/(total*total), 0), 1)
}

// The shares of records with unknown classes from which on a run warns: by the lower end of the interval, and, where the
// classes were found, by the upper end if records of unknown classes may hide in the noise.
const (
	unknownCritical = .05
	unknownHidden   = .2
)

// unknownClasses warns of records whose label is not a class of the model. s is their share of the records with
// a label, and found reports whether the classes were found privately.
func unknownClasses(s evaluate.Share, found bool) []Warning {
	const code = stage.CodeUnknownClasses
	remedy := "List all classes, in every spelling of the table"
	if found {
		remedy = "List the classes if they are public (data.classes), raise data.most_classes, or use more records or a larger epsilon, because a class is found only if enough records have it"
	}
	switch {
	case s.Lower > missingWarns:
		severity := Theoretical
		if s.Lower > unknownCritical {
			severity = Critical
		}
		if s.Lower > missingExplains && !found {
			return []Warning{{
				Code:     stage.CodeNoClasses,
				Severity: Critical,
				Text: fmt.Sprintf(
					"About %.1f%% of the labelled records (%.1f%% to %.1f%%) have none of the declared classes. Classes are compared letter by letter: correct --classes (data.classes), or add --fold case (data.fold: case) if only upper and lower case differ.",
					100*s.Value, 100*s.Lower, 100*s.Upper),
			}}
		}
		return []Warning{{
			Code:     code,
			Severity: severity,
			Text: fmt.Sprintf(
				"About %.1f%% of the labelled records (%.1f%% to %.1f%%) belong to classes the model does not know. They are not used for training and count as errors in the accuracy. %s.",
				100*s.Value, 100*s.Lower, 100*s.Upper, remedy),
		}}
	case found && s.Upper > unknownHidden:
		return []Warning{{
			Code:     code,
			Severity: Theoretical,
			Text: fmt.Sprintf(
				"Classes may be missing: at this budget up to %.0f%% of the labelled records may belong to classes the model does not know. They would count as errors. %s.",
				100*s.Upper, remedy),
		}}
	}
	return nil
}
