package adassp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/gram"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Settings of the joint Gram trainer if only private columns may change. They are public constants; see
// docs/proofs/brc.md, "joint-gram with private columns".
const (
	// crossShare is k, the squared length of a weighted public part relative to that of the private part. With
	// 1, the products of public and private entries get 1.06 times the noise that they would need alone, and
	// those of private entries 1.5 times.
	crossShare = 1
	// featureWeight is the weight of a public feature relative to the target in products with private entries;
	// a smaller weight means more noise.
	featureWeight = .5
	// partlyRidge times the size of the noise is the ridge penalty.
	partlyRidge = .35
)

// protectsFeaturesOnly reports whether the run protects private columns only and the target,
// the last one, is not among them, so that blocks of public columns are exact.
func protectsFeaturesOnly(columns []dataset.Column, rel budget.Relation) bool {
	return rel == budget.SubstitutePrivateColumns && !columns[len(columns)-1].Private
}

// layout separates the entries of an encoded row into public and private ones. Entry len(slots) is the
// constant.
type layout struct {
	enc             *scaling.Encoder
	public, private []int // entries; those of the target and the constant are the last public ones
	targets         int   // entries of the target: 1, or one per class
	weights         []int // of the public entries
	limit           float64
}

func newLayout(columns []dataset.Column, ranges []scaling.Range) layout {
	l := layout{enc: scaling.NewEncoder(columns, ranges)}
	var protected []dataset.Column
	features := 0 // maximum squared length of the public features
	for _, c := range columns[:len(columns)-1] {
		if c.Private {
			protected = append(protected, c)
		} else {
			features++
		}
	}
	l.limit = scaling.NewEncoder(protected, nil).NormLimit(0)
	// the target's entries have a total length of at most 1, for classes too
	longest := math.Sqrt(1 +
		featureWeight*featureWeight*(float64(features)+linear.Kappa*linear.Kappa))
	times := math.Sqrt(crossShare*l.limit) / longest
	slots := l.enc.Slots()
	for i, s := range slots {
		if columns[s.Column].Private {
			l.private = append(l.private, i)
			continue
		}
		weight := featureWeight * times
		if s.Column == len(columns)-1 {
			weight = times
			l.targets++
		}
		l.public = append(l.public, i)
		l.weights = append(l.weights, mechanism.CrossWeight(weight))
	}
	l.public = append(l.public, len(slots))
	l.weights = append(l.weights, mechanism.CrossWeight(featureWeight*times))
	return l
}

// partStatistic is the statistic of [mechanism.PartGram] over the encoded rows.
type partStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
}

// New implements [mechanism.Statistic].
func (x partStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	l := newLayout(x.Columns, x.Ranges)
	return &partPass{
		rows:   linear.NewRows(l.enc),
		layout: l,
		sums:   m.NewPartGram(l.weights, len(l.private), l.limit),
	}
}

// partPass encodes blocks and passes their public and private parts to an accumulator.
type partPass struct {
	rows   *linear.Rows
	layout layout
	sums   *mechanism.PartGram
	u, z   [][]int16
}

func (p *partPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	p.u = p.u[:0]
	p.z = p.z[:0]
	for _, i := range p.layout.public {
		p.u = append(p.u, p.rows.X[i])
	}
	for _, i := range p.layout.private {
		p.z = append(p.z, p.rows.X[i])
	}
	p.sums.Add(p.u, p.z)
}

func (p *partPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// releasePartly releases the moments if only private columns may change: those of public entries, including the
// target and the constant, are exact; one release of the leaf "gram" holds those of private entries.
func releasePartly(
	ctx context.Context,
	s *mechanism.Session,
	columns []dataset.Column,
	r mechanism.Records,
	ranges []scaling.Range,
) (partMoments, error) {
	l := newLayout(columns, ranges)
	m := partMoments{
		layout: l,
		cross:  make([]float64, len(l.weights)),
	}
	acc, err := mechanism.Sum[*partPass](ctx, s, r, partStatistic{columns, ranges})
	if err != nil {
		return m, err
	}
	exact, err := acc.sums.Exact()
	if err != nil {
		return m, err
	}
	m.exact = exact.Value()
	if len(l.private) > 0 {
		bound, err := acc.sums.Bound()
		if err != nil {
			return m, err
		}
		noisy, err := mechanism.Gaussian(s, "gram", bound)
		if err != nil {
			return m, err
		}
		m.products, m.squares, m.cross, m.square = acc.sums.Unpack(noisy.Value(), s.Scale("gram"))
	}
	return m, ctx.Err()
}

// fitPartly fits a numeric target if only private columns may change.
func fitPartly(
	ctx context.Context,
	s *mechanism.Session,
	data method.Data,
) (*method.Fit, error) {
	m, err := releasePartly(ctx, s, data.Columns, data.Records, data.Ranges)
	if err != nil {
		return nil, err
	}
	fit := m.solve()[0]
	d := m.distribution()
	model := linear.Model(data.Columns, m.enc, fit, d, true)
	n := len(m.public)
	cross := m.exact[gram.Index(n, n-2, n-1)]
	weight := m.exact[gram.Index(n, n-1, n-1)]
	mean := linear.MeanOf(m.enc.Range(len(data.Columns)-1), cross, weight)
	return linear.FitOf(model, mean, linear.Spreads(data.Columns, m.enc, fit, d)), nil
}

// partMoments holds second moments; those with private entries are noisy.
type partMoments struct {
	layout
	exact             []float64 // public by public, packed
	products, squares []float64 // public by private, in rows, and private by private, packed
	cross             []float64 // standard deviation of the noise in a row of products
	square            float64   // standard deviation of the noise on the diagonal of squares; 1/sqrt2 of it elsewhere
}

// solve fits every entry of the target by the entries of features and the constant, as for the joint matrix:
// theta = (A+ + lambda I)^-1 v, with lambda = partlyRidge times the size of the noise in A. The noise of a
// private entry of v - A theta is e_i - sum_j E_ji theta_j - sum_l P_il theta_l, j public and l private; that
// of a public entry is -sum_i E_ji theta_i. The covariance M of v - A theta follows; that of theta is S M S to
// first order, S = (A+ + lambda I)^-1.
func (m partMoments) solve() []linear.Solution {
	sums, trace := m.packMoments()
	first := sums.P - 1 - m.targets
	a := sums.Features(first)
	// noise-free public blocks may be singular, for example one-hot blocks
	inverse := linear.NewSpectrum(a).RidgeInverse(max(partlyRidge*m.noise(), 1e-9*max(trace, 1)))
	fits := make([]linear.Solution, m.targets)
	for t := range fits {
		theta := mat.NewVecDense(a.SymmetricDim(), nil)
		theta.MulVec(inverse, sums.Against(first, first+t))
		fits[t] = linear.Solution{
			Theta: theta.RawVector().Data,
			Cov:   m.covariance(inverse, theta),
		}
	}
	return fits
}

// distribution returns the distribution of the features, exact between public entries.
func (m partMoments) distribution() linear.Distribution {
	sums, _ := m.packMoments()
	a := sums.Features(sums.P - 1 - m.targets)
	deviation := make([]float64, a.SymmetricDim()) // of the products of a public entry with private ones; 0 for a private entry
	for k, j := range m.public {
		if k == len(m.public)-1 {
			j = len(deviation) - 1
		} else if j >= len(deviation)-1 {
			continue
		}
		deviation[j] = m.cross[k]
	}
	private := make([]bool, len(deviation))
	for _, i := range m.private {
		private[i] = true
	}
	return linear.Distribution{
		Second: a,
		Noise: func(i, j int) float64 {
			switch {
			case i == j && private[i]:
				return m.square
			case private[i] && private[j]:
				return m.square / math.Sqrt2
			case private[i]:
				return deviation[j]
			case private[j]:
				return deviation[i]
			}
			return 0
		},
	}
}

// packMoments returns all moments as one matrix, and the sum of the absolute values on its diagonal.
func (m partMoments) packMoments() (sums linear.Packed, trace float64) {
	entries := len(m.public) + len(m.private)
	full := mat.NewSymDense(entries, nil)
	for a, i := range m.public {
		for b := a; b < len(m.public); b++ {
			full.SetSym(i, m.public[b], m.exact[gram.Index(len(m.public), a, b)])
		}
		for b, j := range m.private {
			full.SetSym(i, j, m.products[a*len(m.private)+b])
		}
	}
	for a, i := range m.private {
		for b := a; b < len(m.private); b++ {
			full.SetSym(i, m.private[b], m.squares[gram.Index(len(m.private), a, b)])
		}
	}
	sums = linear.Packed{
		P:      entries,
		Values: make([]float64, 0, gram.Len(entries)),
	}
	for i := range entries {
		trace += math.Abs(full.At(i, i))
		for j := i; j < entries; j++ {
			sums.Values = append(sums.Values, full.At(i, j))
		}
	}
	return sums, trace
}

// covariance returns S M S, with S the inverse.
func (m partMoments) covariance(
	inverse *mat.SymDense,
	theta *mat.VecDense,
) *mat.SymDense {
	var half, cov mat.Dense
	dense := mat.DenseCopyOf(inverse) // products of two symmetric matrices would be computed entry by entry
	half.Mul(dense, m.residual(theta))
	cov.Mul(&half, dense)
	return linear.Covariance(&cov)
}

// noise approximates the operator norm of the noise in A: sqrt(2p) for the private block, a symmetric matrix of
// p rows, and sqrt(q) + sqrt(p) for the q x p cross block, in standard deviations.
func (m partMoments) noise() float64 {
	p := float64(len(m.private))
	q := float64(len(m.public) - m.targets)
	return max(m.square*math.Sqrt(2*p), m.cross[len(m.cross)-1]*(math.Sqrt(p)+math.Sqrt(q)))
}

// residual returns the covariance of the noise in v - A theta. Entries of the target differ in it only by their
// theta.
func (m partMoments) residual(theta *mat.VecDense) *mat.SymDense {
	k := theta.Len()
	out := mat.NewSymDense(k, nil)
	constant := len(m.public) - 1
	target := constant - 1 // any target entry: their weights are equal
	label, square, half := m.cross[target]*m.cross[target], 0.0, m.square*m.square/2
	for _, i := range m.private {
		square += theta.AtVec(i) * theta.AtVec(i)
	}
	alike := label + half*square
	for a, j := range m.public {
		switch {
		case a == constant: // its position in theta, where the target's entries are left out
			j = k - 1
		case a >= constant-m.targets:
			continue
		}
		variance := m.cross[a] * m.cross[a]
		alike += variance * theta.AtVec(j) * theta.AtVec(j)
		out.SetSym(j, j, variance*square)
		for _, i := range m.private {
			out.SetSym(i, j, variance*theta.AtVec(i)*theta.AtVec(j))
		}
	}
	for a, i := range m.private {
		for _, l := range m.private[a:] {
			out.SetSym(i, l, half*theta.AtVec(i)*theta.AtVec(l))
		}
		out.SetSym(i, i, out.At(i, i)+alike)
	}
	return out
}
