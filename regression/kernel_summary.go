package regression

import (
	"cmp"
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
)

const (
	summaryPoints  = 200 // number of landmarks at which pairs are evaluated
	summaryColumns = 6   // number of columns whose pairs are evaluated
	summaryPairs   = 5
)

// Interactions measures the contributions of the kernel terms to the predictions of a [Kernel], at its landmarks: public
// points, so that it costs no budget.
type Interactions struct {
	Share float64           // of the variance of the prediction that the terms have
	Pairs []InteractionPair // of columns, the strongest first
}

// An InteractionPair is two columns that occur together in kernel terms.
type InteractionPair struct {
	First, Second string
	// Value is the standard deviation of their interaction, beyond their separate contributions, in units of the target.
	Value float64
}

// Interactions summarises the kernel terms at the landmarks: their share of the variance and the strongest
// pairs.
func (m *Kernel) Interactions() Interactions {
	if len(m.Landmarks) == 0 || len(m.Kernels) == 0 {
		return Interactions{}
	}
	return Interactions{
		Share: m.InteractionShare(),
		Pairs: m.strongestPairs(),
	}
}

// InteractionShare returns the Share of [Kernel.Interactions] without evaluating pairs, which is much faster.
// It is 0 for a model without landmarks or kernel terms.
func (m *Kernel) InteractionShare() float64 {
	if len(m.Landmarks) == 0 || len(m.Kernels) == 0 {
		return 0
	}
	bins := m.landmarkBins(len(m.Landmarks))
	sums := make([]float64, len(m.Landmarks))
	m.newFiller(m.landmarkRows())(sums, 0)
	kernel := sampleVariance(m.kernelAt(bins))
	return clampFinite(kernel / max(kernel+sampleVariance(sums), math.SmallestNonzeroFloat64))
}

func sampleVariance(x []float64) float64 {
	mean := 0.
	sum := 0.
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean) / float64(len(x))
	}
	return sum
}

// landmarkBins returns the bins of the first n landmarks, by input.
func (m *Kernel) landmarkBins(n int) [][]uint8 {
	out := make([][]uint8, len(m.Cells))
	for j := range out {
		for _, mark := range m.Landmarks[:n] {
			out[j] = append(out[j], mark[j])
		}
	}
	return out
}

// landmarkRows returns records with the bins of the landmarks. Columns that no map uses are missing.
func (m *Kernel) landmarkRows() Rows {
	n := len(m.Landmarks)
	rows := Rows{
		N:       n,
		Numeric: map[string][]float64{},
		Codes:   map[string]Codes{},
	}
	for i := range m.Columns {
		if c := &m.Columns[i]; c.Type == Numeric {
			rows.Numeric[c.Name] = slices.Repeat([]float64{math.NaN()}, n)
		} else {
			rows.Codes[c.Name] = Codes{slices.Repeat([]int32{int32(len(c.Categories))}, n),
				c.Categories}
		}
	}
	for _, of := range []kernelmap.Of{kernelmap.Value, kernelmap.Missing, kernelmap.Categories} {
		for j, in := range m.Cells {
			if in.Of != of {
				continue
			}
			c := &m.Columns[in.Column]
			for r, mark := range m.Landmarks {
				switch {
				case of == kernelmap.Value:
					rows.Numeric[c.Name][r] = c.Lower + (float64(mark[j])+.5)/256*(c.Upper-c.Lower)
				case of == kernelmap.Missing && mark[j] == 1:
					rows.Numeric[c.Name][r] = math.NaN()
				case of == kernelmap.Categories:
					rows.Codes[c.Name].Values[r] = int32(max(slices.Index(in.Bins, mark[j]), 0))
				}
			}
		}
	}
	return rows
}

// kernelAt returns the sum of the kernel terms for records with the given bins.
func (m *Kernel) kernelAt(bins [][]uint8) []float64 {
	sums := make([]float64, len(bins[0]))
	for _, t := range m.Kernels {
		t.Map.Add(sums, bins, t.Coefficients)
	}
	return sums
}

// strongestPairs returns the strongest interactions among the columns with the largest effect on the kernel
// terms, by finite differences: the cells of two columns are replaced by those of another landmark, separately
// and jointly.
func (m *Kernel) strongestPairs() []InteractionPair {
	n := min(len(m.Landmarks), summaryPoints)
	bins := m.landmarkBins(n)
	base := m.kernelAt(bins)
	replaced := func(columns ...int) []float64 {
		other := slices.Clone(bins)
		for j, in := range m.Cells {
			if i := slices.Index(columns, in.Column); i >= 0 {
				shift := (i + 1) * n / 3 // a different landmark for each column
				other[j] = append(slices.Clone(bins[j][shift:]), bins[j][:shift]...)
			}
		}
		return m.kernelAt(other)
	}
	type effect struct {
		column int
		size   float64
		// first holds the kernel terms with the column replaced, by the shift of the first column of a pair.
		first []float64
	}
	var effects []effect
	for i := range m.Columns {
		if !slices.ContainsFunc(m.Cells, func(in kernelmap.Input) bool { return in.Column == i }) {
			continue
		}
		e := effect{column: i, first: replaced(i)}
		for r, v := range e.first {
			e.size += (v - base[r]) * (v - base[r])
		}
		effects = append(effects, e)
	}
	slices.SortStableFunc(effects, func(a, b effect) int { return cmp.Compare(b.size, a.size) })
	effects = effects[:min(len(effects), summaryColumns)]
	// seconds are the same with the shift of the second column of a pair.
	seconds := make([][]float64, len(effects))
	var out []InteractionPair
	for i, a := range effects {
		for k, b := range effects[:i] {
			if seconds[k] == nil {
				seconds[k] = replaced(-1, b.column)
			}
			both := replaced(a.column, b.column)
			sum := 0.
			for r := range both {
				d := both[r] - a.first[r] - seconds[k][r] + base[r]
				sum += d * d / float64(n)
			}
			names := []string{m.Columns[a.column].Name, m.Columns[b.column].Name}
			slices.Sort(names)
			out = append(out,
				InteractionPair{
					First:  names[0],
					Second: names[1],
					Value:  clampFinite(math.Sqrt(sum) / 2),
				})
		}
	}
	slices.SortStableFunc(out, func(a, b InteractionPair) int {
		return cmp.Compare(b.Value, a.Value)
	})
	return out[:min(len(out), summaryPairs)]
}
