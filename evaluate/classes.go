package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// MaxClasses is the largest number of classes: the number of a cell of the
// confusion matrix fits into 16 bits.
const MaxClasses = 255

// ErrClasses is returned at plan time for fewer than two classes or more than
// [MaxClasses].
var ErrClasses = errors.New("evaluate: the number of classes must be between 2 and 255")

// The names of the nodes of the plan.
const (
	accuracyNode  = "accuracy"
	confusionLeaf = "confusion"
)

// Classification releases the held-out confusion matrix of a classifier.
type Classification struct {
	Classes []string // as the classifier lists them
}

// Plan returns the leaf of the one release. Its error is [ErrClasses].
func (c Classification) Plan() (budget.Node, error) {
	if n := len(c.Classes); n < 2 || n > MaxClasses {
		return budget.Node{}, fmt.Errorf("%w: %d", ErrClasses, n)
	}
	return budget.Seq(accuracyNode, budget.GaussianLeaf(confusionLeaf, 1, 1)), nil
}

// Labels holds, for the held-out records, the true class and the predicted one
// in the order of the view.
type Labels struct {
	View       dataset.View
	Target     int       // the target's category column in View; a code outside the classes is "in no class"
	Prediction []float64 // the index of a class, one a row of View
}

// A Share is a privately released number in [0, 1]. The interval covers the
// privacy noise only, not the luck of which records were held out.
type Share struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"` // end of the interval, in [0, Value]
	Upper float64 `json:"upper"` // end of the interval, in [Value, 1]
	Level float64 `json:"level"` // confidence level of the interval
}

// A Confusion is a privately released confusion matrix with what is read from
// it. All of it is public.
type Confusion struct {
	Classes []string
	// Counts has a row for every true class and, last, one for the records in no
	// declared class, and a column for every predicted class. They are noisy
	// numbers of records, rounded; noise may make them negative.
	Counts [][]int
	// Sigma is the standard deviation of the noise in each of them.
	Sigma float64
	// Accuracy is the share of the records in a declared class whose prediction
	// is that class.
	Accuracy Share
	// Balanced is the mean over the classes of the share of its records that are
	// predicted so (recall). A class whose records the noise hides counts as
	// unknown: anything from 0 to 1. Its interval is wide where there is one.
	Balanced Share
}

// Run releases the matrix. s is the session of the node that Plan is a child of.
func (c Classification) Run(ctx context.Context, s *mechanism.Session, l Labels) (*Confusion, error) {
	s = s.Sub(accuracyNode)
	pass, err := dataset.Reduce(ctx, l.View, 0, func() *confusionPass { return newConfusionPass(s, len(c.Classes), l) })
	if err != nil {
		return nil, err
	}
	noisy, err := mechanism.Gaussian(s, confusionLeaf, pass.cells.Bound())
	if err != nil {
		return nil, err
	}
	return readConfusion(c.Classes, noisy.Value(), s.Scale(confusionLeaf)), nil
}

// confusionPass counts the records by true and predicted class.
//
// With L classes there are (L+1) L cells, and a record is in exactly one of
// them. Add or remove one record: one cell moves by 1, so the L2 sensitivity is
// 1. Substitution, of whole records or of private columns: the record may leave
// one cell and enter another, sqrt 2. (Under substituted private columns the
// true class stays, but the prediction may move.) These are the sensitivities
// that a histogram of one column derives; both are attained.
type confusionPass struct {
	labels  Labels
	classes int
	cells   *mechanism.Histogram
	codes   []int32
	bins    []uint16
}

func newConfusionPass(s *mechanism.Session, classes int, l Labels) *confusionPass {
	return &confusionPass{labels: l, classes: classes, cells: s.NewHistogram([]int{1}, (classes+1)*classes)}
}

func (p *confusionPass) Add(b dataset.Block) {
	n := b.Len()
	if cap(p.bins) < n {
		p.bins, p.codes = make([]uint16, n), make([]int32, n)
	}
	p.bins = p.bins[:n]
	prediction := p.labels.Prediction[b.Start():]
	for i, code := range b.Codes(p.labels.Target, p.codes[:n]) {
		truth := min(int(code), p.classes)
		p.bins[i] = uint16(truth*p.classes + p.index(prediction[i]))
	}
	p.cells.Add([][]uint16{p.bins})
}

func (p *confusionPass) Merge(o *confusionPass) { p.cells.Merge(o.cells) }

// index returns a prediction as a class: the first where it is none.
func (p *confusionPass) index(x float64) int {
	if k := int(x); x >= 0 && k < p.classes {
		return k
	}
	return 0
}

// readConfusion reads the matrix and the two shares from noisy cells whose noise
// has standard deviation sigma. Everything is computed from the rounded cells,
// as a reader of the report would; rounding adds a variance of 1/12.
func readConfusion(classes []string, cells []float64, sigma float64) *Confusion {
	l := len(classes)
	out := &Confusion{Classes: classes, Counts: make([][]int, l+1), Sigma: sigma}
	for truth := range out.Counts {
		row := make([]int, l)
		for k := range row {
			row[k] = int(math.Round(cells[truth*l+k]))
		}
		out.Counts[truth] = row
	}
	v := sigma*sigma + 1./12
	right, all := 0., 0.
	hits, rows := make([]float64, l), make([]float64, l)
	for k := range l {
		for _, n := range out.Counts[k] {
			rows[k] += float64(n)
		}
		hits[k] = float64(out.Counts[k][k])
		right += hits[k]
		all += rows[k]
	}
	// The right ones are L of the L^2 cells of all records in a class.
	n := float64(l)
	out.Accuracy = limited(ratio(right, all, n*v, n*n*v, n*v, Level))
	out.Balanced = limited(balanced(hits, rows, v))
	return out
}

// How balanced treats classes whose number of records is near its noise.
const (
	// A class is plain if its number of records is plainStart standard deviations of
	// its noise, and plainGrowth times the root of the number of classes: the mean of
	// noisy ratios is biased by the square of the noise over their wholes, which
	// more classes do not average out.
	plainStart, plainGrowth = 4, 2.5
	// doubtfulLevel is that of all recalls at once where a class is not plain.
	doubtfulLevel = .99
)

// balanced returns the mean over the classes of hits/rows, each of whose cells has
// noise of variance v.
//
// Where every class is plain the noise in the ratios is about independent and normal,
// and [meanOf] adds it up. Elsewhere it is not: a class that the noise hides may have any
// recall from 0 to 1, and so may all of these at once, on the same side of what is
// guessed. There every recall has an interval at a level at which all cover together with
// [doubtfulLevel] at least (the union bound), and the ends of the mean are the means of
// the ends.
func balanced(hits, rows []float64, v float64) Share {
	n := float64(len(rows))
	least := max(plainStart, plainGrowth*math.Sqrt(n)) * math.Sqrt(n*v)
	if slices.Min(rows) >= least {
		recalls := make([]Share, len(rows))
		for k, row := range rows {
			recalls[k] = ratio(hits[k], row, v, n*v, v, widenedLevel)
		}
		return meanOf(recalls)
	}
	out := Share{Level: Level}
	for k, row := range rows {
		s := limited(ratio(hits[k], row, v, n*v, v, 1-(1-doubtfulLevel)/n))
		out.Value += s.Value / n
		out.Lower += s.Lower / n
		out.Upper += s.Upper / n
	}
	return out
}

// ratio returns part/whole with the interval of all ratios rho with
//
//	(part - rho whole)^2 <= z^2 Var(part - rho whole),
//
// Fieller's: the noise is normal, so it covers at exactly the level. Noise may
// put any of the three outside [0, 1]. A ratio whose whole is not told from 0
// by its noise is unknown: between 0 and 1.
func ratio(part, whole, varPart, varWhole, cov, level float64) Share {
	z2 := sq(distuv.UnitNormal.Quantile(1 - (1-level)/2))
	a, b, c := whole*whole-z2*varWhole, part*whole-z2*cov, part*part-z2*varPart
	if whole <= 0 || a <= 0 {
		return Share{Value: .5, Lower: 0, Upper: 1, Level: level}
	}
	root := math.Sqrt(max(b*b-a*c, 0))
	return Share{Value: part / whole, Lower: (b - root) / a, Upper: (b + root) / a, Level: level}
}

// meanOf is the mean of shares with independent noise. The distances from each
// value to its own limits are added up as standard deviations are, which keeps
// what is lopsided in them (G. Y. Zou and A. Donner, "Construction of confidence
// limits about effect measures: a general approach", Statistics in Medicine
// 2008). That is an approximation, for which the shares are taken at a level
// above the stated one.
func meanOf(shares []Share) Share {
	out := Share{Level: Level}
	below, above := 0., 0.
	for _, s := range shares {
		out.Value += s.Value
		below += sq(s.Value - s.Lower)
		above += sq(s.Upper - s.Value)
	}
	n := float64(len(shares))
	out.Value /= n
	out.Lower, out.Upper = out.Value-math.Sqrt(below)/n, out.Value+math.Sqrt(above)/n
	return out
}

// limited moves a share and the ends of its interval into [0, 1], where the
// true one lies.
func limited(s Share) Share {
	s.Lower, s.Upper = min(max(s.Lower, 0), 1), min(max(s.Upper, 0), 1)
	s.Value = min(max(s.Value, s.Lower), s.Upper)
	return s
}
