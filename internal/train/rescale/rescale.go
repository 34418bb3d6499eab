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

// Back is the way from predictions of a transformed target to the units of the target.
type Back struct {
	Transform Transform `json:"transform"` // log or sqrt
	Intercept float64   `json:"intercept"` // of the line through predictions, in units of the transformed target
	Slope     float64   `json:"slope"`     // of it, from 0 to [MostSlope]
	// Variance is the variance of the errors of the transformed target, computed from a release: at least 0,
	// and for logarithms at most [MostLogVariance].
	Variance float64 `json:"variance"`
	Lower    float64 `json:"lower"` // ends of predictions, in units of the target
	Upper    float64 `json:"upper"`
}

// Line returns the conversion to the transformed target: only the line, with predictions from lower to upper.
func (b Back) Line(lower, upper float64) *Back {
	return &Back{Intercept: b.Intercept, Slope: b.Slope, Lower: lower, Upper: upper}
}

// Mean returns the mean of the target at a prediction z from lower to upper, within Lower and Upper of b.
func (b *Back) Mean(z, lower, upper float64) float64 {
	if b == nil {
		return z
	}
	z = min(max(b.Intercept+float64(b.Slope*z), lower), upper) // the conversion forbids fusing
	switch b.Transform {
	case Log:
		z = b.Transform.Inverse(z + b.Variance/2)
	case Sqrt:
		z = b.Transform.Inverse(z) + b.Variance
	}
	return min(max(z, b.Lower), b.Upper)
}

// Name returns how the transformed target is written: log(price).
func (t Transform) Name(target string) string {
	if t == None {
		return target
	}
	return fmt.Sprintf("%s(%s)", t, target)
}

// Wrong returns the key and the problem of an invalid conversion, or two empty strings.
func (b *Back) Wrong() (key, problem string) {
	switch {
	case b == nil:
	case b.Transform != Log && b.Transform != Sqrt && b.Transform != None:
		return "transform", "is neither log nor sqrt"
	case b.Lower-b.Lower != 0 || b.Upper-b.Upper != 0 || b.Lower > b.Upper:
		return "lower", "and upper must be finite and in order"
	case b.Intercept-b.Intercept != 0:
		return "intercept", "is not finite"
	case !(b.Slope >= 0 && b.Slope <= MostSlope):
		return "slope", fmt.Sprintf("must be from 0 to %d", MostSlope)
	case !(b.Variance >= 0) || math.IsInf(b.Variance, 0):
		return "variance", "must be finite and at least 0"
	case b.Transform == Log && b.Variance > MostLogVariance:
		return "variance", fmt.Sprintf("of logarithms is at most %d", MostLogVariance)
	case b.Transform == Sqrt && b.Variance > MostRoot*MostRoot:
		return "variance", "is too large"
	}
	return "", ""
}
