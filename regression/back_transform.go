package regression

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/train/rescale"
)

// A BackTransform converts predictions of a model of a transformed target to the units of the target. A prediction z
// becomes z' = Intercept + Slope z, limited to the range of the model, and then the mean of the target around z'.
type BackTransform struct {
	Transform string  `json:"transform"` // of the target: "log" or "sqrt"
	Intercept float64 `json:"intercept"` // of the line through predictions, in units of the transformed target
	Slope     float64 `json:"slope"`     // of it, from 0 to 2
	// Variance is the variance of the errors of the transformed target, computed from a release: at least 0, and for
	// logarithms at most 2.
	Variance float64 `json:"variance"`
	Lower    float64 `json:"lower"` // ends of predictions, in units of the target
	Upper    float64 `json:"upper"`
}

// Mean returns the mean of the target at a prediction z of a model whose predictions are from lower to upper. It is
// within Lower and Upper of b. A nil b returns z.
func (b *BackTransform) Mean(z, lower, upper float64) float64 {
	if b == nil {
		return z
	}
	z = min(max(b.Intercept+float64(b.Slope*z), lower), upper) // the conversion forbids fusing
	return min(max(rescale.Transform(b.Transform).Mean(z, b.Variance), b.Lower), b.Upper)
}

// problem returns the key and the problem of an invalid conversion, or two empty strings.
func (b *BackTransform) problem() (key, problem string) {
	if b == nil {
		return "", ""
	}
	of := rescale.Transform(b.Transform)
	switch {
	case of != rescale.Log && of != rescale.Sqrt && of != rescale.None:
		return "transform", "is neither log nor sqrt"
	case b.Lower-b.Lower != 0 || b.Upper-b.Upper != 0 || b.Lower > b.Upper:
		return "lower", "and upper must be finite and in order"
	case b.Intercept-b.Intercept != 0:
		return "intercept", "is not finite"
	case !(b.Slope >= 0 && b.Slope <= rescale.MostSlope):
		return "slope", fmt.Sprintf("must be from 0 to %d", rescale.MostSlope)
	case !(b.Variance >= 0) || math.IsInf(b.Variance, 0):
		return "variance", "must be finite and at least 0"
	case of == rescale.Log && b.Variance > rescale.MostLogVariance:
		return "variance", fmt.Sprintf("of logarithms is at most %d", rescale.MostLogVariance)
	case of == rescale.Sqrt && b.Variance > rescale.MostRoot*rescale.MostRoot:
		return "variance", "is too large"
	}
	return "", ""
}
