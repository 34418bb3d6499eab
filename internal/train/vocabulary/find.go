package vocabulary

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// BeforeTraining investigates the undeclared columns of the training part. It returns that part with declared
// columns, and the session of the rest of the training. It updates the held-out part and the facts for later
// steps in the same way. s is the session of the node of the kinds, or of the words.
func (x Stage) BeforeTraining(
	ctx context.Context,
	run *stage.Run,
	s *mechanism.Session,
	train mechanism.Records,
) (*mechanism.Session, mechanism.Records, error) {
	defer run.Start(Node)()
	columns := slices.Clone(train.Schema().Columns)
	var open, words []int
	for j := range columns {
		switch c := &columns[j]; {
		case c.Found && c.Kind == dataset.Numeric:
			open = append(open, j)
			c.Found = false
		case c.Found:
			words = append(words, j)
		}
	}
	if len(open) > 0 {
		kinds, text, err := releaseKinds(ctx, s.Sub(Node), train, open)
		if err != nil {
			return s, train, err
		}
		run.Findings.Kinds = kinds
		words = append(words, textColumns(run.Forced, text, open)...)
	}
	if x.asksFirst() {
		run.Branch = NumbersBranch
		if len(words) > 0 {
			run.Branch = WordsBranch
		}
		s = s.Sub(UndeclaredNode).Sub(run.Branch)
	}
	if len(words) > 0 {
		if err := x.findWords(ctx, run, s.Sub(Node), train, words, columns); err != nil {
			return s, train, err
		}
	}
	last := len(columns) - 1
	run.Facts.Columns = columns[:last:last]
	run.Facts.Target = columns[last]
	err := mechanism.Resolve(ctx, columns, &train, &run.Held)
	run.Training = train
	return s, train, err
}

// textColumns returns the columns treated as text among those that may be: those that were found to be text; a
// rehearsal treats either all of them or no column as text.
func textColumns(forced string, found, open []int) []int {
	switch forced {
	case NumbersBranch:
		return nil
	case WordsBranch:
		return open
	}
	return found
}

// foundWords are the released words of some columns, the most frequent first.
type foundWords struct {
	words [][]mechanism.Word
	sigma float64 // standard deviation of the noise of a count
	least float64 // smallest count of a released word
}

// releaseWords releases the words of some columns.
func releaseWords(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	columns []int,
) (foundWords, error) {
	counted, err := mechanism.NewLexicon(ctx, s, r, columns)
	if err != nil {
		return foundWords{}, err
	}
	released, err := mechanism.Words(s, wordCountsLeaf, newWordsLeaf, counted)
	if err != nil {
		return foundWords{}, err
	}
	sigma := s.Scale(wordCountsLeaf)
	return foundWords{
		words: released.Value(),
		sigma: sigma,
		least: mechanism.LeastCount(s, newWordsLeaf, sigma, len(columns)),
	}, nil
}

// findWords releases the words of some columns and declares them as categories.
func (x Stage) findWords(
	ctx context.Context,
	run *stage.Run,
	s *mechanism.Session,
	train mechanism.Records,
	words []int,
	columns []dataset.Column,
) error {
	all, err := releaseWords(ctx, s, train, words)
	if err != nil {
		return err
	}
	last := len(columns) - 1
	var features []*dataset.Column
	var counts [][]float64
	for i, j := range words {
		c := &columns[j]
		found := all.words[i]
		most := wordCap(len(words))
		target := j == last
		if target {
			most = x.Classes()
		}
		found = found[:min(most, len(found))]
		*c = dataset.Column{
			Name:          c.Name,
			Kind:          dataset.Category,
			Categories:    textsOf(found),
			Other:         !target,
			Labels:        c.Labels,
			Found:         true,
			TargetEncoded: c.TargetEncoded,
			TextRule:      c.TextRule,
		}
		if target {
			continue
		}
		features = append(features, c)
		counts = append(counts, countsOf(found))
		if len(found) == 0 && s.KeepsColumns() {
			c.Categories = stage.Placeholders("word", most)
		}
	}
	limitWords(features, counts, func() bool {
		return run.Fits(columns[:last])
	})
	for i, j := range words {
		c := &columns[j]
		run.NoteCategories(c)
		slices.Sort(c.Categories)
		run.Findings.Vocabulary = append(run.Findings.Vocabulary, all.findings(i, c))
		if j == last {
			run.CompleteClasses(c)
		}
	}
	return nil
}

// findings returns the findings about column i, whose categories are declared now, with their released counts.
func (f foundWords) findings(i int, c *dataset.Column) stage.Vocabulary {
	passed := f.words[i]
	found := c.Categories
	if len(passed) == 0 {
		found = nil // those of a rehearsal
	}
	return stage.Vocabulary{
		Column: c.Name,
		Words:  slices.Clone(found),
		Counts: countsFor(found, passed),
		Sigma:  f.sigma,
		Least:  f.least,
		Cut:    len(found) < len(passed),
	}
}

func textsOf(words []mechanism.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// countsFor returns the counts of some of the released words.
func countsFor(texts []string, words []mechanism.Word) []float64 {
	all := make(map[string]float64, len(words))
	for _, w := range words {
		all[w.Text] = w.Count
	}
	out := make([]float64, len(texts))
	for i, text := range texts {
		out[i] = all[text]
	}
	return out
}

func countsOf(words []mechanism.Word) []float64 {
	out := make([]float64, len(words))
	for i, w := range words {
		out[i] = w.Count
	}
	return out
}
