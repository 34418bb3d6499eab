package boosting

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// levels describes the indicator entries of x for one column: its frequent categories, or the indicator of a missing
// cell. At most one of them is 1.
type levels struct {
	column  int
	entries []int
	shares  []float64 // of the records, by entry
}

const (
	// mostLevels is the maximum number of categories of a column that are distinguished.
	mostLevels = 24
	// levelNoise is the number of standard deviations of its noise that the number of records of a category
	// must exceed.
	levelNoise = 4
)

// levelInputs lists the levels of columns, from released counts.
func levelInputs(m *linear.Moments, columns []dataset.Column) []levels {
	second, n := secondMoments(m)
	last := second.SymmetricDim() - 1
	by := map[[2]int][]int{}
	var keys [][2]int
	for k, slot := range scaling.NewEncoder(columns[:len(columns)-1], nil).Slots() {
		if slot.Category == scaling.NumberSlot {
			continue
		}
		key := [2]int{slot.Column, min(slot.Category, 0)}
		if by[key] == nil {
			keys = append(keys, key)
		}
		if second.At(k, last)/linear.Kappa > levelNoise*m.Sigma()/linear.Kappa {
			by[key] = append(by[key], k)
		} else if by[key] == nil {
			by[key] = []int{}
		}
	}
	var out []levels
	for _, key := range keys {
		l := levels{column: key[0], entries: by[key]}
		slices.SortStableFunc(l.entries, func(a, b int) int {
			return cmp.Compare(second.At(b, last), second.At(a, last))
		})
		l.entries = l.entries[:min(len(l.entries), mostLevels)]
		for _, k := range l.entries {
			l.shares = append(l.shares, min(max(second.At(k, last)/linear.Kappa/n, 1e-3), .999))
		}
		if len(l.entries) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// secondMoments returns the released matrix of the entries of x and the number of records.
func secondMoments(m *linear.Moments) (second *mat.SymDense, n float64) {
	second = m.Spectrum().Apply(func(e float64) float64 {
		return e
	})
	return second, max(m.Records(), minRecords)
}

// inputs lists the inputs of feature maps: numeric features, then levels.
func (k *kernelBooster) inputs(columns []dataset.Column) []input {
	var out []input
	numeric, _ := numericFeatures(columns)
	for i := range numeric {
		out = append(out, input{List: i})
	}
	for _, l := range k.levels {
		out = append(out, input{
			List:    -1,
			Entries: l.entries,
		})
	}
	for i := range k.valued {
		out = append(out, input{List: len(numeric) + 1 + i})
	}
	return out
}

// marginal is the released distribution of the fine bins of a numeric feature.
type marginal struct {
	share, middle []float64 // shares of the records; distribution function at the middle of each bin
}

func newMarginal(counts []float64, sigma float64) marginal {
	m := marginal{make([]float64, len(counts)), make([]float64, len(counts))}
	sum := 0.
	for b, n := range counts {
		if n >= sigma {
			m.share[b] = max(n, 0)
			sum += m.share[b]
		}
	}
	if !(sum > 0) {
		for b := range m.share {
			m.share[b] = 1
		}
		sum = float64(len(m.share))
	}
	below := 0.
	for b := range m.share {
		m.share[b] /= sum
		m.middle[b] = below + m.share[b]/2
		below += m.share[b]
	}
	return m
}

// marginalOf returns a marginal without a distribution function.
func marginalOf(shares []float64) marginal {
	return marginal{share: shares}
}

// quantile returns the bin in which the distribution function reaches q.
func (m marginal) quantile(q float64) uint8 {
	below := 0.
	last := 0
	for b, p := range m.share {
		if p > 0 {
			last = b
		}
		if below += p; below >= q && p > 0 {
			return uint8(b)
		}
	}
	return uint8(last)
}

// syntheticRecords are drawn from a Gaussian copula of released marginals and correlations, by a public stream.
// They serve as landmarks and as a sample of the joint distribution of features; they are not records of the
// table.
type syntheticRecords struct {
	marginals []marginal // of the numbers
	values    []marginal // of the columns of many values
	bins      [][]uint8  // by input
}

const (
	syntheticCount = 3000
	// leastEigen floors the eigenvalues of the correlations.
	leastEigen = .02
)

// synthesize draws the synthetic records.
func (k *kernelBooster) synthesize() {
	p := &syntheticRecords{bins: make([][]uint8, len(k.state.Inputs))}
	sigma := k.session.Scale(countsLeaf)
	var entries []int
	for _, c := range k.counted {
		p.marginals = append(p.marginals, newMarginal(c.counts, sigma))
		entries = append(entries, c.slot)
	}
	for _, l := range k.levels {
		entries = append(entries, l.entries...)
	}
	root := k.correlationRoot(entries)
	for j := range p.bins {
		p.bins[j] = make([]uint8, syntheticCount)
	}
	stream := k.session.PublicStream("landmarks")
	for _, s := range k.valued {
		p.values = append(p.values, marginalOf(s.levels.shares(sigma)))
	}
	normal := make([]float64, len(entries)+len(p.values))
	for r := range syntheticCount {
		for i := range normal {
			normal[i] = mathext.NormalQuantile((stream.Symmetric() + 1) / 2)
		}
		k.draw(p, r, root, normal)
	}
	k.public = p
}

// draw sets a synthetic record from independent normal variates.
func (k *kernelBooster) draw(
	p *syntheticRecords,
	r int,
	root *mat.TriDense,
	normal []float64,
) {
	latent := func(i int) float64 {
		sum := 0.
		for j := 0; j <= i; j++ {
			sum += root.At(i, j) * normal[j]
		}
		return sum
	}
	at := 0
	for j, m := range p.marginals {
		p.bins[j][r] = m.quantile(normalCDF(latent(at)))
		at++
	}
	for i, l := range k.levels {
		best := 0.
		for level, share := range l.shares {
			if x := latent(at) - mathext.NormalQuantile(1-share); x > best {
				best = x
				p.bins[len(p.marginals)+i][r] = uint8(level + 1)
			}
			at++
		}
	}
	for i, m := range p.values { // independent of all others
		p.bins[len(p.marginals)+len(k.levels)+i][r] = m.quantile(normalCDF(normal[at]))
		at++
	}
}

func normalCDF(x float64) float64 {
	return math.Erfc(-x/math.Sqrt2) / 2
}

// correlationRoot returns the lower Cholesky factor of the released correlations of some
// entries of x, made positive.
func (k *kernelBooster) correlationRoot(entries []int) *mat.TriDense {
	second, n := secondMoments(k.moments)
	last := second.SymmetricDim() - 1
	d := len(entries)
	mean := make([]float64, d)
	deviation := make([]float64, d)
	for i, e := range entries {
		mean[i] = second.At(e, last) / n / linear.Kappa
		deviation[i] = math.Sqrt(max(second.At(e, e)/n-mean[i]*mean[i], 1e-4))
	}
	corr := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			corr.SetSym(
				i,
				j,
				(second.At(entries[i], entries[j])/n-mean[i]*mean[j])/deviation[i]/deviation[j],
			)
		}
	}
	corr = linear.NewSpectrum(corr).Apply(func(e float64) float64 {
		return max(e, leastEigen)
	})
	for i := range deviation {
		deviation[i] = math.Sqrt(corr.At(i, i))
	}
	for i := range d {
		for j := i; j < d; j++ {
			x := corr.At(i, j) / deviation[i] / deviation[j]
			if i == j {
				x = 1 + 1e-9
			}
			corr.SetSym(i, j, x)
		}
	}
	var chol mat.Cholesky
	var root mat.TriDense
	if !chol.Factorize(corr) { // only by rounding errors: treat the entries as independent
		identity := mat.NewSymDense(d, nil)
		for i := range d {
			identity.SetSym(i, i, 1)
		}
		chol.Factorize(identity)
	}
	chol.LTo(&root)
	return &root
}

// sliced returns the synthetic records in a range.
func (p *syntheticRecords) sliced(from, to int) [][]uint8 {
	out := make([][]uint8, len(p.bins))
	for j := range out {
		out[j] = p.bins[j][from:to]
	}
	return out
}

// landmarks returns the bins of the first synthetic records, by record.
func (p *syntheticRecords) landmarks(n int) [][]uint8 {
	out := make([][]uint8, n)
	for r := range out {
		out[r] = make([]uint8, len(p.bins))
		for j := range p.bins {
			out[r][j] = p.bins[j][r]
		}
	}
	return out
}

// features returns the features of all synthetic records, one list each.
func (p *syntheticRecords) features(m *kernelmap.Map) [][]int16 {
	phi := make([][]int16, m.Features())
	for i := range phi {
		phi[i] = make([]int16, syntheticCount)
	}
	const part = 256
	_ = parallel.ForEach(context.Background(), (syntheticCount+part-1)/part, runtime.GOMAXPROCS(0),
		func(i int) { // the background context never ends
			from := i * part
			to := min((i+1)*part, syntheticCount)
			some := make([][]int16, len(phi))
			for j := range some {
				some[j] = phi[j][from:to]
			}
			m.Apply(some, p.sliced(from, to))
		})
	return phi
}
