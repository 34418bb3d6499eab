package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// The names of the nodes of the plan.
const (
	accuracyNode  = "accuracy"
	confusionLeaf = "confusion"
)

// Classification releases how good a classifier is on the held-out records.
type Classification struct {
	Classes []string // as the classifier lists them
}

// Plan returns the leaf of the one release. Its error is [ErrClasses].
func (c Classification) Plan() (budget.Node, error) {
	if n := len(c.Classes); n < 2 || n > MaxClasses {
		return budget.Node{}, fmt.Errorf("%w: %d", ErrClasses, n)
	}
	return budget.Seq(accuracyNode, budget.GaussianLeaf(confusionLeaf, 1, 1).Of(mechanism.StatTally)).As(budget.Stage), nil
}

// Labels are the held-out records and the classes that a model predicts for them.
type Labels struct {
	Records mechanism.Records
	Target  int        // the target's category column in Records; a code outside the classes is "in no class"
	Model   Classifier // nil predicts the first class
	Bins    Bins
}

// A Classifier is a released model of classes. Its fields are exported, so that it can be sent
// to where the records are.
type Classifier interface {
	// Classify returns, per record of a block, the index of a class, and the score of two
	// classes, else the largest of the scores, which is not read without bins. Both are those
	// of that record alone.
	Classify(b dataset.Block) (prediction, score []float64)
}

// Bins are the bins in which scores are counted. Everything is public.
type Bins struct {
	// Edges increase: bin b holds the scores above Edges[b-1] and up to Edges[b], the
	// first and the last one whatever is beyond. Without edges no scores are counted,
	// and all of the budget goes to the confusion matrix.
	Edges []float64
	// Chance is, of two classes, the model's probability of the second one in every
	// bin; nil if the model has none.
	Chance []float64
}

// of returns the bin of a score; the last one for NaN.
func (b Bins) of(score float64) int { return sort.SearchFloat64s(b.Edges, score) }

// count is the number of bins, 0 without edges.
func (b Bins) count() int {
	if len(b.Edges) == 0 {
		return 0
	}
	return len(b.Edges) + 1
}

// ScoreNoise is the standard deviation of the noise in a cell of the scores if one record
// is added or removed, of a node that Plan returned: s is the session of its parent.
func ScoreNoise(s *mechanism.Session) float64 {
	return math.Sqrt2 / s.Sub(accuracyNode).Mu(confusionLeaf)
}

// A Confusion is a privately released confusion matrix, with what is read from it
// and from the table of scores that was released with it. All of it is public.
// Shares are those of fresh records.
type Confusion struct {
	Classes []string
	// Counts has a row for every true class and, last, one for the records in no
	// declared class, and a column for every predicted class. They are noisy
	// numbers of records, rounded; noise may make them negative.
	Counts [][]int
	// Sigma is the standard deviation of the noise in each of them, NoneSigma in those
	// of the last row.
	Sigma, NoneSigma float64
	// Accuracy is the share of the records in a declared class whose prediction
	// is that class.
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
	// Records is the number of held-out records in a class, and None that of the others.
	Records, None Count
	// Scores is nil where no scores were counted.
	Scores *Scores
}

// Largest compares the classifier with the answer that is always the same.
type Largest struct {
	Class int   // of which the noisy number of records is the largest
	Share Share // of its records among those in a class: how often that answer is right
	// Gain is an interval, of level [Level], of the accuracy less that share.
	GainLower, GainUpper float64
}

// Run releases the counts. s is the session of the node that Plan is a child of.
func (c Classification) Run(ctx context.Context, s *mechanism.Session, l Labels) (*Confusion, error) {
	s = s.Sub(accuracyNode)
	pass, err := mechanism.Sum[*confusionPass](ctx, s, l.Records, confusionStatistic{len(c.Classes), l.Target, l.Model, l.Bins})
	if err != nil {
		return nil, err
	}
	noisy, noise, err := mechanism.WeightedGaussian(s, confusionLeaf, pass.cells.Bound())
	if err != nil {
		return nil, err
	}
	return readCells(c.Classes, l.Bins, noisy.Value(), noise.Value()), nil
}

// confusionStatistic counts the records by true and predicted class, by class and bin of the
// score, and of more than two classes by class and whether the prediction is right.
//
// Of L classes and B bins a record in a class is in one cell of each of two or three
// tables: the L^2 of the confusion matrix; 2 B of the scores, by class, of two classes, else
// by whether the prediction is right; and of more than two classes 2 L, by class and
// whether it is right. The last two say again what sums of the first would: of L = 10
// classes the wrong ones of a class are the sum of 9 noisy cells, all of them of 90. Cells
// of k tables weigh sqrt(1/k). A record in no class is in one of L cells of weight 1,
// by its prediction, and nowhere else. So its weighted vector has norm 1 (at most), which is
// the L2 sensitivity if one record is added or removed, and sqrt 2 is that of a substitution,
// of whole records or of private columns: its cells of all tables may change, also if
// the true class stays. [mechanism.Tally] has the proof. Of a record in a class that is
// substituted by one in none all cells change, which is sqrt 2 too.
type confusionStatistic struct {
	Classes int
	Target  int
	Model   Classifier
	Bins    Bins
}

type confusionPass struct {
	confusionStatistic
	cells  *mechanism.Tally
	codes  []int32
	tables [][]uint16 // of the cells of each joint table
	none   []uint16
}

// nowhere is a cell that does not exist.
const nowhere = math.MaxUint16

// tablesOf returns the numbers of cells of the tables.
func tablesOf(classes int, b Bins) []int {
	joint := []int{classes * classes}
	if n := b.count(); n > 0 {
		joint = append(joint, 2*n)
		if classes > 2 {
			joint = append(joint, 2*classes)
		}
	}
	return joint
}

// New implements [mechanism.Statistic].
func (x confusionStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	joint := tablesOf(x.Classes, x.Bins)
	return &confusionPass{confusionStatistic: x, cells: m.NewTally(joint, x.Classes), tables: make([][]uint16, len(joint))}
}

func (p *confusionPass) Add(b mechanism.Block) {
	n := b.Len()
	p.codes, p.none = growTo(p.codes, n), growTo(p.none, n)
	for k := range p.tables {
		p.tables[k] = growTo(p.tables[k], n)
	}
	prediction, score := make([]float64, n), make([]float64, n)
	if p.Model != nil {
		prediction, score = p.Model.Classify(b.Block)
	}
	for i, code := range b.Codes(p.Target, p.codes) {
		guess := p.index(prediction[i])
		truth := int(code)
		if truth < 0 || truth >= p.Classes {
			p.none[i] = uint16(guess)
			continue
		}
		p.none[i] = nowhere
		p.tables[0][i] = uint16(truth*p.Classes + guess)
		if len(p.tables) > 1 {
			p.tables[1][i] = uint16(p.side(truth, guess)*p.Bins.count() + p.Bins.of(score[i]))
		}
		if len(p.tables) > 2 {
			p.tables[2][i] = uint16(2*truth + p.side(truth, guess))
		}
	}
	p.cells.Add(p.tables, p.none)
}

func (p *confusionPass) Cells() mechanism.Cells { return p.cells.Cells() }

// side returns the row of the table of scores that a record in a class is in.
func (p *confusionPass) side(truth, guess int) int {
	switch {
	case p.Classes == 2:
		return truth
	case truth == guess:
		return 1
	}
	return 0
}

// index returns a prediction as a class: the first where it is none.
func (p *confusionPass) index(x float64) int {
	if k := int(x); x >= 0 && k < p.Classes {
		return k
	}
	return 0
}

// growTo returns a slice of length n, reusing buf where it has room.
func growTo[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
