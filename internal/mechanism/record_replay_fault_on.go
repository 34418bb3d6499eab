//go:build replay

package mechanism

import "github.com/dptrain/dptrain/budget"

// A Fault is a known mistake of private training programs that a test plants in
// a session, so as to see that the tests catch it. Faults exist in builds with
// the tag "replay" only; docs/proofs/audit.md, "Planted faults", lists them with
// the tests.
type Fault uint

// The faults.
const (
	// LaplaceInverted adds Laplace noise of scale sensitivity times epsilon where
	// sensitivity over epsilon is meant.
	LaplaceInverted Fault = 1 << iota
	// RoundsNotComposed gives each round of a repeated choice the epsilon of all.
	RoundsNotComposed
	// EmptyWithoutNoise adds no noise to counts that are 0.
	EmptyWithoutNoise
	// ClipNotCharged declares the sensitivity of a Gram matrix for half of the norm
	// that rows are clipped to.
	ClipNotCharged
	// FloatSums adds products in single precision.
	FloatSums
	// RelationMixed takes the sensitivities of add-remove under every relation.
	RelationMixed
	// HeldOutInTraining trains on all records, including the test set.
	HeldOutInTraining
	// CoinsByIndex draws the coin of a record from its position.
	CoinsByIndex
	// ExactCount sets defaults from the exact number of records.
	ExactCount
	// RoutedByExact hands out matrices without noise, so that a tree routes records by
	// exact values.
	RoutedByExact
	// NodesNotShared draws once for every node of a level in place of once for all.
	NodesNotShared
	// BinsFromData cuts columns into bins at quantiles of the records.
	BinsFromData
	// RangeFromData takes the smallest and the largest value for the range of a column.
	RangeFromData
	// RedrawsFromExact makes the redraws of a stability from exact counts.
	RedrawsFromExact
	// RecordsAsLandmarks makes the landmarks of a kernel of records.
	RecordsAsLandmarks
	// MetricOfRecords learns the metric of a kernel at records.
	MetricOfRecords
	// LengthUnchecked leaves rows of products with a number as long as they are, and has
	// features of a kernel of length 2.
	LengthUnchecked
	// ClampOfAnotherEpoch declares the sensitivity of such products for half of the clamp of
	// their numbers.
	ClampOfAnotherEpoch
	// WeightsAlone clips each weight of an outer product by itself, not their vector.
	WeightsAlone
	// ExactWidth takes the width of classes from the exact squared norms.
	ExactWidth
	// ExactCells finds empty cells by the exact numbers of their records.
	ExactCells
	// ThresholdWithoutDelta publishes a word of one record with even odds, for any charged
	// delta.
	ThresholdWithoutDelta
)

// Plant makes sessions of the recorder, and of its Replay, carry faults out.
func (r *Recorder) Plant(f Fault) *Recorder {
	r.fault |= f
	return r
}

// NewFaultySession is NewSession with faults and without a recorder.
func NewFaultySession(p *budget.Priced, f Fault) (*Session, error) {
	s, err := NewSession(p)
	if err != nil {
		return nil, err
	}
	s.core.tap.fault = f
	return s.core.sessionAt(s.path), nil
}

// Planted reports whether the session carries a fault out, for the hooks of
// other packages.
func (s *Session) Planted(f Fault) bool {
	return s.core.tap.isPlanted(f)
}

// Planted is [Session.Planted] of the accumulators of a session.
func (m Maker) Planted(f Fault) bool {
	return m.tap.isPlanted(f)
}

func (t tap) isPlanted(f Fault) bool {
	return t.fault&f != 0
}

func (t tap) laplaceScale(scale uint64, sens, epsilon float64) uint64 {
	if t.isPlanted(LaplaceInverted) {
		return uint64(max(sens*epsilon, 1))
	}
	return scale
}

func (t tap) pricedLaw(law budget.Law) budget.Law {
	if t.isPlanted(RoundsNotComposed) && law.Kind == budget.Exponential {
		law.Epsilon *= float64(law.Draws)
	}
	return law
}

func (t tap) noisyCounts(in, out Vector) Vector {
	if t.isPlanted(EmptyWithoutNoise) {
		for i, v := range in {
			if v == 0 {
				out[i] = 0
			}
		}
	}
	return out
}

func (t tap) withoutNoise(in Symmetric, out Vector) Vector {
	if t.isPlanted(RoutedByExact) {
		return append(Vector(nil), in.Packed...)
	}
	return out
}

func (t tap) declaredGram(sens float64) float64 {
	if t.isPlanted(ClipNotCharged) {
		return sens / 4
	}
	return sens
}

// declaredCross and unclipped are those of a Cross.
func (t tap) declaredCross(sens float64) float64 {
	if t.isPlanted(ClampOfAnotherEpoch) {
		return sens / 2
	}
	return sens
}

func (t tap) thresholdQuantile(z float64) float64 {
	if t.isPlanted(ThresholdWithoutDelta) {
		return 0
	}
	return z
}

func (t tap) skipsClipping() bool {
	return t.isPlanted(LengthUnchecked)
}

func (t tap) weightsAlone() bool {
	return t.isPlanted(WeightsAlone)
}

// Exact returns the exact values of a statistic, in its own measure, for faulty trainers.
func Exact(x Bounded[Vector]) []float64 {
	return toFloats(x.value, x.unit)
}

func (t tap) addProduct(a, b int64) int64 {
	if t.isPlanted(FloatSums) {
		return int64(float32(a) + float32(b))
	}
	return a + b
}

func (t tap) declaredRelation(r budget.Relation) budget.Relation {
	if t.isPlanted(RelationMixed) {
		return budget.AddRemove
	}
	return r
}

// coinFault describes the faults of coins.
type coinFault struct{ byIndex bool }

func (t tap) coinFault() coinFault {
	return coinFault{t.isPlanted(CoinsByIndex)}
}

// coinIdentity returns the identity from which the coin of record k is computed.
func (f coinFault) coinIdentity(k int, id uint64) uint64 {
	if f.byIndex {
		return uint64(k) + 1
	}
	return id
}
