package linear

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Moments are the released second moments of the encoded rows (x, y', kappa) and the values computed from them:
// the joint noisy Gram fit and the input of trainers that start from it. All of it is public.
type Moments struct {
	columns []dataset.Column
	enc     *scaling.Encoder
	Sums    Packed // the sum of z z^T, z = (x, y', kappa)
	sigma   float64
	blocks  *blocks // nil for a table of few levels
	clean   Packed  // Sums without the noise that contradicts the blocks

	once     sync.Once
	spectrum Spectrum
}

// ReleaseMoments releases the joint noisy Gram matrix of the columns, the
// numeric target last, over the records r. ranges has one entry per column.
// The release spends draw 0 of the Gaussian leaf of that name in s.
func ReleaseMoments(
	ctx context.Context,
	s *mechanism.Session,
	leaf string,
	columns []dataset.Column,
	r mechanism.Records,
	ranges []scaling.Range,
) (*Moments, error) {
	sums, err := ReleaseGram(ctx, s, leaf, r, columns, ranges, AllColumns)
	if err != nil {
		return nil, err
	}
	m := &Moments{
		columns: columns,
		enc:     scaling.NewEncoder(columns, ranges),
		Sums:    sums,
		sigma:   gramNoise(s, leaf),
		blocks:  blocksOf(columns),
		clean:   sums,
	}
	if m.blocks != nil {
		m.clean = m.blocks.denoise(sums, m.sigma)
	}
	return m, nil
}

// Sigma returns the scale of the noise: its standard deviation in a diagonal
// entry, and sqrt2 times that of another.
func (m *Moments) Sigma() float64 {
	return m.sigma
}

// Spectrum returns the eigendecomposition of the block of the features and, last, the constant: the entries of
// x in a [Frame]. It is computed once.
func (m *Moments) Spectrum() Spectrum {
	m.once.Do(func() {
		m.spectrum = NewSpectrum(m.clean.Features(m.Sums.P - 2))
	})
	return m.spectrum
}

// Distribution returns that of the features of a numeric target.
func (m *Moments) Distribution() Distribution {
	return m.DistributionOf(m.Sums.P - 2)
}

// DistributionOf returns that of the features, the entries before first.
func (m *Moments) DistributionOf(first int) Distribution {
	d := NewDistribution(m.clean.Features(first), m.sigma)
	if m.blocks != nil {
		d.counts = m.blocks.countNoise(first+1, m.sigma)
	}
	return d
}

// Solve returns the coefficients of the scaled target by the entries of x, and
// the covariance of the privacy noise in them.
func (m *Moments) Solve() (theta []float64, cov *mat.SymDense) {
	fits, _ := m.solveAll(m.Sums.P-2, m.Spectrum)
	return fits[0].Theta, fits[0].Cov
}

// SolveLifted returns the same with the constant corrected where a penalty shrinks it; see
// [Solution.LiftConstant].
func (m *Moments) SolveLifted() (theta []float64, cov *mat.SymDense) {
	fits, penalized := m.solveAll(m.Sums.P-2, m.Spectrum)
	if penalized {
		last := m.Sums.P - 1
		fits[0].LiftConstant(m.Sums.Entry(last, last), Penalty(m.sigma, last))
	}
	return fits[0].Theta, fits[0].Cov
}

// EigenvalueFloor returns the eigenvalue below which noise hides those of the features and the
// constant: RidgeFactor times the operator norm of the noise. With blocks the noise is that of the
// products of numbers and of one more entry for each block.
func (m *Moments) EigenvalueFloor() float64 {
	k := m.Sums.P - 1
	if m.blocks != nil {
		k = m.blocks.noisyEntries()
	}
	return Penalty(m.sigma, k)
}

// SolveClasses returns the coefficients of entries first to P-2, the classes of the target.
func (m *Moments) SolveClasses(first int) []Solution {
	fits, _ := m.solveAll(first, func() Spectrum {
		return NewSpectrum(m.clean.Features(first))
	})
	return fits
}

// solveAll fits the targets, entries first to P-2, and reports whether a penalty shrinks the
// constant. a is the spectrum of the features.
func (m *Moments) solveAll(
	first int,
	a func() Spectrum,
) (fits []Solution, penalized bool) {
	if m.blocks != nil {
		if fits, ok := m.blocks.solve(m.clean, first, m.sigma); ok {
			return fits, false
		}
	}
	return m.clean.SolveAll(first, m.sigma, a()), true
}

// Linear converts such coefficients to a model in original units.
func (m *Moments) Linear(
	theta []float64,
	cov *mat.SymDense,
) *regression.Linear {
	return Model(m.columns, m.enc, Solution{theta, cov}, m.Distribution(), true)
}

// Spreads returns the spread over the records of the contribution of each feature with such coefficients.
func (m *Moments) Spreads(
	theta []float64,
	cov *mat.SymDense,
) []regression.Spread {
	return Spreads(m.columns, m.enc, Solution{theta, cov}, m.Distribution())
}

// Records returns the noisy number of records; a record whose row was
// shortened counts with the square of its factor.
func (m *Moments) Records() float64 {
	return m.Sums.Entry(m.Sums.P-1, m.Sums.P-1) / (Kappa * Kappa)
}

// TargetMean returns the noisy mean of the target over the (weighted) records,
// within the target's range. The entry of the target against the constant is
// the sum of w^2 y' kappa and that of the constant against itself the sum of
// w^2 kappa^2, w the factor by which the row was shortened.
func (m *Moments) TargetMean() float64 {
	p := m.Sums.P
	return MeanOf(
		m.enc.Range(len(m.columns)-1),
		m.Sums.Entry(p-2, p-1),
		m.Sums.Entry(p-1, p-1),
	)
}
