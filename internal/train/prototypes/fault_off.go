//go:build !replay

package prototypes

import "github.com/dptrain/dptrain/internal/mechanism"

// Hooks at which test builds plant known faults (fault_on.go). In a shipped binary they return the released
// values.

func widthFrom(
	_ *mechanism.Session,
	_ mechanism.Bounded[mechanism.Vector],
	noisy []float64,
) []float64 {
	return noisy
}

func cellsFrom(
	_ *mechanism.Session,
	_ mechanism.Bounded[mechanism.Vector],
	noisy []float64,
) []float64 {
	return noisy
}
