package causal

import (
	"context"
	"encoding/hex"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// A Result holds the releases of a study and the conclusions from them. The guarantee covers everything except
// Curator.
type Result struct {
	Guarantee budget.Guarantee
	Addition  budget.Addition // how the events compose to the guarantee
	Method    string          // "histogram" or "anm"
	// TestOnly reports that the guarantee covers only the test records of the baseline.
	TestOnly bool
	Events   []mechanism.Event
	Columns  []direction.Column
	Bins     int
	Records  float64 // noisy number that determined the bins; 0 if they were declared
	Pairs    []direction.Pair
	// Seed is the seed of the redraws, in hex, with which they can be reproduced.
	Seed        string
	Unprotected []pipeline.Fact
	Warnings    []pipeline.Warning

	// Curator is for the owner of the data: it is not part of the JSON, and prints as a remark.
	Curator pipeline.Curator `json:"-"`
}

// Again returns a plan for another run, at the same price.
func (p *Plan) Again() *Plan {
	next := *p
	next.Priced = p.Priced.Again()
	return &next
}

// Run executes the plan on a table that was read with the schema of the study. Its errors do not depend on a
// record.
func (p *Plan) Run(ctx context.Context, t *dataset.Table) (*Result, error) {
	return p.run(ctx, t, mechanism.NewSession)
}

// Rehearse reports, before any budget is spent, whether the noise of a step would leave the integer grid: the
// error then wraps mechanism.ErrScale. It reads no table.
func (p *Plan) Rehearse(ctx context.Context) error {
	t, err := pipeline.EmptyTable(p.study.Schema)
	if err == nil {
		_, err = p.run(ctx, t, mechanism.NewRehearsal)
	}
	return pipeline.TooFaint(err, p.study.Budget.Epsilon, "study")
}

func (p *Plan) run(
	ctx context.Context,
	t *dataset.Table,
	open func(*budget.Priced) (*mechanism.Session, error),
) (*Result, error) {
	root, all, err := pipeline.OpenStudy(p.Priced, p.study.Schema, t, open)
	if err != nil {
		return nil, err
	}
	s := root.Sub(partName)
	records := memory.NewRecords(all)
	out := &Result{
		Guarantee:   p.Guarantee(),
		Addition:    p.Addition(),
		Method:      p.Method(),
		TestOnly:    p.study.TestOnly,
		Unprotected: p.study.Facts(),
		Bins:        p.study.Bins,
	}
	if p.study.method() == anmMethod {
		err = p.runBaseline(ctx, s, all, out)
	} else {
		err = p.runHistograms(ctx, s, records, out)
	}
	if err != nil {
		return nil, err
	}
	out.Events = root.Events()
	out.Warnings = p.warnings(out)
	out.Curator = pipeline.Curator{
		Rows:      t.Len(),
		TrainRows: all.Len(),
	}
	return out, nil
}

// runHistograms runs the default method.
func (p *Plan) runHistograms(
	ctx context.Context,
	s *mechanism.Session,
	records mechanism.Records,
	out *Result,
) error {
	ranges, err := p.study.rangeStage().Run(ctx, s.Sub("scaling"), records)
	if err == nil {
		ranges, err = rangesFor(ctx, s, records, ranges)
	}
	if err != nil {
		return err
	}
	if out.Bins == 0 {
		if out.Records, err = p.countRecords(ctx, s, records); err != nil {
			return err
		}
		out.Bins = direction.Bins(out.Records, p.noise().Scale)
	}
	for j, c := range p.study.Schema.Columns {
		r := ranges[j]
		out.Columns = append(out.Columns,
			direction.Column{
				Name:     c.Name,
				Lower:    r.Lower,
				Upper:    r.Upper,
				Declared: r.Declared,
				Unread:   r.Unread,
				Huge:     r.Huge,
				Tiny:     r.Tiny,
			})
	}
	return p.decideDirections(ctx, s, records, ranges, out)
}

// countRecords returns the number of records: with noise, or exactly if it is public.
func (p *Plan) countRecords(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
) (float64, error) {
	n, err := r.Len(ctx)
	if err != nil || !p.study.countsRecords() {
		return float64(n), err
	}
	noisy, err := mechanism.Laplace(s, countName, 0, s.Count(n))
	return math.Round(noisy.Value()), err
}

// decideDirections releases the histograms and computes the directions.
func (p *Plan) decideDirections(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	ranges []scaling.Range,
	out *Result,
) error {
	pairs := p.study.columnPairs()
	x, err := statisticFor(ctx, s, r, cellStatistic{pairs, out.Bins, ranges})
	if err != nil {
		return err
	}
	acc, err := mechanism.Sum[*cellPass](ctx, s, r, x)
	if err != nil {
		return err
	}
	at := s.Sub(pairsName)
	seed := at.PublicSeed("redraws")
	out.Seed = hex.EncodeToString(seed[:])
	public := seed.Stream()
	for i, pair := range pairs {
		var released mechanism.Public[[]float64]
		if p.gaussian {
			released, err = mechanism.Gaussian(at, pairName(i), acc.hists[i].Bound())
		} else {
			released, err = mechanism.LaplaceCells(at, pairName(i), acc.hists[i].CellBound())
		}
		if err != nil {
			return err
		}
		// Rounding is post-processing: counts are integers, so the noise is that of an integer.
		counts := released.Value()
		for k, x := range counts {
			counts[k] = math.Round(x) + 0 // no negative zero
		}
		answer := direction.Pair{
			X:     out.Columns[pair[0]].Name,
			Y:     out.Columns[pair[1]].Name,
			Noise: p.noise(),
			Histogram: direction.Histogram{
				B:      out.Bins,
				Counts: counts,
			},
		}
		answer.Reading = direction.Read(answer.Histogram, answer.Noise, public)
		if err := redrawFrom(ctx, s, r, ranges, pair, &answer); err != nil {
			return err
		}
		if out.Columns[pair[0]].Unread || out.Columns[pair[1]].Unread {
			answer.Direction = 0
		}
		out.Pairs = append(out.Pairs, answer)
	}
	return nil
}
