package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/regression"
)

// The shares of targets that cannot be read, or that have no class of the model, above which a run warns, and from which
// on they explain a useless result.
const (
	missingWarns    = .01
	missingExplains = .5
)

// addIntervals gives the intervals of prediction, which are read from the held-out
// records, to the model.
func addIntervals(res *Result) {
	if res.R2 == nil {
		return
	}
	var list []regression.Interval
	for _, w := range res.R2.Intervals {
		list = append(list, regression.Interval{
			Level:     w.Level,
			HalfWidth: w.HalfWidth,
		})
	}
	regression.WithIntervals(res.Model, list)
}

// largeErrorsGap is the distance between the interval of R² and the lowest R² of all errors above which a run warns.
const largeErrorsGap = .25

// r2Warnings returns the warnings about the held-out R².
func r2Warnings(r *evaluate.R2) []Warning {
	var out []Warning
	switch width := r.Upper - r.Lower; {
	case r.Upper <= 0:
		out = append(out, Warning{
			Code:     stage.CodeNoSignal,
			Severity: Critical,
			Text:     "The held-out R² is not above 0: at this budget the model is no better than a constant. Use more records, a larger epsilon or fewer columns.",
		})
	case r.Unknown():
		out = append(out, Warning{
			Code:     stage.CodeWideInterval,
			Severity: Critical,
			Text: fmt.Sprintf(
				"R² is not reported: with this budget and about %.0f test records it can only be placed between %.2f and %.2f. %s",
				max(r.Records.Value, 0), r.Lower, r.Upper, narrowingAdvice(r.NoiseShare)),
		})
	case width > WideInterval:
		out = append(out, Warning{
			Code:     stage.CodeWideInterval,
			Severity: Critical,
			Text: "The interval of the held-out R² is wide, so it reveals little about the model. " +
				narrowingAdvice(r.NoiseShare),
		})
	}
	if r.Far {
		out = append(out, Warning{
			Code:     stage.CodeFarTargets,
			Severity: Theoretical,
			Text:     "Some targets are outside the stated limits. R² and its interval are for clamped targets; without clamping, R² may be much lower.",
		})
	}
	if r.Lower-r.AllErrorsLower > largeErrorsGap && !r.Unknown() {
		worst := "They could reduce R² to 0 or below"
		if r.AllErrorsLower > 0 {
			worst = fmt.Sprintf("R² of all errors could be as low as %.2f", r.AllErrorsLower)
		}
		out = append(out, Warning{
			Code:     stage.CodeLargeErrors,
			Severity: Theoretical,
			Text: "The noise may hide a few errors larger than the stated limit. " + worst +
				"; the reported R² counts each of them as the limit.",
		})
	}
	out = append(out, missingWarning(r.Missing, r.Records)...)
	return append(out, groupWarnings(r.Groups, "R²")...)
}

// narrowingAdvice advises how to narrow the interval of R², depending on the share of noise in its variance.
func narrowingAdvice(noiseShare float64) string {
	switch {
	case noiseShare > .7:
		return "Most of the width is noise: a larger epsilon helps, and so do more records."
	case noiseShare < .3:
		return "Most of the width is sampling error: more records help, or a larger held-out share; a larger epsilon does not."
	}
	return "More records, a larger held-out share or a larger epsilon make it narrower."
}

// missingWarning reports the number of unusable targets, if it is not small.
func missingWarning(missing, records evaluate.Count) []Warning {
	share := evaluate.ShareOf(missing, records)
	if share.Lower <= missingWarns {
		return nil
	}
	return []Warning{{
		Code:     stage.CodeMissingTargets,
		Severity: Theoretical,
		Text: fmt.Sprintf(
			"About %.1f%% of the records (%.1f%% to %.1f%%) have no usable target. They are not used for training or for the metrics.",
			100*share.Value, 100*share.Lower, 100*share.Upper),
	}}
}
