package vocabulary

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Names of nodes, branches and leaves in a plan.
const (
	// Node is the name of the node of [KindSteps] and of [WordSteps].
	Node = "vocabulary"
	// UndeclaredNode is the name of the choice between [NumbersBranch] and [WordsBranch], for runs that pay for words only
	// if a column contains text.
	UndeclaredNode = "undeclared"
	NumbersBranch  = "numbers"
	WordsBranch    = "words"

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

// IsBranch reports whether a name in a report belongs to a branch of a run that pays for words only if a column
// contains text. Choices below that branch have branches of their own.
func IsBranch(name string) bool {
	return name == NumbersBranch || name == WordsBranch
}

// KindSteps returns the step that distinguishes columns of numbers from columns of text.
func KindSteps(share float64) budget.Node {
	return sequence(kindLeaf(share))
}

// WordSteps returns the steps that find the text categories of columns.
func WordSteps(share float64) budget.Node {
	return sequence(wordLeaves(share)...)
}

// KindAndWordSteps returns the steps of [KindSteps] and [WordSteps] below one node.
func KindAndWordSteps(kindShare, wordShare float64) budget.Node {
	return sequence(append([]budget.Node{kindLeaf(kindShare)}, wordLeaves(wordShare)...)...)
}

// Undeclared returns the choice between the branch numbers, for a run whose undeclared columns all contain
// numbers, and the branch words, for all others. It follows [KindSteps] in a sequence.
func Undeclared(numbers, words []budget.Node) budget.Node {
	return budget.Branches(
		UndeclaredNode,
		budget.Sequence(kindsLeaf),
		budget.Sequence(NumbersBranch, numbers...).WithRole(budget.RoleBranch),
		budget.Sequence(WordsBranch, words...).WithRole(budget.RoleBranch),
	)
}

func sequence(leaves ...budget.Node) budget.Node {
	return budget.Sequence(Node, leaves...).WithRole(budget.RoleStage)
}

func kindLeaf(share float64) budget.Node {
	return budget.GaussianLeaf(kindsLeaf, share, 1).WithStatistic(mechanism.StatHistogram)
}

func wordLeaves(share float64) []budget.Node {
	appears := budget.Law{
		Kind:  budget.Approximate,
		Delta: newWordDelta,
		Draws: 1,
	}
	return []budget.Node{
		budget.GaussianLeaf(wordCountsLeaf, share, 1).WithStatistic(mechanism.StatWords),
		budget.FixedLeaf(newWordsLeaf, appears).WithStatistic(mechanism.StatNewWords),
	}
}

// FindTextColumns releases which of the given columns hold text. s is the session of the node of [KindSteps].
func FindTextColumns(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	columns []int,
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
	found, err := releaseWords(ctx, s, r, columns)
	if err != nil {
		return nil, 0, err
	}
	for _, list := range found.words {
		names := textsOf(list[:min(wordCap(len(columns)), len(list))])
		slices.Sort(names)
		categories = append(categories, names)
	}
	return categories, math.Ceil(found.least), nil
}
