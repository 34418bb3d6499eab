package linear

import (
	"cmp"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// FewValues is the maximum number of categories of a column with an entry of x each, for a trainer that learns
// the others from sums. In a column with more categories, the most frequent ones have entries
// (docs/proofs/boosted-additive.md, "Columns of many values").
const FewValues = 16

// ManyValues lists the columns of more categories.
func ManyValues(columns []dataset.Column) []int {
	var many []int
	for j, c := range columns {
		if c.Kind == dataset.Category && len(c.Categories) > FewValues {
			many = append(many, j)
		}
	}
	return many
}

// MostEntries returns columns in which those of many values have the maximum number of entries that [Frequent]
// gives them.
func MostEntries(columns []dataset.Column) []dataset.Column {
	out := slices.Clone(columns)
	for _, j := range ManyValues(columns) {
		c := &out[j]
		c.Categories = c.Categories[:min(len(c.Categories), FewValues)]
		c.Other = true
	}
	return out
}

// Frequent returns a column of many values with entries for the most frequent ones only, and one for all
// others. counts are released, by code; values with at most least are not frequent. Without a frequent value
// the column has no entry.
func Frequent(
	c dataset.Column,
	counts []float64,
	least float64,
) dataset.Column {
	var codes []int
	for v := range c.Categories {
		if counts[v] > least {
			codes = append(codes, v)
		}
	}
	slices.SortStableFunc(codes, func(a, b int) int {
		return cmp.Compare(counts[b], counts[a])
	})
	codes = codes[:min(len(codes), FewValues)]
	slices.Sort(codes)
	out := c
	out.Categories = make([]string, len(codes))
	out.Other = len(codes) > 0
	out.Levels = slices.Repeat([]int32{int32(len(codes))}, len(c.Categories)+1)
	for i, v := range codes {
		out.Categories[i] = c.Categories[v]
		out.Levels[v] = int32(i)
	}
	return out
}
