package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Target encoding: before any trainer, a category column becomes a numeric one, the mean of the target by value
// (docs/proofs/target-encoding.md, "Algorithm"). The means are computed from one release. The trainer of a run
// with such columns is planned as
//
//	target-encoding (seq): values   sums and counts by value, of all such columns
//	                       encoded  the trainer, on columns of these numbers
//
// The model keeps the number of each value, so it predicts from texts.
const (
	encodingNode = "target-encoding"
	valuesLeaf   = "values"
	encodedNode  = "encoded"
)

// The settings. They are public constants; docs/proofs/target-encoding.md, "How the settings were chosen".
const (
	// encodingShare is the part of the model's mu^2 that the sums by value take.
	encodingShare = .2
	// encodedReach is the bound of encoded numbers: standard deviations, over the records, from their mean.
	encodedReach = 3
	// encodingSteps is the number of candidate variances, each half of the previous one.
	encodingSteps = 20
)

// ErrEncoding is returned for columns that cannot be encoded by the target.
var ErrEncoding = errors.New("columns cannot be encoded by the target here")

// encodesFeatures reports whether a feature is encoded by the target.
func (p *Pipeline) encodesFeatures() bool {
	return slices.ContainsFunc(p.Schema.Columns, func(c dataset.Column) bool {
		return c.TargetEncoded
	})
}

// checkEncoding checks that columns can be encoded by the target.
func (r *rules) checkEncoding() {
	for _, c := range r.Schema.Columns {
		if !c.TargetEncoded {
			continue
		}
		field := fault.Child(fault.Child("data.columns", c.Name), "encode")
		if what, hint := r.noEncoding(c); what != "" {
			r.addProblem(ErrEncoding, field, hint,
				"%s: a column cannot be encoded by the target %s", field, what)
		}
	}
}

// noEncoding returns the reason why a column cannot be target-encoded, and a remedy, or two empty strings.
func (r *rules) noEncoding(c dataset.Column) (what, hint string) {
	classes := 0
	if j := r.Schema.Index(r.Target); j >= 0 && r.isClassification() {
		classes = r.classesOf(r.Schema.Columns[j])
	}
	abstainer := r.abstainingMethod()
	switch {
	case c.Name == r.Target:
		return "if it is the target", "remove it"
	case r.Budget.Relation == budget.SubstitutePrivateColumns:
		return "under the relation " + r.Budget.Relation.String(),
			"use add-remove or substitute, or remove it"
	case r.Budget.Delta == 0 && r.Budget.Epsilon > 0:
		return "with a delta of 0, because its noise is Gaussian", deltaHint
	case classes > 2:
		return "if there are more than two classes", "remove it"
	case abstainer != "":
		return "with method " + abstainer + ", which spends all of delta", "use another method"
	}
	return "", ""
}

// asNumbers returns the columns as a trainer sees them: those that are encoded are numbers of a known range.
func asNumbers(columns []dataset.Column) []dataset.Column {
	out := slices.Clone(columns)
	for j := range out {
		if out[j].TargetEncoded {
			out[j] = encodedColumn(out[j], scaling.Range{Lower: -1, Upper: 1})
		}
	}
	return out
}

// encodedColumn declares the numbers of a column.
func encodedColumn(c dataset.Column, r scaling.Range) dataset.Column {
	return dataset.Column{Name: c.Name, Ranged: true, Lower: r.Lower, Upper: r.Upper}
}

// withEncoding is a trainer that receives numbers in place of target-encoded columns.
type withEncoding struct{ method.Trainer }

// Plan prices the sums by value and the trainer.
func (t withEncoding) Plan(f method.Facts) (budget.Node, error) {
	f.Columns = asNumbers(f.Columns)
	node, err := t.Trainer.Plan(f)
	return budget.Sequence(encodingNode,
		budget.GaussianLeaf(valuesLeaf, linear.GramShare*encodingShare,
			1).WithStatistic(mechanism.StatValueSums),
		budget.Sequence(encodedNode, node).Scaled(1-encodingShare)), err
}

// Fit encodes the columns and trains; see [method.Trainer]. If feature selection kept no such column, the sums
// are not released.
func (t withEncoding) Fit(
	ctx context.Context, s *mechanism.Session, d method.Data,
) (*method.Fit, error) {
	s = s.Sub(encodingNode)
	var coded []int
	for j, c := range d.Columns {
		if c.TargetEncoded {
			coded = append(coded, j)
		}
	}
	if len(coded) == 0 {
		return t.Trainer.Fit(ctx, s.Sub(encodedNode), d)
	}
	numbers, err := releaseEncoding(ctx, s, d, coded)
	if err != nil {
		return nil, fmt.Errorf("target encoding: %w", err)
	}
	names := d.Columns
	d.Columns, d.Ranges = slices.Clone(d.Columns), slices.Clone(d.Ranges)
	for i, j := range coded {
		d.Ranges[j] = numbers[i].scale
		d.Columns[j] = encodedColumn(names[j], numbers[i].scale)
		d.Records = d.Records.Recode(j, d.Columns[j], numbers[i].values)
	}
	fit, err := t.Trainer.Fit(ctx, s.Sub(encodedNode), d)
	if err != nil {
		return nil, err
	}
	for i, j := range coded {
		readTexts(fit.Model, names[j], numbers[i])
	}
	return fit, nil
}

// readTexts converts a model of encoded numbers to one that reads the original texts.
func readTexts(m regression.Model, c dataset.Column, of encodedNumbers) {
	if x, ok := m.(*regression.Classifier); ok {
		for _, score := range x.Scores {
			readTexts(score, c, of)
		}
		return
	}
	l := regression.LinearPart(m)
	l.Columns = slices.Clone(l.Columns)
	for k := range l.Columns {
		if to := &l.Columns[k]; to.Name == c.Name {
			to.Categories = c.Categories
			to.Values = of.values
			to.TextRule = regression.TextRule(c.TextRule)
			to.Missing = of.values[len(c.Categories)]
		}
	}
}

// encodingStatistic adds up the target by the values of some columns. With u = (y - Center)/Half clamped to
// [-1, 1], or -1 and +1 for two classes, a record adds 1/2 to the count and u to the sum of its value in every
// column; see [mechanism.ValueSums] for the sensitivity. A record without a target adds 0.
type encodingStatistic struct {
	Columns, Levels []int // columns, and their numbers of values including the one for other cells
	Target          int
	Classes         bool
	Center, Half    float64 // of a numeric target
}

// New implements [mechanism.Statistic].
func (x encodingStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	return &encodingPass{
		of:     x,
		sums:   m.NewValueSums(x.Levels),
		values: make([][]int32, len(x.Columns)),
	}
}

type encodingPass struct {
	of     encodingStatistic
	sums   *mechanism.ValueSums
	values [][]int32
	target []float64
	codes  []int32
}

func (p *encodingPass) Add(b mechanism.Block) {
	n := b.Len()
	p.codes, p.target = slices.Grow(p.codes[:0], n)[:n], slices.Grow(p.target[:0], n)[:n]
	for i, j := range p.of.Columns {
		p.values[i] = p.values[i][:0]
		last := int32(p.of.Levels[i] - 1)
		for _, code := range b.Codes(j, p.codes) {
			if code < 0 || code > last {
				code = last
			}
			p.values[i] = append(p.values[i], code)
		}
	}
	if p.of.Classes {
		signs := [...]float64{-1, 1}
		for i, class := range b.Codes(p.of.Target, p.codes) {
			p.target[i] = math.NaN()
			if class >= 0 && int(class) < len(signs) {
				p.target[i] = signs[class]
			}
		}
	} else {
		for i, y := range b.Float(p.of.Target, p.target) {
			p.target[i] = (y - p.of.Center) / p.of.Half
		}
	}
	p.sums.Add(p.values, p.target)
}

func (p *encodingPass) Cells() mechanism.Cells {
	return p.sums.Cells()
}

// encodedNumbers replace the values of a column.
type encodedNumbers struct {
	values []float64 // by code; the last is for all other cells
	scale  scaling.Range
}

// releaseEncoding releases the sums by value of the given columns and reads a number for each value.
func releaseEncoding(
	ctx context.Context, s *mechanism.Session, d method.Data, coded []int,
) ([]encodedNumbers, error) {
	last := len(d.Columns) - 1
	x := encodingStatistic{
		Columns: coded,
		Target:  last,
		Classes: d.Columns[last].Kind == dataset.Category,
		Half:    1,
	}
	if !x.Classes {
		x.Center, x.Half = d.Ranges[last].Center(), d.Ranges[last].Half()
	}
	for _, j := range coded {
		x.Levels = append(x.Levels, len(d.Columns[j].Categories)+1)
	}
	pass, err := mechanism.Sum[*encodingPass](ctx, s, d.Records, x)
	if err != nil {
		return nil, err
	}
	released, err := mechanism.Gaussian(s, valuesLeaf, pass.sums.Bound())
	if err != nil {
		return nil, err
	}
	out := make([]encodedNumbers, len(coded))
	for i := range coded {
		counts, sums := pass.sums.Read(i, released.Value())
		out[i] = encodeColumn(counts, sums, s.Scale(valuesLeaf), x.Center, x.Half)
	}
	return out, nil
}

// encodeColumn reads the numbers of a column from released counts and sums of the scaled target by value; sigma is
// the standard deviation of the noise in a sum, and twice that in a count.
func encodeColumn(counts, sums []float64, sigma, center, half float64) encodedNumbers {
	e := newShrinkage(counts, sums, sigma)
	means := e.posteriorMeans()
	spread := 0.
	for v, m := range means {
		spread += e.counts[v] * square(m-e.mean) / max(e.total, 1)
	}
	reach := encodedReach * math.Sqrt(spread)
	farthest := 0.
	for _, m := range means {
		farthest = max(farthest, math.Abs(m-e.mean))
	}
	if reach = min(reach, farthest); !(reach > leastReach) {
		reach = leastReach
	}
	out := encodedNumbers{scale: scaling.Range{
		Lower:    center + half*(e.mean-reach),
		Upper:    center + half*(e.mean+reach),
		Declared: true,
	}}
	for _, m := range means {
		y := center + half*(e.mean+min(max(m-e.mean, -reach), reach))
		out.values = append(out.values, min(max(y, out.scale.Lower), out.scale.Upper))
	}
	return out
}

// leastReach is the least half width of the numbers of a column, in half widths of the target's range: without an
// effect of its values a column is constant, in the middle.
const leastReach = 0x1p-10

// shrinkage estimates the means of a target by value.
type shrinkage struct {
	counts []float64 // released, and at least 0
	dev    []float64 // released sums about the mean
	noise  float64   // variance of the noise in dev
	total  float64   // of counts
	mean   float64   // of the target over all records, in [-1, 1]
	within float64   // largest variance of the target around the means
}

func newShrinkage(counts, sums []float64, sigma float64) *shrinkage {
	e := &shrinkage{}
	sum := 0.
	all := 0.
	for v, n := range counts {
		e.counts = append(e.counts, max(n, 0))
		sum += sums[v]
		all += n
		e.total += max(n, 0)
	}
	if noise := 2 * sigma * math.Sqrt(float64(len(counts))); all > noise {
		e.mean = min(max(sum/all, -1), 1)
	}
	for v, n := range e.counts {
		e.dev = append(e.dev, sums[v]-e.mean*n)
	}
	e.noise = square(sigma) * (1 + square(2*e.mean))
	e.within = max(1-square(e.mean), leastReach)
	return e
}

// posteriorMeans returns the posterior means of the target by value. The true means are modelled as independent draws
// from a normal distribution of variance t about the mean of all records, and the target as one of variance w
// around them: then the deviation of the sum of n records has the variance t n² + w n + noise. Both variances
// maximise the likelihood on a grid, and t may be 0.
func (e *shrinkage) posteriorMeans() []float64 {
	best := math.Inf(-1)
	t := 0.
	w := e.within
	for i := range encodingSteps {
		for j := range encodingSteps / 2 {
			x, y := math.Ldexp(e.within, -i), math.Ldexp(e.within, -j)
			if i == encodingSteps-1 {
				x = 0
			}
			if l := e.logLikelihood(x, y); l > best {
				best = l
				t = x
				w = y
			}
		}
	}
	out := make([]float64, len(e.counts))
	for v, n := range e.counts {
		out[v] = e.mean + t*n*e.dev[v]/(t*n*n+w*n+e.noise)
	}
	return out
}

func square(x float64) float64 {
	return x * x
}

// logLikelihood is the logarithm of that of two variances.
func (e *shrinkage) logLikelihood(t, w float64) float64 {
	sum := 0.
	for v, n := range e.counts {
		variance := t*n*n + w*n + e.noise
		sum -= math.Log(variance) + square(e.dev[v])/variance
	}
	return sum
}
