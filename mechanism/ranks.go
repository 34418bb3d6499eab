package mechanism

import (
	"sort"

	"github.com/dptrain/dptrain/budget"
)

// Ranks counts the values below each point of a public grid and turns the
// counts into the scores of the private quantile (Smith 2011, by the
// exponential mechanism over the grid).
type Ranks struct {
	grid     []float64
	num, den int64
	relation budget.Relation
	counts   []int64 // records whose smallest grid point above them is i
	records  int64
}

// NewRanks prepares the quantile num/den, 0 < num < den, over an increasing
// grid.
func (s *Session) NewRanks(grid []float64, num, den int) *Ranks {
	return &Ranks{grid: grid, num: int64(num), den: int64(den), relation: s.Relation(), counts: make([]int64, len(grid)+1)}
}

// Add counts one value a record. NaN, a missing value, counts nowhere, neither
// below a point nor among the records.
func (r *Ranks) Add(values []float64) {
	for _, x := range values {
		if x != x {
			continue
		}
		r.counts[sort.Search(len(r.grid), func(i int) bool { return r.grid[i] > x })]++
		r.records++
	}
}

// Merge adds the counts of another Ranks over the same grid and other records.
func (r *Ranks) Merge(o *Ranks) {
	for i, v := range o.counts {
		r.counts[i] += v
	}
	r.records += o.records
}

// Scores returns u(g) = -|den #{x < g} - num n| for every grid point g, in
// units of 1/den of a record.
//
// Add or remove one record: den #{x < g} - num n moves by den - num or by
// -num, so |.| moves within +-max(num, den-num): the width is twice that (1.9
// at q = .05, not 2). Substitution: n stays and #{x < g} moves by at most one
// (n moves by at most one where a value turns missing, together with the
// count, which is less), so the width is 2 den.
func (r *Ranks) Scores() Bounded[Vector] {
	width := 2 * max(r.num, r.den-r.num)
	if r.relation != budget.AddRemove {
		width = 2 * r.den
	}
	out := make(Vector, len(r.grid))
	below := int64(0)
	for i := range r.grid {
		below += r.counts[i]
		u := r.den*below - r.num*r.records
		out[i] = -max(u, -u)
	}
	return Bounded[Vector]{out, Width, float64(width), 1 / float64(r.den)}
}
