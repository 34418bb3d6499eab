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

// ErrStudy is wrapped by the error of a study that has no plan.
var ErrStudy = errors.New("the study of causal directions cannot be planned")

// A Study asks for the causal direction of every pair of its columns.
type Study struct {
	// Schema declares the columns, from 2 to direction.MaxColumns numeric ones, and the unit column
	// if Budget protects units. Ranges that are not declared are found privately, for
	// rangeShare of epsilon.
	Schema dataset.Schema
	// Budget is the promise. Without a delta every law is pure.
	Budget budget.Target
	// Bins is the number of bins per column, from direction.MinBins to direction.MaxBins. 0
	// leaves it to a noisy count of the records, for countShare of epsilon.
	Bins int
	// Score names a score of the baseline, one of direction.Baselines; empty, the default, is
	// the histogram. The baseline needs budget.Substitute and declared ranges.
	Score string
	// TestOnly says that the baseline's training records count as public, and are not protected.
	TestOnly bool
	// Lambda is the penalty of the baseline's regressions, from direction.LeastPenalty to direction.MostPenalty; 0 stands for
	// .5, and for .002 with TestOnly. With every record protected a small one makes the noise large.
	Lambda float64
}

// The shares of epsilon of what comes before the histograms.
const (
	rangeShare = .3
	countShare = .02
)

// The names of nodes of a plan.
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
	gaussian bool // the law of the histograms
}

// Plan prices the study. It reads no row. The error wraps [ErrStudy], or is that of the
// accountant.
func (s Study) Plan() (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	laplace, err := budget.Calibrate(s.tree(false), s.Budget)
	if err != nil || s.Budget.Delta == 0 || s.method() == anmMethod {
		return &Plan{laplace, s, false}, err
	}
	// With a delta the smaller noise wins, which is a public fact.
	gaussian, err := budget.Calibrate(s.tree(true), s.Budget)
	if err != nil {
		return nil, err
	}
	a, b := &Plan{laplace, s, false}, &Plan{gaussian, s, true}
	if b.noise().Scale < a.noise().Scale {
		return b, nil
	}
	return a, nil
}

// check refuses what has no plan.
func (s Study) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrStudy}, args...)...)
	}
	if n := len(s.Schema.Columns); n < 2 || n > direction.MaxColumns {
		return refuse("it has %d columns, and takes from 2 to %d", n, direction.MaxColumns)
	}
	if s.Bins != 0 && (s.Bins < direction.MinBins || s.Bins > direction.MaxBins) {
		return refuse("it has %d bins, and takes from %d to %d", s.Bins, direction.MinBins, direction.MaxBins)
	}
	for i, c := range s.Schema.Columns {
		again := slices.ContainsFunc(s.Schema.Columns[:i], func(d dataset.Column) bool { return d.Name == c.Name })
		switch {
		case again:
			return refuse("the column %q is listed twice", c.Name)
		case c.Kind != dataset.Numeric:
			return refuse("the column %q is not numeric", c.Name)
		case c.Indicator:
			return refuse("the column %q has an indicator of missing cells, which no score reads", c.Name)
		case c.Name == s.Schema.Unit:
			return refuse("the column %q says whose record it is", c.Name)
		case c.Ranged && !(c.Upper/2-c.Lower/2 > 0 && !math.IsInf(c.Upper-c.Lower, 0)):
			return refuse("the range of the column %q is empty or too wide", c.Name)
		}
	}
	unit := s.Budget.Unit
	switch rel := s.Budget.Relation; {
	case rel != budget.AddRemove && rel != budget.Substitute:
		return refuse("it protects whole records, and the relation is %v", rel)
	case unit.Column != s.Schema.Unit:
		return refuse("the budget protects units of column %q, and the schema names %q", unit.Column, s.Schema.Unit)
	case unit != budget.Unit{} && rel != budget.AddRemove:
		return refuse("a unit of several records needs the relation %v", budget.AddRemove)
	}
	return s.checkANM()
}

// tree returns the plan without prices. Shares are of epsilon where laws are pure, and of
// its square under tight composition.
func (s Study) tree(gaussian bool) budget.Node {
	if s.method() == anmMethod {
		return budget.Par(rootName, budget.Seq(partName, s.anmLeaf()).As(budget.Part))
	}
	share := func(x float64) float64 {
		if s.Budget.Delta == 0 || s.Budget.Composition == budget.Basic {
			return x
		}
		return x * x
	}
	var steps []budget.Node
	left := 1.
	if node, open := s.ranges().Plan(); open {
		left -= rangeShare
		// Three leaves with a third of the share each.
		steps = append(steps, node.Scaled(3*share(rangeShare/3)))
	}
	if s.counts() {
		left -= countShare
		steps = append(steps, budget.LaplaceLeaf(countName, share(countShare), 1).Of(mechanism.StatCount).As(budget.Stage))
	}
	pairs := s.pairs()
	each := share(left / float64(len(pairs)))
	var leaves []budget.Node
	for i := range pairs {
		if gaussian {
			leaves = append(leaves, budget.GaussianLeaf(pairName(i), share(left)/float64(len(pairs)), 1).Of(mechanism.StatHistogram))
		} else {
			leaves = append(leaves, budget.PureLeaf(pairName(i), each, 1).Of(mechanism.StatCells))
		}
	}
	steps = append(steps, budget.Seq(pairsName, leaves...).As(budget.Stage))
	return budget.Par(rootName, budget.Seq(partName, steps...).As(budget.Part))
}

// ranges is the stage that finds ranges.
func (s Study) ranges() scaling.Private {
	return scaling.Private{Columns: s.Schema.Columns, Target: -1, Relation: s.Budget.Relation, Pure: true}
}

// counts reports whether the number of records is released, to choose the bins: under
// substitution it is public.
func (s Study) counts() bool { return s.Bins == 0 && s.Budget.Relation == budget.AddRemove }

// pairs lists the pairs of columns.
func (s Study) pairs() [][2]int {
	var out [][2]int
	for i := range s.Schema.Columns {
		for j := i + 1; j < len(s.Schema.Columns); j++ {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// pairName is the name of the leaf of a pair, by its place.
func pairName(i int) string { return fmt.Sprintf("pair-%d", i+1) }

// noise returns the noise in the cells of every pair: a function of the plan.
func (p *Plan) noise() direction.Noise {
	law, _ := p.Law(rootName + "/" + partName + "/" + pairsName + "/" + pairName(0))
	records := float64(p.study.Budget.Unit.Records())
	swaps := p.study.Budget.Relation != budget.AddRemove
	if p.gaussian {
		sens := records
		if swaps {
			sens *= math.Sqrt2
		}
		return direction.Noise{Scale: sens / law.Mu / math.Sqrt2, Gaussian: true}
	}
	if swaps {
		records *= 2
	}
	return direction.Noise{Scale: records / law.Epsilon}
}
