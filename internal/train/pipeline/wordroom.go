package pipeline

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/selection"
)

// limitWords takes words from columns until all of them are at most mostWordsInAll and fits
// reports that a row has room for them. A column has its words by their released counts, the largest
// first. First words of columns stay longest, then second words and so on, and of those of one rank
// the more frequent ones. counts holds the released counts of the words of each column, and is nil or short where
// there are none. Everything that is looked at is public or was released: no record is read.
//
// A plan was made with every such column as one of numbers, or as one of words that fits. A column without
// words takes one entry of a row, no more than a number. So without words everything fits, and a run whose words
// are limited never finds out that its rows are too long.
func limitWords(columns []*dataset.Column, counts [][]float64, fits func() bool) {
	type word struct {
		column, rank int
		count        float64
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
	keep(sort.Search(most, func(n int) bool { keep(n + 1); return !fits() }))
}

// fits reports whether rows of columns have room in every way in which the run may train.
func (p *Pipeline) fits(f selection.Facts) bool {
	for _, t := range p.trainings() {
		facts := []selection.Facts{f}
		for _, n := range t.classCounts(f) {
			facts = append(facts, withClasses(f, n))
		}
		if slices.ContainsFunc(facts, t.tooWide) {
			return false
		}
	}
	return true
}

// tooWide reports whether rows of columns are too long for a branch of the run.
func (p *Pipeline) tooWide(f selection.Facts) bool {
	for _, b := range p.branches(f) {
		if _, err := p.trainTree(f, &b); errors.Is(err, linear.ErrTooWide) {
			return true
		}
	}
	return false
}
