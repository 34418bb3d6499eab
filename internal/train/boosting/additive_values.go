package boosting

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

const (
	// mostValues is the maximum number of values of a column with a step of their own. There is one more step
	// for all other listed values and one for unlisted values.
	mostValues = fineBins - 2
	// listedNoise is the number of standard deviations of the noise that the number of records with unlisted
	// values must exceed for them to have an effect.
	listedNoise = 6
	// seenValue is the number of standard deviations of the noise above which a count is considered positive.
	seenValue = 3
)

// valueList maps each value of a column to a step.
type valueList struct {
	Column int
	Of     []uint8 // by code; the last is for all cells without a listed value
}

// bins returns the steps of the records of a block.
func (v valueList) bins(b dataset.Block) []uint8 {
	codes := b.Codes(v.Column, nil)
	other := len(v.Of) - 1
	out := make([]uint8, len(codes))
	for r, c := range codes {
		if c < 0 || int(c) > other {
			c = int32(other)
		}
		out[r] = v.Of[c]
	}
	return out
}

// valuesStatistic counts the records with each value of some columns.
type valuesStatistic struct {
	Columns, Levels []int // columns, and the numbers of values that they list
}

// New implements [mechanism.Statistic].
func (x valuesStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &valuesPass{x, m.NewHistogram(repeatOne(len(x.Columns)), slices.Max(x.Levels)+1),
		make([][]uint16, len(x.Columns)), nil}
}

type valuesPass struct {
	of    valuesStatistic
	hist  *mechanism.Histogram
	bins  [][]uint16
	codes []int32
}

func (p *valuesPass) Add(b mechanism.Block) {
	for i, j := range p.of.Columns {
		p.bins[i] = p.bins[i][:0]
		if cap(p.codes) < b.Len() {
			p.codes = make([]int32, max(blockRows, b.Len()))
		}
		for _, c := range b.Codes(j, p.codes) {
			if c < 0 || int(c) > p.of.Levels[i] {
				c = int32(p.of.Levels[i])
			}
			p.bins[i] = append(p.bins[i], uint16(c))
		}
	}
	p.hist.Add(p.bins)
}

func (p *valuesPass) Cells() mechanism.Cells {
	return p.hist.Cells()
}

// valueGroups are the steps of a column of many values.
type valueGroups struct {
	of     []uint8   // by code, as in valueList
	counts []float64 // released number of records of each step
	sizes  []int     // number of values in each step
}

// groupValues gives every value a step of its own; if there are too many, the less frequent ones share a step.
// The last count is that of all cells without a listed value.
func groupValues(counts []float64) valueGroups {
	listed := len(counts) - 1
	order := make([]int, listed)
	for v := range order {
		order[v] = v
	}
	own := listed
	if listed > mostValues {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(counts[b], counts[a])
		})
		own = mostValues
		slices.Sort(order[:own])
	}
	g := valueGroups{of: make([]uint8, len(counts))}
	add := func(v, step int) {
		if step == len(g.counts) {
			g.counts = append(g.counts, 0)
			g.sizes = append(g.sizes, 0)
		}
		g.of[v] = uint8(step)
		g.counts[step] += counts[v]
		g.sizes[step]++
	}
	for k, v := range order {
		add(v, min(k, own))
	}
	add(listed, len(g.counts))
	return g
}

// countValues releases the number of records with each value of the columns of many values, as a part of the
// draw of the counts, and makes the shapes of these columns. The most frequent values become entries of x.
func (b *booster) countValues() error {
	many := linear.ManyValues(b.columns[:len(b.columns)-1])
	if len(many) == 0 {
		return nil
	}
	x := valuesStatistic{Columns: many}
	for _, j := range many {
		x.Levels = append(x.Levels, len(b.columns[j].Categories))
	}
	acc, err := mechanism.Sum[*valuesPass](b.ctx, b.session, b.records, x)
	if err != nil {
		return err
	}
	released, err := mechanism.GaussianShare(
		b.session,
		countsLeaf,
		0,
		0,
		b.countParts(len(many)),
		acc.hist.Bound(),
	)
	if err != nil {
		return err
	}
	b.state.Columns = slices.Clone(b.columns)
	numbers, _ := numericFeatures(b.columns)
	width := slices.Max(x.Levels) + 1
	sigma := b.session.Scale(countsLeaf)
	for i, j := range many {
		counts := released.Value()[i*width : i*width+x.Levels[i]+1]
		g := groupValues(counts)
		b.state.Columns[j] = linear.Frequent(b.columns[j], counts, seenValue*sigma)
		b.state.Values = append(b.state.Values, valueList{j, g.of})
		s := &shape{
			column: j,
			bins:   len(numbers) + 1 + i,
			levels: &g,
			values: make([]float64, len(g.counts)),
			mean:   make([]float64, len(g.counts)),
		}
		s.groups.counts = g.divisors(sigma)
		b.valued = append(b.valued, s)
	}
	return nil
}

// countParts returns the weights of the two parts of the counts, each proportional to its number of lists, so
// that all counts have the same noise.
func (b *booster) countParts(many int) []int {
	numbers, _ := numericFeatures(b.columns)
	return []int{many, len(numbers) + 1}
}

// learnIndependent sets the values to the posterior means under an independent prior of common variance t,
// given averaged observations with these standard deviations.
func (s *shape) learnIndependent(deviation []float64) []float64 {
	signal := make([]float64, len(deviation))
	energy := make([]float64, len(deviation))
	largest := 0.
	for i, d := range deviation {
		signal[i], energy[i] = 1/(d*d), s.mean[i]*s.mean[i]/(d*d)
		largest = max(largest, signal[i])
	}
	t, _ := mostLikelyVariance(
		geometricGrid(shapeLeast/largest, max(shapeMost/largest, 1), shapeSteps), signal, energy)
	s.last = posterior{nil, signal, deviation}
	step := make([]float64, len(deviation))
	for i, x := range signal {
		signal[i] = t * x / (1 + t*x)
		next := signal[i] * s.mean[i]
		step[i], s.values[i] = next-s.values[i], next
	}
	return step
}

// divisors returns the counts by which sums are divided. Too large a count slows learning; too small a count
// lets it overshoot. A count that is not significantly positive is replaced by the posterior mean plus a
// standard deviation, under an exponential prior whose mean is the mean of these counts, which is known well.
// With m that mean, the posterior is normal with mean n - sigma^2/m and standard deviation sigma, truncated at
// 0. The values of a common step were selected for small noisy counts, so its count is the number of records
// that the other steps leave.
func (g *valueGroups) divisors(sigma float64) []float64 {
	rest := 0.
	few := 0.
	for k, n := range g.counts {
		if rest += n; g.sizes[k] == 1 && n > seenValue*sigma {
			rest -= n
		} else {
			few += float64(g.sizes[k])
		}
	}
	mean := max(rest/max(few, 1), 1)
	out := make([]float64, len(g.counts))
	for k, n := range g.counts {
		switch {
		case g.sizes[k] > 1:
			out[k] = max(n, rest, sigma*math.Sqrt(float64(min(g.sizes[k], 9))))
		case n > seenValue*sigma:
			out[k] = n
		default:
			out[k] = max(positivePart(n-sigma*sigma/mean, sigma), 1)
		}
	}
	return out
}

// positivePart returns the mean plus the standard deviation of a normal distribution truncated at 0.
func positivePart(mean, sigma float64) float64 {
	z := mean / sigma
	if z < -6 { // approximately exponential
		return -2 * sigma / z
	}
	h := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / normalCDF(z)
	return sigma * (z + h + math.Sqrt(max(1-z*h-h*h, 0)))
}

// shares returns the steps' shares of the records, from counts that exceed the noise.
func (g *valueGroups) shares(sigma float64) []float64 {
	out := make([]float64, len(g.counts))
	sum := 0.
	for k, n := range g.counts {
		if n > sigma*math.Sqrt(float64(g.sizes[k])) {
			out[k] = n
			sum += n
		}
	}
	for k := range out {
		if sum > 0 {
			out[k] /= sum
		} else {
			out[k] = 1 / float64(len(out))
		}
	}
	return out
}

// entries returns, for each step of a column of many values, its entry of x, or -1 for all steps without entries.
func (b *booster) entries(s *shape) []int {
	out := slices.Repeat([]int{-1}, len(s.values))
	for k, slot := range scaling.NewEncoder(b.state.Columns[:len(b.columns)-1], nil).Slots() {
		if slot.Column != s.column {
			continue
		}
		for code, level := range b.state.Columns[s.column].Levels {
			if int(level) == slot.Category {
				out[s.levels.of[code]] = k
			}
		}
	}
	return out
}

// effects returns the contribution of a column of many values by step: through an entry of x, and beyond it.
func (b *booster) effects(s *shape, theta []float64) []float64 {
	out := slices.Clone(s.values)
	for k, entry := range b.entries(s) {
		if entry >= 0 {
			out[k] += theta[entry]
		}
	}
	return out
}

// addValues adds the columns of many values to a model that has terms for their entries only.
func (b *booster) addValues(m *regression.Additive) {
	of := make([][]int, len(m.Columns)) // terms by column
	for i, t := range m.Terms {
		of[t.Column] = append(of[t.Column], i)
	}
	shapes := make([]*shape, len(m.Columns))
	for _, s := range b.valued {
		shapes[s.column] = s
	}
	var terms []regression.Term
	var score []float64
	add := func(t regression.Term, at int) { // the score is that of term at of the entries
		terms = append(terms, t)
		if m.Score != nil && at >= 0 {
			score = append(score, m.Score.Coefficients[at])
		} else {
			score = append(score, 0)
		}
	}
	for j, list := range of {
		if shapes[j] != nil {
			b.valueTerms(m, shapes[j], list, add)
			continue
		}
		for _, i := range list {
			add(m.Terms[i], i)
		}
	}
	m.Terms = terms
	if m.Score != nil {
		m.Score.Coefficients = score
	}
}

// valueTerms adds the terms of a column of many values to a model: the effects of entries, whose terms are
// given, plus those of the steps, less their mean m over the released counts, which goes to the intercept. With
// C the variances of the noise in the values, p the shares of the steps, s the noise of a count and n the
// number of records, the variance of such an effect is C_v (1 - 2 p_v) + sum p^2 C + sum (s (f - m)/n)^2.
func (b *booster) valueTerms(
	m *regression.Additive,
	s *shape,
	entries []int,
	add func(regression.Term, int),
) {
	sigma := b.session.Scale(countsLeaf)
	half := b.frame.Target().Half()
	p := s.levels.shares(sigma)
	noise := s.variances()
	mean := 0.
	total := 0.
	common := 0.
	for k, f := range s.values {
		mean += p[k] * f
		total += max(s.levels.counts[k], 0)
	}
	for k, f := range s.values {
		common += p[k]*p[k]*noise.At(k, k) +
			float64(s.levels.sizes[k])*square(sigma*(f-mean)/max(total, minRecords))
	}
	m.Intercept = saturate(m.Intercept + half*mean)
	m.InterceptStdError = saturate(math.Hypot(m.InterceptStdError, half*math.Sqrt(common)))
	levels := b.state.Columns[s.column].Levels
	term := func(code int, t regression.Term) {
		k := int(s.levels.of[code])
		entry := -1
		t.Column = s.column
		t.Coefficient = half * (s.values[k] - mean)
		t.StdError = half * math.Sqrt(max(noise.At(k, k)*(1-2*p[k])+common, 0))
		if at := int(levels[code]); at < len(entries) {
			entry = entries[at]
			t.Coefficient += m.Terms[entry].Coefficient
			t.StdError = math.Hypot(t.StdError, m.Terms[entry].StdError)
		}
		t.Coefficient, t.StdError = saturate(t.Coefficient), saturate(t.StdError)
		add(t, entry)
	}
	c := b.columns[s.column]
	to := &m.Columns[s.column]
	to.Categories = c.Categories
	to.Other = c.Other
	for v, name := range c.Categories {
		term(v, regression.Term{Category: name})
	}
	if c.Other || s.levels.counts[len(s.values)-1] > listedNoise*sigma {
		to.Other = true
		term(len(c.Categories), regression.Term{Other: true})
	}
}

// valueSpread returns the spread of the contribution of a column of many values. Its parameters are the
// coefficients of its entries and the values of its steps.
func (b *booster) valueSpread(
	s *shape,
	theta []float64,
	cov *mat.SymDense,
) regression.Spread {
	sigma := b.session.Scale(countsLeaf)
	entries := b.entries(s)
	steps := len(s.values)
	var slots []int
	for _, k := range entries {
		if k >= 0 && !slices.Contains(slots, k) {
			slots = append(slots, k)
		}
	}
	c := regression.Cells{
		Values: b.effects(s, theta),
		Counts: s.levels.counts,
		Basis:  mat.NewDense(steps, len(slots)+steps, nil),
		Cov:    mat.NewSymDense(len(slots)+steps, nil),
	}
	for i, k := range slots {
		for j, l := range slots[i:] {
			c.Cov.SetSym(i, i+j, cov.At(k, l))
		}
	}
	noise := s.variances()
	for k, n := range s.levels.sizes {
		c.Noise = append(c.Noise, sigma*math.Sqrt(float64(n)))
		c.Basis.Set(k, len(slots)+k, 1)
		if i := slices.Index(slots, entries[k]); i >= 0 {
			c.Basis.Set(k, i, 1)
		}
		c.Cov.SetSym(len(slots)+k, len(slots)+k, noise.At(k, k))
	}
	out := c.Spread()
	out.Unit = b.frame.Target().Half()
	return out
}

// variances returns the diagonal covariance of the noise in independent values.
func (s *shape) variances() *mat.SymDense {
	out := mat.NewSymDense(len(s.values), nil)
	for k, x := range s.last.shrink {
		out.SetSym(k, k, square(x/s.groups.counts[k])/s.weight)
	}
	return out
}
