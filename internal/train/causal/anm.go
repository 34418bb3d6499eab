package causal

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// The baseline: the additive-noise model fitted to records, with corrected bounds (docs/proofs/causal.md, "The
// baseline").

// anmRecords is the maximum number of records of the baseline: the time of a fit is cubic in half of it.
const anmRecords = 2000

// Leaf names of the baseline.
const (
	differenceName = "difference"
	quartilesName  = "quartiles"
)

// Names of the methods.
const (
	histogramMethod = "histogram"
	anmMethod       = "anm"
)

// Method returns the name of the method.
func (p *Plan) Method() string {
	return p.study.method()
}

func (s Study) method() string {
	if s.Score == "" {
		return histogramMethod
	}
	return anmMethod
}

// checkANM rejects settings that the baseline does not support.
func (s Study) checkANM() error {
	refuse := func(text string) error {
		return fmt.Errorf("%w: %s", ErrStudy, text)
	}
	switch {
	case s.Score == "":
		if s.TestOnly {
			return refuse(
				"the histogram protects every record; the score of the baseline is missing")
		}
		if s.Lambda != 0 {
			return refuse("the histogram has no penalty; the score of the baseline is missing")
		}
		return nil
	case s.Lambda != 0 &&
		!(s.Lambda >= direction.LeastPenalty && s.Lambda <= direction.MostPenalty):
		return refuse(
			fmt.Sprintf("the penalty %v is not from %v to %v", s.Lambda, direction.LeastPenalty,
				float64(direction.MostPenalty)))
	case !slices.Contains(direction.Baselines(), s.Score):
		return refuse("the baseline has no score " + s.Score)
	case len(s.Schema.Columns) != 2:
		return refuse("the baseline needs two columns")
	case s.Bins != 0:
		return refuse("the baseline has no bins")
	case s.Budget.Relation != budget.Substitute:
		return refuse(
			fmt.Sprintf("the baseline needs a public number of records: the relation %v",
				budget.Substitute))
	case !s.TestOnly && s.Score != direction.HSIC:
		return refuse("only the score hsic has a sensitivity bound for training records")
	case slices.ContainsFunc(s.Schema.Columns, func(c dataset.Column) bool {
		return !c.Ranged
	}):
		return refuse("the baseline needs declared ranges")
	}
	return nil
}

// anmLeaf returns the release of the baseline.
func (s Study) anmLeaf() budget.Node {
	if s.Score == direction.IQR {
		return budget.ExponentialLeaf(quartilesName, 1,
			8).WithStatistic(mechanism.StatQuartile).WithRole(budget.RoleStage)
	}
	return budget.LaplaceLeaf(differenceName, 1,
		1).WithStatistic(mechanism.StatScoreDifference).WithRole(budget.RoleStage)
}

// ridge returns the penalty of the baseline: weak if only test records are protected, otherwise strong enough
// that one training record has little effect.
func (s Study) ridge() direction.Ridge {
	out := direction.Ridge{Penalty: .5, Width: .5}
	if s.TestOnly {
		out = direction.Ridge{Penalty: .002, Width: .25}
	}
	if s.Lambda != 0 {
		out.Penalty = s.Lambda
	}
	return out
}

// runBaseline runs the baseline.
func (p *Plan) runBaseline(
	ctx context.Context,
	s *mechanism.Session,
	all dataset.View,
	out *Result,
) error {
	for _, c := range p.study.Schema.Columns {
		out.Columns = append(out.Columns,
			direction.Column{
				Name:     c.Name,
				Lower:    c.Lower,
				Upper:    c.Upper,
				Declared: true,
			})
	}
	x, y, train := p.baselineRecords(s, all)
	if err := ctx.Err(); err != nil {
		return err
	}
	b := &direction.Baseline{
		Score:    p.study.Score,
		TestOnly: p.study.TestOnly,
		Train:    0,
		Test:     0,
	}
	for _, is := range train {
		if is {
			b.Train++
		} else {
			b.Test++
		}
	}
	var err error
	if p.study.Score == direction.IQR {
		err = p.releaseQuartiles(
			s,
			direction.FitRecords(x, y, train, p.study.ridge()),
			b,
		)
	} else {
		err = p.releaseDifference(s, x, y, train, b)
	}
	if err != nil {
		return err
	}
	out.Pairs = []direction.Pair{{
		X:        out.Columns[0].Name,
		Y:        out.Columns[1].Name,
		Baseline: b,
		Reading:  b.Read(),
	}}
	return nil
}

// baselineRecords returns the records of the baseline, with ranges mapped to [-1, 1], and reports which of them
// are training records. Both depend on the positions of records, which are public under substitution.
func (p *Plan) baselineRecords(
	s *mechanism.Session,
	all dataset.View,
) (x, y []float64, train []bool) {
	kept := s.Coins("records")
	side := s.Coins("train")
	share := math.Min(1, anmRecords/math.Max(float64(all.Len()), 1))
	b := all.Block(0, all.Len())
	columns := [2][]float64{b.Float(0, nil), b.Float(1, nil)}
	for k := range b.Len() {
		if !kept.Heads(b.ID(k), share) {
			continue
		}
		x = append(x, mapToUnit(columns[0][k], p.study.Schema.Columns[0]))
		y = append(y, mapToUnit(columns[1][k], p.study.Schema.Columns[1]))
		train = append(train, side.Heads(b.ID(k), .5))
	}
	return x, y, train
}

// mapToUnit maps the declared range of a column to [-1, 1]; values outside and missing values are clamped
// later.
func mapToUnit(x float64, c dataset.Column) float64 {
	return (x/2 - (c.Lower/4 + c.Upper/4)) * 2 / (c.Upper/2 - c.Lower/2)
}

// releaseDifference releases the difference of two scores.
func (p *Plan) releaseDifference(
	s *mechanism.Session,
	x, y []float64,
	train []bool,
	b *direction.Baseline,
) error {
	d, err := s.ScoreDifference(
		x,
		y,
		train,
		p.study.Score,
		p.study.ridge(),
		!p.study.TestOnly,
	)
	if err != nil {
		return err
	}
	released, err := mechanism.Laplace(s, differenceName, 0, d)
	b.Difference, b.Scale = released.Value(), s.Scale(differenceName)
	return err
}

// residualReach is the maximum residual, of values in [-1, 1], that the baseline distinguishes.
const residualReach = 2

// releaseQuartiles releases the quartiles of the causes and of the residuals, in both directions.
func (p *Plan) releaseQuartiles(
	s *mechanism.Session,
	f direction.Fit,
	b *direction.Baseline,
) error {
	for draw, v := range [][]float64{f.X, f.ResidualY, f.Y, f.ResidualX} {
		reach := 1.
		if draw%2 == 1 {
			reach = residualReach
		}
		var ends [2]float64
		for i, q := range []float64{.25, .75} {
			scores, err := s.Quartile(v, reach, q)
			if err != nil {
				return err
			}
			chosen, err := mechanism.Choose(s, quartilesName, 2*draw+i, scores)
			if err != nil {
				return err
			}
			ends[i] = mechanism.QuartileAt(chosen.Value(), reach)
		}
		b.Quartiles = append(b.Quartiles, ends[0], ends[1])
	}
	return nil
}
