package mechanism

import (
	"github.com/dptrain/dptrain/budget"
)

// Intercepts score the intercepts that a linear classifier may have. The candidates are points of a fixed public grid, in
// increasing order, so a classifier votes for class +1 from some candidate on: record i votes -1 with the candidates below
// first[i] and +1 with the others. The score of a candidate is the absolute value of the sum of weight times vote that
// [Agreement.Sum] would release.
//
// The weights obey the rules of an [Agreement].
type Intercepts struct {
	lo, hi   int64 // in weightUnit
	relation budget.Relation

	// moved[c] is the sum of weight times label of the records whose vote turns from -1 to +1 at candidate c. The last
	// entry is for records that vote -1 with every candidate.
	moved []int64
}

// NewIntercepts returns an empty accumulator for at least one candidate and for weights in [lower, upper],
// 0 < lower <= upper <= 2^10. It panics outside: all of these are settings, not data.
func (m Maker) NewIntercepts(lower, upper float64, candidates int) *Intercepts {
	if candidates < 1 {
		panic("mechanism: an intercept is chosen from at least one candidate")
	}
	a := m.NewAgreement(lower, upper)
	return &Intercepts{
		lo:       a.lo,
		hi:       a.hi,
		relation: a.relation,
		moved:    make([]int64, candidates+1),
	}
}

// Add adds a block of records. Each has a weight, which is clamped to the bounds (NaN to the lower one), a label, whose sign
// alone counts, and the first candidate with which it votes +1, which is clamped to [0, candidates]. Add panics if the
// slices differ in length.
func (a *Intercepts) Add(weights []float64, labels []int8, first []int) {
	if len(weights) != len(labels) || len(weights) != len(first) {
		panic("mechanism: a block of Intercepts has one weight, one label and one candidate per record")
	}
	last := len(a.moved) - 1
	for i, w := range weights {
		units := a.lo
		if w > float64(a.lo)*weightUnit {
			units = int64(min(w/weightUnit, float64(a.hi)))
		}
		at := min(max(first[i], 0), last)
		switch {
		case labels[i] > 0:
			a.moved[at] += units
		case labels[i] < 0:
			a.moved[at] -= units
		}
	}
}

// Cells are those that [Intercepts.Add] adds to.
func (a *Intercepts) Cells() Cells {
	return sumCells(a.moved)
}

// Scores returns the score of every candidate with the width of its change.
//
// Add or remove one record: the sum of a candidate moves by a weight of at most u, so its absolute value moves within
// [-u, u]. The record may agree with one candidate and disagree with another, so the width is 2u; it is attained. Otherwise
// a record with weight and vote (w, v) turns into (w', v'), the sum moves by at most 2u, and the width is 4u.
func (a *Intercepts) Scores() Bounded[Vector] {
	all := int64(0)
	for _, x := range a.moved {
		all += x
	}
	out := make(Vector, len(a.moved)-1)
	sum := -all // of weight times vote where every record votes -1
	for c := range out {
		sum += 2 * a.moved[c]
		out[c] = max(sum, -sum)
	}
	width := 2 * float64(a.hi)
	if a.relation != budget.AddRemove {
		width *= 2
	}
	return Bounded[Vector]{out, Width, width, weightUnit, StatIntercepts}
}

// StatIntercepts is the statistic of [Intercepts.Scores].
const StatIntercepts budget.Statistic = "intercepts"
