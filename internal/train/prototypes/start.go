package prototypes

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// releaseWhitening releases the second moments of the rows and computes the map W from them.
//
// With the released matrix V diag(w) V^T of the features and sigma the noise in it, W = s V diag(w'^-whitening)
// V^T, w' = max(w, 0) + momentRidge sigma sqrt(2 d). If noise dominates all directions, W is approximately a
// multiple of the identity, which is harmless. s makes the mean squared norm of W x equal to the limit of
// [run.frame.reach], by the moments without the ridge: the positive eigenvalues, rescaled to the sum of all
// eigenvalues, which the noise of the ridge does not affect.
func (r *run) releaseWhitening(d method.Data) error {
	acc, err := mechanism.Sum[*momentPass](
		r.ctx,
		r.session,
		r.records,
		momentStatistic{d.Columns, d.Ranges},
	)
	if err != nil {
		return err
	}
	noisy, err := mechanism.SymmetricGaussian(r.session, momentsLeaf, acc.gram.Bound())
	if err != nil {
		return err
	}
	slots := r.frame.slotCount()
	all := linear.Packed{
		P:      slots + 1,
		Values: noisy.Value(),
	}.Symmetric()
	constant := max(1, constantReach*r.frame.squaredReach())
	unit := constant + r.frame.squaredReach() // squared norm limit of rows, which are scaled to norm 1
	r.rows = &whitened{
		Columns:  d.Columns,
		Ranges:   d.Ranges,
		Constant: scaling.FixedPoint(math.Sqrt(constant / unit)),
	}
	if slots > 0 {
		r.basis = linear.NewSpectrum(leadingBlock(all, slots))
		r.stretch = stretchFactors(
			r.basis.Values,
			r.session.Scale(momentsLeaf),
			max(all.At(slots, slots), 1),
			overReach*r.frame.squaredReach()/unit,
		)
		r.rows.Map = r.spectralMatrix(func(stretch float64) float64 {
			return stretch
		})
	}
	n, err := r.records.Len(r.ctx)
	r.rows.Keep = n <= keptCells/(slots+1)
	return err
}

// stretchFactors returns the factor of each direction for the eigenvalues of moments with noise sigma over number
// records, so that the mean squared norm is approximately mean.
func stretchFactors(values []float64, sigma, number, mean float64) []float64 {
	ridge := max(momentRidge*sigma*math.Sqrt(2*float64(len(values))), math.SmallestNonzeroFloat64)
	out := make([]float64, len(values))
	trace := 0.
	positive := 0.
	for i, w := range values {
		out[i] = math.Pow(max(w, 0)+ridge, -whitening)
		trace += w
		positive += max(w, 0)
	}
	after := 0.
	for i, w := range values {
		after += max(w, 0) * out[i] * out[i]
	}
	if positive > 0 {
		after *= max(trace, leastTrace*positive) / positive / number
	}
	scale := math.Sqrt(mean / max(after, leastSquare))
	for i := range out {
		out[i] *= scale
	}
	return out
}

// spectralMatrix returns V diag(f(stretch)) V^T by rows: the map W, or its inverse.
func (r *run) spectralMatrix(f func(stretch float64) float64) []float64 {
	d := len(r.stretch)
	if d == 0 {
		return nil
	}
	w := linear.Spectrum{
		Values:  r.stretch,
		Vectors: r.basis.Vectors,
	}.Apply(f)
	out := make([]float64, 0, d*d)
	for k := range d {
		for j := range d {
			out = append(out, w.At(k, j))
		}
	}
	return out
}

// leadingBlock returns the first d rows and columns of a.
func leadingBlock(a *mat.SymDense, d int) *mat.SymDense {
	return a.SliceSym(0, d).(*mat.SymDense)
}

// Limits that keep a map finite if noise dominates all directions.
const (
	leastTrace  = 1e-3
	leastSquare = 1e-12
)

// startPrototypes releases the means of the classes, with several prototypes per class also the means of their cells, and
// the width of the classes.
func (r *run) startPrototypes() error {
	r.at = mixture{
		Gamma: 1,
		One:   float64(r.rows.Constant) / mechanism.FixedOne,
	}
	for c := range r.frame.classCount() {
		r.at.Class = append(r.at.Class, int32(c))
		r.at.Centers = append(r.at.Centers, make([]float64, r.frame.slotCount()))
	}
	mean, err := r.releaseSpread()
	if err != nil {
		return err
	}
	parts := 1
	if r.perClass() > 1 {
		parts = 2
	}
	cells, err := r.releaseCells(cellsLeaf, 0, parts)
	if err != nil {
		return err
	}
	if r.still = r.isWeak() && cells.isEven(); r.still {
		again, err := r.releaseCells(stepsLeaf, 0, 1)
		if err != nil {
			return err
		}
		cells.combineWith(again)
	}
	between := 0.
	all := 0.
	prior := make([]float64, r.frame.classCount())
	for c, sum := range cells.sums {
		count := max(cells.counts[c], 2*cells.noise, 1)
		prior[c] = math.Log(max(cells.counts[c], cells.noise, 1))
		for k := range sum {
			sum[k] /= count
		}
		between += count * dot(sum, sum)
		all += count
	}
	r.width = max(mean-between/all, leastWidth*square(r.whitenedReach())+leastSquare)
	r.at.Centers = cells.sums
	if parts > 1 {
		if err := r.splitClasses(parts); err != nil {
			return err
		}
	}
	for _, z := range r.at.Centers {
		shortenTo(z, r.whitenedReach())
	}
	r.at.Gamma = r.kernelWidth() / r.width
	r.at.Prior = make([]float64, len(r.at.Class))
	for j, c := range r.at.Class {
		r.at.Prior[j] = prior[c] - math.Log(all)
	}
	return nil
}

// whitenedReach returns the approximate maximum norm of a whitened row without its constant.
func (r *run) whitenedReach() float64 {
	return math.Sqrt(1 - square(r.at.One))
}

// cellSums holds the released sums of the rows in the cells of the prototypes and their numbers of records,
// with the standard deviation of the noise in the numbers.
type cellSums struct {
	sums           [][]float64
	counts, tested []float64 // tested decides whether a cell has few records
	noise          float64
}

// isEven reports whether the classes have about equally many records, judging by the counts: the variance of
// their shares, minus that of the noise, is below [mostUneven] times their squared mean.
func (c *cellSums) isEven() bool {
	mean, variance := stat.PopMeanVariance(c.counts, nil)
	return variance-square(c.noise) < mostUneven*square(max(mean, 0))
}

// combineWith averages two releases of the same sums, weighted by the inverse of their variances.
func (c *cellSums) combineWith(d cellSums) {
	share := square(d.noise) / (square(c.noise) + square(d.noise))
	mix := func(a, b []float64) {
		for k := range a {
			a[k] = share*a[k] + (1-share)*b[k]
		}
	}
	for j := range c.sums {
		mix(c.sums[j], d.sums[j])
	}
	mix(c.counts, d.counts)
	mix(c.tested, d.tested)
	c.noise *= math.Sqrt(share)
}

// releaseCells releases a part of the sums in the cells, as a part of a leaf.
func (r *run) releaseCells(leaf string, part, parts int) (cellSums, error) {
	acc, err := mechanism.Sum[*outerPass](
		r.ctx,
		r.session,
		r.records,
		cellStatistic{r.rows, r.at},
	)
	if err != nil {
		return cellSums{}, err
	}
	noisy, err := mechanism.GaussianPart(
		r.session,
		leaf,
		0,
		part,
		parts,
		acc.outer.Bound(),
	)
	if err != nil {
		return cellSums{}, err
	}
	var out cellSums
	_, out.tested = splitSums(
		cellsFrom(r.session, acc.outer.Bound(), noisy.Value()),
		r.frame.slotCount(),
		r.at.One,
	)
	out.sums, out.counts = splitSums(noisy.Value(), r.frame.slotCount(), r.at.One)
	out.noise = r.session.Scale(leaf) / r.at.One
	return out, nil
}

// releaseSpread releases the sums of squared norms and of the squared shortening factors of rows. It returns the mean
// derived from the former and sets the number of records to the latter.
func (r *run) releaseSpread() (mean float64, err error) {
	acc, err := mechanism.Sum[*spreadPass](
		r.ctx,
		r.session,
		r.records,
		spreadStatistic{r.rows, r.at.One},
	)
	if err != nil {
		return 0, err
	}
	noisy, err := mechanism.Gaussian(r.session, spreadLeaf, acc.sums.Bound())
	if err != nil {
		return 0, err
	}
	r.number = max(2*noisy.Value()[1], 1)
	r.strength = r.signalToNoise()
	return widthFrom(r.session, acc.sums.Bound(), noisy.Value())[0] / r.number, nil
}

// leastWidth is the minimum width of the classes, relative to the squared norm of rows.
const leastWidth = .125

// splitClasses gives every class several prototypes: initially its mean plus public offsets, then the means of their
// cells. A cell with few records keeps its initial prototype, which is nearer to the mean of the class.
func (r *run) splitClasses(parts int) error {
	public := r.session.PublicStream("starts")
	step := math.Sqrt(3 * .25 * r.width / float64(r.frame.slotCount()))
	at := mixture{Gamma: 1, One: r.at.One}
	for c, mean := range r.at.Centers {
		for range r.perClass() {
			z := make([]float64, len(mean))
			for k, v := range mean {
				z[k] = v + step*public.Symmetric()
			}
			at.Centers, at.Class = append(at.Centers, z), append(at.Class, int32(c))
		}
	}
	means := r.at.Centers
	r.at = at
	cells, err := r.releaseCells(cellsLeaf, 1, parts)
	if err != nil {
		return err
	}
	for j, z := range at.Centers {
		few := cells.tested[j] <= 4*cells.noise+1
		for k := range z {
			if few {
				z[k] = .7*z[k] + .3*means[at.Class[j]][k]
			} else {
				z[k] = cells.sums[j][k] / max(cells.counts[j], 1)
			}
		}
	}
	return nil
}
