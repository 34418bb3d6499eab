package prototypes

import "math"

// leastLogit is the logit, relative to the largest one of a record, below which a prototype is ignored: e^-40
// is less than half a unit of the grid of weights.
const leastLogit = -40

// ln2 in two parts. The first has so few digits that small multiples are exact.
const (
	ln2High = 0x1.62e42fee00000p-1
	ln2Low  = 0x1.a39ef35793c76p-33
)

// factorials are the coefficients of the exponential series, 1/k!.
var factorials = [...]float64{
	1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320,
	1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600,
}

// portableExp returns e^x for x <= 0, and 0 below [leastLogit], with a relative error of 1e-15. Its conversions forbid
// fusing, and it calls no library function that differs between processors: the contribution of a record to a
// sum is the same everywhere.
func portableExp(x float64) float64 {
	if !(x >= leastLogit) {
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + .5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	p := factorials[len(factorials)-1]
	for i := len(factorials) - 2; i >= 0; i-- {
		p = factorials[i] + float64(p*r)
	}
	return math.Ldexp(p, int(k))
}

// recordWeights replaces the logits of one record, -gamma^2 |x - z_j|^2 up to a constant, by its weights
//
//	w_j = r_j - p_j,  p = softmax(logits),  r_j = p_j/(sum of p over the class) on its class, else 0.
//
// class[j] is the class of prototype j, and own that of the record. The gradient of the log probability of the
// record's class with respect to z_j is 2 gamma^2 w_j (x - z_j). On its class w >= 0 with the sum 1 - P, P the
// probability of the class; elsewhere w <= 0 with the sum P - 1. So |w|^2 <= 2 (1 - P)^2 <= 2, for any
// prototypes.
func recordWeights(logits []float64, class []int32, own int32) {
	most := math.Inf(-1)
	mostOwn := math.Inf(-1)
	for j, x := range logits {
		most = max(most, x)
		if class[j] == own {
			mostOwn = max(mostOwn, x)
		}
	}
	all := 0.
	within := 0.
	for j, x := range logits {
		all += portableExp(x - most)
		if class[j] == own {
			within += portableExp(x - mostOwn)
		}
	}
	for j, x := range logits {
		w := -portableExp(x-most) / all
		if class[j] == own {
			w += portableExp(x-mostOwn) / within
		}
		logits[j] = w
	}
}
