package describe

import "math"

// A layout maps the columns to the entries of a record in a [Matrix].
type layout struct {
	size    int
	starts  []int // of each column, -1 for one without entries
	lengths []int
}

// layoutOf lays out the numeric columns, then the category columns, then the constant.
func (r *Released) layoutOf(levels [][]int) layout {
	l := layout{
		starts:  make([]int, len(r.Columns)),
		lengths: make([]int, len(r.Columns)),
	}
	for j := range l.starts {
		l.starts[j] = -1
	}
	add := func(j, n int) {
		l.starts[j] = l.size
		l.lengths[j] = n
		l.size += n
	}
	for _, j := range r.numericColumns() {
		add(j, 1)
	}
	for i, j := range r.categoryColumns() {
		add(j, len(levels[i])+1)
	}
	l.size++
	return l
}

// sumOfProducts returns the sum of the products of entries i and j.
func (l layout) sumOfProducts(packed []float64, i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	return packed[i*l.size-i*(i-1)/2+j-i]
}

// listAssociations returns the associations of all pairs of columns.
func (r *Released) listAssociations(records noisyNumber) []Association {
	l := r.layoutOf(r.Matrix.Levels)
	m := matrix{l, r.Matrix.Packed, r.MatrixNoise, records}
	var columns []int
	for j, start := range l.starts {
		if start >= 0 {
			columns = append(columns, j)
		}
	}
	pairs := len(columns) * (len(columns) - 1) / 2
	out := []Association{}
	for i, a := range columns {
		for _, b := range columns[i+1:] {
			out = append(out, m.associateColumns(&r.Columns[a], &r.Columns[b], a, b, pairs))
		}
	}
	return out
}

// A matrix is a released [Matrix] with its layout and noise.
type matrix struct {
	layout
	packed  []float64
	noise   float64
	records noisyNumber
}

// offDiagonalNoise is the noise of an entry off the diagonal.
func (m matrix) offDiagonalNoise() float64 {
	return m.noise / math.Sqrt2
}

// associateColumns returns the association of columns a and b, one of the given number of pairs.
func (m matrix) associateColumns(
	first, second *Column,
	a, b, pairs int,
) Association {
	out := Association{
		First:  first.Name,
		Second: second.Name,
	}
	set := func(value, lower, upper, lowerAll, upperAll float64, ok bool) {
		if ok {
			out.Value = &value
			out.Lower = &lower
			out.Upper = &upper
			out.LowerAll = &lowerAll
			out.UpperAll = &upperAll
		}
	}
	const miss = normMiss + totalMiss
	all := miss / float64(pairs)
	enough := m.records.value > 0 && m.records.value >= minSignal*m.records.noise
	switch {
	case first.Kind == Numeric && second.Kind == Numeric:
		out.Measure = Correlation
		r, noise, ok := m.pairOf(m.starts[a], m.starts[b]).correlation()
		wide := twoSidedQuantile(all)
		within := func(x float64) float64 {
			return min(max(x, -1), 1)
		}
		set(
			within(r),
			within(r-z95*noise),
			within(r+z95*noise),
			within(r-wide*noise),
			within(r+wide*noise),
			ok && enough,
		)
	case first.Kind == Category && second.Kind == Category:
		out.Measure = CramersV
		t := m.contingencyTable(a, b)
		value, lower, upper, ok := t.interval(miss)
		_, lowerAll, upperAll, _ := t.interval(all)
		set(value, lower, upper, lowerAll, upperAll, ok && enough)
	default:
		if first.Kind == Category {
			a, b = b, a
		}
		out.Measure = Eta
		e := m.etaOf(m.starts[a], b)
		value, lower, upper, ok := e.interval(miss)
		_, lowerAll, upperAll, okAll := e.interval(all)
		if !okAll {
			lowerAll = 0
			upperAll = 1
		}
		set(value, lower, upper, lowerAll, upperAll, ok && enough)
	}
	return out
}

// pairOf returns the sums of two numeric entries.
func (m matrix) pairOf(i, j int) momentPair {
	constant := m.size - 1
	p := momentPair{
		count:   m.records,
		product: noisyNumber{m.sumOfProducts(m.packed, i, j), m.offDiagonalNoise()},
	}
	for k, entry := range [2]int{i, j} {
		p.sums[k] = noisyNumber{m.sumOfProducts(m.packed, entry, constant), m.offDiagonalNoise()}
		p.squares[k] = noisyNumber{m.sumOfProducts(m.packed, entry, entry), m.noise}
	}
	return p
}

// levelCount returns the number of records of a category entry, whose square and product with the constant both are that number.
func (m matrix) levelCount(entry int) noisyNumber {
	return combineMeasures(
		noisyNumber{m.sumOfProducts(m.packed, entry, entry), m.noise},
		noisyNumber{m.sumOfProducts(m.packed, entry, m.size-1), m.offDiagonalNoise()},
	)
}

// etaOf returns the sums of a numeric entry by the entries of category column b.
func (m matrix) etaOf(entry, b int) etaSums {
	constant := m.size - 1
	var e etaSums
	for k := range m.lengths[b] {
		level := m.starts[b] + k
		n := m.levelCount(level)
		e.counts, e.sums, e.countNoise = append(e.counts, n.value),
			append(e.sums, m.sumOfProducts(m.packed, entry, level)), n.noise
	}
	e.sumNoise = m.offDiagonalNoise()
	v, noise := varianceOf(
		m.records,
		noisyNumber{m.sumOfProducts(m.packed, entry, constant), m.offDiagonalNoise()},
		noisyNumber{m.sumOfProducts(m.packed, entry, entry), m.noise},
	)
	e.total = noisyNumber{m.records.value * v, m.records.value * noise}
	return e
}

// A contingency is the table of two category columns: the numbers of records of each pair of entries and of each entry.
type contingency struct {
	cells         [][]float64
	cellNoise     float64
	rows, columns []float64
	countNoise    float64
	records       noisyNumber
}

func (m matrix) contingencyTable(a, b int) contingency {
	t := contingency{
		cellNoise: m.offDiagonalNoise(),
		records:   m.records,
	}
	for i := range m.lengths[a] {
		n := m.levelCount(m.starts[a] + i)
		t.rows = append(t.rows, n.value)
		t.countNoise = n.noise
		var row []float64
		for j := range m.lengths[b] {
			row = append(row, m.sumOfProducts(m.packed, m.starts[a]+i, m.starts[b]+j))
		}
		t.cells = append(t.cells, row)
	}
	for j := range m.lengths[b] {
		t.columns = append(t.columns, m.levelCount(m.starts[b]+j).value)
	}
	return t
}

// poolSmallCategories returns, for the entries of a column with these counts, the position into which each is
// merged, or -1, and the count and number of entries of each position. Entries below four standard deviations
// of noise are pooled, and left out if together they are below that too.
func poolSmallCategories(
	counts []float64,
	noise float64,
) (at []int, totals, members []float64) {
	at = make([]int, len(counts))
	rest := 0.
	number := 0.
	for k, n := range counts {
		if n >= minSignal*noise {
			at[k] = len(totals)
			totals = append(totals, n)
			members = append(members, 1)
			continue
		}
		at[k] = -1
		rest += n
		number++
	}
	if number > 0 && rest >= minSignal*noise*math.Sqrt(number) {
		for k := range at {
			if at[k] < 0 {
				at[k] = len(totals)
			}
		}
		totals = append(totals, rest)
		members = append(members, number)
	}
	return at, totals, members
}

// interval returns Cramér's V of the table and an interval that misses it with probability miss. Small
// categories are pooled. ok is false if a column has fewer than two other categories.
//
// V² is the sum of delta²/E over the cells, divided by the number of records and by the smaller number of
// categories minus 1. delta is the deviation of a cell from the value implied by its row and column. In the
// norm with weights 1/E, removing the contributions of rows and columns from a table is an orthogonal
// projection, so the norm of delta changes by at most the norm of the noise of the cells.
func (t contingency) interval(miss float64) (value, lower, upper float64, ok bool) {
	rowAt, rows, rowMembers := poolSmallCategories(t.rows, t.countNoise)
	columnAt, columns, columnMembers := poolSmallCategories(t.columns, t.countNoise)
	share := miss / (normMiss + totalMiss)
	z := twoSidedQuantile(totalMiss * share)
	least := t.records.value - z*t.records.noise
	most := t.records.value + z*t.records.noise
	if len(rows) < 2 || len(columns) < 2 || !(least > 0) {
		return 0, 0, 1, false
	}
	cells := make([][]float64, len(rows))
	rowSums := make([]float64, len(rows))
	columnSums := make([]float64, len(columns))
	all := 0.
	for i := range cells {
		cells[i] = make([]float64, len(columns))
	}
	for i, row := range t.cells {
		for j, n := range row {
			if a, b := rowAt[i], columnAt[j]; a >= 0 && b >= 0 {
				cells[a][b] += n
				rowSums[a], columnSums[b], all = rowSums[a]+n, columnSums[b]+n, all+n
			}
		}
	}
	if !(all > 0) {
		return 0, 0, 1, false
	}
	square := 0.
	noise := []float64(nil)
	sum := 0.
	for i := range cells {
		for j, n := range cells[i] {
			weight := t.records.value / (rows[i] * columns[j])
			delta := n - rowSums[i]*columnSums[j]/all
			square += delta * delta * weight
			c := rowMembers[i] * columnMembers[j] * t.cellNoise * t.cellNoise * weight
			noise = append(noise, c)
			sum += c
		}
	}
	degrees := float64(min(len(rows), len(columns)) - 1)
	q := noiseNormQuantile(noise, normMiss*share)
	root := math.Sqrt(square)
	lower = min(max(root-q, 0)/math.Sqrt(most*degrees), 1)
	upper = min((root+q)/math.Sqrt(least*degrees), 1)
	value = math.Sqrt(math.Max(square-sum, 0) / (t.records.value * degrees))
	return min(max(value, lower), upper), lower, upper, true
}
