package linear

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Settings of the fit with a prior for each category column. They were chosen on lending_club and
// stackoverflow (docs/proofs/joint-gram.md, "Columns of many categories").
const (
	// groupRounds is the number of times the noise of the rows is computed, and groupSteps the
	// number of steps of the prior in each.
	groupRounds = 4
	groupSteps  = 12
	// groupFloor times the operator norm of the noise in the products of numbers is the smallest
	// eigenvalue.
	groupFloor = .35
	// firstPrior is the variance of coefficients from which steps start, constantPrior that of the
	// constant, which is not estimated: a scaled target has a mean within [-1, 1], and the constant
	// is [Kappa]. leastPrior keeps a variance above 0.
	firstPrior    = .05
	constantPrior = 1 / (Kappa * Kappa)
	leastPrior    = 1e-9
)

// groupFit is the posterior mean of coefficients theta under N(0, D), D diagonal with one variance
// for each group, given v = A theta + noise. The variances are those of highest marginal likelihood
// (empirical Bayes), by steps of EM:
//
//	theta = T v,  T = D A M^-1,  M = A D A + S,  the posterior covariance is D - D A M^-1 A D,
//
// with S the variances of the noise in the rows of v - A theta.
type groupFit struct {
	a     *mat.Dense
	group []int
	prior []float64 // by group; the last one, of the constant, is fixed
}

func newGroupFit(a *mat.SymDense, group []int) *groupFit {
	f := &groupFit{a: mat.DenseCopyOf(a), group: group}
	last := group[len(group)-1]
	for range last {
		f.prior = append(f.prior, firstPrior)
	}
	f.prior = append(f.prior, constantPrior)
	return f
}

// factorize returns the Cholesky factor L of M = L L^T.
func (f *groupFit) factorize(noise []float64) (l *mat.TriDense, ok bool) {
	k := len(f.group)
	half := mat.NewDense(k, k, nil)
	half.Apply(func(_, j int, x float64) float64 {
		return x * math.Sqrt(f.prior[f.group[j]])
	}, f.a)
	m := mat.NewSymDense(k, nil)
	m.SymOuterK(1, half)
	for i, x := range noise {
		m.SetSym(i, i, m.At(i, i)+x)
	}
	var chol mat.Cholesky
	if !chol.Factorize(m) {
		return nil, false
	}
	l = mat.NewTriDense(k, mat.Lower, nil)
	chol.LTo(l)
	return l, true
}

// step estimates the variances anew from the posterior of each target, and returns whether that was
// possible.
func (f *groupFit) step(targets []*mat.VecDense, noise []float64) bool {
	k := len(f.group)
	l, ok := f.factorize(noise)
	if !ok {
		return false
	}
	var w mat.Dense // L^-1 A
	if l.SolveTo(&w, false, f.a) != nil {
		return false
	}
	sum := make([]float64, len(f.prior))
	count := make([]float64, len(f.prior))
	for i, g := range f.group {
		along := 0.
		for j := range k {
			along += square(w.At(j, i))
		}
		d := f.prior[g]
		sum[g] += float64(len(targets)) * max(d-d*d*along, 0)
		count[g] += float64(len(targets))
	}
	for _, v := range targets {
		var u mat.Dense // L^-1 v
		if l.SolveTo(&u, false, v) != nil {
			return false
		}
		var theta mat.Dense
		theta.Mul(w.T(), &u)
		for i, g := range f.group {
			sum[g] += square(f.prior[g] * theta.At(i, 0))
		}
	}
	for g := range len(f.prior) - 1 {
		f.prior[g] = max(sum[g]/max(count[g], 1), leastPrior)
	}
	return true
}

// mapping returns T.
func (f *groupFit) mapping(noise []float64) (*mat.Dense, bool) {
	l, ok := f.factorize(noise)
	if !ok {
		return nil, false
	}
	var w, inner mat.Dense
	if l.SolveTo(&w, false, f.a) != nil || l.SolveTo(&inner, true, &w) != nil {
		return nil, false
	}
	k := len(f.group)
	t := mat.NewDense(k, k, nil) // D (M^-1 A)^T
	t.Apply(func(i, _ int, x float64) float64 {
		return x * f.prior[f.group[i]]
	}, inner.T())
	return t, true
}

// solve fits the targets, entries first to P-2 of the denoised rows g, with noise sigma before they
// were denoised. It returns false where numbers are too large to be computed with.
func (b *blocks) solve(g Packed, first int, sigma float64) ([]Solution, bool) {
	a := g.Features(first)
	k := a.SymmetricDim()
	floor := groupFloor * sigma * math.Sqrt(2*float64(b.noisyEntries()))
	f := newGroupFit(NewSpectrum(a).Apply(func(e float64) float64 {
		return max(e, floor)
	}),
		b.groups(k))
	theta := make([]*mat.VecDense, g.P-1-first)
	targets := make([]*mat.VecDense, len(theta))
	for t := range targets {
		targets[t] = g.Against(first, first+t)
		theta[t] = mat.NewVecDense(k, nil)
	}
	var mapping *mat.Dense
	for range groupRounds {
		noise := f.meanNoise(theta, sigma)
		ok := true
		for range groupSteps {
			ok = ok && f.step(targets, noise)
		}
		if !ok {
			return nil, false
		}
		if mapping, ok = f.mapping(noise); !ok {
			return nil, false
		}
		for t, v := range targets {
			theta[t].MulVec(mapping, v)
		}
	}
	out := make([]Solution, len(targets))
	for t, x := range theta {
		noise := f.meanNoise(theta[t:t+1], sigma)
		var scaled, cov mat.Dense
		scaled.Apply(func(_, j int, x float64) float64 {
			return x * noise[j]
		}, mapping)
		cov.Mul(&scaled, mapping.T())
		out[t] = Solution{x.RawVector().Data, Covariance(&cov)}
		for i, x := range out[t].Theta {
			if math.IsNaN(x+out[t].Cov.At(i, i)) || math.IsInf(x+out[t].Cov.At(i, i), 0) {
				return nil, false
			}
		}
	}
	return out, true
}

// meanNoise returns the variance of the noise in each entry of v - A theta, the mean over the
// targets: sigma^2/2 for v and sigma^2/2 theta_j^2 for each noisy entry A_ij. Products of two
// levels of one column have no noise, and the count of a level has at most 2/3 sigma^2.
func (f *groupFit) meanNoise(theta []*mat.VecDense, sigma float64) []float64 {
	numbers := len(f.prior) - 2 // the group of numbers; the constant is the next
	out := make([]float64, len(f.group))
	for _, x := range theta {
		all := 0.
		of := make([]float64, len(f.prior))
		for i, g := range f.group {
			all += square(x.AtVec(i))
			of[g] += square(x.AtVec(i))
		}
		for i, g := range f.group {
			variance := 1 + all + square(x.AtVec(i))
			if g < numbers {
				variance = 1 + all - of[g] + 4./3*square(x.AtVec(i))
			}
			out[i] += sigma * sigma / 2 * variance / float64(len(theta))
		}
	}
	return out
}
