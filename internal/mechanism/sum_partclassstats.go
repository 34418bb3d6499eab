package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// PartClassStats accumulates the statistics of [ClassStats] where only the declared private columns of a record may change
// ([budget.SubstitutePrivateColumns]). A row is (u, z), u made of public columns and z of private ones. z is limited to a
// public norm B by itself, as in [PartGram]; u has no limit, for its largest norm R is public. There are two cases:
//
//   - The class is public. Then counts, and sums, squares and products of u, are exact. A record in no class counts nowhere.
//   - The class is private and z is empty. Then the products of u are exact. They are over all records,
//     because it is private whether a record is in a class.
type PartClassStats struct {
	stats   *ClassStats // of (u, z); its rows have no limit
	limiter *Gram       // limits z; its own sums stay empty
	public  []bool      // by entry
	labels  bool        // the class is private
	totals  []int64     // of every entry over all records; of a private class only
	records [1]int64    // number of records; likewise
	longest [2]int64    // largest |u|^2, and largest sum of u_i^4 in units of gramUnit^2 rounded up to a multiple of FixedOne^2
}

// NewPartClassStats is [Maker.NewClassStats] for rows whose private entries have norm at most sqrt(limit2); labels reports
// that the class is private. It panics where NewClassStats does, and for private entries together with a private class.
func (m Maker) NewPartClassStats(
	public []bool,
	classes int,
	limit2 float64,
	labels bool,
	w ClassWeights,
) *PartClassStats {
	private := 0
	for _, open := range public {
		if !open {
			private++
		}
	}
	if labels && private > 0 {
		panic("mechanism: exact products beside a private class need public entries only")
	}
	stats := m.NewClassStats(len(public), classes, max(limit2, 0x1p-20), w)
	limiter := &Gram{
		tap:      m.tap,
		p:        private,
		limit:    stats.rows.limit,
		relation: m.Relation(),
	}
	stats.rows.limit = math.MaxUint64
	return &PartClassStats{
		stats:   stats,
		limiter: limiter,
		public:  public,
		labels:  labels,
		totals:  make([]int64, len(public)),
	}
}

// Add is [ClassStats.Add]; private entries are shortened in place.
func (c *PartClassStats) Add(columns [][]int16, classes []int32) {
	if len(columns) != len(c.public) {
		panic("mechanism: a block of class statistics has one slice an entry of the row")
	}
	var private [][]int16
	for i, column := range columns {
		if !c.public[i] {
			private = append(private, column)
		}
	}
	if len(private) > 0 {
		c.limiter.clipRows(private)
	}
	for i := range classes {
		var square, fourth uint64
		for j, column := range columns {
			if c.public[j] {
				x := uint64(int64(column[i]) * int64(column[i]))
				square += x
				fourth += (x*x + FixedOne*FixedOne - 1) / (FixedOne * FixedOne)
			}
		}
		c.longest[0] = max(c.longest[0], int64(square))
		c.longest[1] = max(c.longest[1], int64(fourth))
	}
	if c.labels {
		products := make([][]int16, len(columns)) // the records in no class too
		for j, column := range columns {
			products[j] = clampFixed(nil, column)
			for _, v := range products[j] {
				c.totals[j] += int64(v)
			}
		}
		c.records[0] += int64(len(classes))
		before := append([]int64(nil), c.stats.rows.sums...)
		c.stats.Add(columns, classes)
		copy(c.stats.rows.sums, before)
		gram.Accumulate(c.stats.rows.sums, products)
		return
	}
	c.stats.Add(columns, classes)
}

// Cells are those that [PartClassStats.Add] adds to.
func (c *PartClassStats) Cells() Cells {
	return Join(
		c.stats.Cells(),
		sumCells(c.totals),
		sumCells(c.records[:]),
		maxCells(c.longest[:]),
	)
}

// partBlocks are the weights of the released entries, for values of 1/FixedOne and gramUnit.
type partBlocks struct {
	count   float64
	sum     float64
	square  float64
	product float64
	cross   float64
	sens    float64
}

// blocks returns the weights and the L2 sensitivity of the weighted statistics.
//
// # Private class
//
// The class of a record turns from k into k', its row u stays. Released is (a n_c, b s_c/R, c q_c/Q for every class c), Q^2 the
// largest sum of u_i^4. The blocks of k lose, and those of k' gain, at most (a, b, c) in length: D^2 = 2 (a^2 + b^2 + c^2),
// attained by the longest row if its sum of fourth powers is the largest too. If one of the two is no class, half of that.
//
// # Public class
//
// The private part turns from z into z'; row u and class stay. Released is, of a class, (b s_z/B, c q_z/Q), Q = B min(B, 1),
// and (g svec(sum z z^T)/B^2, h vec(sum u z^T)/(R B)), with h = g/2. Write s for the product of z/B and z'/B. The entries of
// z_i^2 are not negative, so the squares move by at most 2 c^2, squared. Of the rest, the sums move by
// b^2 (|z|^2+|z'|^2)/B^2 - 2 b^2 s, the cross products by at most h^2 times the same without b^2, and the squares by
// g^2 (|z|^4 + |z'|^4)/B^4 - 2 g^2 s^2. So with b^2 + h^2 in place of b^2 this is the case k = k' of [ClassStats.Bound]: with
// f = b^2 + h^2,
//
//	D^2 = 2 f + 2 c^2 + 2 g^2 + (f^2/(2 g^2) for f <= 2 g^2, and 2 f - 2 g^2 beyond).
func (c *PartClassStats) blocks() partBlocks {
	w := c.stats.weights
	r := math.Sqrt(float64(max(c.longest[0], 1))) // in 1/FixedOne
	if c.labels {
		q := math.Sqrt(float64(max(c.longest[1], 1))) * FixedOne // in gramUnit
		return partBlocks{
			count:  w.Counts,
			sum:    w.Sums / r,
			square: w.Squares / q,
			sens:   roundUp(math.Sqrt(2 * (w.Counts*w.Counts + w.Sums*w.Sums + w.Squares*w.Squares))),
		}
	}
	limit := float64(c.limiter.limit)
	h := w.Products / 2
	f := w.Sums*w.Sums + h*h
	squares := w.Squares * w.Squares
	g := w.Products * w.Products
	same := 2*f - 2*g
	if f <= 2*g {
		same = f * f / (2 * g)
	}
	return partBlocks{
		sum:     w.Sums / math.Sqrt(limit),
		square:  w.Squares / math.Sqrt(limit*min(limit, 1/gramUnit)),
		product: w.Products / limit,
		cross:   h / (r * math.Sqrt(limit)),
		sens:    roundUp(math.Sqrt(2*(f+squares+g) + same)),
	}
}

// moments returns the statistics as they are, and the private ones again for a release: every coordinate with its weight, and
// the number in the moments that its released value replaces.
func (c *PartClassStats) moments(w partBlocks) (m ClassMoments, x Weighted, to []*float64) {
	m = ClassMoments{
		Counts:   toFloats(c.stats.counts, 1),
		Products: toFloats(c.stats.rows.sums, gramUnit),
	}
	add := func(value int64, weight, unit float64, at *float64) {
		x.Values = append(x.Values, value)
		x.Weights = append(x.Weights, weight)
		x.Units = append(x.Units, unit)
		to = append(to, at)
	}
	const perCount = 1 / countUnit
	for k, n := range c.stats.counts {
		m.Sums = append(m.Sums, toFloats(c.stats.sums[k], 1./FixedOne))
		m.Squares = append(m.Squares, toFloats(c.stats.squares[k], gramUnit))
		if c.labels {
			add(n*perCount, w.count*countUnit, countUnit, &m.Counts[k])
		}
		for i, open := range c.public {
			if !open || c.labels {
				add(c.stats.sums[k][i], w.sum, 1./FixedOne, &m.Sums[k][i])
				add(c.stats.squares[k][i], w.square, gramUnit, &m.Squares[k][i])
			}
		}
	}
	if c.labels {
		m.Totals = toFloats(c.totals, 1./FixedOne)
		m.Records = float64(c.records[0])
		return m, x, to
	}
	m.Exact = c.public
	p := len(c.public)
	for i := range p {
		for j := i; j < p; j++ {
			at := gram.Index(p, i, j)
			weight := w.product * math.Sqrt2
			switch {
			case c.public[i] && c.public[j]:
				continue
			case c.public[i] != c.public[j]:
				weight = w.cross
			case i == j:
				weight = w.product
			}
			add(c.stats.rows.sums[at], weight, gramUnit, &m.Products[at])
		}
	}
	return m, x, to
}

// Bound returns the private statistics with their L2 sensitivity; see [PartClassStats.blocks]. It returns [ErrRelation] unless
// only private columns may change.
func (c *PartClassStats) Bound() (Bounded[Weighted], error) {
	if err := publicRows(c.stats.rows.relation); err != nil {
		return Bounded[Weighted]{}, err
	}
	w := c.blocks()
	_, x, _ := c.moments(w)
	return Bounded[Weighted]{x, L2, w.sens, 1, StatPartClassStatistics}, nil
}

// Release releases the private statistics as draw 0 of the leaf name and returns them together with the exact ones. If no
// statistic is private, it spends no budget.
func (c *PartClassStats) Release(
	s *Session,
	name string,
) (Public[ClassMoments], error) {
	bound, err := c.Bound()
	if err != nil {
		return Public[ClassMoments]{}, err
	}
	w := c.blocks()
	m, _, to := c.moments(w)
	if len(to) == 0 {
		return Public[ClassMoments]{m}, nil
	}
	released, noise, err := WeightedGaussian(s, name, bound)
	if err != nil {
		return Public[ClassMoments]{}, err
	}
	for k, v := range released.Value() {
		*to[k] = v
	}
	// sigma is D/mu; the noise of a value is sigma over its weight in its own measure
	sigma := noise.Value()[0] * bound.value.Weights[0] / bound.value.Units[0]
	if c.labels {
		m.CountNoise = sigma / w.count
	} else {
		m.ProductNoise = sigma * gramUnit * max(1/w.product, math.Sqrt2/w.cross)
	}
	m.SumNoise = sigma / w.sum / FixedOne
	m.SquareNoise = sigma / w.square * gramUnit
	return Public[ClassMoments]{m}, nil
}

// StatPartClassStatistics is the statistic of [PartClassStats.Bound].
const StatPartClassStatistics budget.Statistic = "private class statistics"
