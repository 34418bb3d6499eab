package pipeline

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Severity grades a warning.
type Severity = stage.Severity

// The severities.
const (
	Critical    = stage.Critical
	Theoretical = stage.Theoretical
	Negligible  = stage.Negligible
)

// A Warning is a public remark on a run: it depends on the plan and on
// released values only.
type Warning = stage.Warning

// WideInterval is the width of the interval of R² or of the accuracy above which a run warns.
const WideInterval = .25

func (p *Pipeline) warnings(r *Result) []Warning {
	out := []Warning{NoLedgerWarning()}
	switch {
	case r.Stopped != nil:
		out = append(
			out,
			Warning{
				Code:     stage.CodeNoTarget,
				Severity: Critical,
				Text:     toSentence(r.Stopped.Advice()) + " The run stopped before training.",
			},
		)
	case r.LacksClasses(): // the stage that found them warns
	case r.Abstained && r.Model == nil:
		out = append(out, Warning{
			Code:     stage.CodeAbstained,
			Severity: Critical,
			Text:     "The mechanism abstained: its private check found that this table cannot be answered at this budget. There is no model, and the budget is spent. Use more records, fewer features or a larger epsilon, or name a fallback.",
		})
	case r.Abstained:
		out = append(out, Warning{
			Code:     stage.CodeFallback,
			Severity: Theoretical,
			Text:     "The mechanism abstained: its private check found that this table cannot be answered at this budget. The model is that of the fallback.",
		})
	}
	switch {
	case r.Model == nil:
	case r.R2 == nil && r.Confusion == nil:
		out = append(
			out,
			Warning{
				Code:     stage.CodeNoMetric,
				Severity: Negligible,
				Text:     "No records were held out, so the model's quality is unknown.",
			},
		)
	case r.Confusion != nil:
		out = append(out, classWarnings(r.Confusion, p.findsClasses())...)
	default:
		out = append(out, r2Warnings(r.R2)...)
	}
	if p.wastesPublicColumns(r.Method) {
		out = append(out, Warning{Code: stage.CodePublicColumnsUnused, Severity: Negligible, Text: fmt.Sprintf(
			"%s does not benefit from public columns: its noise is that of a run in which a whole record may be replaced. %s",
			r.Method, p.publicColumnsRemedy())})
	}
	for _, x := range p.stages() {
		out = append(out, x.Warnings(r.Findings, r.Target)...)
	}
	out = append(out, p.numberWarnings(r.Findings)...)
	out = append(out, unreadWarnings(r)...)
	out = append(out, EpsilonWarnings(r.Guarantee.Epsilon)...)
	slices.SortStableFunc(out, func(a, b Warning) int {
		switch explains := r.isCause(a); {
		case explains == r.isCause(b):
			return 0
		case explains:
			return -1
		}
		return 1
	})
	return out
}

// isCause reports whether a warning states why the result is useless. It comes before those that only describe the
// result.
func (res *Result) isCause(w Warning) bool {
	switch {
	case w.Code == stage.CodeNoClasses:
		return true
	case w.Code == stage.CodeExtremeNumbers:
		return w.Severity == Critical || slices.Contains(res.Alike, res.Target)
	case w.Code == stage.CodeMissingTargets && res.R2 != nil:
		return evaluate.ShareOf(res.R2.Missing, res.R2.Records).Lower > missingExplains
	}
	return false
}

// HoldoutFact names the share of records held out among the facts that are not protected.
const HoldoutFact = "holdout"

// unprotectedFacts lists the facts that the recipe states about the data. They are public by declaration: the
// guarantee does not cover them.
func (p *Pipeline) unprotectedFacts() []Fact {
	out := []Fact{
		{Name: "columns", Value: p.Schema.Names()},
		{Name: "target", Value: p.Target},
		{Name: HoldoutFact, Value: p.Holdout},
	}
	for _, x := range p.stages() {
		out = append(out, x.Facts()...)
	}
	if p.Groups != "" {
		out = append(out, Fact{
			Name:  GroupsFact,
			Value: p.Groups,
		})
	}
	if p.Search != nil {
		out = append(out,
			Fact{
				Name:  "share of the training records that score the tries",
				Value: p.Search.Holdout,
			})
	}
	if p.Budget.Relation == budget.SubstitutePrivateColumns {
		out = append(out, Fact{
			Name:  "public columns",
			Value: p.PublicColumns(),
		})
	}
	out = append(out, UnitFacts(p.Budget.Unit)...)
	for _, c := range p.Schema.Columns {
		out = append(out, ColumnFacts(c)...)
		if c.Found {
			continue
		}
		switch {
		case c.Kind == dataset.Category && c.Name == p.Target:
			out = append(out, Fact{
				Name:  "classes of " + c.Name,
				Value: c.Categories,
			})
		case c.TextRule.Hash > 0:
			out = append(out, Fact{
				Name:  "buckets of " + c.Name,
				Value: c.TextRule.Hash,
			})
		case c.Kind == dataset.Category:
			out = append(out, Fact{
				Name:  "categories of " + c.Name,
				Value: c.Categories,
			})
		}
	}
	return out
}

// wastesPublicColumns reports whether a method was trained under private columns that adds as much noise as for whole
// records.
func (p *Pipeline) wastesPublicColumns(name string) bool {
	m, ok := TrainerNamed(name)
	switch {
	case !ok || p.Budget.Relation != budget.SubstitutePrivateColumns:
		return false
	case p.protectsTarget():
		return !m.PublicFeatures || !p.protectsTargetOnly()
	}
	return !m.Supports(p.Budget.Relation)
}

// publicColumnsRemedy names the methods that make use of the columns that the run leaves public.
func (p *Pipeline) publicColumnsRemedy() string {
	switch {
	case p.protectsTargetOnly():
		return stage.ListParts(PrivateTargetMethods()) + " make use of them."
	case p.protectsTarget():
		return "No method does if both the target and a feature are private."
	}
	return stage.ListParts(PrivateColumnsMethods()) + " make use of them."
}

// protectsTarget reports whether listed columns are protected, the target among them.
func (p *Pipeline) protectsTarget() bool {
	j := p.Schema.Index(p.Target)
	return j >= 0 && method.ProtectsTarget(p.Budget.Relation, p.Schema.Columns[j])
}

// checkPublicColumns returns an error if every column of the run is listed as private. Then only the number of records is
// public, and the relation [budget.Substitute] gives the same protection.
func (p *Pipeline) checkPublicColumns() error {
	if p.Budget.Relation == budget.SubstitutePrivateColumns && len(p.PublicColumns()) == 0 {
		return &fault.Error{
			Kind:  fault.Recipe,
			Field: "privacy.relation",
			Err:   ErrRelation,
			Message: fmt.Sprintf(
				"no column of the run is public under the relation %v: the target and every feature are private",
				p.Budget.Relation),
			Hint: "use the relation " + budget.Substitute.String() +
				", which protects whole records",
		}
	}
	return nil
}

// protectsTargetOnly reports whether the target is protected and no other column.
func (p *Pipeline) protectsTargetOnly() bool {
	j := p.Schema.Index(p.Target)
	if j < 0 {
		return false
	}
	features := slices.Delete(slices.Clone(p.Schema.Columns), j, j+1)
	return method.ProtectsTargetOnly(p.Budget.Relation, features, p.Schema.Columns[j])
}

// PublicColumns lists the columns that the run reads and does not protect: under
// [budget.SubstitutePrivateColumns] all that are not private, which may include the target; under the other
// relations it is empty.
func (p *Pipeline) PublicColumns() []string {
	if p.Budget.Relation != budget.SubstitutePrivateColumns {
		return nil
	}
	var open []string
	for _, c := range p.Schema.Columns {
		if !c.Private {
			open = append(open, c.Name)
		}
	}
	return open
}

// SameSchema reports whether a table was read under the pipeline's schema.
func SameSchema(a, b dataset.Schema) bool {
	return a.Unit == b.Unit &&
		slices.EqualFunc(a.Columns, b.Columns, func(x, y dataset.Column) bool {
			return x.Name == y.Name &&
				x.Kind == y.Kind &&
				x.Ranged == y.Ranged &&
				x.Lower == y.Lower &&
				x.Upper == y.Upper &&
				x.Found == y.Found && x.TargetEncoded == y.TargetEncoded &&
				x.HasMissing == y.HasMissing && x.Missing == y.Missing &&
				x.Indicator == y.Indicator && x.Other == y.Other && x.Labels == y.Labels &&
				x.Private == y.Private &&
				x.TextRule == y.TextRule && slices.Equal(x.Categories, y.Categories)
		})
}
