package mechanism

import (
	"math"
	"math/big"
	"slices"

	"github.com/dptrain/dptrain/internal/noise"
)

// stepBits: the weight rho of one step of depth is a multiple of 2^-stepBits.
const stepBits = 32

// depthLaw holds the public numbers of the draw.
type depthLaw struct {
	step  uint64 // rho in units of 2^-stepBits, at least 1
	delta float64
}

// depthStep returns rho = floor(2^32 e^e')/2^32, or a little less, in units of
// 2^-32, and at most e^20: a smaller rho only makes the draw flatter. The factor
// below 1 covers the rounding of exp and of e'.
func depthStep(e float64) uint64 {
	rho := math.Exp(min(e, 20)) * (1 - 0x1p-40)
	return max(1<<stepBits, uint64(math.Ldexp(rho, stepBits)))
}

// measureStability returns h, and for the draw the weight of U_t in units of
// rho^t 2^(-stepBits (Q-t)).
//
// Divided by rho^p, the weight of U_p is
//
//	B_p = V_p - V_(p+1) + rho B_(p+1),  B_Q = V_Q:
//
// V_p - V_(p+1) points have depth exactly p. With N = 2^32 rho the integers
// b_p = 2^(32 (Q-p)) B_p follow b_p = 2^(32 (Q-p)) (V_p - V_(p+1)) + N b_(p+1).
// r_k is rho V_(t-k-2)/B_p for p = t+k+1, so with delta = a 2^-c
//
//	r_k <= delta  <=>  N V_(t-k-2) 2^(32 (Q-p) + c) <= a b_p 2^32.
//
// r_k increases in k, so the largest k that meets this, the first met as p
// falls from Q to t+1, is h-1.
func (n *nestedBoxes) measureStability(law depthLaw) (h int, total *big.Int) {
	a, c := toDyadic(law.delta)
	step := new(big.Int).SetUint64(law.step)
	b := new(big.Int).Set(n.boxVolume(n.q))
	var left, right, exact big.Int
	for p := n.q; ; p-- {
		if p < n.q {
			exact.Sub(n.boxVolume(p), n.boxVolume(p+1))
			exact.Lsh(&exact, uint(stepBits*(n.q-p)))
			b.Mul(b, step)
			b.Add(b, &exact)
		}
		if p == n.t {
			return h, b
		}
		k := p - n.t - 1
		if h > 0 || n.t-k-2 < 1 {
			continue
		}
		left.Mul(n.boxVolume(n.t-k-2), step)
		left.Lsh(&left, uint(stepBits*(n.q-p)+c))
		right.Mul(b, a)
		right.Lsh(&right, stepBits)
		if left.Cmp(&right) <= 0 {
			h = k + 1
		}
	}
}

// toDyadic returns x = a 2^-c exactly for x in [0, 1).
func toDyadic(x float64) (a *big.Int, c int) {
	fraction, exponent := math.Frexp(x)
	return new(big.Int).SetUint64(uint64(math.Ldexp(fraction, 53))), 53 - exponent
}

// drawPoint returns a point of U_t with the distribution rho^T, exactly. total is the result of
// stability.
//
// On U_t the weight is a sum over nested boxes,
//
//	rho^T = rho^t [T >= t] + sum over q > t of (rho^q - rho^(q-1)) [T >= q],
//
// so a box is drawn with probability proportional to its number of points times
// its factor, and then a point of the box uniformly, side by side. In units of
// rho^t 2^(-32 (Q-t)) the factors are 2^(32 (Q-t)) and, with N = 2^32 rho,
// N^(q-1-t) (N - 2^32) 2^(32 (Q-q)).
func (n *nestedBoxes) drawPoint(
	s *noise.Stream,
	law depthLaw,
	total *big.Int,
) []float64 {
	depth := n.selectBox(law, s.UniformBig(total))
	point := make([]float64, len(n.sorted))
	for j := range point {
		lower, length := n.boxSide(j, depth)
		y := s.UniformBig(length)
		point[j] = gridValue(y.Add(y, lower))
	}
	return point
}

// selectBox returns the depth of the box that is selected by a number u in [0, total).
func (n *nestedBoxes) selectBox(law depthLaw, u *big.Int) int {
	step := new(big.Int).SetUint64(law.step)
	power := new(big.Int).SetUint64(law.step - 1<<stepBits)
	rest := new(big.Int).Set(u)
	depth := n.t
	weight := new(big.Int).Lsh(n.boxVolume(depth), uint(stepBits*(n.q-depth)))
	for rest.Cmp(weight) >= 0 && depth < n.q {
		rest.Sub(rest, weight)
		depth++
		weight.Mul(n.boxVolume(depth), power)
		weight.Lsh(weight, uint(stepBits*(n.q-depth)))
		power.Mul(power, step)
	}
	return depth
}

const (
	// gridBits: the grid of coordinates is 2^-gridBits.
	gridBits = 200
	// gridReach: coordinates are clamped to [-2^gridReach, 2^gridReach].
	gridReach = 200
)

// gridPoint rounds a finite number toward zero to the grid and clamps it. It is
// monotone: sorted numbers stay sorted.
func gridPoint(x float64) *big.Int {
	x = min(max(x, -0x1p200), 0x1p200)
	fraction, exponent := math.Frexp(math.Abs(x)) // |x| = fraction 2^exponent, 1/2 <= fraction < 1
	v := new(big.Int).SetUint64(uint64(math.Ldexp(fraction, 53)))
	if shift := exponent - 53 + gridBits; shift >= 0 {
		v.Lsh(v, uint(shift))
	} else {
		v.Rsh(v, uint(-shift))
	}
	if x < 0 {
		v.Neg(v)
	}
	return v
}

// gridValue returns the float64 nearest to a grid point.
func gridValue(v *big.Int) float64 {
	f := new(big.Float).SetInt(v)
	x, _ := f.SetMantExp(f, -gridBits).Float64()
	return x
}

// nestedBoxes holds the boxes U_1, ..., U_Q of a cloud, each inside the one before.
type nestedBoxes struct {
	m, t, q int          // points; floor(m/4); Q = floor(m/2)
	sorted  [][]*big.Int // one list per coordinate
	volumes []*big.Int   // V_1, ..., V_Q in grid points
}

func newNestedBoxes(c Cloud) *nestedBoxes {
	n := &nestedBoxes{
		m:      c.m,
		t:      c.m / 4,
		q:      c.m / 2,
		sorted: make([][]*big.Int, c.d),
	}
	column := make([]float64, c.m)
	for j := range n.sorted {
		for i := range column {
			column[i] = c.values[i*c.d+j]
		}
		slices.Sort(column)
		n.sorted[j] = make([]*big.Int, c.m)
		for i, x := range column {
			n.sorted[j][i] = gridPoint(x)
		}
	}
	n.volumes = make([]*big.Int, n.q)
	for depth := 1; depth <= n.q; depth++ {
		v := big.NewInt(1)
		for j := range n.sorted {
			_, length := n.boxSide(j, depth)
			v.Mul(v, length)
		}
		n.volumes[depth-1] = v
	}
	return n
}

// boxSide returns the lower end of the side of U_depth in coordinate j and the
// number of grid points on it, at least 1.
func (n *nestedBoxes) boxSide(j, depth int) (lower, length *big.Int) {
	lower = n.sorted[j][depth-1]
	length = new(big.Int).Sub(n.sorted[j][n.m-depth], lower)
	return lower, length.Add(length, bigOne)
}

// boxVolume returns V_depth, 1 <= depth <= Q.
func (n *nestedBoxes) boxVolume(depth int) *big.Int {
	return n.volumes[depth-1]
}

var bigOne = big.NewInt(1)
