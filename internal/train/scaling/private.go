package scaling

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// The settings of private scaling. They are public constants; docs/proofs/scaling.md,
// "How the settings were chosen", says how.
const (
	// ExponentShare and BinShare are the shares of mu^2 of the first histogram
	// and of the two finer ones together, of a training budget of 1.
	ExponentShare = .08
	BinShare      = .10
	// Bins is the number of equal bins.
	Bins = 32
	// TargetWeight is how much more exactly the target is counted than a
	// feature: its range decides what the model can explain at all.
	TargetWeight = 4
	// spurious is the chance that a bin without records anywhere in the first
	// histogram passes the threshold.
	spurious = .01
)

// reading says how a range is read from noisy counts.
type reading struct {
	tail  float64 // share of records on each side outside the magnitudes kept
	outer float64 // outer quantile on each side
	widen float64 // growth of the interval between them around its middle
}

var (
	// featureReading suits inputs: a few extreme values cost little when they
	// are clamped.
	featureReading = reading{tail: .02, outer: .04, widen: 1.6}
	// targetReading keeps more of the tails: what is clamped there is lost to
	// the model, however good it is.
	targetReading = reading{tail: .01, outer: .02, widen: 1.3}
	// outlineReading is for descriptions, whose means are those of values clamped to the range. The range is widened by
	// one bin on each side instead of by a factor.
	outlineReading = reading{tail: .01, outer: .005, widen: 1}
)

// Private releases the ranges of the numeric columns that declare none.
type Private struct {
	// Columns are the columns to map, in the order of the view given to Run.
	Columns []dataset.Column
	// Target is the index of the target in Columns, or -1. It is counted with
	// more weight, and its range is not widened past zero where only values of
	// one sign were seen, because it also limits predictions.
	Target int
	// Transform is that of the target, whose cells are transformed: its range is found in the units that it had before,
	// where a magnitude is an octave of it, and then transformed. The target is the last column then.
	Transform rescale.Transform
	// Relation is that of the run. Where only private columns may change, the
	// range of every other column is public and is computed exactly, by [Exact]:
	// no leaf pays for it.
	Relation budget.Relation
	// Pure draws Laplace noise in place of Gaussian noise: the leaves of Plan are pure, and
	// a run with them alone needs no delta. Their shares are thirds.
	Pure bool
	// Outline asks for ranges that hold nearly all records, for a description of the columns: see [Private.Run].
	Outline bool
}

// open reports whether the range of a column must be released.
func (p Private) open(c dataset.Column) bool { return needsRange(c) && !p.exact(c) }

// exact reports whether the range of a column is computed from it.
func (p Private) exact(c dataset.Column) bool {
	return needsRange(c) && p.Relation == budget.SubstitutePrivateColumns && !c.Private
}

// Plan returns the three histogram leaves, two for an outline, or false when every column declares
// its range or has a public one and nothing is released. Their noise adapts to the number of
// columns; their price does not depend on it.
func (p Private) Plan() (budget.Node, bool) {
	if !slices.ContainsFunc(p.Columns, p.open) {
		return budget.Node{}, false
	}
	if p.Pure {
		return budget.Seq("scaling",
			budget.PureLeaf("exponents", 1./3, 1).Of(mechanism.StatCells),
			budget.PureLeaf("bins", 1./3, 1).Of(mechanism.StatCells),
			budget.PureLeaf("fine-bins", 1./3, 1).Of(mechanism.StatCells)).As(budget.Stage), true
	}
	if p.Outline {
		return budget.Seq("scaling",
			budget.GaussianLeaf("exponents", ExponentShare, 1).Of(mechanism.StatHistogram),
			budget.GaussianLeaf("bins", BinShare/2, 1).Of(mechanism.StatHistogram)).As(budget.Stage), true
	}
	return budget.Seq("scaling",
		budget.GaussianLeaf("exponents", ExponentShare, 1).Of(mechanism.StatHistogram),
		budget.GaussianLeaf("bins", BinShare/2, 1).Of(mechanism.StatHistogram),
		budget.GaussianLeaf("fine-bins", BinShare/2, 1).Of(mechanism.StatHistogram)).As(budget.Stage), true
}

// Run returns one range per column (the zero Range for category columns). s is
// the session of the node that Plan returned. A column without a bin that passes
// is [Range.Unread]: the finer histograms are released of the others alone, with
// the noise of so many, or not at all where there are none.
//
// Ranges of an outline come from the first two histograms. They reach from one bin below the .005 quantile to one bin above the
// .995 quantile, within the magnitudes that the first histogram shows.
func (p Private) Run(ctx context.Context, s *mechanism.Session, r mechanism.Records) ([]Range, error) {
	// The exact range of a column is public under that relation alone.
	if p.Relation == budget.SubstitutePrivateColumns && s.Relation() != p.Relation {
		return nil, fmt.Errorf("%w: exact ranges of public columns need %v, the run has %v", mechanism.ErrRelation, p.Relation, s.Relation())
	}
	out := make([]Range, len(p.Columns))
	var open, public []int
	for j, c := range p.Columns {
		switch {
		case p.open(c):
			open = append(open, j)
		case p.exact(c):
			public = append(public, j)
		case c.Ranged:
			out[j] = Range{Lower: c.Lower, Upper: c.Upper, Declared: true}
		}
	}
	if len(public) > 0 {
		if err := exactRanges(ctx, s.Maker, r, public, out); err != nil {
			return nil, err
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	rough, err := p.exponentRanges(ctx, s, r, open)
	if err != nil {
		return nil, err
	}
	if !s.KeepsColumns() {
		open, rough = leave(open, rough, out)
	}
	if len(open) == 0 {
		return out, nil
	}
	return out, p.fineRanges(ctx, s, r, open, rough, out)
}

// fineRanges writes the ranges of the columns whose magnitudes are known.
func (p Private) fineRanges(ctx context.Context, s *mechanism.Session, r mechanism.Records, open []int, rough []coarse, out []Range) error {
	within := make([]interval, len(open))
	numbers := slices.Repeat([]int{Bins}, len(open))
	for i, r := range rough {
		within[i] = interval{r.lower, r.upper}
	}
	bins, err := p.releaseBins(ctx, s, "bins", r, open, within, numbers)
	if err != nil {
		return err
	}
	if p.Outline {
		for i, j := range open {
			rough[i].numbers.add(bins[i])
			in := zoomInto(quantiles(bins[i].counts, within[i], outlineReading.outer), within[i])
			out[j] = Range{Lower: in.Lower, Upper: in.Upper, Numbers: rough[i].numbers.count(), Huge: rough[i].huge(), Tiny: rough[i].tiny()}
		}
		return nil
	}
	var target targetZoom
	for i, c := range bins {
		rough[i].numbers.add(c)
		if open[i] == p.Target {
			target = rough[i].zoom(c)
			within[i], numbers[i] = target.within, target.bins
			continue
		}
		within[i] = zoomInto(quantiles(c.counts, within[i], featureReading.outer), within[i])
	}
	if bins, err = p.releaseBins(ctx, s, "fine-bins", r, open, within, numbers); err != nil {
		return err
	}
	for i, j := range open {
		var r Range
		if j == p.Target {
			r = target.read(bins[i], rough[i])
		} else {
			r = widen(quantiles(bins[i].counts, within[i], featureReading.outer), featureReading.widen)
		}
		rough[i].numbers.add(bins[i])
		r.Numbers = rough[i].numbers.count()
		if at, ok := median(bins[i], within[i]); ok {
			r.Median, r.HasMedian = min(max(at, r.Lower), r.Upper), true
		}
		if j == p.Target && p.Transform != rescale.None {
			r = p.transformed(r, rough[i].least)
		}
		r.Huge, r.Tiny = rough[i].huge(), rough[i].tiny()
		out[j] = r
	}
	return nil
}

// zoomInto returns the interval of the second zoom: in, and one bin of the first zoom over whole on
// each side of it.
func zoomInto(in, whole interval) interval {
	margin := (whole.Upper - whole.Lower) / Bins
	return interval{max(in.Lower-margin, whole.Lower), min(in.Upper+margin, whole.Upper)}
}

// from returns how the last of the columns is transformed.
func (p Private) from(open []int) rescale.Transform {
	if open[len(open)-1] == p.Target {
		return p.Transform
	}
	return rescale.None
}

// transformed returns the range of the transformed target. It begins where the range in units of the target does, or with
// the smallest magnitude above 0 that was seen: what has no logarithm counts as that.
func (p Private) transformed(r Range, least float64) Range {
	rule := rescale.Rule{Transform: p.Transform}
	if p.Transform == rescale.Log {
		if least <= 0 {
			least = r.Upper * 0x1p-10
		}
		r.Lower = max(r.Lower, least)
	}
	r.Lower, r.Upper, r.Median = rule.Of(r.Lower), rule.Of(r.Upper), rule.Of(r.Median)
	if !(r.Upper-r.Lower >= minWidth*max(1, math.Abs(r.Upper))) { // nothing above 0 was seen
		r.Lower, r.Upper = r.Lower-1, r.Upper+1
	}
	r.Median = min(max(r.Median, r.Lower), r.Upper)
	return r
}

// minWidth is the smallest width of the range of a transformed target, in parts of its end.
const minWidth = 1e-6

// coarse is what the first histogram says about a column.
type coarse struct {
	lower, upper       float64 // the magnitudes that hold all but the tails
	negative, positive bool    // signs seen
	unseen             bool    // no bin passed
	faint              bool    // see [Range.Faint]
	least              float64 // lower end of the smallest magnitude above 0 that was seen; 0 if none was
	numbers            mean    // noisy number of records with a number

	magnitudes noisyCounts
	low, high  int // the outermost bins of magnitudes between lower and upper
}

// huge returns [Range.Huge].
func (r coarse) huge() bool {
	return !r.unseen && (r.low == 0 || r.high == exponentBins-1)
}

// tiny returns [Range.Tiny].
func (r coarse) tiny() bool {
	onlyZero := r.low == zeroBin && r.high == zeroBin
	return !r.unseen && !onlyZero && r.low >= zeroBin-1 && r.high <= zeroBin+1
}

// reading returns how the range of column j is read.
func (p Private) reading(j int) reading {
	switch {
	case p.Outline:
		return outlineReading
	case j == p.Target:
		return targetReading
	}
	return featureReading
}

// weights returns the weights with which the columns are counted.
func (p Private) weights(open []int) []int {
	out := make([]int, len(open))
	for i, j := range open {
		out[i] = 1
		if j == p.Target {
			out[i] = TargetWeight
		}
	}
	return out
}

func (p Private) exponentRanges(ctx context.Context, s *mechanism.Session, r mechanism.Records, open []int) ([]coarse, error) {
	columns, err := p.release(ctx, s, "exponents", r, binStatistic{open, p.weights(open), slices.Repeat([]int{exponentBins}, len(open)), nil, p.from(open)})
	if err != nil {
		return nil, err
	}
	out := make([]coarse, len(open))
	records := recordsAtLeast(columns)
	if s.Relation() != budget.AddRemove { // their number is public
		n, err := r.Len(ctx)
		if err != nil {
			return nil, err
		}
		records = float64(n)
	}
	for i, c := range columns {
		// A bin without records passes the threshold with probability at most
		// spurious over all bins of all columns.
		threshold := p.threshold(c.sigma, exponentBins*float64(len(open)))
		pooled := p.threshold(c.sigma, pooledSums*float64(len(open)))
		if open[i] == p.Target {
			c = c.withoutStray(threshold, p.threshold(c.sigma, strayRarity*exponentBins*float64(len(open))))
		}
		out[i] = exponentRange(c, threshold, pooled, p.reading(open[i]))
		out[i].faint = fullBin*records < threshold+doubt*c.sigma
		out[i].magnitudes = c
		out[i].numbers.add(columns[i])
	}
	return out, nil
}

// threshold returns what noise alone passes in one of n bins with probability at most
// spurious: sigma sqrt(2 ln(n/spurious)) of Gaussian noise, by P(N > t) <= exp(-t^2/2), and
// b ln(n/(2 spurious)) of Laplace noise of scale b = sigma/sqrt(2).
func (p Private) threshold(sigma, n float64) float64 {
	if p.Pure {
		return sigma / math.Sqrt2 * math.Log(n/(2*spurious))
	}
	return sigma * math.Sqrt(2*math.Log(n/spurious))
}

// exponentRange reads the magnitudes of a column from its noisy counts: those of the bins
// above the threshold, less the outermost ones that together hold no more than the
// share of the tail of what these bins count. Where no bin is above it, neighbouring ones are counted
// together, see [pooledRange]. Where one of the target or of an outline is, so are those beside it; see [around].
func exponentRange(c noisyCounts, threshold, pooled float64, how reading) coarse {
	total, first, last := 0.0, -1, -1
	for b, n := range c.counts {
		if n > threshold {
			if first < 0 {
				first = b
			}
			last = b
			total += n
		}
	}
	if first < 0 {
		return pooledRange(c.counts, pooled)
	}
	if first == zeroBin && last == zeroBin {
		return coarse{lower: -1, upper: 1, negative: true, positive: true, low: zeroBin, high: zeroBin}
	}
	if first == last && how != featureReading {
		return around(c, first)
	}
	low, high, sum := -1, last, 0.0
	for b := first; b <= last; b++ {
		if c.counts[b] <= threshold {
			continue
		}
		sum += c.counts[b]
		if low < 0 && sum > how.tail*total {
			low = b
		}
		if sum >= (1-how.tail)*total {
			high = b
			break
		}
	}
	if low == zeroBin && high == zeroBin { // all but the tails are zero
		low, high = first, last
	}
	out := between(low, high, coarse{negative: first < zeroBin, positive: last > zeroBin})
	for b := high; b > max(low-1, zeroBin); b-- {
		if c.counts[b] > threshold {
			out.least, _ = exponentEdges(b)
		}
	}
	return out
}

// between returns what was seen with the edges of its outermost bins.
func between(low, high int, c coarse) coarse {
	c.low, c.high = low, high
	c.lower, _ = exponentEdges(low)
	_, c.upper = exponentEdges(high)
	if high > zeroBin {
		c.least, _ = exponentEdges(max(low, zeroBin+1))
	}
	return c
}

// interval is a pair of outer quantiles.
type interval struct{ Lower, Upper float64 }

func (p Private) releaseBins(ctx context.Context, s *mechanism.Session, name string, r mechanism.Records, open []int, within []interval, numbers []int) ([]noisyCounts, error) {
	return p.release(ctx, s, name, r, binStatistic{open, p.weights(open), numbers, within, p.from(open)})
}

// quantiles reads the outer quantiles from the noisy counts of equal bins by
// linear interpolation. Where the counts say nothing, or the quantiles
// coincide, it returns the whole interval.
func quantiles(counts []float64, whole interval, outer float64) interval {
	total := 0.0
	for _, n := range counts {
		total += max(n, 0)
	}
	if total <= 0 {
		return whole
	}
	width := (whole.Upper - whole.Lower) / float64(len(counts))
	at := func(q float64) float64 {
		below := 0.0
		for b, n := range counts {
			n = max(n, 0)
			if below+n >= q*total && n > 0 {
				return whole.Lower + float64(width*(float64(b)+min(max((float64(q*total)-below)/n, 0), 1))) // conversions forbid fusing
			}
			below += n
		}
		return whole.Upper
	}
	out := interval{at(outer), at(1 - outer)}
	if !(out.Upper-out.Lower >= 1e-3*(whole.Upper-whole.Lower)) {
		return whole
	}
	return out
}

// widen grows an interval around its middle.
func widen(in interval, factor float64) Range {
	middle, half := in.Lower/2+in.Upper/2, float64((in.Upper/2-in.Lower/2)*factor) // the conversion forbids fusing
	return Range{Lower: middle - half, Upper: middle + half}
}

// keepSign ends a range at zero on a side where no value was seen.
func keepSign(r Range, seen coarse) Range {
	if !seen.negative {
		r.Lower = max(r.Lower, 0)
	}
	if !seen.positive {
		r.Upper = min(r.Upper, 0)
	}
	return r
}
