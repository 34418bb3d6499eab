package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Private selection of the number of features of a classifier (docs/proofs/dpfsdr.md, "Private selection of
// the size", the alternative to a surrogate). The selector releases an order once. A try draws one of the
// listed sizes, trains on that many columns of the order and releases the number of training records that it
// classifies correctly; the try with the largest number is kept. The number of tries is secret, as in
// search.go, and the tries have one price together.
const (
	sizeFitNode = "fit"
	rightLeaf   = "right"
	// rightShare is the share of a try's mu^2 for the number of correct predictions (.05 next to .45 for the
	// model; docs/proofs/dpfsdr.md, "Private selection of the size").
	rightShare = .1
	// DefaultSizeRuns is the default mean number of tries.
	DefaultSizeRuns = 3
	sizePrefix      = "size-"
)

// ErrSizeSearch is returned for sizes that cannot be tried.
var ErrSizeSearch = errors.New("the sizes of the selection cannot be tried")

// IsSize reports whether a name in a report belongs to a try of a number of features.
func IsSize(name string) bool {
	return strings.HasPrefix(name, sizePrefix)
}

// SizeName is the name of the node of a size in a plan.
func SizeName(size int) string {
	return fmt.Sprintf(sizePrefix+"%d", size)
}

// SizeSearch is the result of choosing a size. All of it is public.
type SizeSearch struct {
	Sizes      []int
	Runs       float64 // mean number of tries
	Eta, Gamma float64 // parameters of the distribution of the number of tries
	Chosen     int     // the size that won; 0 for a run that ended before it tried any
	// Right is the released number of training records that the winning try
	// predicts rightly. It is the largest of several noisy numbers, of records that
	// the model was trained on: it is biased upwards twice, and the held-out
	// accuracy is not.
	Right float64
}

// sizesOf returns the sizes that a selector leaves to be tried, or nil.
func sizesOf(x selection.Selector) []int {
	if s, ok := x.(selection.Sizer); ok {
		return s.SizeList()
	}
	return nil
}

// sizeRuns is the mean number of tries.
func (p *Pipeline) sizeRuns() float64 {
	if p.SizeRuns == 0 {
		return DefaultSizeRuns
	}
	return p.SizeRuns
}

// sizesNode plans the tries of a model:
//
//	model (select): size-2: fit, right
//	                size-4: fit, right
//	                ...
//
// Every size is planned for the widest one, so all have one price; a narrower
// model may leave draws unspent.
func (p *Pipeline) sizesNode(
	sizes []int,
	model budget.Node,
) (budget.Node, error) {
	law, err := budget.SelectionForMean(0, p.sizeRuns())
	if err != nil {
		return budget.Node{}, err
	}
	kids := make([]budget.Node, len(sizes))
	for i, size := range sizes {
		kids[i] = budget.Sequence(SizeName(size),
			budget.Sequence(sizeFitNode, model).Scaled(1-rightShare),
			budget.GaussianLeaf(rightLeaf, linear.GramShare*rightShare,
				1).WithStatistic(mechanism.StatHistogram), // a model has GramShare of its budget
		).WithRole(budget.RoleSize)
	}
	return budget.SelectBest(modelNode, law, kids...).WithRole(budget.RoleStage), nil
}

// sizeTry is the result of one try. A try that lost is not kept.
type sizeTry struct {
	fit     *method.Fit
	chosen  []int
	seconds float64
}

// trySizes runs the tries. order is the released order of columns. One stage is announced, and only the time of
// the best try is kept, so that neither reveals the number of tries.
func (r *runner) trySizes(
	ctx context.Context,
	s *mechanism.Session,
	b branch,
	f selection.Facts,
	v records,
	order []int,
) (*trained, error) {
	r.announceStage(modelNode)
	sizes := sizesOf(b.selector)
	best, err := mechanism.Best(s, modelNode,
		func(i int, s *mechanism.Session) (sizeTry, float64, error) {
			start := time.Now()
			chosen := slices.Clone(order[:min(sizes[i], len(order))]) // fewer columns may be readable
			slices.Sort(chosen)
			view := selectColumns(v, chosen)
			fit, err := r.fitModel(
				ctx,
				s.Sub(sizeFitNode),
				b,
				f.AtLeast,
				view,
				rangesFor(f, chosen),
			)
			if err != nil {
				return sizeTry{}, 0, fmt.Errorf("model: %w", err)
			}
			right, err := releaseRight(ctx, s, view.known, fit)
			return sizeTry{fit, chosen, time.Since(start).Seconds()}, right, err
		})
	if err != nil {
		return nil, err
	}
	r.seconds[modelNode] += best.Result.seconds
	law, _, _ := r.plan.Selection(s.Path(modelNode))
	return &trained{
		fit:    best.Result.fit,
		chosen: best.Result.chosen,
		method: b.trainer.Name(),
		sizes: &SizeSearch{
			Sizes:  sizes,
			Runs:   r.pipeline.sizeRuns(),
			Eta:    law.Eta,
			Gamma:  law.Gamma,
			Chosen: sizes[best.Candidate],
			Right:  best.Score,
		},
	}, nil
}

// rangesFor returns the ranges of chosen candidates and the target.
func rangesFor(f selection.Facts, chosen []int) []scaling.Range {
	ranges := make([]scaling.Range, 0, len(chosen)+1)
	for _, j := range chosen {
		ranges = append(ranges, f.Ranges[j])
	}
	return append(ranges, f.Ranges[len(f.Columns)])
}

// releaseRight releases the number of records of a view that a classifier predicts correctly.
//
// Adding or removing one record changes the count by at most 1; a record in no class never counts as correct.
// Substitution changes it by at most 1 as well; the bound of a histogram of one bin, sqrt 2, is kept.
func releaseRight(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	f *method.Fit,
) (float64, error) {
	columns := v.Schema().Columns
	classes := len(columns[len(columns)-1].Categories)
	right, err := releaseCells(ctx, s, rightLeaf, v, f.Model, 1, rightCell{classes})
	if err != nil {
		return 0, fmt.Errorf("right predictions: %w", err)
	}
	return right[0], nil
}

// rightCell is the one cell of the records in a class that are predicted rightly.
type rightCell struct{ Classes int }

func (x rightCell) cell(class int, prediction float64) int {
	if class < x.Classes && prediction == float64(class) {
		return 0
	}
	return noCell
}
