package neighbour

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

const (
	// lossBlock is the number of records whose weights are held at once by one worker.
	lossBlock = 256
	// lossParts is how many parts the records are cut into at most. Each has its own sums, which
	// are added in order, so that the number of workers does not matter.
	lossParts = 16
	// negligible is how far below the largest exponent a term counts as 0: exp(-40) is 4e-18.
	negligible = 40
	// shared is the limit by which the exponents of the own class may be below the overall largest one and still share
	// its exponentials: the omitted part is then below exp(shared-negligible) of the class.
	shared = 5
)

// A loss is L = -Σ_i log p_i, where p_i = Σ_{j: class of j = class of i} p_ij, and p_ij is the
// softmax over j of -γ²‖u_i - v_j‖²: the probability that record i takes the class of a reference
// vector that is drawn by nearness ("Stochastic Neighbor Compression", equation 3).
type loss struct {
	u     []float64 // records × dim, where distances are measured
	dim   int
	x     []float64 // records × xdim, what is summed with the weights
	xdim  int
	class []int32
	from  []int // of each class: its reference vectors are from[c] ≤ j < from[c+1]
	block int   // records whose weights are held at once; 0: [lossBlock]
}

// A lossSum is a sum over records. With q_ij = p_ij - r_ij, r_ij = p_ij/p_i on the class of i and 0 elsewhere, cross
// is Σ_i q_ij x_i, a row per reference vector, and mass Σ_i q_ij.
type lossSum struct {
	value float64
	cross []float64
	mass  []float64
}

// classBounds returns where each class begins in a list that is sorted by class, for all classes below count.
func classBounds(class []int32, count int) []int {
	from := make([]int, count+1)
	for _, c := range class {
		from[c+1]++
	}
	for c := range count {
		from[c+1] += from[c]
	}
	return from
}

// sumLoss adds up the records for the reference vectors v. Every class of a record has a vector.
func (l *loss) sumLoss(
	ctx context.Context,
	v []float64,
	gamma2 float64,
) (lossSum, error) {
	m := len(v) / l.dim
	n := len(l.class)
	vt := transposed(v, m, l.dim)
	bias := squaredNorms(v, l.dim)
	for k := range vt {
		vt[k] *= 2 * gamma2
	}
	for j := range bias {
		bias[j] *= -gamma2
	}
	block := l.block
	if block == 0 {
		block = lossBlock
	}
	blocks := (n + block - 1) / block
	count := min(lossParts, blocks)
	parts := make([]lossSum, count)
	err := parallel.ForEach(ctx, count, parallel.Workers(n*m*l.dim), func(p int) {
		s := lossSum{
			cross: make([]float64, m*l.xdim),
			mass:  make([]float64, m),
		}
		weights := make([]float64, block*m)
		apart := make([]float64, m)
		for first := p * blocks / count *
			block; first < min((p+1)*blocks/count*block, n); first += block {
			if ctx.Err() != nil {
				return
			}
			rows := min(block, n-first)
			a := weights[:rows*m]
			addProduct(a, l.u[first*l.dim:], vt, rows, m, l.dim)
			for i := range rows {
				s.value += l.rowWeights(a[i*m:(i+1)*m], bias, apart, l.class[first+i])
			}
			for i := range rows {
				for j, w := range a[i*m : (i+1)*m] {
					s.mass[j] += w
				}
			}
			addTransposed(s.cross, a, l.x[first*l.xdim:], rows, m, l.xdim)
		}
		parts[p] = s
	})
	if err != nil {
		return lossSum{}, err
	}
	out := parts[0]
	for _, s := range parts[1:] {
		out.value += s.value
		addTo(out.cross, s.cross)
		addTo(out.mass, s.mass)
	}
	return out, nil
}

func addTo(to, what []float64) {
	for k, v := range what {
		to[k] += v
	}
}

// rowWeights turns the row 2γ²u·v_j of a record into q_j, and returns -log p. The terms of ‖u‖² cancel.
// room is as long as row, and is overwritten.
func (l *loss) rowWeights(row, bias, room []float64, class int32) float64 {
	for j, b := range bias {
		row[j] += b
	}
	from, to := l.from[class], l.from[class+1]
	own := slices.Max(row[from:to])
	top := max(own, slices.Max(row))
	inClass, apart := row[from:to], own < top-shared // r is then lost beside the exponentials of others
	classSum := 0.
	if apart {
		room = room[:len(inClass)]
		classSum = exponentials(room, inClass, own)
	}
	sum := exponentials(row, row, top)
	if apart {
		for k, e := range room {
			inClass[k] -= e * (sum / classSum)
		}
	} else {
		for _, e := range inClass {
			classSum += e
		}
		for k := range inClass {
			inClass[k] *= 1 - sum/classSum
		}
		own = top
	}
	for j := range row {
		row[j] /= sum
	}
	return top - own + math.Log(sum) - math.Log(classSum)
}

// exponentials sets dst to exp(a - top), for each a of at most top, and returns the sum.
func exponentials(dst, a []float64, top float64) float64 {
	sum := 0.
	for k, v := range a {
		dst[k] = 0
		if v -= top; v > -negligible {
			e := math.Exp(v)
			dst[k] = e
			sum += e
		}
	}
	return sum
}

// gradient turns cross into ∂L/∂v_j = 2γ² Σ_i q_ij (u_i - v_j), where x is u.
func (s lossSum) gradient(v []float64, dim int, gamma2 float64) []float64 {
	g := s.cross
	for j, w := range s.mass {
		for k := j * dim; k < (j+1)*dim; k++ {
			g[k] = 2 * gamma2 * (g[k] - w*v[k])
		}
	}
	return g
}
