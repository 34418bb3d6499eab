package vocabulary

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dptrain/dptrain/dataset"
)

// wordCap returns the maximum number of words of each of d columns.
func wordCap(d int) int {
	return min(mostWords, max(leastWords, mostWordsInAll/max(d, 1)))
}

// limitWords removes words from columns until all columns together have at most mostWordsInAll words and fits
// reports that a row has room for them. The words of a column are ordered by their released counts, the largest first. First
// words of columns are kept longest, then second words and so on; within a rank, the more frequent ones. counts
// holds the released counts of the words of each column, and is nil or short for columns without counts. The
// decision depends on public and released values only: no record is read.
//
// A plan treats every such column as numeric, or as a text column that fits. A column without words takes one
// entry of a row, like a numeric column. So without words everything fits, and a run with limited words never
// has rows that are too long.
func limitWords(
	columns []*dataset.Column,
	counts [][]float64,
	fits func() bool,
) {
	type word struct {
		column int
		rank   int
		count  float64
	}
	var all []word
	full := make([][]string, len(columns))
	for i, c := range columns {
		full[i] = c.Categories
		for k := range c.Categories {
			w := word{column: i, rank: k}
			if i < len(counts) && k < len(counts[i]) {
				w.count = counts[i][k]
			}
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b word) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.count, a.count))
	})
	keep := func(n int) {
		kept := make([]int, len(columns))
		for _, w := range all[:n] {
			kept[w.column]++
		}
		for i, c := range columns {
			c.Categories = full[i][:kept[i]:kept[i]]
		}
	}
	most := min(len(all), mostWordsInAll)
	if keep(most); len(all) == 0 || fits() {
		return
	}
	keep(sort.Search(most, func(n int) bool {
		keep(n + 1)
		return !fits()
	}))
}
