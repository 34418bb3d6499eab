package causal

import (
	"fmt"
	"math"
	"strings"

	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Facts lists the facts that the study states about the data, which the guarantee does not protect.
func (s Study) Facts() []pipeline.Fact {
	out := []pipeline.Fact{{
		Name:  "columns",
		Value: s.Schema.Names(),
	}}
	out = append(out, pipeline.UnitFacts(s.Budget.Unit)...)
	if s.TestOnly {
		out = append(out, pipeline.Fact{
			Name:  "the training records",
			Value: true,
		})
	}
	if s.Bins != 0 {
		out = append(out, pipeline.Fact{
			Name:  "bins",
			Value: s.Bins,
		})
	}
	for _, c := range s.Schema.Columns {
		out = append(out, pipeline.ColumnFacts(c)...)
	}
	return out
}

// Numbers of records, in units of the noise scale of a study of two columns: below rangesRuin, private ranges
// make the answer unreliable; from rangesFree on, they have no noticeable effect (docs/proofs/causal.md,
// "Ranges").
const (
	rangesRuin = 1000
	rangesFree = 5000
)

// RangeRows returns the number of rows below which finding ranges privately is likely to make the answer
// unreliable, and the number from which it has no noticeable effect. It depends on the plan only. ok is false
// if all ranges are declared.
func (p *Plan) RangeRows() (spoiled, free float64, ok bool) {
	if _, open := p.study.rangeStage().Plan(); !open {
		return 0, 0, false
	}
	scale := p.noise().Scale * (1 - rangeShare)
	return math.Ceil(rangesRuin * scale), math.Ceil(rangesFree * scale), true
}

// warnings returns public remarks on a result.
func (p *Plan) warnings(r *Result) []pipeline.Warning {
	out := []pipeline.Warning{pipeline.NoLedgerWarning()}
	if r.TestOnly {
		out[0] = pipeline.Warning{
			Code:     stage.CodeTrainingUnprotected,
			Severity: pipeline.Critical,
			Text: "The training records, about half of all, are not protected: the guarantee covers only the test records. Such a run " +
				"cannot use a ledger.",
		}
	}
	spoiled, free, open := p.RangeRows()
	records := r.Pairs[0].Total()
	for _, x := range r.Pairs {
		records = math.Max(records, x.Total())
	}
	switch {
	case open && records < spoiled:
		out = append(out, pipeline.Warning{
			Code:     stage.CodePrivateRanges,
			Severity: pipeline.Critical,
			Text: fmt.Sprintf(
				"Ranges were found privately on about %.0f records. With fewer than %.0f records at this budget, the answer is likely to "+
					"be wrong: declare ranges that are public knowledge.", math.Max(records, 0),
				spoiled),
		})
	case open && records < free:
		out = append(out, pipeline.Warning{
			Code:     stage.CodePrivateRanges,
			Severity: pipeline.Theoretical,
			Text: fmt.Sprintf(
				"Ranges were found privately on about %.0f records. With fewer than %.0f records at this budget, this costs accuracy: "+
					"declare ranges that are public knowledge.", records, free),
		})
	}
	for _, c := range r.Columns {
		if c.Unread {
			out = append(out, pipeline.Warning{
				Code:     stage.CodeNoRange,
				Severity: pipeline.Critical,
				Text: fmt.Sprintf(
					"No range was found for column %q: its pairs are undecided. Declare its range, or use more records or a larger "+
						"epsilon.", c.Name),
			})
		}
	}
	out = append(out, extremeNumbers(r.Columns)...)
	out = append(out, pipeline.Warning{
		Code:     stage.CodeNoConfounder,
		Severity: pipeline.Theoretical,
		Text: "A direction between two columns assumes that no third column causes both, that there is no feedback and that records were not " +
			"selected by their values. The data cannot confirm these assumptions.",
	})
	return append(out, pipeline.EpsilonWarnings(r.Guarantee.Epsilon)...)
}

// extremeNumbers returns the warnings about columns with numbers beyond the sizes that the search for ranges
// distinguishes. They are critical: nearly all numbers of such a column are in one or two bins, so its
// directions are unreliable.
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
	return pipeline.ExtremeNumbers(huge, tiny, func(string) pipeline.Severity {
		return pipeline.Critical
	})
}

// Target names the columns, in place of the target of a run with a model.
func (s Study) Target() string {
	return strings.Join(s.Schema.Names(), ", ")
}
