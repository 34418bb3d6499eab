package budget

import (
	"fmt"
	"math"
)

// Kind names a family of laws.
type Kind uint8

const (
	// Gaussian noise; Law.Mu is L2 sensitivity / standard deviation.
	Gaussian Kind = iota
	// Laplace noise on one number; Law.Epsilon is sensitivity / scale.
	Laplace
	// Exponential is the exponential mechanism, or any bounded-range step:
	// Law.Epsilon is (b-a)/scale when every score moves within [a, b].
	Exponential
	// Pure is any other Law.Epsilon-private step.
	Pure
	// Approximate is a (Law.Epsilon, Law.Delta)-private black box.
	Approximate
)

var kindNames = [...]string{"gaussian", "laplace", "exponential", "pure", "approximate"}

// String returns the lower-case name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// isPure reports whether a draw of this kind is epsilon-private with delta 0.
func (k Kind) isPure() bool {
	return k == Laplace || k == Exponential || k == Pure
}

// Law is the privacy loss of Draws equal, possibly adaptive draws. The
// parameters are per draw; those that the kind does not use are 0.
type Law struct {
	Kind    Kind
	Mu      float64 // Gaussian only, > 0
	Epsilon float64 // every other kind, > 0; Approximate with a Delta above 0 also 0
	Delta   float64 // Approximate only, in [0, 1)
	Draws   int     // >= 1
}

// Validate returns a *LawError if a parameter is outside its domain or belongs
// to another kind.
func (l Law) Validate() error {
	bad := func(field string, v float64, problem string) error {
		return &LawError{
			Kind:    l.Kind,
			Field:   field,
			Value:   v,
			Problem: problem,
		}
	}
	positive := func(v float64) bool {
		return v > 0 && !math.IsInf(v, 1)
	}
	switch {
	case int(l.Kind) >= len(kindNames):
		return bad("Kind", float64(l.Kind), "unknown kind")
	case l.Draws < 1:
		return bad("Draws", float64(l.Draws), "must be at least 1")
	case l.Kind == Gaussian && !positive(l.Mu):
		return bad("Mu", l.Mu, "must be positive and finite")
	case l.Kind != Gaussian && l.Mu != 0:
		return bad("Mu", l.Mu, "must be 0 for this kind")
	case l.Kind == Approximate && l.Epsilon == 0 && l.Delta > 0 && l.Delta < 1: // fails with probability Delta, otherwise reveals no information
	case l.Kind != Gaussian && !positive(l.Epsilon):
		return bad("Epsilon", l.Epsilon, "must be positive and finite")
	case l.Kind == Gaussian && l.Epsilon != 0:
		return bad("Epsilon", l.Epsilon, "must be 0 for this kind")
	case l.Kind == Approximate && !(l.Delta >= 0 && l.Delta < 1):
		return bad("Delta", l.Delta, "must be in [0, 1)")
	case l.Kind != Approximate && l.Delta != 0:
		return bad("Delta", l.Delta, "must be 0 for this kind")
	}
	return nil
}

// DeltaAt returns the hockey-stick curve of one draw at epsilon.
func (l Law) DeltaAt(epsilon float64) float64 {
	switch l.Kind {
	case Gaussian:
		return gaussianDelta(l.Mu, epsilon)
	case Laplace:
		return laplaceDelta(l.Epsilon, epsilon)
	case Exponential:
		return exponentialDelta(l.Epsilon, epsilon)
	case Pure:
		return pureDelta(l.Epsilon, epsilon)
	case Approximate:
		return approximateDelta(l.Epsilon, l.Delta, epsilon)
	}
	return 1
}

// ZCDP returns the zero-concentrated cost of all draws and the delta that comes
// with it: mu^2/2 for a Gaussian, epsilon^2/8 for the exponential mechanism
// (bounded range), epsilon^2/2 for every other kind; an Approximate law also
// costs its delta once a draw.
func (l Law) ZCDP() (rho, delta float64) {
	n := float64(l.Draws)
	switch l.Kind {
	case Gaussian:
		return n * l.Mu * l.Mu / 2, 0
	case Exponential:
		return n * l.Epsilon * l.Epsilon / 8, 0
	}
	return n * l.Epsilon * l.Epsilon / 2, n * l.Delta
}

// isZero reports whether the law is free (a multiplier of 0 during calibration).
func (l Law) isZero() bool {
	return l.Mu == 0 && l.Epsilon == 0 && l.Delta == 0
}

// renyiDivergence returns the Rényi divergence bound of order a > 1 of all draws. It is
// the smaller of the zCDP line, the pure bound and the divergence of the
// dominating pair, which is padded for its cancellation at small epsilon.
func (l Law) renyiDivergence(a float64) float64 {
	rho, _ := l.ZCDP()
	line := a * rho
	if l.Kind == Gaussian {
		return line
	}
	pair := (l.logMoment(a-1) + 1e-15) / (a - 1)
	return math.Min(line, float64(l.Draws)*math.Min(l.Epsilon, pair))
}
