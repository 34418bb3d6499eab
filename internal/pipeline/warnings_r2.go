package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// missingWarns is the share of targets that cannot be read above which a run warns.
const missingWarns = .01

// addIntervals gives the intervals of prediction, which are read from the held-out
// records, to the model.
func addIntervals(res *Result) {
	if res.R2 == nil {
		return
	}
	var list []regression.Interval
	for _, w := range res.R2.Intervals {
		list = append(list, regression.Interval{Level: w.Level, HalfWidth: w.HalfWidth})
	}
	regression.WithIntervals(res.Model, list)
}

// r2Warnings are those of the held-out R².
func r2Warnings(r *evaluate.R2) []Warning {
	var out []Warning
	const remedy = " Use more records, a larger epsilon or a larger held-out share; a target of text needs task: classification."
	switch width := r.Upper - r.Lower; {
	case r.Upper <= 0:
		out = append(out, Warning{"no-signal", Critical,
			"The held-out R² is not above 0: at this budget the model is no better than a constant. Use more records, a larger epsilon or fewer columns."})
	case r.Unknown():
		out = append(out, Warning{"wide-interval", Critical,
			"The held-out R² could not be measured: the noise is too large for the number of records held out." + remedy})
	case width > WideInterval:
		out = append(out, Warning{"wide-interval", Critical,
			"The interval of the held-out R² is wide: too few records were held out for the noise, so it says little about the model." + remedy})
	}
	if r.Far {
		out = append(out, Warning{"far-targets", Theoretical,
			"There are targets beyond the stated limits. R² and its interval are about targets cut there; without the cut R² may be far lower."})
	}
	if r.Few {
		out = append(out, Warning{"few-held-out", Theoretical,
			"There are too few held-out records to see rare large errors: if a few records in a hundred have much larger ones, R² is lower and the errors are larger than stated."})
	}
	return append(out, missingWarning(r.Missing, r.Records)...)
}

// missingWarning says how many targets cannot be read, where that is more than a
// few.
func missingWarning(missing, records evaluate.Count) []Warning {
	share := evaluate.ShareOf(missing, records)
	if share.Lower <= missingWarns {
		return nil
	}
	return []Warning{{"missing-targets", Theoretical, fmt.Sprintf(
		"About %.1f%% of the records (%.1f%% to %.1f%%) have no target that can be read. They add nothing to the model or to its measure, which say nothing about them.",
		100*share.Value, 100*share.Lower, 100*share.Upper)}}
}
