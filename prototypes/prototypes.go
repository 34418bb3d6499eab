package prototypes

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

// The names of the nodes of the plan.
const (
	node        = "prototypes"
	momentsLeaf = "moments"
	spreadLeaf  = "spread"
	cellsLeaf   = "cells"
	stepsLeaf   = "steps"
)

// The shares of mu^2 that the releases have. The rest goes to the steps.
const (
	momentShare = .08
	spreadShare = .04
	cellShare   = .19
)

// The settings. docs/proofs/prototypes.md, "How the settings were chosen", has the figures.
const (
	// numberReach is the mean square that the norm limit of whitened rows grants a number.
	numberReach = .4
	// constantReach is the square of the constant entry of rows over that of the norm they are granted beside
	// it. At less the numbers of records in the classes would be lost in noise.
	constantReach = .2
	// overReach is the mean squared norm of whitened rows over that limit, before they are
	// shortened.
	overReach = 1.25
	// whitening is the power of the second moments that whitened rows are divided by. One
	// half would make all directions alike.
	whitening = .3
	// momentRidge times the size of the noise is added to the second moments.
	momentRidge = .7
	// manyClip bounds the norm of a record's weights, and twoClip that of two classes.
	manyClip = .5
	twoClip  = .7
	// momentum is the part of a step that goes on in the next one.
	momentum = .5
	// stepRidge times the size of the noise of a step is added to the number of records of
	// a prototype, by which a step is divided. The square of that size over the number is added too, so that
	// nothing moves where noise hides all.
	stepRidge = .5
	// weakest is the number of records per class, in units of the noise of a count, from which on prototypes
	// take steps.
	weakest = 15
	// mostUneven is the variance of the numbers of records of the classes, over their squared mean, up to which
	// classes are about equally large.
	mostUneven = .5
	// averaged is the number of last steps whose prototypes are averaged.
	averaged = 5
)

// Prototypes is a classifier by prototypes: the private form of stochastic neighbour compression
// (M. Kusner, S. Tyree, K. Weinberger, K. Agrawal, "Stochastic neighbor compression", 2014). Every class
// has one to three reference vectors z_j in the space of whitened rows, and with
// p = softmax_j(-gamma^2 |x - z_j|^2) the probability of a class is the sum over its prototypes. They
// are moved along noisy gradients of the sum of log probabilities. The package comment says how.
type Prototypes struct{}

// Name returns "prototypes".
func (Prototypes) Name() string { return "prototypes" }

// Method describes the trainer.
func (Prototypes) Method() method.Method {
	return method.Method{
		Name: Prototypes{}.Name(), Summary: "the nearest of a few prototypes of each class",
		ClassesFrom: 2, Relations: method.EveryRecord(),
		Statistics: []mechanism.Statistic{momentStatistic{}, spreadStatistic{}, cellStatistic{}, stepStatistic{}},
		New:        func(method.Values) method.Trainer { return Prototypes{} },
	}
}

// Plan returns the leaves of the four releases. Its errors are [linear.ErrTarget], [linear.ErrFeatures] and
// [linear.ErrTooWide].
func (Prototypes) Plan(f method.Facts) (budget.Node, error) {
	if _, err := linear.PlanClassFrame(f.Columns); err != nil {
		return budget.Node{}, err
	}
	leaf := func(name string, share float64, of budget.Statistic) budget.Node {
		return budget.GaussianLeaf(name, linear.GramShare*share, 1).Of(of)
	}
	return budget.Seq(node,
		leaf(momentsLeaf, momentShare, mechanism.StatGram),
		leaf(spreadLeaf, spreadShare, mechanism.StatSums),
		leaf(cellsLeaf, cellShare, mechanism.StatOuter),
		leaf(stepsLeaf, 1-momentShare-spreadShare-cellShare, mechanism.StatOuter)), nil
}

// Fit trains; see [method.Trainer].
func (Prototypes) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	r := &run{ctx: ctx, session: s.Sub(node), records: d.Records, frame: frameOf(d.Columns, d.Ranges)}
	if err := r.whiten(d); err != nil {
		return nil, err
	}
	defer r.records.Forget(r.rows)
	if err := r.start(); err != nil {
		return nil, err
	}
	if !r.still {
		if err := r.move(); err != nil {
			return nil, err
		}
	}
	return r.fit(), nil
}

// A run holds what was released so far. All of it but the records is public.
type run struct {
	ctx     context.Context
	session *mechanism.Session
	records mechanism.Records
	frame   *frame

	basis    linear.Spectrum // of the released second moments
	stretch  []float64       // of each direction, by whitening
	rows     *whitened
	number   float64 // of records, by the squares of the factors of their rows; at least 1
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
	return r.number * mu / float64(r.frame.classes())
}

// size returns what most branches look at: the number of records per class in units of the
// noise of a prototype, n mu/(L sqrt d).
func (r *run) size() float64 { return r.perNoise() / math.Sqrt(float64(r.frame.slots()+1)) }

// weak reports whether the classes have so few records that gradients say less about them than their means
// do. If the classes are about equally large, the draw of the steps goes to the means then, and prototypes
// stay there.
func (r *run) weak() bool { return r.perNoise() < weakest }

// perClass is the number of prototypes of a class. With one the classifier is linear, and for two
// classes that measures as well as more.
func (r *run) perClass() int {
	switch {
	case r.frame.classes() == 2 || r.strength < 30:
		return 1
	case r.strength < 70:
		return 2
	}
	return 3
}

// gamma returns gamma^2 V: narrower where there are more records for each prototype or several per class.
func (r *run) gamma() float64 {
	switch {
	case r.perClass() > 1:
		return 12
	case r.strength < 10:
		return 3
	}
	return 6
}

// steps is the number of steps: more of them take noisier gradients.
func (r *run) steps() int {
	switch {
	case r.strength < 10:
		return 5
	case r.strength < 50:
		return 10
	}
	return 20
}

// clip bounds the norm of a record's weights. Of two classes that is about their norm where both are as
// likely, so that only records on the wrong side are clipped: less would move the boundary where
// one class is rare.
func (r *run) clip() float64 {
	if r.frame.classes() == 2 {
		return twoClip
	}
	return manyClip
}
