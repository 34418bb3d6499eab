package linear

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Runs that protect the target only (docs/proofs/private-target.md, "One vector of the labels is enough"). All features
// are public, so the matrix G = sum x x^T of the rows x, the scaled features with the constant [Kappa], is exact, and rows are not limited. Labels
// enter least squares and logistic regression through the sums of y x alone, and only these are released.

const (
	// flatShare is the multiple of the identity in the covariance of the noise, relative to the mean eigenvalue of G/n.
	flatShare = .1
	// maxWhitened is the largest number of entries of a row for which the noise follows G: whitening takes its square
	// in time per record. Beyond, the noise is the same in all directions.
	maxWhitened = 512
)

// LabelMoments are the exact second moments of public features and the noisy sums of their products with private
// labels, in the coordinates of the eigenvectors of the former. They are public.
type LabelMoments struct {
	Gram     *mat.SymDense // exact, the constant last
	Spectrum Spectrum      // of Gram, with eigenvalues of at least 0
	Products [][]float64   // one list for numbers, one per class otherwise
	Noise    []float64     // standard deviation of the noise in each coordinate, the same in all lists
}

// ReleaseLabels releases the sums of y x, or of x for each class, over the records. The target is the last column. It
// spends draw 0 of the Gaussian leaf of that name in s, and returns [mechanism.ErrRelation] unless the run protects the
// target and no feature.
func ReleaseLabels(
	ctx context.Context,
	s *mechanism.Session,
	leaf string,
	d method.Data,
) (*LabelMoments, error) {
	if err := d.CheckLabelOnly(s.Relation()); err != nil {
		return nil, err
	}
	stat := labelStatistic{
		Columns: d.Columns,
		Ranges:  d.Ranges,
	}
	acc, err := mechanism.Sum[*publicGramPass](ctx, s, d.Records, publicGramStatistic(stat))
	if err != nil {
		return nil, err
	}
	exact, longest, err := acc.gram.Exact()
	if err != nil {
		return nil, err
	}
	m := &LabelMoments{Gram: Packed{acc.frame.entries(), exact.Value()}.Symmetric()}
	m.Spectrum = NewSpectrum(m.Gram)
	for k, e := range m.Spectrum.Values {
		m.Spectrum.Values[k] = max(e, 0)
	}
	shape := m.noiseShape(longest.Value())
	stat.Whitening = shape.whitening
	sums, err := mechanism.Sum[*labelPass](ctx, s, d.Records, stat)
	if err != nil {
		return nil, err
	}
	bound, err := sums.sums.Bound()
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.Gaussian(s, leaf, bound)
	if err != nil {
		return nil, err
	}
	m.unwhiten(noisy.Value(), s.Scale(leaf), shape)
	return m, ctx.Err()
}

// noiseShape describes the rows z that are summed. Coordinate k of z is that of x along eigenvector k divided by
// scales[k], or of x itself without whitening; so noise of one size in all entries of sum y z is noise of standard
// deviation proportional to scales[k] in coordinate k of sum y x.
//
// Noise with the covariance C around sum y x needs the standard deviation 2 max sqrt(x^T C^-1 x)/mu. C = G/n makes the
// error of a prediction equally large for all records, but then a record in a direction that few others have decides
// the maximum; C = I ignores the known x. scales[k]^2 = e_k/n + flatShare times the mean of e/n is
// between the two. Any such C preserves privacy, because it is a function of public columns.
type noiseShape struct {
	whitening []float64 // by entries of z, as many weights of the entries of x; nil for z = x
	scales    []float64
}

func (m *LabelMoments) noiseShape(longest float64) noiseShape {
	p := len(m.Spectrum.Values)
	shape := noiseShape{scales: make([]float64, p)}
	total := 0.
	for _, e := range m.Spectrum.Values {
		total += e
	}
	n := m.records()
	if p > maxWhitened || !(total > 0) || !(n > 0) {
		for k := range shape.scales {
			shape.scales[k] = 1
		}
		return shape
	}
	least := math.Inf(1)
	for k, e := range m.Spectrum.Values {
		shape.scales[k] = math.Sqrt(e/n + flatShare*total/n/float64(p))
		least = min(least, shape.scales[k])
	}
	// Then no z is longer than 1, the end of the grid.
	for k := range shape.scales {
		shape.scales[k] *= longest / least
	}
	shape.whitening = make([]float64, 0, p*p)
	for k := range p {
		for j := range p {
			shape.whitening = append(shape.whitening, m.Spectrum.Vectors.At(j, k)/shape.scales[k])
		}
	}
	return shape
}

// records returns the number of records.
func (m *LabelMoments) records() float64 {
	last := m.Gram.SymmetricDim() - 1
	return m.Gram.At(last, last) / (Kappa * Kappa)
}

// unwhiten sets the products from the released sums of z, whose noise has the standard deviation sigma.
func (m *LabelMoments) unwhiten(
	released []float64,
	sigma float64,
	shape noiseShape,
) {
	p := len(shape.scales)
	m.Noise = make([]float64, p)
	for k, scale := range shape.scales {
		m.Noise[k] = sigma * scale
	}
	for from := 0; from < len(released); from += p {
		q := slices.Clone(released[from : from+p])
		if shape.whitening == nil {
			q = m.rotated(q)
		} else {
			for k, scale := range shape.scales {
				q[k] *= scale
			}
		}
		m.Products = append(m.Products, q)
	}
}

// rotated returns the coordinates of a vector along the eigenvectors.
func (m *LabelMoments) rotated(x []float64) []float64 {
	var out mat.VecDense
	out.MulVec(m.Spectrum.Vectors.T(), mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

// Entries returns the vector with the given coordinates along the eigenvectors.
func (m *LabelMoments) Entries(coordinates []float64) []float64 {
	var out mat.VecDense
	out.MulVec(m.Spectrum.Vectors, mat.NewVecDense(len(coordinates), coordinates))
	return out.RawVector().Data
}

// Totals returns the exact sums of the entries of x over all records, in coordinates.
func (m *LabelMoments) Totals() []float64 {
	last := m.Gram.SymmetricDim() - 1
	sums := make([]float64, last+1)
	for j := range sums {
		sums[j] = m.Gram.At(j, last) / Kappa
	}
	return m.rotated(sums)
}

// Penalties returns the ridge penalty of each coordinate for products q with noise of the given standard deviations,
// where the products without noise are curvature[k] theta_k: that of the mean of theta_k given q, for theta_k with a
// normal distribution of mean 0 and a common variance v. v is the one under which q is most likely, of a grid: it is
// read from released values, so it is free. As the noise goes to 0, so do the penalties.
func Penalties(curvature, q, noise []float64) []float64 {
	out := make([]float64, len(q))
	best := math.Inf(-1)
	chosen := 0.
	for step := -40; step <= 40; step++ {
		v := math.Exp2(float64(step) / 2)
		likelihood := 0.
		for k, e := range curvature {
			if s := v*e*e + noise[k]*noise[k]; s > 0 {
				likelihood -= math.Log(s)/2 + q[k]*q[k]/(2*s)
			}
		}
		if likelihood > best {
			best = likelihood
			chosen = v
		}
	}
	for k, e := range curvature {
		if out[k] = noise[k] * noise[k] / (chosen * e); !(out[k] <= maxPenalty) {
			out[k] = maxPenalty
		}
	}
	return out
}

// maxPenalty is the penalty of a direction that no record has.
const maxPenalty = 1e18

// FlatRidge returns flatShare times the mean eigenvalue: the part of the covariance of the noise that is the same in all
// directions, in units of the part that follows the rows.
func (m *LabelMoments) FlatRidge() float64 {
	total := 0.
	for _, e := range m.Spectrum.Values {
		total += e
	}
	return flatShare * total / float64(len(m.Spectrum.Values))
}

// EntryNoise returns the root mean square of the standard deviations of the noise.
func (m *LabelMoments) EntryNoise() float64 {
	sum := 0.
	for _, v := range m.Noise {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(m.Noise)))
}

// CenteredNoise returns the standard deviation of the noise in the product of entry j with a target less mean times that of the
// constant.
func (m *LabelMoments) CenteredNoise(j int, mean float64) float64 {
	last := m.Gram.SymmetricDim() - 1
	sum := 0.
	for k, v := range m.Noise {
		sum += square(v * (m.Spectrum.Vectors.At(j, k) - mean*m.Spectrum.Vectors.At(last, k)))
	}
	return math.Sqrt(sum)
}

// Solve fits product list t by the features: (G + Lambda)^-1 q in coordinates, with the penalties of [Penalties], or
// without any where ridge is false. The covariance is that of the noise for these penalties.
func (m *LabelMoments) Solve(t int, ridge bool) Solution {
	q := m.Products[t]
	penalties := make([]float64, len(q))
	if ridge {
		penalties = Penalties(m.Spectrum.Values, q, m.Noise)
	}
	inverse := make([]float64, len(q))
	theta := make([]float64, len(q))
	for k, e := range m.Spectrum.Values {
		if e+penalties[k] > m.floor() {
			inverse[k] = 1 / (e + penalties[k])
		}
		theta[k] = q[k] * inverse[k]
	}
	return Solution{
		Theta: m.Entries(theta),
		Cov: m.Covariance(func(k int) float64 {
			return square(m.Noise[k] * inverse[k])
		}),
	}
}

// floor is the eigenvalue below which a direction counts as one that no record has: the rounding of G.
func (m *LabelMoments) floor() float64 {
	return 1e-10 * max(slices.Max(m.Spectrum.Values), 1)
}

// Covariance returns the matrix with the eigenvectors and the given eigenvalues.
func (m *LabelMoments) Covariance(variance func(k int) float64) *mat.SymDense {
	k := -1
	return m.Spectrum.Apply(func(float64) float64 {
		k++
		return variance(k)
	})
}

// Distribution returns the distribution of the features, which is exact.
func (m *LabelMoments) Distribution() Distribution {
	return Distribution{
		Second: m.Gram,
		Noise:  func(int, int) float64 { return 0 },
	}
}

// Constant returns the noisy product of the constant entry with the labels of list t, and the exact sum of its square.
func (m *LabelMoments) Constant(t int) (cross, weight float64) {
	last := m.Gram.SymmetricDim() - 1
	return m.Entries(m.Products[t])[last], m.Gram.At(last, last)
}

// FitLabels fits a numeric target of a run that protects the target only, by ridge regression or, where ridge is false,
// by least squares.
func FitLabels(
	ctx context.Context,
	s *mechanism.Session,
	leaf string,
	d method.Data,
	ridge bool,
) (*method.Fit, error) {
	m, err := ReleaseLabels(ctx, s, leaf, d)
	if err != nil {
		return nil, err
	}
	enc := scaling.NewEncoder(d.Columns, d.Ranges)
	fit := m.Solve(0, ridge)
	model := Model(d.Columns, enc, fit, m.Distribution(), true)
	cross, weight := m.Constant(0)
	return FitOf(model, MeanOf(enc.Range(len(d.Columns)-1), cross, weight),
		Spreads(d.Columns, enc, fit, m.Distribution())), nil
}

// labelFrame encodes public features and private labels.
type labelFrame struct {
	columns []dataset.Column
	numbers *Frame      // of a numeric target
	classes *ClassFrame // of a target of classes
}

func newLabelFrame(
	columns []dataset.Column,
	ranges []scaling.Range,
) labelFrame {
	if columns[len(columns)-1].Kind == dataset.Category {
		return labelFrame{columns, nil, ClassFrameOf(columns, ranges)}
	}
	return labelFrame{columns, FrameOf(columns, ranges), nil}
}

// entries returns the number of entries of x, the constant included.
func (f labelFrame) entries() int {
	if f.classes != nil {
		return f.classes.Slots() + 1
	}
	return f.numbers.Slots()
}

// labelRows is the memory in which one goroutine encodes blocks.
type labelRows struct {
	numbers *TargetRows
	classes *ClassRows
}

func (f labelFrame) newRows() labelRows {
	if f.classes != nil {
		return labelRows{classes: f.classes.NewRows()}
	}
	return labelRows{numbers: f.numbers.NewRows()}
}

// encode returns the rows of the features of a block.
func (r labelRows) encode(b dataset.Block) [][]int16 {
	if r.classes != nil {
		r.classes.Encode(b)
		return r.classes.X
	}
	r.numbers.Encode(b)
	return r.numbers.X
}

// publicGramStatistic is the sum of x x^T over the features of all records.
type publicGramStatistic labelStatistic

// New implements [mechanism.Statistic].
func (x publicGramStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := newLabelFrame(x.Columns, x.Ranges)
	return &publicGramPass{f, f.newRows(), m.NewPublicGram(f.entries())}
}

type publicGramPass struct {
	frame labelFrame
	rows  labelRows
	gram  *mechanism.PublicGram
}

func (p *publicGramPass) Add(b mechanism.Block) {
	p.gram.Add(p.rows.encode(b.Block))
}
func (p *publicGramPass) Cells() mechanism.Cells {
	return p.gram.Cells()
}

// labelStatistic is the sum of z y over records, or of z for each class, with z = Whitening x or x.
type labelStatistic struct {
	Columns   []dataset.Column // the target last
	Ranges    []scaling.Range
	Whitening []float64
}

// New implements [mechanism.Statistic].
func (x labelStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := newLabelFrame(x.Columns, x.Ranges)
	classes := 0
	if f.classes != nil && f.classes.Classes() > 2 {
		classes = f.classes.Classes()
	}
	return &labelPass{
		rows:      f.newRows(),
		sums:      m.NewLabelSums(f.entries(), classes),
		classes:   classes,
		whitening: x.Whitening,
	}
}

type labelPass struct {
	rows      labelRows
	sums      *mechanism.LabelSums
	classes   int // 0 for numbers and two classes
	whitening []float64
	white     [][]int16
	sum       []float64
	labels    []int16
}

func (p *labelPass) Add(b mechanism.Block) {
	z := p.whitened(p.rows.encode(b.Block))
	c := p.rows.classes
	if p.classes > 0 {
		p.sums.AddClasses(z, c.Codes)
		return
	}
	p.labels = slices.Grow(p.labels[:0], b.Len())[:b.Len()]
	for i := range p.labels {
		if c != nil {
			p.labels[i] = twoClassLabel(c.Codes[i])
		} else {
			p.labels[i] = int16(p.rows.numbers.Y[i] * mechanism.FixedOne) // on the grid already
		}
	}
	p.sums.AddNumbers(z, p.labels)
}

// twoClassLabel returns the label of a code: +1 for class 1, -1 for class 0, and 0 for no class.
func twoClassLabel(code int32) int16 {
	switch code {
	case 0:
		return -mechanism.FixedOne
	case 1:
		return mechanism.FixedOne
	}
	return 0
}

// whitened returns the rows z for rows x of public entries. Rounding z to the grid is part of its definition: the sums
// are those of the rounded rows, and so is their sensitivity.
func (p *labelPass) whitened(x [][]int16) [][]int16 {
	if p.whitening == nil {
		return x
	}
	n := len(x[0])
	if p.white == nil {
		p.white = make([][]int16, len(x))
	}
	p.sum = slices.Grow(p.sum[:0], n)[:n]
	for k := range p.white {
		clear(p.sum)
		for j, column := range x {
			w := p.whitening[k*len(x)+j]
			for i, v := range column {
				p.sum[i] += float64(w * float64(v)) // the conversion forbids fusing
			}
		}
		p.white[k] = slices.Grow(p.white[k][:0], n)[:n]
		for i, v := range p.sum {
			p.white[k][i] = int16(math.Round(min(max(v, -mechanism.FixedOne), mechanism.FixedOne)))
		}
	}
	return p.white
}

func (p *labelPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}
