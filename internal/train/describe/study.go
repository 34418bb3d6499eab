package describe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// ErrStudy is wrapped by the error of a description that has no plan.
var ErrStudy = fault.New(fault.Recipe, "the description cannot be planned")

// MaxColumns is the largest number of columns of a description, and ManyColumns the number above which it advises to
// describe fewer: the noise of the matrix grows in proportion to the number of columns.
const (
	MaxColumns  = 100
	ManyColumns = 15
)

// A Study asks for a description of the columns of a schema.
type Study struct {
	// Schema declares the columns, and the unit column if Budget protects units. Ranges that are not declared, the kinds of
	// columns with Found set, and categories that are to be found are released.
	Schema dataset.Schema
	// By names the category column of the schema whose values make the groups. Empty means no groups.
	By string
	// Budget is the promise. Delta is above 0, and composition tight.
	Budget budget.Target
}

// The shares of mu²; see the package comment.
const (
	kindShare      = .005
	wordShare      = .05
	histogramShare = .20
	momentShare    = .20
	matrixShare    = .32
	groupShare     = .15
)

// Node names of a plan. The steps that find ranges and categories have names from packages scaling and
// pipeline.
const (
	RootName      = "describe"
	partName      = pipeline.AllName
	scalingName   = "scaling"
	histogramName = "histogram"
	momentsName   = "moments"
	matrixName    = "matrix"
	groupsName    = "groups"
)

// A Plan is a study with a price.
type Plan struct {
	*budget.Priced
	study Study
}

// Plan prices the study. It reads no row. The error wraps [ErrStudy], or comes from the accountant.
func (s Study) Plan() (*Plan, error) {
	if err := s.checkStudy(); err != nil {
		return nil, err
	}
	priced, err := budget.Calibrate(s.planTree(), s.Budget)
	if err != nil {
		return nil, err
	}
	return &Plan{priced, s}, nil
}

// Price returns the price of the plan.
func (p *Plan) Price() *budget.Priced { return p.Priced }

// WithEpsilon returns the study with another epsilon.
func (s Study) WithEpsilon(epsilon float64) Study {
	s.Budget.Epsilon = epsilon
	return s
}

// Again returns a plan for another run, at the same price.
func (p *Plan) Again() *Plan {
	next := *p
	next.Priced = p.Priced.Again()
	return &next
}

// checkStudy returns an error for a study without a plan.
func (s Study) checkStudy() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrStudy}, args...)...)
	}
	switch n := len(s.Schema.Columns); {
	case n == 0:
		return refuse("no column is left to describe")
	case n > MaxColumns:
		return refuse(
			"it has %d columns, but at most %d are allowed; name the ones that matter with --columns",
			n,
			MaxColumns,
		)
	}
	for i, c := range s.Schema.Columns {
		again := slices.ContainsFunc(s.Schema.Columns[:i], func(d dataset.Column) bool {
			return d.Name == c.Name
		})
		switch {
		case again:
			return refuse("the column %q is listed twice", c.Name)
		case c.Name == s.Schema.Unit:
			return refuse("column %q identifies the unit", c.Name)
		case c.Labels || c.TargetEncoded || c.Indicator:
			return refuse("the column %q is declared as a part of a model", c.Name)
		case c.Ranged && !(c.Upper/2-c.Lower/2 > 0 && !math.IsInf(c.Upper-c.Lower, 0)):
			return refuse("the range of the column %q is empty or too wide", c.Name)
		}
	}
	if s.By != "" {
		switch j := s.Schema.Index(s.By); {
		case j < 0:
			return refuse(
				"column %q, which defines the groups, is not among the described columns",
				s.By,
			)
		case s.Schema.Columns[j].Kind != dataset.Category:
			return refuse(
				"column %q, which defines the groups, is declared as numeric; declare its categories",
				s.By,
			)
		}
	}
	unit := s.Budget.Unit
	switch rel := s.Budget.Relation; {
	case rel == budget.SubstitutePrivateColumns:
		return refuse("a description protects whole records, but the relation is %v; use %v, or %v if the number of records is public",
			rel, budget.AddRemove, budget.Substitute)
	case rel != budget.AddRemove && rel != budget.Substitute:
		return refuse("there is no relation %v", rel)
	case unit.Column != s.Schema.Unit:
		return refuse(
			"the budget protects units of column %q, but the schema names %q",
			unit.Column,
			s.Schema.Unit,
		)
	case unit != budget.Unit{} && rel != budget.AddRemove:
		return refuse("a unit of several records needs the relation %v", budget.AddRemove)
	case s.Budget.Delta == 0:
		return refuse("every step draws Gaussian noise, which needs a delta above 0, such as 1e-6")
	case s.Budget.Composition != budget.Tight:
		return refuse("it needs tight composition, not %v", s.Budget.Composition)
	}
	return nil
}

// rangeStage is the stage that finds ranges.
func (s Study) rangeStage() scaling.Private {
	return scaling.Private{
		Columns:  s.Schema.Columns,
		Target:   -1,
		Relation: s.Budget.Relation,
		Outline:  true,
	}
}

// undeclaredColumns returns two lists of columns: those whose kind, numbers or text, is found privately, and those declared as text
// whose categories are found.
func (s Study) undeclaredColumns() (undeclared, texts []int) {
	for j, c := range s.Schema.Columns {
		switch {
		case c.Found && c.Kind == dataset.Numeric:
			undeclared = append(undeclared, j)
		case c.Found:
			texts = append(texts, j)
		}
	}
	return undeclared, texts
}

// planTree returns the plan without prices.
func (s Study) planTree() budget.Node {
	steps := s.planSteps()
	undeclared, texts := s.undeclaredColumns()
	scaled := func(share float64) []budget.Node {
		out := make([]budget.Node, len(steps))
		for i, n := range steps {
			out[i] = n.Scaled(share)
		}
		return out
	}
	switch {
	case len(texts) > 0 && len(undeclared) > 0:
		steps = append(
			[]budget.Node{vocabulary.KindAndWordSteps(kindShare, wordShare)},
			scaled(1-kindShare-wordShare)...,
		)
	case len(texts) > 0:
		steps = append([]budget.Node{vocabulary.WordSteps(wordShare)}, scaled(1-wordShare)...)
	case len(undeclared) > 0:
		words := append([]budget.Node{vocabulary.WordSteps(wordShare)}, scaled(1-kindShare-wordShare)...)
		steps = []budget.Node{vocabulary.KindSteps(kindShare), vocabulary.Undeclared(scaled(1-kindShare), words)}
	}
	return budget.Parallel(RootName, budget.Sequence(partName, steps...).WithRole(budget.RolePart))
}

// planSteps lists the steps after the vocabulary. Their shares add up to 1.
func (s Study) planSteps() []budget.Node {
	var out []budget.Node
	total := 0.
	if node, open := s.rangeStage().Plan(); open {
		out = append(out, node)
		total += scaling.ExponentShare + scaling.BinShare/2
	}
	leaf := func(name string, share float64, of budget.Statistic) {
		out = append(out, budget.GaussianLeaf(name, share, 1).WithStatistic(of).
			WithRole(budget.RoleStage))
		total += share
	}
	leaf(histogramName, histogramShare, mechanism.StatTreeCounts)
	numeric := slices.ContainsFunc(s.Schema.Columns, func(c dataset.Column) bool {
		return c.Kind == dataset.Numeric
	})
	if numeric || s.Budget.Relation == budget.AddRemove {
		leaf(momentsName, momentShare, mechanism.StatMoments)
	}
	if len(s.Schema.Columns) > 1 {
		leaf(matrixName, matrixShare, mechanism.StatGram)
	}
	if s.By != "" && numeric {
		leaf(groupsName, groupShare, mechanism.StatGroupSums)
	}
	for i := range out {
		out[i] = out[i].Scaled(1 / total)
	}
	return out
}

// Method names the kind of run in a ledger.
func (p *Plan) Method() string { return RootName }

// Target names the columns, in place of the target of a run with a model.
func (s Study) Target() string {
	return strings.Join(s.Schema.Names(), ", ")
}

// Facts lists the declared facts about the data. The guarantee does not protect them.
func (s Study) Facts() []pipeline.Fact {
	out := []pipeline.Fact{{
		Name:  "columns",
		Value: s.Schema.Names(),
	}}
	out = append(out, pipeline.UnitFacts(s.Budget.Unit)...)
	for _, c := range s.Schema.Columns {
		out = append(out, pipeline.ColumnFacts(c)...)
		if len(c.Categories) > 0 {
			out = append(out, pipeline.Fact{
				Name:  "categories of " + c.Name,
				Value: c.Categories,
			})
		}
	}
	return out
}
