package mechanism

// # The cost of floating-point noise
//
// The one-pass forms of [TopK] compare sums of a score and a noise in float64. This is why
// the privacy guarantee that they declare holds exactly nevertheless.
//
// Let every outcome j (a candidate, or a class of equally good sets) have the
// ideal value V_j = u_j + Z_j, Z_j independent, with a distribution whose log
// survival function is 1-Lipschitz: Gumbel has it, and so does the largest of m
// exponentials, whose hazard m p (1-p)^(m-1) / (1 - (1-p)^m), p = exp(-z), is at
// most 1. Suppose that the computed value obeys |V~_j - V_j| <= eta + theta
// max(V_j, 0), and that the k largest are kept. Fix a set S of k outcomes and
// let M be the largest ideal value outside it, h(M) = 3 eta + 3 theta max(M, 0):
//
//	V_i >= M + h(M) for all i in S  =>  S is kept  =>  V_i >= M - h(M) for all i in S.
//
// M is independent of the V_i in S, so with Q(S) = E prod P(V_i >= M | M) the
// ideal law and P~ the computed one, Lipschitz survival gives
//
//	E exp(-k h(M)) prod P(V_i >= M | M) <= P~(S) <= E exp(k h(M)) prod P(V_i >= M | M).
//
// The product falls with M, exp(k h(M)) rises and exp(-k h(M)) falls, so by
// Chebyshev's inequality on monotone functions of one variable
//
//	E exp(-k h(M)) Q(S) <= P~(S) <= E exp(k h(M)) Q(S).
//
// P(M > b + x) <= exp(-x) for b = log sum exp(u_j) (u_j + log m for a class of
// m), hence for b <= B and k theta < 1/12 both factors lie in exp(-+beta),
//
//	beta = 3k (eta + theta (B + 2)).
//
// Order S by the ideal law given S: that law of sequences is the ideal one times
// a function g(S) in exp(-+beta), so given the earlier rounds each round is the
// ideal round times E[g | rounds up to this one], again in exp(-+beta), times a
// constant. Between two neighbouring tables the range of the log-ratio of a
// round is therefore at most that of the ideal round plus 4 beta. (For one
// round and pure privacy alone, the log-ratio grows by 2 beta.) So k draws
// of epsilon - 4 beta with ideal noise cover the computed ones at epsilon.
//
// # Bounds
//
// The functions of package math used here err by less than one unit in the
// last place; the bounds allow for four. [noise.Gumbel.Value] is within 2^-50 (1 + |G|) of an
// exact Gumbel number G. G below -50 would take 2^70 zero bits in a row.
//
// OneShot: |u| <= 2^12, two roundings in u, one in the sum: eta <= 2^-37,
// theta = 2^-49, B <= 2^12 + log d < 2^12 + 64: 4 beta < 12 k 2^-35.8 < k 2^-30.
//
// The Lipschitz forms: u in [-2^20, 0], five roundings; log-size at most
// d log 2 < 2^20 with an error below 2^-26.5 (newLogFactorials); G adds at most
// 2^-50 (1 + 2^20 + V), and [noise.MaxExponential] passes an error on with a factor of
// at most 1 and adds less than 2^-45: eta <= 2^-26, theta = 2^-49, B < 2^20
// (b <= log of the number of sets): 4 beta < 12 (2^-26 + 2^-28.9) < 2^-20.
const (
	oneShotSlack   = 0x1p-30 // a draw and chosen candidate
	lipschitzSlack = 0x1p-20 // a draw
	oneShotReach   = 1 << 12 // largest score either side of the boundary
	lipschitzReach = 1 << 20 // largest loss
	maxLipschitz   = 1 << 20 // most candidates
	maxClasses     = 1 << 28 // most classes of a Lipschitz form: some seconds
)

// numericalSlack is the part of the epsilon of a draw that pays for the numerical error
// of the noise.
func (t TopK) numericalSlack() float64 {
	switch t.Form {
	case OneShot:
		return float64(t.K) * oneShotSlack
	case Peeling:
		return 0 // exact coins
	}
	return lipschitzSlack
}
