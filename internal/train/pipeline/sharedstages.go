package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// The stages that find out what undeclared columns hold, for runs that train no model. docs/proofs/vocabulary.md,
// "Algorithm", describes them.

// VocabularyName is the name of the node of [KindSteps] and of [WordSteps].
const VocabularyName = vocabularyNode

// KindSteps returns the step that distinguishes columns of numbers from columns of text.
func KindSteps(share float64) budget.Node {
	return vocabularyStage(kindLeaf(share))
}

// WordSteps returns the steps that find the text categories of columns.
func WordSteps(share float64) budget.Node {
	return vocabularyStage(wordLeaves(share)...)
}

// KindAndWordSteps returns the steps of [KindSteps] and [WordSteps] below one node.
func KindAndWordSteps(kindShare, wordShare float64) budget.Node {
	return vocabularyStage(append([]budget.Node{kindLeaf(kindShare)}, wordLeaves(wordShare)...)...)
}

// Undeclared returns the choice between the branch numbers, for a run whose undeclared columns all contain
// numbers, and the branch words, for all others. It follows [KindSteps] in a sequence.
func Undeclared(numbers, words []budget.Node) budget.Node {
	return budget.Branches(undeclaredNode, budget.Sequence(kindsLeaf),
		budget.Sequence(numbersWay, numbers...).WithRole(budget.RoleBranch),
		budget.Sequence(wordsWay, words...).WithRole(budget.RoleBranch))
}

// FindTextColumns releases which of the given columns hold text. s is the session of the node of [KindSteps].
func FindTextColumns(
	ctx context.Context, s *mechanism.Session, r mechanism.Records, columns []int,
) ([]int, error) {
	_, words, err := releaseKinds(ctx, s, r, columns)
	return words, err
}

// FindCategories releases the text categories of the given columns, sorted by name, at most 256 of each and about 1,024 in all.
// least is the noisy number of records from which a text becomes a category. s is the session of the node of [WordSteps].
func FindCategories(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	columns []int,
) (categories [][]string, least float64, err error) {
	counted, err := mechanism.NewLexicon(ctx, s, r, columns)
	if err != nil {
		return nil, 0, err
	}
	released, err := mechanism.Words(s, wordCountsLeaf, newWordsLeaf, counted)
	if err != nil {
		return nil, 0, err
	}
	for _, found := range released.Value() {
		names := textsOf(found[:min(wordCap(len(columns)), len(found))])
		slices.Sort(names)
		categories = append(categories, names)
	}
	return categories,
		math.Ceil(mechanism.LeastCount(s, newWordsLeaf, s.Scale(wordCountsLeaf), len(columns))), nil
}
