// Package greedy chooses columns one after the other from a matrix of second moments, the
// most squared error explained per unit of cost first.
//
// It is the greedy rule of M. Kusner, "Learning in the Real World: Constraints on Cost,
// Space, and Privacy" (2016), section 2.1.6, without access to rows: after the columns A were
// selected, the Schur complement S of the matrix on A and the residual products r determine the gain of column j,
//
//	(q_j^T y)^2 = r_j^2/S_jj,
//
// q_j the residual column of a Gram-Schmidt step on the rows. A step takes O(d^2) for d
// entries. On a released matrix all of it is post-processing.
package greedy

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// leastRest is the part of its square that an entry must have beside those taken.
	leastRest = 1e-6
	// leastSquare is the least square that is divided by.
	leastSquare = 1e-12
	// slack forgives rounding in sums of costs.
	slack = 1e-9
	// worstCondition is the condition of a matrix above which entries are dropped.
	worstCondition = 1e12
)

// A Problem is a matrix of second moments of d entries, including the constant, with the sums of the products of every
// entry and one or more targets. It is not modified.
type Problem struct {
	Gram     *mat.SymDense
	Cross    [][]float64 // one list of d numbers per target
	Constant int         // the entry that is free and taken first
	// Group has the group of every entry: a feature is bought as a whole, and further entries of a bought group are
	// free. The group of the constant is not used.
	Group []int
	Cost  []float64 // of each group, at least 0
	Paid  []bool    // groups that are bought already; nil: none
	// Budget limits the total cost of the groups that are not free; +Inf means no limit.
	Budget float64
	// Most limits the number of groups that are not free; 0 means no limit.
	Most int
	// Ridge is added to the diagonal; the constant is raised to it only where it is
	// smaller.
	Ridge float64
}

// A Step takes one entry.
type Step struct {
	Entry int
	Gain  float64 // the squared error that it explains, of all targets together
	Spent float64 // on groups, this one included
}

// A Choice is the entries that were taken, in order, the constant first.
type Choice struct {
	Steps []Step
	Paid  []bool // groups that are bought now
}

// Entries lists the entries in the order in which they were taken.
func (c Choice) Entries() []int {
	out := make([]int, len(c.Steps))
	for i, s := range c.Steps {
		out[i] = s.Entry
	}
	return out
}

// Groups lists the groups in the order in which their first entries were taken; without
// those that were paid before if paid is not nil.
func (c Choice) Groups(p *Problem) []int {
	var out []int
	seen := make([]bool, len(p.Cost))
	copy(seen, p.Paid)
	for _, s := range c.Steps {
		if s.Entry == p.Constant {
			continue
		}
		if g := p.Group[s.Entry]; !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}

// Spent returns the total cost.
func (c Choice) Spent() float64 {
	if len(c.Steps) == 0 {
		return 0
	}
	return c.Steps[len(c.Steps)-1].Spent
}

// state is a choice on its way: the Schur complement and the residual products.
type state struct {
	*Problem
	d        int
	rest     []float64 // S, by rows
	residual [][]float64
	diagonal []float64
	taken    []bool
	column   []float64
	choice   Choice
}

// Select takes the constant, then as long as possible the free entries with the largest gain first, and otherwise the
// entry with the largest gain per cost whose group still fits the budget. Ties go to the first entry. Entries with no
// residual after those before are skipped.
func (p *Problem) Select() Choice {
	s := p.newState()
	if s.diagonal[p.Constant] > leastSquare {
		s.takeEntry(p.Constant)
	}
	bought := 0
	for {
		best := -1
		score := 0.
		price := 0.
		for j := range s.d {
			if s.taken[j] || !(s.pivot(j) > leastRest*s.diagonal[j]+leastSquare) {
				continue
			}
			cost := 0.
			if !s.choice.Paid[p.Group[j]] {
				if p.Most > 0 && bought == p.Most {
					continue
				}
				cost = p.Cost[p.Group[j]]
			}
			if s.choice.Spent()+cost > p.Budget+slack {
				continue
			}
			x := s.gain(j)
			if cost > 0 {
				x /= cost
			}
			if best < 0 || cost == 0 && price > 0 || (cost == 0) == (price == 0) && x > score {
				best = j
				score = x
				price = cost
			}
		}
		if best < 0 {
			return s.choice
		}
		if !s.choice.Paid[p.Group[best]] {
			s.choice.Paid[p.Group[best]] = true
			bought++
		}
		s.takeEntry(best)
		s.choice.Steps[len(s.choice.Steps)-1].Spent += price
	}
}

func (p *Problem) newState() *state {
	d := p.Gram.SymmetricDim()
	s := &state{
		Problem:  p,
		d:        d,
		rest:     make([]float64, d*d),
		diagonal: make([]float64, d),
		taken:    make([]bool, d),
		column:   make([]float64, d),
	}
	s.choice.Paid = make([]bool, len(p.Cost))
	copy(s.choice.Paid, p.Paid)
	raw := p.Gram.RawSymmetric() // only the upper triangle is set
	for i := range d {
		for j := i + 1; j < d; j++ {
			x := raw.Data[i*raw.Stride+j]
			s.rest[i*d+j] = x
			s.rest[j*d+i] = x
		}
		s.diagonal[i] = p.secondMoment(i, i)
		s.rest[i*d+i] = s.diagonal[i]
	}
	for _, c := range p.Cross {
		s.residual = append(s.residual, append([]float64(nil), c...))
	}
	return s
}

// secondMoment returns an entry of the matrix with the ridge.
func (p *Problem) secondMoment(i, j int) float64 {
	x := p.Gram.At(i, j)
	switch {
	case i != j:
		return x
	case i == p.Constant:
		return max(x, p.Ridge)
	}
	return x + p.Ridge
}

func (s *state) pivot(j int) float64 {
	return s.rest[j*s.d+j]
}

func (s *state) gain(j int) float64 {
	sum := 0.
	for _, r := range s.residual {
		sum += r[j] * r[j]
	}
	return sum / s.pivot(j)
}

// takeEntry takes entry j: a step of the Cholesky decomposition.
func (s *state) takeEntry(j int) {
	s.choice.Steps = append(s.choice.Steps, Step{j, s.gain(j), s.choice.Spent()})
	s.taken[j] = true
	root := math.Sqrt(s.pivot(j))
	for i := range s.d {
		s.column[i] = s.rest[j*s.d+i] / root
	}
	for _, r := range s.residual {
		b := r[j] / root
		for i, v := range s.column {
			r[i] -= float64(b * v) // the conversion forbids fusing
		}
	}
	for i, v := range s.column {
		if v == 0 {
			continue
		}
		row := s.rest[i*s.d : (i+1)*s.d]
		for k, w := range s.column {
			row[k] -= float64(v * w)
		}
	}
}

// A Fit is the least-squares fit of the targets by some entries.
type Fit struct {
	Entries []int       // those that are used
	Theta   [][]float64 // one list of d numbers per target, 0 for entries that are not used
	// Inverse is that of the matrix on Entries, with the ridge; nil without entries.
	Inverse *mat.SymDense
}

// Solve fits the targets by entries. The last ones are dropped until the matrix can be inverted.
func (p *Problem) Solve(entries []int) Fit {
	d := p.Gram.SymmetricDim()
	f := Fit{Theta: make([][]float64, len(p.Cross))}
	for t := range f.Theta {
		f.Theta[t] = make([]float64, d)
	}
	var chol mat.Cholesky
	k := len(entries)
	for ; k > 0; k-- {
		a := mat.NewSymDense(k, nil)
		for i := range k {
			for j := i; j < k; j++ {
				a.SetSym(i, j, p.secondMoment(entries[i], entries[j]))
			}
		}
		if chol.Factorize(a) && chol.Cond() <= worstCondition {
			break
		}
	}
	if k == 0 {
		return f
	}
	f.Entries = entries[:k:k]
	f.Inverse = mat.NewSymDense(k, nil)
	if err := chol.InverseTo(f.Inverse); err != nil { // the condition was looked at
		return Fit{Theta: f.Theta}
	}
	for t, cross := range p.Cross {
		v := mat.NewVecDense(k, nil)
		x := mat.NewVecDense(k, nil)
		for i, e := range f.Entries {
			v.SetVec(i, cross[e])
		}
		if err := chol.SolveVecTo(x, v); err != nil {
			return Fit{Theta: f.Theta}
		}
		for i, e := range f.Entries {
			f.Theta[t][e] = x.AtVec(i)
		}
	}
	return f
}
