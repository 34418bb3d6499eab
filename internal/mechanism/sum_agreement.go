package mechanism

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// ErrRelation is returned for a statistic whose sensitivity has no public bound
// under the relation of the run.
var ErrRelation = errors.New("the statistic has no public bound under this relation")

// weightUnit is the grid of weights.
const weightUnit = 0x1p-20

// maxWeight bounds a weight: 2^31 records of 2^30 grid units stay within an
// int64.
const maxWeight = 1 << 10

// An Agreement measures how well a classifier that was chosen without the records, or
// from released values, agrees with their labels. Every record has a weight
// w in a public interval [l, u] and a vote, +1 where classifier and label agree,
// -1 where they do not, and 0 for a record without a label.
//
// The weight of a record may depend on that record and on earlier releases. In two
// neighbouring tables, given the same releases, the records that both contain then
// have equal weights, and the weight of the changed record is in [l, u] in both
// (docs/proofs/brc.md, "Sensitivity and proof"). It must not depend on other records:
// weights that are normalised to a sum break the bounds.
type Agreement struct {
	lo, hi   int64 // in weightUnit
	relation budget.Relation

	n [4]int64 // by the indices below
}

// Indices of the sums of an Agreement: the weights of records that agree, that disagree, and of
// all records, and the number of records.
const (
	agreeing = iota
	disagreeing
	allWeight
	recordCount
)

// NewAgreement returns an empty accumulator for weights in [lower, upper],
// 0 < lower <= upper <= 2^10. It panics for other bounds: they are settings, not
// data.
func (m Maker) NewAgreement(lower, upper float64) *Agreement {
	if !(lower >= weightUnit && lower <= upper && upper <= maxWeight) {
		panic("mechanism: the bounds of weights must be in order, within [2^-20, 2^10]")
	}
	a := &Agreement{
		lo:       int64(math.Ceil(lower / weightUnit)),
		hi:       int64(math.Floor(upper / weightUnit)),
		relation: m.Relation(),
	}
	a.lo = min(a.lo, a.hi)
	return a
}

// Add adds a block of records. Each has a weight, which is clamped to the bounds
// (NaN to the lower one), and a vote, whose sign alone counts. Add panics if the
// slices differ in length.
func (a *Agreement) Add(weights []float64, votes []int8) {
	if len(weights) != len(votes) {
		panic("mechanism: a block of an Agreement has one weight and one vote per record")
	}
	for i, w := range weights {
		units := a.lo
		if w > float64(a.lo)*weightUnit {
			units = int64(min(w/weightUnit, float64(a.hi)))
		}
		a.n[allWeight] += units
		switch {
		case votes[i] > 0:
			a.n[agreeing] += units
		case votes[i] < 0:
			a.n[disagreeing] += units
		}
	}
	a.n[recordCount] += int64(len(weights))
}

// Cells are those that [Agreement.Add] adds to.
func (a *Agreement) Cells() Cells {
	return sumCells(a.n[:])
}

// Sum returns the sum of w times vote.
//
// Add or remove one record: it moves by w times a vote, at most u, attained by a
// record of weight u. Otherwise one record with (w, v) turns into (w', v'), the
// others keep theirs, and |w v - w' v'| <= 2u, attained by w = w' = u and
// v' = -v. With private columns only, v' = -v is still possible: the label
// stays and the classifier, which sees private columns, changes its mind.
//
// The sensitivity of the sum is 2u, and that of the ratio of the paper
// ([Agreement.Ratio], times 2, less 1) is 2u/((n-1)l+u). The sum of all weights is
// at least (n-1)l+u up to one record, so relative to it the sum is at least as
// precise, and better by the factor of the mean weight over l.
func (a *Agreement) Sum() Bounded[int64] {
	sens := float64(a.hi)
	if a.relation != budget.AddRemove {
		sens *= 2
	}
	return Bounded[int64]{a.n[agreeing] - a.n[disagreeing], Absolute, sens, weightUnit,
		StatAgreement}
}

// ratioUnit is the grid of ratios.
const ratioUnit = 0x1p-40

// Ratio returns the accuracy as the paper defines it: the weight of the records that
// agree divided by the weight of all records, or 1/2 without records. A record without
// a label agrees by half, as by chance, so twice the ratio less 1 is the sum of w times
// vote over the weight of all. The number n of records, including those without a
// label, is public under substitution. Under add-remove it is private and the bound
// would reveal it, so Ratio returns [ErrRelation].
//
// Substitution, Lemma 1 of "Classification with partially private features":
// with A and W the weight that agrees and the whole weight of the other n-1
// records, the ratio turns from (A + w a)/(W + w) into (A + w' a')/(W + w'),
// a and a' in {0, 1/2, 1}. The difference is linear in a and in a', so it is largest with both in
// {0, 1}. For a = 1, a' = 0 it is
// [w (W-A) + w'(A+w)]/((W+w)(W+w')), linear in A, so largest at A = 0 or A = W,
// where it is at most max(w, w')/(W + max(w, w')) <= u/((n-1) l + u). For a = a'
// it is at most |w - w'|/(W + max(w, w')), which is smaller. Attained by n-1
// records of weight l that all agree or all disagree and one of weight u. The
// ratio is rounded down to a grid, and the bound is a whole number of grid units,
// so rounding does not widen it.
func (a *Agreement) Ratio() (Bounded[int64], error) {
	if a.relation == budget.AddRemove {
		return Bounded[int64]{},
			fmt.Errorf("%w: a ratio over all records needs a public number of records, %v has none",
				ErrRelation, a.relation)
	}
	rate := .5
	if a.n[allWeight] > 0 {
		rate = (float64(a.n[allWeight]) + float64(a.n[agreeing]-a.n[disagreeing])) /
			(2 * float64(a.n[allWeight]))
	}
	others := float64(max(a.n[recordCount]-1, 0)) * float64(a.lo)
	sens := math.Ceil(roundUp(float64(a.hi)/(others+float64(a.hi)))/ratioUnit) + 1 // one more for the rounding of the quotient
	return Bounded[int64]{int64(rate / ratioUnit), Absolute, sens, ratioUnit, StatAgreementRatio},
		nil
}

// Alone returns a single number as a vector of one entry, for releases of
// vectors: its absolute change is the Euclidean length of that of the vector.
func Alone(x Bounded[int64]) Bounded[Vector] {
	return Bounded[Vector]{Vector{x.value}, L2, x.sens, x.unit, StatAlone(x.statistic)}
}

// The statistics of [Agreement.Sum] and [Agreement.Ratio].
const (
	StatAgreement      budget.Statistic = "agreement"
	StatAgreementRatio budget.Statistic = "agreement ratio"
)

// StatAlone is the statistic of [Alone] for a number with the statistic x.
func StatAlone(x budget.Statistic) budget.Statistic {
	return x + " sum"
}
