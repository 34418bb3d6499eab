// Package rescale implements transforms of a numeric target: public, total rules for single cells, and the
// conversion of predictions back to the units of the target.
//
// A model is trained on z = t(y). Noise makes its predictions vary more than justified, which a line corrects:
// z' = a + b z. With errors of variance v around that, the mean of y at a prediction is
//
//	log:  exp(z' + v/2)   for normal errors
//	sqrt: z'² + v         for all errors
//
// whereas exp(z') is the median of y for log, and z'² is too small for sqrt. See docs/proofs/transform.md,
// "Algorithm".
package rescale

import (
	"fmt"
	"math"
)

// A Transform names a transform of the target; the zero value means no transform.
type Transform string

// The transforms.
const (
	None Transform = ""
	Log  Transform = "log"
	Sqrt Transform = "sqrt"
)

// NoneWord is how recipes write [None].
const NoneWord = "none"

// Words lists the values of the recipe key.
func Words() []string {
	return []string{string(Log), string(Sqrt), NoneWord}
}

// Floor is the smallest number that has a logarithm where no lower end is declared: smaller ones count as it.
const Floor = 0x1p-20

// Limits of numbers.
const (
	MostLog  = 709   // exp of it is finite
	MostRoot = 1e153 // its square is finite, with room for a variance
	// MostLogVariance is the largest variance of logarithms that the way back makes use of.
	MostLogVariance = 2
	// MostSlope is the largest slope of the line through predictions.
	MostSlope = 2
)

// A Rule is a transform of a column. Lower is the declared lower end of the column, if Ranged.
type Rule struct {
	Transform Transform
	Ranged    bool
	Lower     float64
}

// Apply returns t(y). It is total: a y below the lower end, or without a logarithm or root, is replaced by the
// smallest valid value. NaN, a missing cell, stays the same NaN.
func (r Rule) Apply(y float64) float64 {
	if y != y {
		return y // its bits distinguish text from a missing cell
	}
	switch r.Transform {
	case Log:
		least := Floor
		if r.Ranged {
			least = max(r.Lower, math.SmallestNonzeroFloat64)
		}
		return math.Log(max(y, least))
	case Sqrt:
		return math.Sqrt(max(y, 0))
	}
	return y
}

// Inverse returns the y of a z. It is finite for every finite z, and NaN for NaN.
func (t Transform) Inverse(z float64) float64 {
	switch t {
	case Log:
		return math.Exp(min(z, MostLog))
	case Sqrt:
		z = min(max(z, 0), MostRoot)
		return z * z
	}
	return z
}

// Mean returns the mean of y at a prediction z of its transform, around which errors have the given variance.
func (t Transform) Mean(z, variance float64) float64 {
	switch t {
	case Log:
		return t.Inverse(z + variance/2)
	case Sqrt:
		return t.Inverse(z) + variance
	}
	return z
}

// Name returns how the transformed target is written: log(price).
func (t Transform) Name(target string) string {
	if t == None {
		return target
	}
	return fmt.Sprintf("%s(%s)", t, target)
}
