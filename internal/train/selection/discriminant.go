package selection

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	// smallestVariance is the variance, on rows in [-1, 1], below which an entry
	// counts as constant (docs/proofs/dpfsdr.md, "Algorithm").
	smallestVariance = 1e-3
	// smallestClass is the smallest number of records of a class, so that a mean and a
	// variance exist for any released count.
	smallestClass = 2
)

// A discriminant holds functions of released class statistics. They are finite for any
// finite moments.
type discriminant struct {
	entries [][]int   // of the encoded row, of each column
	limit2  []float64 // what each column adds to the norm limit of a row
	counts  []float64 // of the classes, at least smallestClass
	total   float64   // their sum
	means   [][]float64
	within  *mat.SymDense // pooled covariance within classes, PSD
	corr    *mat.SymDense // correlation of entries, PSD

	f, importance []float64 // of each column

	noise mechanism.ClassMoments // as released, with the size of the noise
	model float64                // mu of the model that follows, 0: it has no noise
}

// newDiscriminant reads the moments of rows of e, for features columns.
func newDiscriminant(
	e *scaling.Encoder,
	features int,
	m mechanism.ClassMoments,
	reach, model float64,
) *discriminant {
	d := &discriminant{
		entries: make([][]int, features),
		limit2:  make([]float64, features),
		noise:   m,
		model:   model,
	}
	for k, slot := range e.Slots() {
		d.entries[slot.Column] = append(d.entries[slot.Column], k)
		d.limit2[slot.Column] = 1
		if slot.Category < 0 {
			d.limit2[slot.Column] = scaling.NumericNorm
		}
	}
	for k, n := range m.Counts {
		n = max(n, smallestClass)
		d.counts = append(d.counts, n)
		d.total += n
		mean := make([]float64, len(m.Sums[k]))
		for i, sum := range m.Sums[k] {
			mean[i] = min(max(sum/n, -reach), reach)
		}
		d.means = append(d.means, mean)
	}
	d.setCovariances(m)
	d.setScores(m)
	return d
}

// grandMean returns the mean of entry i over the records of all classes.
func (d *discriminant) grandMean(i int) float64 {
	sum := 0.0
	for k, n := range d.counts {
		sum += n * d.means[k][i]
	}
	return sum / d.total
}

// setCovariances derives, from the sum G of x x^T, the covariance within classes
// (G - sum n_c m_c m_c^T)/(n - L) and the total one (G - n m m^T)/n, each
// projected to the positive semidefinite matrices. The exact covariance is
// such a matrix, and projection to a convex set does not increase the distance from a
// point of the set.
//
// The projected matrix is a covariance, so correlations are in [-1, 1]. The
// correlations of an entry are reduced if its variance is below that of the noise or
// below smallestVariance.
func (d *discriminant) setCovariances(m mechanism.ClassMoments) {
	p := len(m.Sums[0])
	d.within, d.corr = mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	grand := make([]float64, p)
	for i := range grand {
		grand[i] = d.grandMean(i)
	}
	freedom := d.total - float64(len(d.counts)) // at least their number
	for i := range p {
		for j := i; j < p; j++ {
			all := m.Products[gram.Index(p, i, j)]
			in := all
			for k, n := range d.counts {
				in -= n * d.means[k][i] * d.means[k][j]
			}
			d.within.SetSym(i, j, in/freedom)
			d.corr.SetSym(i, j, (all-d.total*grand[i]*grand[j])/d.total)
		}
	}
	exact := d.exactCovariances(m)
	projectSemidefinite(d.within)
	projectSemidefinite(d.corr)
	scale := make([]float64, p)
	for i := range scale {
		noise := m.ProductNoise
		if m.HasExactProduct(i, i) {
			noise = 0
		}
		for j := i; j < p; j++ {
			if m.HasExactProduct(i, j) {
				d.corr.SetSym(i, j, exact(i, j))
			}
		}
		scale[i] = 1 / math.Sqrt(max(d.corr.At(i, i), smallestVariance+noise/d.total))
	}
	for i := range p {
		for j := i; j < p; j++ {
			d.corr.SetSym(i, j, d.corr.At(i, j)*scale[i]*scale[j])
		}
	}
}

// exactCovariances returns the covariance of two entries whose products have no noise. The projection would move it.
func (d *discriminant) exactCovariances(m mechanism.ClassMoments) func(i, j int) float64 {
	if m.Totals == nil {
		before := mat.NewSymDense(d.corr.SymmetricDim(), nil)
		before.CopySym(d.corr)
		return before.At
	}
	n := max(m.Records, 1)
	p := len(m.Totals)
	return func(i, j int) float64 {
		return m.Products[gram.Index(p, min(i, j), max(i, j))]/n - m.Totals[i]/n*m.Totals[j]/n
	}
}

// project replaces the negative eigenvalues of a by 0. If the decomposition
// does not converge, which no finite symmetric matrix is known to cause, a
// becomes its diagonal.
func projectSemidefinite(a *mat.SymDense) {
	p := a.SymmetricDim()
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		for i := range p {
			a.SetSym(i, i, max(a.At(i, i), 0))
			for j := i + 1; j < p; j++ {
				a.SetSym(i, j, 0)
			}
		}
		return
	}
	values := eig.Values(nil)
	if values[0] >= 0 {
		return
	}
	var vectors, scaled, full mat.Dense
	eig.VectorsTo(&vectors)
	scaled.Apply(func(_, j int, x float64) float64 {
		return x * max(values[j], 0)
	}, &vectors)
	full.Mul(&scaled, vectors.T())
	for i := range p {
		for j := i; j < p; j++ {
			a.SetSym(i, j, full.At(i, j))
		}
	}
}

// setScores derives the F-score of every column and its share of their sum.
//
// The F-score of a number is B/W, B = sum_c (m_c - m)^2 and W the sum of the
// variances within the classes (the paper's equation 8). A category column is
// the vector of its 0/1 entries and has the sums of their B and W: with S_B and
// S_W the scatter matrices, tr S_B / tr S_W, which for one entry is the same and
// does not depend on the axes that a vector is written in.
//
// A sum of squares around the mean, from which W is computed, counts as at least
// smallestVariance per record plus its noise. Otherwise an entry whose noisy variance
// is close to 0 would rank first.
func (d *discriminant) setScores(m mechanism.ClassMoments) {
	sum := 0.0
	for _, entries := range d.entries {
		between := 0.0
		within := 0.0
		for _, i := range entries {
			grand := d.grandMean(i)
			for k, n := range d.counts {
				mean := d.means[k][i]
				between += (mean - grand) * (mean - grand)
				within += max(m.Squares[k][i]-n*mean*mean,
					n*smallestVariance+m.NoiseOf(i, m.SquareNoise)) / (n - 1)
			}
		}
		f := between / max(within, smallestVariance) // a column may have no entry
		d.f = append(d.f, f)
		sum += f
	}
	for _, f := range d.f {
		if sum > 0 {
			f /= sum
		} else {
			f = 1 / float64(len(d.f))
		}
		d.importance = append(d.importance, f)
	}
}

// correlatedDegree returns the correlated degree of two columns: the absolute correlation,
// the largest over the entries of a category column.
func (d *discriminant) correlatedDegree(a, b int) float64 {
	most := 0.0
	for _, i := range d.entries[a] {
		for _, j := range d.entries[b] {
			most = max(most, math.Abs(d.corr.At(i, j)))
		}
	}
	return min(most, 1)
}
