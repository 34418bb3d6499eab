package neighbour

import "slices"

// Points are vectors of Dim numbers each, one after the other in X, and the class of each.
type Points struct {
	Dim   int
	X     []float64 // Len() × Dim, by row
	Class []int32   // from 0
}

// Len returns the number of vectors.
func (p Points) Len() int {
	return len(p.Class)
}

// Row returns vector i, which shares memory with p.
func (p Points) Row(i int) []float64 {
	return p.X[i*p.Dim : (i+1)*p.Dim : (i+1)*p.Dim]
}

// Subset returns a copy of some of the vectors.
func (p Points) Subset(rows []int) Points {
	q := Points{
		Dim:   p.Dim,
		X:     make([]float64, 0, len(rows)*p.Dim),
		Class: make([]int32, 0, len(rows)),
	}
	for _, i := range rows {
		q.X = append(q.X, p.Row(i)...)
		q.Class = append(q.Class, p.Class[i])
	}
	return q
}

// rowsByClass returns the rows of each class in the given order, nil for a class without one.
func (p Points) rowsByClass(order []int) [][]int {
	by := make([][]int, slices.Max(p.Class)+1)
	for _, i := range order {
		by[p.Class[i]] = append(by[p.Class[i]], i)
	}
	return by
}

// Stratified returns m rows of p, by class: of each class its share by largest remainder, at least
// one and at most all of its records, the first ones in the given order. m is raised to the number
// of classes that have records. order lists every row once, and p is not empty.
func Stratified(p Points, m int, order []int) []int {
	by := p.rowsByClass(order)
	quota := make([]int, len(by))
	rest := make([]float64, len(by))
	sum := 0
	for c, rows := range by {
		if len(rows) == 0 {
			rest[c] = -1
			continue
		}
		share := float64(m) * float64(len(rows)) / float64(p.Len())
		quota[c] = min(max(1, int(share)), len(rows))
		rest[c] = share - float64(quota[c])
		sum += quota[c]
	}
	largest := make([]int, len(by))
	for c := range largest {
		largest[c] = c
	}
	slices.SortStableFunc(largest, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return 0
	})
	for _, c := range largest {
		if sum < m && quota[c] < len(by[c]) {
			quota[c]++
			sum++
		}
	}
	var out []int
	for c, rows := range by {
		out = append(out, rows[:quota[c]]...)
	}
	return out
}

// squaredDistance returns the squared distance of two vectors of the same length.
func squaredDistance(a, b []float64) float64 {
	sum := 0.
	b = b[:len(a)]
	for j, v := range a {
		d := v - b[j]
		sum += d * d
	}
	return sum
}

// squaredNorms returns the squared length of each row of x.
func squaredNorms(x []float64, dim int) []float64 {
	out := make([]float64, len(x)/dim)
	for i := range out {
		for _, v := range x[i*dim : (i+1)*dim] {
			out[i] += v * v
		}
	}
	return out
}

// Order returns the numbers below n in an order that a public seed chooses.
func Order(n int, seed uint64) []int {
	source := fixedSource(seed)
	out := evenlySpaced(n, n)
	source.shuffle(out)
	return out
}
