package causal

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// ErrStudy is wrapped by the errors of Plan for an invalid study.
var ErrStudy = errors.New("the study of causal directions cannot be planned")

// A Study infers the causal direction of every pair of its columns.
type Study struct {
	// Schema declares the columns, from 2 to direction.MaxColumns numeric ones, and the unit column if Budget
	// protects units. Undeclared ranges are found privately, with rangeShare of epsilon.
	Schema dataset.Schema
	// Budget is the privacy budget. Without a delta all noise is pure.
	Budget budget.Target
	// Bins is the number of bins per column, from direction.MinBins to direction.MaxBins. 0 derives it from a
	// noisy count of the records, which takes countShare of epsilon.
	Bins int
	// Score names a score of the baseline, one of direction.Baselines; empty, the default, selects the
	// histogram method. The baseline needs budget.Substitute and declared ranges.
	Score string
	// TestOnly treats the baseline's training records as public: they are not protected.
	TestOnly bool
	// Lambda is the penalty of the baseline's regressions, from direction.LeastPenalty to
	// direction.MostPenalty; 0 means .5, or .002 with TestOnly. If every record is protected, a small penalty
	// makes the noise large.
	Lambda float64
}

// Shares of epsilon of the releases before the histograms.
const (
	rangeShare = .3
	countShare = .02
)

// Node names of the plan.
const (
	rootName  = "causal"
	partName  = "all"
	countName = "count"
	pairsName = "pairs"
)

// A Plan is a study with a price.
type Plan struct {
	*budget.Priced
	study    Study
	gaussian bool // noise of the histograms
}

// Plan prices the study. It reads no row. The error wraps [ErrStudy], or comes from the accountant.
func (s Study) Plan() (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	laplace, err := budget.Calibrate(s.planTree(false), s.Budget)
	if err != nil || s.Budget.Delta == 0 || s.method() == anmMethod {
		return &Plan{laplace, s, false}, err
	}
	// With a delta, the distribution with less noise is chosen, which is a public fact.
	gaussian, err := budget.Calibrate(s.planTree(true), s.Budget)
	if err != nil {
		return nil, err
	}
	a := &Plan{laplace, s, false}
	b := &Plan{gaussian, s, true}
	if b.noise().Scale < a.noise().Scale {
		return b, nil
	}
	return a, nil
}

// Price returns the price of the plan.
func (p *Plan) Price() *budget.Priced {
	return p.Priced
}

// WithEpsilon returns the study with another epsilon.
func (s Study) WithEpsilon(epsilon float64) Study {
	s.Budget.Epsilon = epsilon
	return s
}

// validate validates the study.
func (s Study) validate() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrStudy}, args...)...)
	}
	if n := len(s.Schema.Columns); n < 2 || n > direction.MaxColumns {
		return refuse(
			"it has %d columns, but 2 to %d are required",
			n,
			direction.MaxColumns,
		)
	}
	if s.Bins != 0 && (s.Bins < direction.MinBins || s.Bins > direction.MaxBins) {
		return refuse("it has %d bins, but %d to %d are required", s.Bins, direction.MinBins,
			direction.MaxBins)
	}
	for i, c := range s.Schema.Columns {
		again := slices.ContainsFunc(s.Schema.Columns[:i], func(d dataset.Column) bool {
			return d.Name == c.Name
		})
		switch {
		case again:
			return refuse("the column %q is listed twice", c.Name)
		case c.Kind != dataset.Numeric:
			return refuse("the column %q is not numeric", c.Name)
		case c.Indicator:
			return refuse("column %q has an indicator of missing values, which no score supports",
				c.Name)
		case c.Name == s.Schema.Unit:
			return refuse("column %q identifies the unit", c.Name)
		case c.Ranged && !(c.Upper/2-c.Lower/2 > 0 && !math.IsInf(c.Upper-c.Lower, 0)):
			return refuse("the range of the column %q is empty or too wide", c.Name)
		}
	}
	unit := s.Budget.Unit
	switch rel := s.Budget.Relation; {
	case rel != budget.AddRemove && rel != budget.Substitute:
		return refuse("it protects whole records, but the relation is %v", rel)
	case unit.Column != s.Schema.Unit:
		return refuse("the budget protects units of column %q, but the schema names %q",
			unit.Column, s.Schema.Unit)
	case unit != budget.Unit{} && rel != budget.AddRemove:
		return refuse("a unit of several records needs the relation %v", budget.AddRemove)
	}
	return s.checkANM()
}

// planTree returns the plan without prices. Shares are of epsilon for pure noise, and of its square under tight
// composition.
func (s Study) planTree(gaussian bool) budget.Node {
	if s.method() == anmMethod {
		return budget.Parallel(rootName, budget.Sequence(partName, s.anmLeaf()).
			WithRole(budget.RolePart))
	}
	share := func(x float64) float64 {
		if s.Budget.Delta == 0 || s.Budget.Composition == budget.Basic {
			return x
		}
		return x * x
	}
	var steps []budget.Node
	left := 1.
	if node, open := s.rangeStage().Plan(); open {
		left -= rangeShare
		// Three leaves with a third of the share each.
		steps = append(steps, node.Scaled(3*share(rangeShare/3)))
	}
	if s.countsRecords() {
		left -= countShare
		steps = append(steps,
			budget.LaplaceLeaf(countName, share(countShare),
				1).WithStatistic(mechanism.StatCount).WithRole(budget.RoleStage))
	}
	pairs := s.columnPairs()
	each := share(left / float64(len(pairs)))
	var leaves []budget.Node
	for i := range pairs {
		if gaussian {
			leaves = append(leaves,
				budget.GaussianLeaf(pairName(i), share(left)/float64(len(pairs)),
					1).WithStatistic(mechanism.StatHistogram))
		} else {
			leaves = append(leaves, budget.PureLeaf(pairName(i), each, 1).
				WithStatistic(mechanism.StatCells))
		}
	}
	steps = append(steps, budget.Sequence(pairsName, leaves...).WithRole(budget.RoleStage))
	return budget.Parallel(rootName, budget.Sequence(partName, steps...).WithRole(budget.RolePart))
}

// rangeStage returns the stage that finds ranges.
func (s Study) rangeStage() scaling.Private {
	return scaling.Private{
		Columns:  s.Schema.Columns,
		Target:   -1,
		Relation: s.Budget.Relation,
		Pure:     true,
	}
}

// countsRecords reports whether the number of records is released to choose the bins; under substitution it is
// public.
func (s Study) countsRecords() bool {
	return s.Bins == 0 && s.Budget.Relation == budget.AddRemove
}

// columnPairs lists the pairs of columns.
func (s Study) columnPairs() [][2]int {
	var out [][2]int
	for i := range s.Schema.Columns {
		for j := i + 1; j < len(s.Schema.Columns); j++ {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// pairName returns the leaf name of a pair, by its index.
func pairName(i int) string {
	return fmt.Sprintf("pair-%d", i+1)
}

// noise returns the noise in the cells of every pair, a function of the plan.
func (p *Plan) noise() direction.Noise {
	law, _ := p.Law(rootName + "/" + partName + "/" + pairsName + "/" + pairName(0))
	records := float64(p.study.Budget.Unit.Records())
	swaps := p.study.Budget.Relation != budget.AddRemove
	if p.gaussian {
		sens := records
		if swaps {
			sens *= math.Sqrt2
		}
		return direction.Noise{
			Scale:    sens / law.Mu / math.Sqrt2,
			Gaussian: true,
		}
	}
	if swaps {
		records *= 2
	}
	return direction.Noise{Scale: records / law.Epsilon}
}
