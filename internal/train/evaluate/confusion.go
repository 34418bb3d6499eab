package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// MaxClasses is the largest number of classes: the number of a cell of the
// confusion matrix fits into 16 bits.
const MaxClasses = 255

// ErrClasses is returned at plan time for fewer than two classes or more than
// [MaxClasses].
var ErrClasses = errors.New("the number of classes must be between 2 and 255")

// Node names of the plan.
const (
	accuracyNode  = "accuracy"
	confusionLeaf = "confusion"
)

// Classification releases how good a classifier is on the held-out records.
type Classification struct {
	Classes []string // as the classifier lists them
	// Pure releases the counts with Laplace noise, for a run without a delta. Scores are not counted then, and records
	// cannot be divided into groups.
	Pure bool
}

// Plan returns the leaf of the one release, with or without groups. Its error is [ErrClasses].
func (c Classification) Plan() (budget.Node, error) {
	if n := len(c.Classes); n < 2 || n > MaxClasses {
		return budget.Node{}, fmt.Errorf("%w: %d", ErrClasses, n)
	}
	leaf := budget.GaussianLeaf(confusionLeaf, 1, 1).WithStatistic(mechanism.StatTally)
	if c.Pure {
		leaf = budget.PureLeaf(confusionLeaf, 1, 1).WithStatistic(mechanism.StatTallyEntries)
	}
	return budget.Sequence(accuracyNode, leaf).WithRole(budget.RoleStage), nil
}

// Labels are the held-out records and the classes that a model predicts for them.
type Labels struct {
	Records mechanism.Records
	Target  int        // the target's category column in Records, see [dataset.Column.Labels]
	Model   Classifier // nil predicts the first class
	Bins    Bins
	Groups  Groups
}

// A Classifier is a released model of classes. Its fields are exported, so that it can be sent
// to where the records are.
type Classifier interface {
	// Classify returns, per record of a block, the index of a class and a score: the score of two classes,
	// otherwise the largest score, which is ignored without bins. Both depend on that record only.
	Classify(b dataset.Block) (prediction, score []float64)
}

// Bins are the bins in which scores are counted. Everything is public.
type Bins struct {
	// Edges increase: bin b holds the scores above Edges[b-1] and up to Edges[b]; the first and the last bin
	// extend to infinity. Without edges no scores are counted, and the whole budget goes to the confusion
	// matrix.
	Edges []float64
	// Chance is, for two classes, the model's probability of the second one in every bin; nil if the model has
	// no probabilities.
	Chance []float64
	// Cutoff is, for two classes, the number of bins with scores up to the cutoff of the model, above which it
	// predicts the second class; 0 if the cutoff is not an edge.
	Cutoff int
}

// binOf returns the bin of a score; the last one for NaN.
func (b Bins) binOf(score float64) int {
	return sort.SearchFloat64s(b.Edges, score)
}

// numBins is the number of bins, 0 without edges.
func (b Bins) numBins() int {
	if len(b.Edges) == 0 {
		return 0
	}
	return len(b.Edges) + 1
}

// ScoreNoise is the standard deviation of the noise in a cell of the scores if one record
// is added or removed, of a node that Plan returned: s is the session of its parent. byGroup reports whether the records
// are divided into groups, which takes half of the budget.
func ScoreNoise(s *mechanism.Session, byGroup bool) float64 {
	share := scoreShare
	if byGroup {
		share *= 1 - groupShare
	}
	return 1 / (math.Sqrt(share) * s.Sub(accuracyNode).Mu(confusionLeaf))
}

// A Confusion is a privately released confusion matrix with the metrics computed from it and from the table of
// scores released with it. All of it is public. Shares refer to new records.
type Confusion struct {
	Classes []string
	// Counts has a row for every true class and, last, one for the records with another
	// label, and a column for every predicted class. They are noisy numbers of records,
	// rounded; noise may make them negative.
	Counts [][]int
	// Sigma is the standard deviation of the noise in each count.
	Sigma float64
	// Accuracy is the share of the records with a label that are classified correctly. A record whose label is
	// not a class of the model always counts as an error.
	Accuracy Share
	// Right has, of more than two classes whose scores were counted, for every class the
	// noisy, rounded numbers of its records that are predicted wrongly and rightly: with less
	// noise than sums of Counts.
	Right [][2]int
	// Recalls has for every class the share of its records that are predicted so. A
	// class whose records the noise hides is unknown: anything from 0 to 1.
	Recalls []Share
	// Balanced is the mean of the recalls.
	Balanced Share
	Largest  Largest
	// Records is the number of held-out records with a label, Other the number of those whose label is not a
	// class, and Missing the number of records without a label.
	Records, Other, Missing Count
	// OtherShare is the share of the records with a label whose label is not a class.
	OtherShare Share
	// Scores is nil where no scores were counted.
	Scores *Scores
	// Groups are the metrics by group; nil if the records are not divided.
	Groups *ByGroup
}

// Largest compares the classifier with the answer that is always the same.
type Largest struct {
	Class int   // the class with the largest noisy number of records
	Share Share // of its records among those with a label: how often that answer is right
	// Gain is an interval, of level [Level], of the accuracy less that share.
	GainLower, GainUpper float64
}

// Run releases the counts. s is the session of the node that Plan is a child of.
func (c Classification) Run(
	ctx context.Context,
	s *mechanism.Session,
	l Labels,
) (*Confusion, error) {
	s = s.Sub(accuracyNode)
	if c.Pure {
		l.Bins = Bins{}
	}
	pass, err := mechanism.Sum[*confusionPass](
		ctx,
		s,
		l.Records,
		confusionStatistic{len(c.Classes), l.Target, l.Model, l.Bins, l.Groups},
	)
	if err != nil {
		return nil, err
	}
	var counts, noise mechanism.Public[[]float64]
	if c.Pure {
		counts, noise, err = pass.cells.ReleaseEntries(s, confusionLeaf)
	} else {
		counts, noise, err = mechanism.WeightedGaussian(s, confusionLeaf, pass.cells.Bound())
	}
	if err != nil {
		return nil, err
	}
	return readCells(c.Classes, l.Bins, l.Groups, counts.Value(), noise.Value(), c.Pure), nil
}

// confusionStatistic counts the records by true and predicted class, by class and bin of the score, and, for
// more than two classes, by class and whether the prediction is correct. "Other" is the class of a label that
// is not one of the L classes; predictions are never other.
//
// With B bins a record with a label is in one cell of each of k joint tables:
//
//   - the confusion matrix, (L+1) L cells, by true class, including other, and prediction;
//   - if scores are counted, the scores: for two classes 2 B cells by class and bin, and one for all other records;
//     for more classes 2 B cells by bin and whether the prediction is correct, which it never is for other;
//   - if scores are counted, for more than two classes: 2 L cells by class and whether the prediction is correct,
//     and one for all other records.
//
// The last two repeat sums of the first one with less noise: with L = 10 classes the number of wrong
// predictions of a class would be the sum of 9 noisy cells, and the total of 90. The squared weights of cells
// are the shares of their tables, which add up to 1. A record without a label is only in the single cell of the
// separate table, which has weight 1.
//
// If the records are divided into groups, these shares are halved, and the record is in a cell of [groupTables] as well,
// whose shares add up to 1/2: it is in one group, so the number of groups does not matter.
//
// So the weighted vector of a record has norm 1: the L2 sensitivity if one record is added or removed. That of
// a substitution, of whole records or of private columns, is sqrt 2: vectors u and v without negative entries
// have |u-v|^2 = |u|^2 + |v|^2 - 2 u.v <= 2, attained if a record loses its label or changes its cell in every
// table. With a unit of m records both are multiplied by m. [mechanism.Tally] has the proof,
// TestConfusionSensitivity the search.
//
// Without scores and groups a record is in one cell of weight 1, whose number changes by 1. So the L1 sensitivity, for
// Laplace noise, is 1 if a record is added or removed, and 2 if one is replaced: one cell falls by 1 and another one rises by 1.
type confusionStatistic struct {
	Classes int
	Target  int
	Model   Classifier
	Bins    Bins
	Groups  Groups
}

type confusionPass struct {
	confusionStatistic
	cells   *mechanism.Tally
	codes   []int32
	group   []int32
	tables  [][]uint16 // of the cells of each joint table
	missing []uint16
}

// nowhere is a cell that does not exist.
const nowhere = math.MaxUint16

// scoreShare is the share of the table of scores of two classes. The area under the curve is sums of many of its cells,
// and the accuracy of few of the matrix.
const scoreShare = .7

// tablesOf returns the joint tables of all records, and those by group.
func tablesOf(
	classes int,
	b Bins,
	groups int,
) (all, byGroup []mechanism.JointTable) {
	matrix := (classes + 1) * classes
	bins := b.numBins()
	switch {
	case bins == 0:
		all = []mechanism.JointTable{{
			Cells: matrix,
			Share: 1,
		}}
	case classes == 2:
		all = []mechanism.JointTable{{
			Cells: matrix,
			Share: 1 - scoreShare,
		},
			{Cells: 2*bins + 1, Share: scoreShare}}
	default:
		all = []mechanism.JointTable{
			{
				Cells: matrix,
				Share: 1. / 4,
			},
			{
				Cells: 2 * bins,
				Share: 1. / 4,
			},
			{Cells: 2*classes + 1, Share: 1. / 2},
		}
	}
	if groups == 0 {
		return all, nil
	}
	for k := range all {
		all[k].Share *= 1 - groupShare
	}
	return all, groupTables(classes, groups)
}

// New implements [mechanism.Statistic].
func (x confusionStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	all, byGroup := tablesOf(x.Classes, x.Bins, x.Groups.count())
	joint := slices.Concat(all, byGroup)
	return &confusionPass{
		confusionStatistic: x,
		cells:              m.NewTally(joint, 1),
		tables:             make([][]uint16, len(joint)),
	}
}

func (p *confusionPass) Add(b mechanism.Block) {
	n := b.Len()
	p.codes, p.missing = resizeBuffer(p.codes, n), resizeBuffer(p.missing, n)
	for k := range p.tables {
		p.tables[k] = resizeBuffer(p.tables[k], n)
	}
	prediction := make([]float64, n)
	score := make([]float64, n)
	if p.Model != nil {
		prediction, score = p.Model.Classify(b.Block)
	}
	if p.Groups.count() > 0 {
		p.group, p.codes = p.Groups.readGroups(b, p.group, p.codes)
	}
	all, _ := tablesOf(p.Classes, p.Bins, 0)
	for i, code := range b.Labels(p.Target, p.codes) {
		if p.missing[i] = nowhere; int(code) == p.Classes+1 {
			p.missing[i] = 0
			continue
		}
		guess := p.classIndex(prediction[i])
		truth := p.Classes
		if code >= 0 && int(code) < p.Classes {
			truth = int(code)
		}
		p.tables[0][i] = uint16(truth*p.Classes + guess)
		right := 0
		if truth == guess {
			right = 1
		}
		switch bins := p.Bins.numBins(); {
		case len(all) == 2:
			p.tables[1][i] = uint16(2 * bins)
			if truth < p.Classes {
				p.tables[1][i] = uint16(truth*bins + p.Bins.binOf(score[i]))
			}
		case len(all) == 3:
			p.tables[1][i] = uint16(right*bins + p.Bins.binOf(score[i]))
			p.tables[2][i] = uint16(2*truth + right) // of others 2 L
		}
		if byGroup := p.tables[len(all):]; len(byGroup) > 0 {
			group := int(p.group[i])
			byGroup[0][i] = uint16(group*(2*p.Classes+1) + 2*truth + right)
			if len(byGroup) > 1 {
				byGroup[1][i] = uint16(2*group + right)
			}
		}
	}
	p.cells.Add(p.tables, p.missing)
}

func (p *confusionPass) Cells() mechanism.Cells {
	return p.cells.Cells()
}

// classIndex converts a prediction to a class index; an invalid one becomes the first class.
func (p *confusionPass) classIndex(x float64) int {
	if k := int(x); x >= 0 && k < p.Classes {
		return k
	}
	return 0
}

// resizeBuffer returns a slice of length n, reusing buf where it has room.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
