package mechanism

import "github.com/dptrain/dptrain/budget"

// A Vector is a list of statistics in integer grid units.
type Vector []int64

// A Symmetric is a symmetric matrix of statistics in integer grid units, or several matrices of
// the same size P. Each is stored as its upper triangle by rows, P*(P+1)/2 entries.
type Symmetric struct {
	P      int
	Packed []int64
}

// Norm is the measure of the change between two neighbouring tables that a sensitivity bounds.
type Norm uint8

const (
	// L2 bounds the Euclidean length of the change of a vector; for a
	// symmetric matrix, the Frobenius length.
	L2 Norm = iota + 1
	// Absolute bounds the absolute change of a single number.
	Absolute
	// Width bounds b - a if an added record moves every candidate's score by an amount in [a, b]
	// (range lemma, docs/proofs/kendall.md, "Sensitivity and proof"). For several lists it bounds
	// the sum of their widths.
	Width

	// OfUnit is a flag that is added to another norm if the bound already holds between tables
	// that differ by a whole privacy unit (see [perUnit]).
	OfUnit Norm = 1 << 5
)

// Bounded is a private value with its sensitivity under the relation of the session. Only the
// accumulators of this package create one. The sensitivity is that of one record; if the session
// protects units of several records, the release multiplies it.
type Bounded[T any] struct {
	value     T
	norm      Norm
	sens      float64 // in grid units
	unit      float64 // value of one grid unit, a power of two or a weight
	statistic budget.Statistic
}

// Sensitivity returns the public bound on the change between tables that differ
// by one record, in the statistic's own measure (not in grid units).
func (b Bounded[T]) Sensitivity() float64 {
	return b.sens * b.unit
}

// Public is a value that may be published: the output of a release, a function of such outputs,
// or a declared fact.
type Public[T any] struct{ value T }

// Value returns the public value.
func (p Public[T]) Value() T {
	return p.value
}
