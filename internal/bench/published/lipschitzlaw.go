package published

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/combin"
)

// Law returns the exact distribution of [TopK.Draw]: the probability of every set of K positions. A set belongs
// to every class that lists it as a member, which in the published form may be several. Errors: [ErrCount],
// [ErrBudget], [ErrGamma], [ErrLarge].
func (m TopK) Law(scores []float64) (Law, error) {
	d := len(scores)
	if err := m.checkSettings(d); err != nil {
		return nil, err
	}
	s := sortScores(scores)
	var classes []class
	members := 0.0
	m.visitClasses(s.values, func(c class) {
		classes = append(classes, c)
		members += math.Exp(c.logSize)
	})
	if members > maxDraws {
		return nil, ErrLarge
	}
	each := map[[2]int]float64{} // probability of each member of a class
	for i, c := range classes {
		each[[2]int{c.h, c.t}] = m.winProbability(classes, i, members) / math.Exp(c.logSize)
	}
	var law Law
	for _, set := range combin.Combinations(d, m.K) {
		t := set[m.K-1] + 1
		p := 0.0 // the true top k, t = k, is in the class h = k-1 only
		for h := 0; h < m.K && (h == 0 || set[h-1] == h-1); h++ {
			p += each[[2]int{h, t}]
		}
		law = append(law, Draw{
			Columns: s.rankPositions(set),
			LogP:    math.Log(p),
		})
	}
	return law, nil
}

// winProbability returns the probability that class i wins. With a_c the
// exponential of the utility of class c, of m_c members, and z = exp(-v), the
// best member of c with exponential noise is below v with probability
// (1 - a_c z)^m_c; the winner has a value above all utilities, so that
//
//	P(i) = integral over z from 0 to 1/max a of m_i a_i (1 - a_i z)^(m_i-1) prod over c != i of (1 - a_c z)^m_c,
//
// a polynomial of degree sum m_c - 1, which Gauss-Legendre quadrature with half
// as many nodes integrates without error but rounding.
func (m TopK) winProbability(classes []class, i int, members float64) float64 {
	top := math.Inf(-1)
	logs := make([]float64, len(classes))
	for c, x := range classes {
		top = max(top, x.utility)
		logs[c] = x.utility + x.logSize
	}
	if m.Gumbel {
		return math.Exp(logs[i] - logSum(logs))
	}
	// Utilities relative to the largest: z runs over (0, 1).
	density := func(z float64) float64 {
		log := classes[i].logSize + classes[i].utility - top
		for c, x := range classes {
			power := math.Round(math.Exp(x.logSize))
			if c == i {
				power--
			}
			if power > 0 {
				log += power * math.Log1p(-z*math.Exp(x.utility-top))
			}
		}
		return math.Exp(log)
	}
	return quad.Fixed(density, 0, 1, int(members)/2+1, quad.Legendre{}, 0)
}
