//go:build !replay

package mechanism

import "github.com/dptrain/dptrain/budget"

// The hooks at which test builds plant known faults (fault_on.go). In a shipped
// binary each returns the correct value, and no fault can be planted.

func (tap) laplaceScale(scale uint64, _, _ float64) uint64 {
	return scale
}
func (tap) pricedLaw(law budget.Law) budget.Law {
	return law
}
func (tap) noisyCounts(_, out Vector) Vector {
	return out
}
func (tap) declaredGram(sens float64) float64 {
	return sens
}
func (tap) weightsAlone() bool {
	return false
}
func (tap) addProduct(a, b int64) int64 {
	return a + b
}
func (tap) declaredRelation(r budget.Relation) budget.Relation {
	return r
}
func (tap) declaredCross(sens float64) float64 {
	return sens
}
func (tap) skipsClipping() bool {
	return false
}
func (tap) thresholdQuantile(z float64) float64 {
	return z
}
