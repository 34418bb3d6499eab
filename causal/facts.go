package causal

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Facts lists what the study states about the data, which the guarantee does not protect.
func (s Study) Facts() []pipeline.Fact {
	out := []pipeline.Fact{{Name: "columns", Value: s.Schema.Names()}}
	if u := s.Budget.Unit; u.Column != "" {
		out = append(out, pipeline.Fact{Name: "unit column", Value: u.Column}, pipeline.Fact{Name: "records kept of a unit", Value: u.MaxRows})
	}
	if s.TestOnly {
		out = append(out, pipeline.Fact{Name: "the training records", Value: true})
	}
	if s.Bins != 0 {
		out = append(out, pipeline.Fact{Name: "bins", Value: s.Bins})
	}
	for _, c := range s.Schema.Columns {
		if c.Ranged {
			out = append(out, pipeline.Fact{Name: "range of " + c.Name, Value: []float64{c.Lower, c.Upper}})
		}
		if c.HasMissing {
			out = append(out, pipeline.Fact{Name: "missing value of " + c.Name, Value: c.Missing})
		}
	}
	return out
}

// The numbers of records, in units of the noise scale of a study of two columns, below which
// private ranges ruin the answer, and from which they are free (docs/proofs/causal.md,
// "Ranges").
const (
	rangesRuin = 1000
	rangesFree = 5000
)

// RangeRows returns the number of rows below which finding ranges privately is likely to
// spoil the answer, and from which it costs nothing that shows: what a plan can say before
// a row is read. ok is false if all ranges are declared.
func (p *Plan) RangeRows() (spoiled, free float64, ok bool) {
	if _, open := p.study.ranges().Plan(); !open {
		return 0, 0, false
	}
	scale := p.noise().Scale * (1 - rangeShare)
	return math.Ceil(rangesRuin * scale), math.Ceil(rangesFree * scale), true
}

// warnings are public remarks on a result.
func (p *Plan) warnings(r *Result) []pipeline.Warning {
	out := []pipeline.Warning{{Code: "no-ledger", Severity: pipeline.Theoretical,
		Text: "This run was not entered in a ledger. Its budget adds to that of every other run on the same records."}}
	if r.TestOnly {
		out[0] = pipeline.Warning{Code: "training-unprotected", Severity: pipeline.Critical,
			Text: "The training records, about half of all, have no protection: the guarantee is about the test records alone. Such a run " +
				"enters no ledger."}
	}
	spoiled, free, open := p.RangeRows()
	records := r.Pairs[0].Total()
	for _, x := range r.Pairs {
		records = math.Max(records, x.Total())
	}
	switch {
	case open && records < spoiled:
		out = append(out, pipeline.Warning{Code: "private-ranges", Severity: pipeline.Critical,
			Text: fmt.Sprintf("Ranges were found privately on about %.0f records. With fewer than %.0f at this budget the answer is likely to "+
				"be spoiled: declare ranges that are public knowledge.", math.Max(records, 0), spoiled)})
	case open && records < free:
		out = append(out, pipeline.Warning{Code: "private-ranges", Severity: pipeline.Theoretical,
			Text: fmt.Sprintf("Ranges were found privately on about %.0f records. With fewer than %.0f at this budget that costs accuracy: "+
				"declare ranges that are public knowledge.", records, free)})
	}
	for _, c := range r.Columns {
		if c.Unread {
			out = append(out, pipeline.Warning{Code: "no-range", Severity: pipeline.Critical,
				Text: fmt.Sprintf("No range was found for column %q: its pairs are undecided. Declare its range, or use more records or a larger "+
					"epsilon.", c.Name)})
		}
	}
	out = append(out, extremeNumbers(r.Columns)...)
	out = append(out, pipeline.Warning{Code: "no-confounder", Severity: pipeline.Theoretical,
		Text: "A direction from two columns assumes that no third one causes both, that there is no feedback and that records were not " +
			"chosen by their values. Nothing here can check that."})
	if r.Guarantee.Epsilon > 10 {
		out = append(out, pipeline.Warning{Code: "large-epsilon", Severity: pipeline.Critical,
			Text: "An epsilon above 10 promises little in the worst case. The report's mu and profile say how much."})
	}
	return out
}

// extremeNumbers returns the warnings about columns whose numbers are beyond the sizes that the search for ranges tells
// apart. They are critical: nearly all numbers of such a column are in one bin or two, so its directions are not to be believed.
func extremeNumbers(columns []direction.Column) []pipeline.Warning {
	var huge, tiny []string
	for _, c := range columns {
		if c.Huge {
			huge = append(huge, c.Name)
		}
		if c.Tiny {
			tiny = append(tiny, c.Name)
		}
	}
	return pipeline.ExtremeNumbers(huge, tiny, func(string) pipeline.Severity { return pipeline.Critical })
}

// Target names the columns, in the place where a run with a model names its target.
func (s Study) Target() string { return strings.Join(s.Schema.Names(), ", ") }
