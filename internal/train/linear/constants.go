package linear

import (
	"errors"

	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	// GramShare is the share of mu^2 of the Gram release where ranges are
	// released too; without them it is the whole budget.
	GramShare = 1 - scaling.ExponentShare - scaling.BinShare
	// Kappa is the constant entry of every row, from which the intercept is
	// fitted. A constant 1 would take much of the row's norm.
	Kappa = .5
	// RidgeFactor times the operator norm of the noise, sigma sqrt(2(k+1)), is
	// the ridge penalty (docs/proofs/joint-gram.md, "Algorithm").
	RidgeFactor = .7
	// MaxSlots is the largest number of entries of a row: the solver takes
	// cubic time in it.
	MaxSlots = 4096
)

// ErrTooWide is returned at plan time for a table with too many columns.
var ErrTooWide = errors.New("too many columns for one Gram matrix")

// FitOf is the fit of a model of a number.
func FitOf(
	m regression.Model,
	mean float64,
	spreads []regression.Spread,
) *method.Fit {
	return &method.Fit{
		Model:      m,
		TargetMean: mean,
		Spreads:    [][]regression.Spread{spreads},
	}
}

// MeanOf reads the mean of the target from the noisy sums of y' kappa and of
// kappa^2, weighted alike, within the target's range y.
func MeanOf(y scaling.Range, cross, weight float64) float64 {
	if !(weight > 0) {
		return y.Center()
	}
	return y.Center() + y.Half()*min(max(cross*Kappa/weight, -1), 1)
}
