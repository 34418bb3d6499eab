package mechanism

import (
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
)

// Replaced bounds the number of points of a [Cloud] that differ.
const Replaced Norm = 1 << 6

// LeastPoints is the smallest number of points of [TukeyDepth]. With fewer points there
// are no depths on either side of m/4 to compare, so the check cannot pass.
const LeastPoints = 12

// ErrPoints is returned for a cloud of fewer than LeastPoints points, or of
// points without coordinates. It depends on public facts only.
var ErrPoints = errors.New(
	"the Tukey mechanism needs at least 12 points of at least one coordinate")

// ErrSplit is returned for shares of epsilon outside their range.
var ErrSplit = errors.New(
	"the shares of a Tukey mechanism must be above 0, and the share of the check and twice that of a step of depth at most 1")

// A DepthSplit divides the epsilon of [TukeyDepth]: e1 = Check epsilon is for the check, and e' = Step epsilon is the
// weight of one step of depth in the draw. The proof needs e1 + 2 e' <= epsilon only.
type DepthSplit struct{ Check, Step float64 }

// UsualSplit returns the split that passes the check with the fewest points.
func UsualSplit() DepthSplit {
	return DepthSplit{Check: .4, Step: .3}
}

// Validate returns [ErrSplit] for shares that the proof does not cover. That Check + 2 Step is rounded to 2^-53 is covered by
// the factors below 1 in the numbers that are used ([roundUp] and [depthStep]).
func (d DepthSplit) Validate() error {
	if !(d.Check > 0 && d.Step > 0 && d.Check+2*d.Step <= 1) {
		return fmt.Errorf("%w, not %v and %v", ErrSplit, d.Check, d.Step)
	}
	return nil
}

// A Cloud is a list of points of equal dimension, finite everywhere.
type Cloud struct {
	m      int
	d      int
	values []float64 // point by point
}

// Points holds m points of R^d, one for each bucket of records. For the bound to hold, the
// caller must ensure that a record belongs to exactly one bucket, chosen by a coin of its
// identity only (see [Coins]), and that point i depends only on the records of bucket i, on
// public numbers and on coins of i.
type Points struct{ cloud Cloud }

// NewPoints prepares m points of R^d, all at the origin. It panics if m or d is
// negative.
func (Maker) NewPoints(m, d int) *Points {
	return &Points{Cloud{m, d, make([]float64, m*d)}}
}

// Set places point i, 0 <= i < m. A point with a coordinate that is not finite
// goes to the origin. Different points may be set from several goroutines. Set
// panics when the point has not d coordinates.
func (p *Points) Set(i int, point []float64) {
	c := &p.cloud
	if len(point) != c.d {
		panic("mechanism: a point has one number per coordinate")
	}
	row := c.values[i*c.d : (i+1)*c.d]
	copy(row, point)
	for _, x := range row {
		if x-x != 0 { // NaN or infinite
			clear(row)
			return
		}
	}
}

// Bound returns the points with their sensitivity: the number of points that
// can differ between neighbouring tables, 1.
//
// Add or remove one record: its bucket has one record more or less, and no
// other bucket changes, because m is fixed and a coin depends only on
// the record's identity. Substitution: the replaced record keeps its identity
// (its place), so both versions are in one bucket. A whole privacy unit: its records
// share an identity and so a bucket, which is the only one that changes; the bound
// stays 1 for units of any size.
func (p *Points) Bound() Bounded[Cloud] {
	c := p.cloud
	c.values = append([]float64(nil), c.values...)
	return Bounded[Cloud]{c, Replaced | OfUnit, 1, 1, StatTukey}
}

// TukeyDepth releases a point of high Tukey depth among m given ones, or
// abstains (ok is false) when the cloud is not concentrated enough. It spends
// draw 0 of the leaf name, which must be priced as Approximate, and is
// (epsilon, delta)-private for the leaf's epsilon and delta under the
// replacement of one point. (Amin, Joseph, Ribero and Vassilvitskii, "Easy
// differentially private linear regression", 2023; Dick, Gillenwater and
// Joseph, "Better private linear regression through better private feature
// selection", 2023, section 8. Their check is for added and removed points and
// does not hold for replaced ones; the one below does: docs/proofs/tukey.md,
// "Sensitivity and proof".)
//
// All private decisions below are made in integers, without rounding of floating
// point. The work is about m^2 d word operations.
//
// # Definitions
//
// Coordinates are rounded toward zero to the grid of 2^-200 within [-2^200,
// 2^200]: see [gridPoint]. The depth of a grid point y in a cloud Z of m points
// z_i is
//
//	T(y) = min(Q, min over j of min(#{i: z_ij <= y_j}, #{i: z_ij >= y_j})), Q = floor(m/2).
//
// Replacing one z_i moves each count by at most 1, and a minimum of numbers
// that move by at most 1, or are fixed like Q, moves by at most 1:
// |T_Z - T_Z'| <= 1. Without the cap, depths between Q and m would exist for
// some clouds with ties only; with it, U_q = {y: T(y) >= q} is for every cloud
// and every q = 1..Q the box with sides [x_j(q), x_j(m-q+1)], x_j(.) the sorted
// j-th coordinates, which is never empty as q <= m-q+1. V_q is its number of
// grid points. Counting points of a fixed public grid takes the place of the
// volume of the paper: the proof asks for no more of a volume than that it is a
// measure which does not depend on the data. Where a coordinate is constant
// over the cloud, the side has one point at every depth and drops out.
//
// Let t = floor(m/4), rho a rational in [1, e^e'], w(U) the sum of rho^T over
// U. The mechanism A draws y in U_t with P(y) = rho^T(y)/w(U_t).
//
// # L1: A(Z) against A(Z') for neighbours Z, Z'
//
// P_Z(S) <= rho^2 P_Z'(S) + rho^(t+1) V_(t-1)(Z)/w_Z(U_t(Z)).
//
// A point of U_t(Z) outside U_t(Z') has T_Z = t exactly; let a be the number of
// these. A point of U_t(Z') outside U_t(Z) has T_Z = t-1 and T_Z' = t; let b be
// their number. On U_t(Z') the weight under Z is at most rho times that under
// Z'. The normaliser w' = w_Z'(U_t(Z')) is at most rho w + rho^t b, w =
// w_Z(U_t(Z)): the points in both sets have grown by at most rho, the b others
// weigh rho^t. So P_Z(y) <= rho (rho + rho^t b/w) P_Z'(y) there, and outside
// P_Z has mass at most rho^t a/w. In all the excess over rho^2 P_Z'(S) is at
// most rho^(t+1) (a+b)/w, and the a and b points are different points of
// U_(t-1)(Z).
//
// # L2: how far the nearest unsafe cloud is, at least
//
// Call a cloud safe if the last term of L1 is at most delta for it and for each
// of its neighbours, so that A is (2e', delta)-private between them both ways.
// With
//
//	r_k(Z) = rho^(t+k+2) V_(t-k-2)(Z) / w_Z(U_(t+k+1)(Z)),  infinite if t-k-2 < 1 or t+k+1 > Q,
//
// r_k(Z) <= delta makes every Z* within k replacements of Z safe: a cloud within
// k+1 replacements has U_(t-1) inside U_(t-k-2)(Z), and U_t around
// U_(t+k+1)(Z), on which depths have fallen by at most k+1. Its last term in L1
// is then at most rho^(t+1) V_(t-k-2)(Z) rho^(k+1)/w_Z(U_(t+k+1)(Z)) = r_k(Z).
//
// # L3: the statistic h(Z) = #{k >= 0: r_k(Z) <= delta} is 1-sensitive
//
// r_k increases in k. By the inclusions of L2, with one replacement,
// V_(t-k-1)(Z') <= V_(t-k-2)(Z) and w_Z'(U_(t+k)(Z')) >= w_Z(U_(t+k+1)(Z))/rho,
// hence r_(k-1)(Z') <= r_k(Z), so h(Z') >= h(Z)-1; and the roles can be
// exchanged. If Z is not safe then r_0(Z) > delta by L2, and h(Z) = 0.
//
// # L4: the release
//
// It passes if h + Lap(1/e1) > ln(1/(2 delta))/e1, and then draws from A. Take
// neighbours Z, Z'. If both are unsafe, h = 0 for both, and both pass with the
// same probability, at most delta: the release is (0, delta)-private between
// them. Otherwise one is safe, so A is (2e', delta)-private between them both
// ways, and the pass bit is e1-private by L3; with p, p' the probabilities of
// passing,
//
//	P(S) <= p min(1, rho^2 A'(S) + delta) + (1-p) [S holds "abstained"]
//	     <= e^(e1+2e') P'(S) + delta.
//
// Delta is charged once: (e1 + 2e', delta), which is at most (epsilon, delta) for every [DepthSplit] that is valid.
func TukeyDepth(
	s *Session,
	name string,
	x Bounded[Cloud],
	split DepthSplit,
) (point Public[[]float64], ok bool, err error) {
	if x, err = perUnit(s, name, x, Replaced); err != nil {
		return point, false, err
	}
	if err := split.Validate(); err != nil {
		return point, false, fmt.Errorf("%w: %q", err, s.childPath(name))
	}
	c := x.value
	if c.m < LeastPoints || c.d < 1 {
		return point, false, fmt.Errorf("%w: %q", ErrPoints, s.childPath(name))
	}
	t, err := s.takeDraw(name, 0, budget.Approximate, x.statistic)
	if err != nil {
		return point, false, err
	}
	// h has sensitivity 1, that is hUnits of the noise grid. Rounding the scale
	// up lowers e1; the threshold is that of the rounded scale, rounded up.
	scale, err := s.scaleUp(roundUp(hUnits / (split.Check * t.law.Epsilon)))
	if err != nil {
		return point, false, fmt.Errorf("%w: %q", err, t.path)
	}
	law := depthLaw{
		step:  depthStep(split.Step * t.law.Epsilon),
		delta: t.law.Delta,
	}
	n := newNestedBoxes(c)
	h, total := n.measureStability(law)
	out := make(Vector, 1+c.d)
	if addSaturating(int64(h)*hUnits, t.random.Laplace(scale)) > passThreshold(t.law.Delta, scale) {
		out[0] = 1
		for j, y := range n.drawPoint(t.random, law, total) {
			out[1+j] = int64(math.Float64bits(y))
		}
	}
	out = s.core.tap.watchPoints(t, c, out)
	s.noteRelease(t, x.Sensitivity(), float64(scale)/hUnits)
	if out[0] != 1 {
		return point, false, nil
	}
	y := make([]float64, c.d)
	for j := range y {
		y[j] = math.Float64frombits(uint64(out[1+j]))
	}
	return Public[[]float64]{y}, true, nil
}

// hUnits is how many grid units of noise one step of h is worth.
const hUnits = 1 << 20

// passThreshold returns the least integer not below scale ln(1/(2 delta)), but at
// least 0: the rounded noise exceeds it with probability at most delta.
// (round(X) > v for an integer v implies X > v.)
func passThreshold(delta float64, scale uint64) int64 {
	v := math.Ceil(roundUp(-float64(scale) * math.Log(2*delta)))
	switch {
	case v <= 0:
		return 0
	case v >= math.MaxInt64: // also delta = 0: nothing passes
		return math.MaxInt64
	}
	return int64(v)
}

// StatTukey is the statistic of [Points.Bound].
const StatTukey budget.Statistic = "tukey"
