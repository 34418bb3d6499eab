package budget

import (
	"math"
	"sync"
)

// ledger is the Rényi cost of a tree as a function of the order. Orders add
// under adaptive composition (Mironov 2017) whatever the earlier releases
// decided, so alternatives enter as their maximum at each order.
type ledger struct {
	rho          float64 // Gaussian draws, merged
	laws         []Law   // everything else
	alternatives [][]*ledger
	selections   []*selectionLedger
	delta        float64 // spent by Approximate laws in addition to the Rényi cost

	mu         sync.Mutex
	bestOrders map[float64]float64 // best u of each epsilon, see bestOrder
}

// newLedger returns the ledger of the laws beneath n, which Calibrate has filled.
func newLedger(n *Node) *ledger {
	l := &ledger{}
	l.addNode(n)
	return l
}

// totalVariation bounds the total variation distance, and so delta at every epsilon
// >= 0: TV <= sqrt(1-exp(-KL)) (Bretagnolle, Huber 1979), and KL is below the
// divergence of every order.
func (l *ledger) totalVariation() float64 {
	kl, _ := scanMinimum(-9, 25, 60, func(u float64) float64 {
		return l.renyiDivergence(1 + math.Exp(u))
	})
	return math.Min(1, l.delta+math.Sqrt(-math.Expm1(-kl)))
}

func (l *ledger) addNode(n *Node) {
	switch n.Op {
	case OpLeaf:
		law := n.Leaf.Law
		rho, delta := law.ZCDP()
		l.delta += delta
		if law.Kind == Gaussian {
			l.rho += rho
		} else if !law.isZero() {
			l.laws = mergeLaw(l.laws, law)
		}
	case OpSequence:
		for i := range n.Kids {
			l.addNode(&n.Kids[i])
		}
	case OpParallel:
		if lead := n.leadNode(); lead != nil {
			l.addNode(lead)
		}
		l.addAlternatives(n.disjointKids())
	case OpBranches:
		l.addNode(&n.Kids[0])
		l.addAlternatives(n.Kids[1:])
	case OpSelect:
		l.selections = append(l.selections, newSelectionLedger(*n.Select, subLedgers(n.Kids)))
	}
}

func (l *ledger) addAlternatives(kids []Node) {
	alts := subLedgers(kids)
	worst := 0.0
	for _, a := range alts {
		worst = math.Max(worst, a.delta)
	}
	l.alternatives = append(l.alternatives, alts)
	l.delta += worst
}

func subLedgers(kids []Node) []*ledger {
	out := make([]*ledger, len(kids))
	for i := range kids {
		out[i] = &ledger{}
		out[i].addNode(&kids[i])
	}
	return out
}

// mergeLaw adds law to laws, joining draws with equal parameters.
func mergeLaw(laws []Law, law Law) []Law {
	for i, have := range laws {
		if have.Kind == law.Kind && have.Epsilon == law.Epsilon && have.Delta == law.Delta {
			laws[i].Draws += law.Draws
			return laws
		}
	}
	return append(laws, law)
}

func largestDivergence(ledgers []*ledger, a float64) float64 {
	worst := 0.0
	for _, l := range ledgers {
		worst = math.Max(worst, l.renyiDivergence(a))
	}
	return worst
}

// renyiDivergence returns the divergence bound of order a > 1.
func (l *ledger) renyiDivergence(a float64) float64 {
	sum := a * l.rho
	for _, law := range l.laws {
		sum += law.renyiDivergence(a)
	}
	for _, alts := range l.alternatives {
		sum += largestDivergence(alts, a)
	}
	for _, s := range l.selections {
		sum += s.renyiDivergence(a)
	}
	return sum
}

// deltaAt returns the delta that the ledger guarantees at epsilon >= 0.
func (l *ledger) deltaAt(epsilon float64) float64 {
	u := l.cachedOrder(epsilon)
	return l.delta + math.Exp(logDelta(l.renyiDivergence, u, epsilon))*(1+numericGuard)
}

// cachedOrder is [bestOrder] with a cache by epsilon: neighbouring spans share ends and middles.
func (l *ledger) cachedOrder(epsilon float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	u, ok := l.bestOrders[epsilon]
	if !ok {
		u = bestOrder(l.renyiDivergence, epsilon)
		if l.bestOrders == nil {
			l.bestOrders = map[float64]float64{}
		}
		l.bestOrders[epsilon] = u
	}
	return u
}

// chordEnds returns the deltas at lo and hi of the order that is best at the middle of [lo, hi]. The delta of
// one order is an exponential in -epsilon, hence convex in e^epsilon: between the ends it is below the chord.
func (l *ledger) chordEnds(lo, hi float64) (deltaLo, deltaHi float64) {
	u := l.cachedOrder((lo + hi) / 2)
	at := func(e float64) float64 {
		return l.delta + math.Exp(logDelta(l.renyiDivergence, u, e))*(1+numericGuard)
	}
	return at(lo), at(hi)
}

// logDelta converts a Rényi curve at order a = 1+e^u (Canonne, Kamath, Steinke
// 2020, Proposition 12): delta = exp((a-1)(R(a) - epsilon + ln(1-1/a)))/a.
func logDelta(curve func(float64) float64, u, epsilon float64) float64 {
	t := math.Exp(u)
	return t*(curve(1+t)-epsilon-math.Log1p(1/t)) - math.Log1p(t)
}

// bestOrder returns the u at which logDelta is smallest. A Rényi curve times a-1 is convex, and so is
// logDelta as a function of a: it falls and then rises.
func bestOrder(curve func(float64) float64, epsilon float64) float64 {
	_, u := scanUnimodal(-9, 25, 80, 8, func(u float64) float64 {
		return logDelta(curve, u, epsilon)
	})
	return u
}

// ZCDPEpsilon returns the epsilon >= 0 at delta of a mechanism that is rho
// zero-concentrated private (Bun, Steinke 2016), by
//
//	inf over a > 1 of rho a + ln(1/(a delta))/(a-1) + ln(1-1/a)
//
// It is +Inf for delta <= 0 with rho > 0 and for invalid arguments.
func ZCDPEpsilon(rho, delta float64) float64 {
	switch {
	case rho == 0 || delta >= 1:
		return 0
	case !(rho > 0) || !(delta > 0):
		return math.Inf(1)
	}
	epsilon, _ := scanMinimum(-9, 25, 80, func(u float64) float64 {
		t := math.Exp(u)
		return rho*(1+t) - (math.Log1p(t)+math.Log(delta))/t - math.Log1p(1/t)
	})
	return math.Max(0, epsilon)
}

// zcdpDelta returns the delta at epsilon >= 0 of a rho zero-concentrated private
// mechanism, the inverse of ZCDPEpsilon.
func zcdpDelta(rho, epsilon float64) float64 {
	if !(rho >= 0) || !(epsilon >= 0) {
		return 1
	}
	l := &ledger{rho: rho}
	return math.Min(1, l.deltaAt(epsilon))
}
