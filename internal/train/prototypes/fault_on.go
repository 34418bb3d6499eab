//go:build replay

package prototypes

import "github.com/dptrain/dptrain/internal/mechanism"

// widthFrom returns the sums from which the width of the classes is computed.
func widthFrom(
	s *mechanism.Session,
	x mechanism.Bounded[mechanism.Vector],
	noisy []float64,
) []float64 {
	if s.Planted(mechanism.ExactWidth) {
		return mechanism.Exact(x)
	}
	return noisy
}

// cellsFrom returns the sums that determine which cells have few records.
func cellsFrom(
	s *mechanism.Session,
	x mechanism.Bounded[mechanism.Vector],
	noisy []float64,
) []float64 {
	if s.Planted(mechanism.ExactCells) {
		return mechanism.Exact(x)
	}
	return noisy
}
