package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/chart"
	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/regression"
)

// Interactions describes the contribution of the terms of all columns together to the predictions of a model of the
// kind "kernel", at its landmarks. For a classifier it is about the score with the largest share.
type Interactions struct {
	// Share is the share of these terms in the variance of the prediction.
	Share float64 `json:"share"`
	Pairs []Pair  `json:"pairs"` // the strongest first
}

// A Pair is a pair of columns. Value is the standard deviation of their joint contribution beyond the contributions
// of each, in units of the target or of the score.
type Pair struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	Value  float64 `json:"value"`
}

// interactions returns the interactions of a model; nil for a model without such terms.
func interactions(m regression.Model) *Interactions {
	of := strongest(m)
	if of == nil {
		return nil
	}
	s := of.Interactions()
	out := &Interactions{Share: s.Share, Pairs: []Pair{}}
	for _, p := range s.Pairs {
		out.Pairs = append(out.Pairs, pairOf(p))
	}
	return out
}

// strongest returns the model, or the score of a classifier, whose terms of all columns have the largest share; nil
// for a model without such terms.
func strongest(m regression.Model) *regression.Kernel {
	models := []regression.Model{m}
	if c, ok := m.(*regression.Classifier); ok {
		models = c.Scores
	}
	var kernels []*regression.Kernel
	for _, m := range models {
		if k, ok := m.(*regression.Kernel); ok {
			kernels = append(kernels, k)
		}
	}
	if len(kernels) == 0 {
		return nil
	}
	if len(kernels) == 1 {
		return kernels[0]
	}
	shares := make([]float64, len(kernels))
	for i, k := range kernels {
		shares[i] = k.InteractionShare()
	}
	return kernels[slices.Index(shares, slices.Max(shares))]
}

// mostPairs is the number of pairs drawn.
const mostPairs = 3

// pairBlocks draws the strongest pairs.
func pairBlocks(s Source, unit string) []document.Block {
	of := strongest(s.Model)
	if of == nil {
		return nil
	}
	var out []document.Block
	shown := func(c regression.Column) (lower, upper float64) {
		if c.Text() {
			return c.Lower, c.Upper
		}
		lower, upper, _ = s.Report.drawnRange(c)
		return lower, upper
	}
	pairs := of.Interactions().Pairs
	for _, p := range pairs[:min(len(pairs), mostPairs)] {
		t := of.Together(p.First, p.Second, shown)
		largest := 0.
		for _, row := range t.Values {
			largest = max(largest, slices.Max(row), -slices.Min(row))
		}
		if largest == 0 {
			continue
		}
		h := chart.Heat{
			Title:  printableName(p.First) + " and " + printableName(p.Second),
			XLabel: printableName(p.Second),
			YLabel: printableName(p.First),
		}
		g := &document.Table{Head: []string{printableName(p.First)}}
		for _, name := range t.Columns {
			name = printableName(name)
			h.Columns = append(h.Columns, name)
			g.Head = append(g.Head, name)
		}
		for i, row := range t.Values {
			shares := make([]float64, len(row))
			texts := make([]string, len(row))
			for k, v := range row {
				shares[k], texts[k] = v/largest, short(v)
			}
			name := printableName(t.Rows[i])
			h.Rows = append(h.Rows, name)
			h.Shares = append(h.Shares, shares)
			h.Texts = append(h.Texts, texts)
			g.Rows = append(g.Rows, append([]string{name}, texts...))
		}
		out = append(out,
			figure(h.SVG(),
				fmt.Sprintf(
					"%s and %s: joint contribution beyond that of each column, in %s; blue is positive, orange negative. Each row and column is a band around its number. It includes noise, so patterns may be due to chance.",
					h.YLabel, h.XLabel, unit), g))
	}
	return out
}

func pairOf(p regression.InteractionPair) Pair {
	return Pair{p.First, p.Second, p.Value}
}

// sentence describes the interactions in one sentence.
func (x *Interactions) sentence(unit string) string {
	text := fmt.Sprintf("interactions account for %s of the variance of the predictions",
		percent(x.Share))
	var pairs []string
	for _, p := range x.Pairs {
		pairs = append(pairs,
			fmt.Sprintf("%s × %s %s", truncateText(printableName(p.First), mostNameWidth),
				truncateText(printableName(p.Second), mostNameWidth), short(p.Value)))
	}
	if len(pairs) > 0 {
		text += fmt.Sprintf(
			". Strongest pairs, by the standard deviation of their joint contribution beyond that of each column, in %s: %s",
			unit, strings.Join(pairs, ", "))
	}
	return text
}
