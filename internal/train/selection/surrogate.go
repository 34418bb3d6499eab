package selection

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// smallestRidge keeps the covariance of category entries, which add up to 1,
	// invertible where there is no noise.
	smallestRidge = 1e-6
	// The support vector machine whose noise the surrogate takes into account
	// (docs/proofs/svm.md, "Figures"): Lambda = max(1, modelRidge n), rows
	// with a constant modelConstant.
	modelRidge    = .02
	modelConstant = .5
	// columnPenalty is the accuracy that a column must add.
	columnPenalty = .002
)

// surrogateAccuracy estimates the accuracy of a linear classifier on the given columns: the
// mean over all pairs of classes of the accuracy Phi(sqrt(M)/2) of the linear
// discriminant between two equally frequent classes, less columnPenalty per column.
// M = delta^T S^-1 delta is the squared distance of their means delta in the
// covariance S within classes. The accuracy is 1/2 for identical classes.
//
// S gets a ridge of the size of its noise; see [discriminant.classDistance] for the
// correction of M and [discriminant.modelDistance] for the noise of the model.
func (d *discriminant) surrogateAccuracy(columns []int) float64 {
	var at []int
	limit2 := 0.0
	for _, j := range columns {
		at = append(at, d.entries[j]...)
		limit2 += d.limit2[j]
	}
	penalty := columnPenalty * float64(len(columns))
	if len(at) == 0 { // category columns without a category
		return .5 - penalty
	}
	b := d.columnBlock(at)
	sum := 0.0
	pairs := 0.0
	for k := range d.counts {
		for l := range k {
			m := d.modelDistance(d.classDistance(b, k, l), k, l, b.trace, limit2)
			sum, pairs = sum+math.Erfc(-math.Sqrt(m/8))/2, pairs+1 // Phi(sqrt(m)/2)
		}
	}
	return sum/pairs - penalty
}

// columnStatistics is the part of the statistics for a set of columns.
type columnStatistics struct {
	at      []int
	inverse *mat.SymDense // of S with its ridge
	trace   float64       // of S
	traceI  float64       // of inverse
	own     float64       // tr(inverse S)
}

func (d *discriminant) columnBlock(at []int) columnStatistics {
	k := len(at)
	ridge := smallestRidge
	if !d.isExact(at) {
		ridge = max(d.covarianceNoise(), smallestRidge)
	}
	s := mat.NewSymDense(k, nil)
	b := columnStatistics{
		at:      at,
		inverse: mat.NewSymDense(k, nil),
	}
	for i := range at {
		for j := i; j < k; j++ {
			s.SetSym(i, j, d.within.At(at[i], at[j]))
		}
		b.trace += s.At(i, i)
		s.SetSym(i, i, s.At(i, i)+ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(s) || factor.InverseTo(b.inverse) != nil {
		// A positive semidefinite matrix plus a ridge fails because of rounding only.
		// The diagonal cannot fail.
		b.inverse.Zero()
		for i := range k {
			b.inverse.SetSym(i, i, 1/max(s.At(i, i), ridge))
		}
	}
	for i := range k {
		b.traceI += b.inverse.At(i, i)
	}
	b.own = max(float64(k)-ridge*b.traceI, 0)
	return b
}

// isExact reports whether the sums, squares and products of all of these entries have no noise.
func (d *discriminant) isExact(at []int) bool {
	return !slices.ContainsFunc(at, func(i int) bool {
		return !d.noise.IsExact(i)
	})
}

// covarianceNoise is the standard deviation of the noise in a variance.
func (d *discriminant) covarianceNoise() float64 {
	return d.noise.ProductNoise / d.total
}

// classDistance estimates M between two classes, corrected for the part that is due to
// noise.
//
// With w = S^-1 delta, an error e of delta and E of S move w by S^-1 r, r = e -
// E w, to first order, and M, which is largest at the computed w, is too large by
// about r^T S^-1 r: tr(S^-1 V) in expectation, V the covariance of r, which is
// subtracted. V has four parts: the noise of the sums of x, of the numbers of records
// and of the covariances (with independent entries, as in adassp), and sampling error.
func (d *discriminant) classDistance(b columnStatistics, k, l int) float64 {
	n := len(b.at)
	delta := mat.NewVecDense(n, nil)
	one := mat.NewVecDense(n, nil)
	two := mat.NewVecDense(n, nil)
	for i, at := range b.at {
		one.SetVec(i, d.means[k][at]/d.counts[k])
		two.SetVec(i, d.means[l][at]/d.counts[l])
		delta.SetVec(i, d.means[k][at]-d.means[l][at])
	}
	var w mat.VecDense
	w.MulVec(b.inverse, delta)
	fresh := 1/d.counts[k] + 1/d.counts[l]
	sums := d.noise.SumNoise * d.noise.SumNoise *
		(1/(d.counts[k]*d.counts[k]) + 1/(d.counts[l]*d.counts[l]))
	counts := d.noise.CountNoise * d.noise.CountNoise *
		(mat.Inner(one, b.inverse, one) + mat.Inner(two, b.inverse, two))
	covariance := d.covarianceNoise() * d.covarianceNoise() / 2
	if d.isExact(b.at) {
		sums = 0
		counts = 0
		covariance = 0
	}
	noise := (sums+covariance*mat.Dot(&w, &w))*b.traceI + covariance*mat.Inner(&w, b.inverse, &w) +
		counts + fresh*b.own
	return max(0, mat.Dot(&w, delta)-noise)
}

// modelDistance returns M after the noise of the model.
//
// The support vector machine of docs/proofs/svm.md, "Algorithm", adds N(0, t^2)
// to every coefficient of x, t = R/(Lambda mu B), R^2 = 1 + modelConstant^2 and
// B^2 the norm limit of the chosen columns. Its coefficients are about as large
// as those of least squares on targets -1 and +1, which are c S^-1 delta with c = 2ab/(1 + ab M),
// a and b the shares of the two classes. In that direction the means are c M
// apart with variance c^2 M; the noise adds t^2 tr S to the variance. So M
// becomes M^2/(M + (t/c)^2 tr S): the penalty for noise, which grows with the
// number of columns and vanishes as n grows.
func (d *discriminant) modelDistance(
	m float64,
	k, l int,
	trace, limit2 float64,
) float64 {
	if m == 0 || d.model == 0 {
		return m
	}
	a := d.counts[k] / (d.counts[k] + d.counts[l])
	c := 2 * a * (1 - a) / (1 + a*(1-a)*m)
	t := math.Sqrt((1+modelConstant*modelConstant)/limit2) / (max(1, modelRidge*d.total) * d.model)
	return m * m / (m + t*t/(c*c)*trace)
}
