package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Findings about columns before all other stages (docs/proofs/vocabulary.md, "Algorithm"): whether columns
// without declarations contain numbers or text, in one release of counts, and then the words of all text
// columns, in another one. The training part is then
//
//	train (seq): vocabulary: kinds, counts, words
//	             train: the stages of stages.go, or a search
//
// and the second train sees columns as if the words were declared. If no column is known to contain text, words
// are paid for only if the kinds show that some column does. Then each branch of the training part in stages.go
// becomes
//
//	branch (seq): vocabulary: kinds
//	              undeclared (one of): numbers: the stages
//	                                   words:   vocabulary: counts, words
//	                                            the stages
//
// A search, whose tries see the same columns, pays for words whatever the kinds are, because a choice between
// two searches takes minutes to price. The kinds precede the choice in the same sequence, and the price of the
// choice is that of its most expensive branch at each epsilon ([budget.Branches]). The prices are fixed in the
// plan; the noise of the words depends on the number of columns, which was released.

// Node names.
const (
	vocabularyNode = "vocabulary"
	undeclaredNode = "undeclared"
	numbersWay     = "numbers"
	wordsWay       = "words"
	kindsLeaf      = "kinds"
	wordCountsLeaf = "counts"
	newWordsLeaf   = "words"
)

// The settings. They are public constants; docs/proofs/vocabulary.md, "How the settings were
// chosen".
const (
	// KindShare and WordShare are the shares of mu^2 of the kinds of columns and of the counts of words.
	KindShare = .005
	WordShare = .05
	// newWordDelta is the probability with which a word of a single record appears. It is far below every
	// delta, and small enough for the run to have a mu.
	newWordDelta = budget.MinDelta / 10
	// mostWords is the maximum number of words per column, mostWordsInAll that of all columns together. If
	// there are many columns, leastWords of each are considered.
	mostWords      = 256
	leastWords     = 8
	mostWordsInAll = 1024
	// kindDoubt is the number of standard deviations of the noise that the number of text cells must exceed for
	// a column to count as text.
	kindDoubt = 2
)

// ErrVocabulary is returned for columns whose words are to be found in a run that cannot pay for it.
var ErrVocabulary = fmt.Errorf("text values cannot be found privately here")

// A Vocabulary is the findings about a text column.
type Vocabulary = stage.Vocabulary

// investigatesColumns reports whether the run has columns to investigate.
func (p *Pipeline) investigatesColumns() bool {
	return slices.ContainsFunc(p.Schema.Columns, func(c dataset.Column) bool { return c.Found })
}

// findsClasses reports whether the classes of the target are to be found.
func (p *Pipeline) findsClasses() bool {
	j := p.Schema.Index(p.Target)
	return p.isClassification() && j >= 0 && p.Schema.Columns[j].Found
}

// mayBeWords reports whether the run must find out for a column whether it contains text.
func (p *Pipeline) mayBeWords() bool {
	return slices.ContainsFunc(p.Schema.Columns, func(c dataset.Column) bool {
		return c.Found && c.Kind == dataset.Numeric
	})
}

// asksFirst reports whether words are paid for only if some column contains text. A try of a search gets
// earlier findings.
func (p *Pipeline) asksFirst() bool {
	return p.Search == nil && !p.tried && p.mayBeWords() &&
		!slices.ContainsFunc(p.Schema.Columns, func(c dataset.Column) bool {
			return c.Found && c.Kind == dataset.Category
		})
}

// IsWay reports whether a name in a report belongs to a branch of a run that pays for words only if a column
// contains text. Choices below that branch have branches of their own.
func IsWay(name string) bool { return name == numbersWay || name == wordsWay }

// wordCap returns the maximum number of words of each of d columns.
func wordCap(d int) int {
	return min(mostWords, max(leastWords, mostWordsInAll/max(d, 1)))
}

// plannedFor returns the columns as later stages are planned for them: categories that are to be
// found are as many as there may be.
func (p *Pipeline) plannedFor(f selection.Facts) selection.Facts {
	d := 0
	for _, c := range append(slices.Clone(f.Columns), f.Target) {
		if c.Found && c.Kind == dataset.Category {
			d++
		}
	}
	f.Columns = slices.Clone(f.Columns)
	var words []*dataset.Column
	for j := range f.Columns {
		if c := &f.Columns[j]; c.Found && c.Kind == dataset.Category {
			c.Categories = standIns("word", wordCap(d))
			words = append(words, c)
		}
	}
	if f.Target.Found {
		f.Target.Categories = standIns("class", p.MostClassesFound())
	}
	limitWords(words, nil, func() bool { return p.rowsFit(f) })
	return f
}

// standIns returns placeholders for words that are not known.
func standIns(what string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("(%s %d)", what, i+1)
	}
	return out
}

// wholeTraining plans the training part with the stages around it.
func (p *Pipeline) wholeTraining(ctx context.Context, plan *Plan) (budget.Node, error) {
	rest := 1.
	first := []budget.Node(nil)
	if p.investigatesColumns() && !p.asksFirst() {
		kindShare, wordShare := p.wordShares(p.mayCount(plan.facts))
		search := wordLeaves(wordShare)
		if rest -= wordShare; p.mayBeWords() {
			rest -= kindShare
			search = append([]budget.Node{kindLeaf(kindShare)}, search...)
		}
		first = append(first, vocabularyStage(search...))
	}
	before, last, rest := p.stageNodes(p.mayCount(plan.facts), rest)
	first = append(first, before...)
	if len(first)+len(last) == 0 {
		return p.trainingPart(ctx, plan, rootNode+"/"+trainNode)
	}
	train, err := p.trainingPart(ctx, plan, rootNode+"/"+trainNode+"/"+trainNode)
	return budget.Sequence(trainNode, append(append(first, train.Scaled(rest)), last...)...).
		WithRole(budget.RolePart), err
}

// askFirst returns the sequence of the kinds and of one of two branches.
func (p *Pipeline) askFirst(name string, stages []budget.Node, mayCount bool) budget.Node {
	kindShare, wordShare := p.wordShares(mayCount)
	return budget.Sequence(name, vocabularyStage(kindLeaf(kindShare)),
		budget.Branches(undeclaredNode, budget.Sequence(kindsLeaf),
			budget.Sequence(numbersWay, scaleShares(stages, 1-kindShare)...).
				WithRole(budget.RoleBranch),
			budget.Sequence(
				wordsWay,
				append(
					[]budget.Node{vocabularyStage(wordLeaves(wordShare)...)},
					scaleShares(stages, 1-kindShare-wordShare)...,
				)...,
			).WithRole(budget.RoleBranch)))
}

func scaleShares(nodes []budget.Node, f float64) []budget.Node {
	out := make([]budget.Node, len(nodes))
	for i, n := range nodes {
		out[i] = n.Scaled(f)
	}
	return out
}

func vocabularyStage(leaves ...budget.Node) budget.Node {
	return budget.Sequence(vocabularyNode, leaves...).WithRole(budget.RoleStage)
}

func kindLeaf(share float64) budget.Node {
	return budget.GaussianLeaf(kindsLeaf, share, 1).WithStatistic(mechanism.StatHistogram)
}

func wordLeaves(share float64) []budget.Node {
	appears := budget.Law{Kind: budget.Approximate, Delta: newWordDelta, Draws: 1}
	return []budget.Node{
		budget.GaussianLeaf(wordCountsLeaf, share, 1).WithStatistic(mechanism.StatWords),
		budget.FixedLeaf(newWordsLeaf, appears).WithStatistic(mechanism.StatNewWords),
	}
}

// findVocabulary investigates the undeclared columns of the training part. It returns that part with declared
// columns, and the session of the rest of the training. It updates the held-out part and the facts for later
// stages in the same way. s is the session of the node of the kinds, or of the words.
func (r *runner) findVocabulary(
	ctx context.Context,
	s *mechanism.Session,
	train mechanism.Records,
) (*mechanism.Session, mechanism.Records, error) {
	defer r.startStage(vocabularyNode)()
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
		kinds, text, err := releaseKinds(ctx, s.Sub(vocabularyNode), train, open)
		if err != nil {
			return s, train, err
		}
		r.Findings.Kinds = kinds
		words = append(words, r.plan.textColumns(text, open)...)
	}
	if r.pipeline.asksFirst() {
		r.Branch = numbersWay
		if len(words) > 0 {
			r.Branch = wordsWay
		}
		s = s.Sub(undeclaredNode).Sub(r.Branch)
	}
	if len(words) > 0 {
		if err := r.findWords(ctx, s.Sub(vocabularyNode), train, words, columns); err != nil {
			return s, train, err
		}
	}
	last := len(columns) - 1
	r.Facts.Columns = columns[:last:last]
	r.Facts.Target = columns[last]
	err := mechanism.Resolve(ctx, columns, &train, &r.Held)
	r.Training = train
	return s, train, err
}

// textColumns returns the columns treated as text among those that may be: those that were found to be text; a
// rehearsal treats either all of them or no column as text.
func (p *Plan) textColumns(found, open []int) []int {
	switch p.forcedWay {
	case numbersWay:
		return nil
	case wordsWay:
		return open
	}
	return found
}

// findWords releases the words of some columns and declares them as categories.
func (r *runner) findWords(
	ctx context.Context, s *mechanism.Session, train mechanism.Records, words []int, columns []dataset.Column,
) error {
	counted, err := mechanism.NewLexicon(ctx, s, train, words)
	if err != nil {
		return err
	}
	released, err := mechanism.Words(s, wordCountsLeaf, newWordsLeaf, counted)
	if err != nil {
		return err
	}
	var features []*dataset.Column
	var counts [][]float64
	for i, j := range words {
		c := &columns[j]
		found := released.Value()[i]
		most := wordCap(len(words))
		target := j == len(columns)-1
		if target {
			most = r.pipeline.MostClassesFound()
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
			c.Categories = standIns("word", most)
		}
	}
	last := len(columns) - 1
	limitWords(features, counts, func() bool {
		return r.pipeline.rowsFit(selection.Facts{
			Columns:  columns[:last],
			Target:   r.plan.facts.Target,
			Relation: r.plan.facts.Relation,
		})
	})
	least := mechanism.LeastCount(s, newWordsLeaf, s.Scale(wordCountsLeaf), len(words))
	for i, j := range words {
		c := &columns[j]
		r.noteGroups(c)
		slices.Sort(c.Categories)
		r.noteWords(c, released.Value()[i], s.Scale(wordCountsLeaf), least)
		if j == last {
			r.completeClasses(c)
		}
	}
	return nil
}

// noteWords adds the categories of a column to the vocabulary of the run, with their released counts. passed holds all
// released words, sigma is the standard deviation of the noise of a count, and least the smallest count of a released word.
func (r *runner) noteWords(c *dataset.Column, passed []mechanism.Word, sigma, least float64) {
	found := c.Categories
	if len(passed) == 0 {
		found = nil // those of a rehearsal
	}
	r.Findings.Vocabulary = append(r.Findings.Vocabulary, Vocabulary{
		Column: c.Name,
		Words:  slices.Clone(found),
		Counts: countsFor(found, passed),
		Sigma:  sigma,
		Least:  least,
		Cut:    len(found) < len(passed),
	})
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

// isWordless reports whether a column is a text column without words.
func isWordless(c dataset.Column) bool {
	return c.Found && c.Kind == dataset.Category && len(c.Categories) == 0
}

// foundWarnings describes the findings about columns and classes, and values that were too rare to be found.
func foundWarnings(r *Result) []Warning {
	var out []Warning
	var texts, none []string
	cut := false
	least := 0.
	for _, v := range r.Vocabulary {
		least = v.Least
		switch {
		case v.Column == r.Target:
			out = append(out, classesFound(v)...)
		case len(v.Words) == 0:
			none = append(none, v.Column)
		default:
			texts = append(texts, fmt.Sprintf("%q (%d)", v.Column, len(v.Words)))
			cut = cut || v.Cut
		}
	}
	if len(texts) > 0 {
		rest := "all other values count as one category"
		if cut {
			rest = "where there are too many, the most frequent ones are used, and " + rest
		}
		out = append(out, Warning{Code: "words-found", Severity: Negligible, Text: fmt.Sprintf(
			"Text columns were detected privately, with this number of categories: %s. A value becomes a category if about %.0f training records have it; %s.", joinParts(texts), math.Ceil(least), rest)})
	}
	if len(none) > 0 {
		out = append(out, Warning{Code: "no-words", Severity: Theoretical, Text: fmt.Sprintf(
			"No value of %s occurs in enough records to be found at this budget, as in a column of names, identifiers or dates. They are not in the model. Declare their categories if they are public, group their values by a prefix (prefix: 3) or into buckets (hash: 64), or declare dates (date: auto). Exclude names and identifiers.", listNames(none))})
	}
	return out
}

// classesFound describes the classes that were found.
func classesFound(v Vocabulary) []Warning {
	switch n := len(v.Words); {
	case n < leastClasses:
		return []Warning{{Code: "no-classes", Severity: Critical, Text: fmt.Sprintf(
			"%d classes of the target %q were found, and two are needed: the others are too rare at this budget, or there are none. List them (data.classes) if they are public, or use more records or a larger epsilon.", n, v.Column)}}
	case v.Cut:
		return []Warning{{Code: "classes-cut", Severity: Critical, Text: fmt.Sprintf(
			"More than %[2]d classes of the target %[1]q are frequent enough, but the model may have only %[2]d. It does not know the less frequent ones, and their records count as errors. Raise data.most_classes.", v.Column, n)}}
	default:
		return []Warning{{Code: "classes-found", Severity: Negligible, Text: fmt.Sprintf(
			"%d classes of the target %q were found privately. A label becomes a class if about %.0f training records have it; records with another label train nothing and count as errors.", n, v.Column, math.Ceil(v.Least))}}
	}
}
