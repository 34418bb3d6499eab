//go:build !replay

package mechanism

import "github.com/dptrain/dptrain/budget"

// The hooks at which test builds plant known faults (fault_on.go). In a shipped
// binary each returns the correct value, and no fault can be planted.

func (tap) laplaceScale(scale uint64, _, _ float64) uint64 { return scale }
func (tap) priced(law budget.Law) budget.Law               { return law }
func (tap) dense(_, out Vector) Vector                     { return out }
func (tap) declared(sens float64) float64                  { return sens }
func (tap) weightsAlone() bool                             { return false }
func (tap) sum(a, b int64) int64                           { return a + b }
func (tap) relation(r budget.Relation) budget.Relation     { return r }
func (tap) declaredCross(sens float64) float64             { return sens }
func (tap) unclipped() bool                                { return false }
func (tap) quantile(z float64) float64                     { return z }
