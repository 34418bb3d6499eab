package prototypes

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	settings "github.com/dptrain/dptrain/prototypes"
)

// Node names of the plan.
const (
	node        = "prototypes"
	momentsLeaf = "moments"
	spreadLeaf  = "spread"
	cellsLeaf   = "cells"
	stepsLeaf   = "steps"
)

// Shares of mu^2 of the releases. The steps take the rest.
const (
	momentShare = .08
	spreadShare = .04
	cellShare   = .19
)

// Settings. See docs/proofs/prototypes.md, "How the settings were chosen".
const (
	// numberReach is the contribution of a number to the mean squared norm limit of whitened rows.
	numberReach = .4
	// constantReach is the square of the constant entry of rows relative to the squared norm limit of the other
	// entries. With a smaller value the numbers of records in the classes would be lost in noise.
	constantReach = .2
	// overReach is the mean squared norm of whitened rows relative to that limit, before shortening.
	overReach = 1.25
	// whitening is the exponent of the second moments by which rows are divided. With one half, all directions
	// would have equal variance.
	whitening = .3
	// momentRidge times the size of the noise is added to the second moments.
	momentRidge = .7
	// manyClip bounds the norm of a record's weights, and twoClip that of two classes.
	manyClip = .5
	twoClip  = .7
	// momentum is the fraction of a step that is carried over to the next one.
	momentum = .5
	// stepRidge times the size of the noise of a step is added to the number of records of a prototype, by
	// which a step is divided. The square of that size divided by the number is added too, so that steps vanish
	// if the noise dominates.
	stepRidge = .5
	// leastPerNoise is the minimum number of records per class, in units of the noise of a count, with which
	// prototypes take steps.
	leastPerNoise = 15
	// mostUneven is the maximum variance of the numbers of records of the classes, relative to their squared
	// mean, with which classes count as about equally large.
	mostUneven = .5
	// averagedSteps is the number of final steps over which prototypes are averaged.
	averagedSteps = 5
)

// Prototypes is a classifier by prototypes: the private form of stochastic neighbour compression (M. Kusner, S.
// Tyree, K. Weinberger, K. Agrawal, "Stochastic neighbor compression", 2014). Every class has one to three
// reference vectors z_j in the space of whitened rows, and with p = softmax_j(-gamma^2 |x - z_j|^2) the
// probability of a class is the sum over its prototypes. They are updated along noisy gradients of the sum of
// log probabilities; see the package comment.
type Prototypes settings.Prototypes

// Name returns "prototypes".
func (Prototypes) Name() string {
	return "prototypes"
}

// Method describes the trainer.
func (Prototypes) Method() method.Method {
	return method.Method{
		Name:        Prototypes{}.Name(),
		Summary:     "nearest of a few prototypes per class",
		ClassesFrom: 2,
		Relations:   method.EveryRecord(),
		Statistics: []mechanism.Statistic{momentStatistic{}, spreadStatistic{}, cellStatistic{},
			stepStatistic{}},
		Is: method.HasType[Prototypes],
		FromSettings: method.FromSettings(func(x settings.Prototypes) method.Trainer {
			return Prototypes(x)
		}),
		New: func(method.Values) method.Trainer {
			return Prototypes{}
		},
	}
}

// Plan returns the leaves of the four releases. Its errors are [linear.ErrTarget], [linear.ErrFeatures] and
// [linear.ErrTooWide].
func (Prototypes) Plan(f method.Facts) (budget.Node, error) {
	if _, err := linear.PlanClassFrame(f.Columns); err != nil {
		return budget.Node{}, err
	}
	leaf := func(name string, share float64, of budget.Statistic) budget.Node {
		return budget.GaussianLeaf(name, linear.GramShare*share, 1).WithStatistic(of)
	}
	return budget.Sequence(node,
		leaf(momentsLeaf, momentShare, mechanism.StatGram),
		leaf(spreadLeaf, spreadShare, mechanism.StatSums),
		leaf(cellsLeaf, cellShare, mechanism.StatOuter),
		leaf(stepsLeaf, 1-momentShare-spreadShare-cellShare, mechanism.StatOuter)), nil
}

// Fit trains; see [method.Trainer].
func (Prototypes) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	r := &run{
		ctx:     ctx,
		session: s.Sub(node),
		records: d.Records,
		frame:   frameOf(d.Columns, d.Ranges),
	}
	if err := r.releaseWhitening(d); err != nil {
		return nil, err
	}
	defer r.records.Forget(r.rows)
	if err := r.startPrototypes(); err != nil {
		return nil, err
	}
	if !r.still {
		if err := r.movePrototypes(); err != nil {
			return nil, err
		}
	}
	return r.newFit(), nil
}

// A run holds the released values so far. All of it except the records is public.
type run struct {
	ctx     context.Context
	session *mechanism.Session
	records mechanism.Records
	frame   *frame

	basis    linear.Spectrum // of the released second moments
	stretch  []float64       // of each direction, by whitening
	rows     *whitened
	number   float64 // of records, by the squares of their shortening factors; at least 1
	strength float64 // see [run.size]
	width    float64 // V, the mean squared radius inside the classes
	still    bool    // the prototypes stay at the means
	at       mixture
}

// perNoise returns the number of records per class in units of the noise of a count, n mu/L. Under
// substitution the noise of a sum is twice as large.
func (r *run) perNoise() float64 {
	mu := r.session.Mu(momentsLeaf) / math.Sqrt(momentShare)
	if r.session.Relation() != budget.AddRemove {
		mu /= 2
	}
	return r.number * mu / float64(r.frame.classCount())
}

// signalToNoise returns the quantity that determines most choices: the number of records per class in units of the noise
// of a prototype, n mu/(L sqrt d).
func (r *run) signalToNoise() float64 {
	return r.perNoise() / math.Sqrt(float64(r.frame.slotCount()+1))
}

// isWeak reports whether the classes have so few records that gradients are less informative than class means. If
// the classes are about equally large, the draw of the steps is then spent on the means, and prototypes stay
// there.
func (r *run) isWeak() bool {
	return r.perNoise() < leastPerNoise
}

// perClass returns the number of prototypes of a class. With one the classifier is linear, which for two
// classes is as accurate as more.
func (r *run) perClass() int {
	switch {
	case r.frame.classCount() == 2 || r.strength < 30:
		return 1
	case r.strength < 70:
		return 2
	}
	return 3
}

// kernelWidth returns gamma^2 V: larger, hence narrower, with more records per prototype or several prototypes per
// class.
func (r *run) kernelWidth() float64 {
	switch {
	case r.perClass() > 1:
		return 12
	case r.strength < 10:
		return 3
	}
	return 6
}

// stepCount returns the number of steps: with more steps, each gradient is noisier.
func (r *run) stepCount() int {
	switch {
	case r.strength < 10:
		return 5
	case r.strength < 50:
		return 10
	}
	return 20
}

// weightBound returns the bound on the norm of a record's weights. For two classes it is about their norm where both
// classes are equally likely, so that only records on the wrong side are clipped; a smaller bound would move
// the boundary if one class is rare.
func (r *run) weightBound() float64 {
	if r.frame.classCount() == 2 {
		return twoClip
	}
	return manyClip
}
