package mechanism

import (
	"math"
	"math/big"
	"slices"
)

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

// A nest holds the boxes U_1, ..., U_Q of a cloud, each inside the one before.
type nest struct {
	m, t, q int          // points; floor(m/4); Q = floor(m/2)
	sorted  [][]*big.Int // one list per coordinate
	volumes []*big.Int   // V_1, ..., V_Q in grid points
}

func newNest(c Cloud) *nest {
	n := &nest{m: c.m, t: c.m / 4, q: c.m / 2, sorted: make([][]*big.Int, c.d)}
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
func (n *nest) boxSide(j, depth int) (lower, length *big.Int) {
	lower = n.sorted[j][depth-1]
	length = new(big.Int).Sub(n.sorted[j][n.m-depth], lower)
	return lower, length.Add(length, bigOne)
}

// boxVolume returns V_depth, 1 <= depth <= Q.
func (n *nest) boxVolume(depth int) *big.Int { return n.volumes[depth-1] }

var bigOne = big.NewInt(1)
