package mechanism

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/hinge"
)

// MinimizerTolerance is the largest norm of the gradient at a released minimiser, in
// units of the longest row R. It widens the sensitivity by 2e-5 of itself, and is reached
// for every table of up to 2^31 records (see package internal/numeric/hinge).
const MinimizerTolerance = 1e-5

// LeastPenalty is the smallest ridge penalty of a [Minimizer] for rows of norm 1.
const LeastPenalty = .01

// A Minimizer holds labelled rows and minimises over them
//
//	J(w) = sum_i l(y_i w.z_i) + Lambda/2 |w|^2,
//
// l the huberised hinge loss (0 from margin 3/2 on, a parabola between 1/2 and
// 3/2, of slope -1 below), z = (x, constant), x a fixed-point row whose
// Euclidean norm it limits to a public bound B first, exactly as [Gram] does.
// The linear classifier of docs/proofs/svm.md, "Algorithm", is such a
// minimiser. With two classes there is one, y = +1 for class 1 and -1 for class 0.
// With more classes there is one per class, y = +1 for that class and -1 for the
// others. Records without a class are left out of all minimisers.
//
// The rows stay in memory, two bytes per entry.
type Minimizer struct {
	clipper  *Gram // limits rows; its own sums stay empty
	constant int64 // in 1/FixedOne
	lambda   float64
	classes  int
	loss     hinge.Loss
	columns  [][]int16
	codes    []int32
}

// NewMinimizer returns a minimizer without rows, for rows x of p >= 1 entries of
// norm at most sqrt(limit2), 2^-20 <= limit2 <= 2^20, as in [Session.NewGram], a
// constant entry in [0, 2^10], rounded toward zero to the grid 2^-14, a penalty
// lambda of at least [LeastPenalty] times limit2 + constant^2, and two classes or
// more. It panics outside: all of these are public.
func (m Maker) NewMinimizer(
	p int,
	limit2, constant, lambda float64,
	classes int,
) *Minimizer {
	switch {
	case p < 1 || classes < 2:
		panic("mechanism: a Minimizer needs an entry and two classes")
	case !(limit2 >= 0x1p-20 && limit2 <= 0x1p20 && constant >= 0 && constant <= 0x1p10):
		panic("mechanism: the norms of a Minimizer's rows are out of range")
	case !(lambda >= .999*LeastPenalty*(limit2+constant*constant) && lambda < 0x1p60):
		panic("mechanism: the penalty of a Minimizer is out of range")
	}
	return &Minimizer{
		clipper: &Gram{
			p:        p,
			limit:    uint64(limit2 / gramUnit),
			relation: m.Relation(),
		},
		constant: int64(constant * FixedOne),
		lambda:   lambda,
		classes:  classes,
		columns:  make([][]int16, p),
	}
}

// NewLogisticMinimizer is NewMinimizer with the logistic loss l(m) = ln(1 + e^-m). The same
// bounds hold, because its slope is between -1 and 0 too.
func (m Maker) NewLogisticMinimizer(
	p int,
	limit2, constant, lambda float64,
	classes int,
) *Minimizer {
	out := m.NewMinimizer(p, limit2, constant, lambda, classes)
	out.loss = hinge.Logistic
	return out
}

// Add clips a block of records in place and keeps a copy. columns holds one slice per
// entry of x and one fixed-point number in [-FixedOne, FixedOne] per record, codes the
// class of each; a code outside [0, classes) means that the record has no class. Add
// panics if the slices differ in number or length.
func (m *Minimizer) Add(columns [][]int16, codes []int32) {
	if len(columns) != len(m.columns) || len(columns[0]) != len(codes) {
		panic("mechanism: a Minimizer block has one slice per entry and one code per record")
	}
	m.clipper.clipRows(columns)
	for j, column := range columns {
		m.columns[j] = append(m.columns[j], column...)
	}
	m.codes = append(m.codes, codes...)
}

// numMinimizers returns the number of minimisers.
func (m *Minimizer) numMinimizers() int {
	if m.classes == 2 {
		return 1
	}
	return m.classes
}

// rowNorm returns R, the norm that no row z exceeds, in 1/FixedOne.
func (m *Minimizer) rowNorm() float64 {
	k := float64(m.constant)
	return roundUp(math.Sqrt(float64(m.clipper.limit) + k*k))
}

// Bound returns the minimisers, one after another, each with p+1 coordinates of
// which that of the constant is the last, and their L2 sensitivity. Its only error
// is that of ctx.
//
// # One minimiser
//
// Let J and J' be the objectives of neighbouring tables, w and w' the points
// found, g a bound on |grad J(w)| and |grad J'(w')|. J is Lambda-strongly convex,
// so |grad J(w) - grad J(w')| >= Lambda |w - w'|.
//
// Add or remove one record z: grad J'(w') = grad J(w') + r, r = l' y z, and |r| <=
// R because |l'| <= 1. So
//
//	Lambda |w - w'| <= |grad J(w) - grad J'(w') + r| <= R + 2g.
//
// It is attained in the limit, with the huberised loss by records with margins below 1/2: with J the
// penalty alone, w = 0, and J' that of one record with R^2/Lambda <= 1/2, w' = y z/Lambda.
// Substitution: r is the difference of two such vectors, at most 2R, so 2R + 2g;
// attained by the record z with either label. With the logistic loss |l'| is near 1
// only where other records push the margin far below 0, so one record comes less near. The bias has its part of the
// penalty: without one J is not strongly convex and no bound exists. (Chaudhuri,
// Monteleoni and Sarwate, "Differentially private empirical risk minimization",
// 2011, corollary 8, in sum form: the mean form divides by the number of records,
// which add-remove neighbours do not share.)
//
// # Several
//
// A record touches each of L minimisers, and each moves by at most the above: the
// whole vector by sqrt(L) times that.
//
// # The grid
//
// Coordinates are rounded to a power of two at most 2^-30 of the sensitivity and
// then clamped to +-2^61 units. Rounding moves each of P coordinates by at most one
// unit, so two rounded points are at most 2 sqrt(P) units further apart; clamping
// does not increase their distance.
func (m *Minimizer) Bound(ctx context.Context) (Bounded[Vector], error) {
	x, err := m.findMinimizers(ctx)
	if err != nil {
		return Bounded[Vector]{}, err
	}
	sens := roundUp(x.distance/x.unit + 2*math.Sqrt(float64(len(x.values))))
	return Bounded[Vector]{x.values, L2, sens, x.unit * FixedOne, StatMinimizer}, nil
}

// CoordinateBound returns the minimisers of [Minimizer.Bound] with their L1 sensitivity, for Laplace noise. Its only error is
// that of ctx.
//
// The vector has P coordinates and moves by at most d in the Euclidean norm, so by at most sqrt(P) d in the L1 norm (Cauchy
// and Schwarz). It is attained, as d is, by a record whose entries are all as large as the constant. Rounding moves each of
// the P coordinates by at most one unit, so two rounded points are at most 2 P units further apart.
func (m *Minimizer) CoordinateBound(ctx context.Context) (Bounded[Vector], error) {
	x, err := m.findMinimizers(ctx)
	if err != nil {
		return Bounded[Vector]{}, err
	}
	p := float64(len(x.values))
	sens := roundUp(roundUp(math.Sqrt(p))*x.distance/x.unit + 2*p)
	return Bounded[Vector]{x.values, L1, sens, x.unit * FixedOne, StatMinimizerCoordinates}, nil
}

// foundMinimum holds the minimisers, rounded to multiples of unit, and the largest distance by which one record moves them
// before rounding.
type foundMinimum struct {
	values   Vector
	distance float64
	unit     float64
}

// findMinimizers finds the minimisers.
func (m *Minimizer) findMinimizers(ctx context.Context) (foundMinimum, error) {
	r := m.rowNorm()
	g := m.rowNorm() * MinimizerTolerance
	change := r
	if m.clipper.relation != budget.AddRemove {
		change *= 2
	}
	// In units of rows 1/FixedOne the penalty is lambda FixedOne^2, and a
	// coordinate is worth FixedOne.
	lambda := m.lambda * FixedOne * FixedOne
	distance := roundUp(math.Sqrt(float64(m.numMinimizers())) * (change + 2*g) / lambda)
	unit := math.Exp2(math.Floor(math.Log2(distance)) - 30)
	p := len(m.columns) + 1
	out := make(Vector, 0, p*m.numMinimizers())
	for c := range m.numMinimizers() {
		problem := &hinge.Problem{
			Columns:  m.columns,
			Labels:   m.classLabels(c),
			Constant: m.constant,
			Norm:     r,
			Lambda:   lambda,
			Loss:     m.loss,
		}
		w, err := problem.Minimize(ctx, g)
		if err != nil {
			return foundMinimum{}, err
		}
		for j := range w.High {
			out = append(out, onGrid(w.High[j], w.Low[j], unit))
		}
	}
	return foundMinimum{out, distance, unit}, nil
}

// classLabels returns the labels of minimiser number c.
func (m *Minimizer) classLabels(c int) []int8 {
	positive := int32(c)
	if m.classes == 2 {
		positive = 1
	}
	out := make([]int8, len(m.codes))
	for i, k := range m.codes {
		switch {
		case uint32(k) >= uint32(m.classes):
		case k == positive:
			out[i] = 1
		default:
			out[i] = -1
		}
	}
	return out
}

// onGrid returns high + low in units, within one unit, |low| at most half a unit
// in the last place of high; clamped to +-2^61.
func onGrid(high, low, unit float64) int64 {
	const most = 1 << 61
	h := math.Round(high / unit) // the quotient is exact
	switch {
	case h >= most:
		return most
	case h <= -most:
		return -most
	}
	rest := math.Round((high/unit - h) + low/unit) // the difference is exact
	return min(max(int64(h)+int64(rest), -most), most)
}

// The statistics of [Minimizer.Bound] and [Minimizer.CoordinateBound].
const (
	StatMinimizer            budget.Statistic = "minimizer"
	StatMinimizerCoordinates budget.Statistic = "minimizer coordinates"
)
