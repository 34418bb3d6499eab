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

// Settings of private scaling. They are public constants; see docs/proofs/scaling.md, "How the settings were
// chosen".
const (
	// ExponentShare and BinShare are the shares of mu^2 of the first histogram
	// and of the two finer ones together, of a training budget of 1.
	ExponentShare = .08
	BinShare      = .10
	// Bins is the number of equal bins.
	Bins = 32
	// TargetWeight is the weight of the target relative to a feature in the counts: its range limits the
	// predictions of the model.
	TargetWeight = 4
	// spurious is the chance that a bin without records anywhere in the first
	// histogram passes the threshold.
	spurious = .01
)

// rangeReading holds the settings for computing a range from noisy counts.
type rangeReading struct {
	tail  float64 // share of records on each side outside the magnitudes kept
	outer float64 // outer quantile on each side
	widen float64 // growth of the interval between them around its middle
}

var (
	// featureReading suits inputs: a few extreme values cost little when they
	// are clamped.
	featureReading = rangeReading{
		tail:  .02,
		outer: .04,
		widen: 1.6,
	}
	// targetReading includes more of the tails, because the model cannot predict values beyond the range.
	targetReading = rangeReading{
		tail:  .01,
		outer: .02,
		widen: 1.3,
	}
	// outlineReading is for descriptions, whose means are those of values clamped to the range. The range is
	// widened by one bin on each side instead of by a factor.
	outlineReading = rangeReading{
		tail:  .01,
		outer: .005,
		widen: 1,
	}
)

// Private releases the ranges of the numeric columns without a declared range.
type Private struct {
	// Columns are the columns to map, in the order of the view given to Run.
	Columns []dataset.Column
	// Target is the index of the target in Columns, or -1. It is counted with
	// more weight, and its range is not widened past zero where only values of
	// one sign were seen, because it also limits predictions.
	Target int
	// Transform is the transform of the target's cells: its range is found in the original units, where a
	// magnitude is an octave, and then transformed. The target must be the last column.
	Transform rescale.Transform
	// Relation is the relation of the run. If only private columns may change, the range of every other column
	// is public and computed exactly by [Exact], without using budget.
	Relation budget.Relation
	// Pure selects Laplace noise instead of Gaussian noise: the leaves of Plan are pure, and a run with these
	// leaves only needs no delta. Their shares are thirds.
	Pure bool
	// Outline asks for ranges that hold nearly all records, for a description of the columns: see [Private.Run].
	Outline bool
	// Histograms, if not nil, is called by Run with the index and the finest released histogram of each column whose range
	// was found.
	Histograms func(column int, h Histogram)
}

// A Histogram holds noisy counts of equal bins over [Lower, Upper], in units of the column. The outermost bins also count
// everything beyond. Each count has noise of standard deviation Sigma.
type Histogram struct {
	Lower, Upper float64
	Counts       []float64
	Sigma        float64
}

// needsRelease reports whether the range of a column must be released.
func (p Private) needsRelease(c dataset.Column) bool {
	return needsRange(c) && !p.isExact(c)
}

// isExact reports whether the range of a column is computed from it.
func (p Private) isExact(c dataset.Column) bool {
	return needsRange(c) && p.Relation == budget.SubstitutePrivateColumns && !c.Private
}

// Plan returns the three histogram leaves, two for an outline, or false if every column declares its range or
// has a public one, so that no release is needed. Their noise depends on the number of columns; their price
// does not.
func (p Private) Plan() (budget.Node, bool) {
	if !slices.ContainsFunc(p.Columns, p.needsRelease) {
		return budget.Node{}, false
	}
	if p.Pure {
		return budget.Sequence("scaling",
			budget.PureLeaf("exponents", 1./3, 1).WithStatistic(mechanism.StatCells),
			budget.PureLeaf("bins", 1./3, 1).WithStatistic(mechanism.StatCells),
			budget.PureLeaf("fine-bins", 1./3, 1).WithStatistic(mechanism.StatCells)).
			WithRole(budget.RoleStage), true
	}
	if p.Outline {
		return budget.Sequence("scaling",
			budget.GaussianLeaf("exponents", ExponentShare, 1).
				WithStatistic(mechanism.StatHistogram),
			budget.GaussianLeaf("bins", BinShare/2, 1).WithStatistic(mechanism.StatHistogram)).
			WithRole(budget.RoleStage), true
	}
	return budget.Sequence("scaling",
		budget.GaussianLeaf("exponents", ExponentShare, 1).WithStatistic(mechanism.StatHistogram),
		budget.GaussianLeaf("bins", BinShare/2, 1).WithStatistic(mechanism.StatHistogram),
		budget.GaussianLeaf("fine-bins", BinShare/2, 1).WithStatistic(mechanism.StatHistogram)).
		WithRole(budget.RoleStage), true
}

// Run returns one range per column (the zero Range for category columns). s is the session of the node that
// Plan returned. A column without a detected bin is [Range.Unread]: the finer histograms are released for the
// other columns only, with noise for their number, or not at all if there are no others.
//
// Ranges of an outline come from the first two histograms. They extend from one bin below the .005 quantile to
// one bin above the .995 quantile, within the magnitudes that the first histogram shows.
func (p Private) Run(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
) ([]Range, error) {
	// The exact range of a column is public under that relation only.
	if p.Relation == budget.SubstitutePrivateColumns && s.Relation() != p.Relation {
		return nil, fmt.Errorf(
			"%w: exact ranges of public columns need %v, the run has %v",
			mechanism.ErrRelation,
			p.Relation,
			s.Relation(),
		)
	}
	out := make([]Range, len(p.Columns))
	var open, public []int
	for j, c := range p.Columns {
		switch {
		case p.needsRelease(c):
			open = append(open, j)
		case p.isExact(c):
			public = append(public, j)
		case c.Ranged:
			out[j] = Range{
				Lower:    c.Lower,
				Upper:    c.Upper,
				Declared: true,
			}
		}
	}
	if len(public) > 0 {
		if err := exactRanges(ctx, s.Maker, r, public, p.tails(), out); err != nil {
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
		open, rough = leaveUnread(open, rough, out)
	}
	if len(open) == 0 {
		return out, nil
	}
	return out, p.fineRanges(ctx, s, r, open, rough, out)
}

// tails returns the tails of exact ranges: features with a private target are read as private ranges are, without the extreme
// values that stretch a scale.
func (p Private) tails() []float64 {
	if p.Target >= 0 && p.Columns[p.Target].Private {
		return trimmedTails
	}
	return []float64{0}
}

// fineRanges writes the ranges of the columns whose magnitudes are known.
func (p Private) fineRanges(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	open []int,
	rough []magnitudes,
	out []Range,
) error {
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
			out[j] = rough[i].outlineRange(bins[i], within[i])
		}
		return nil
	}
	var target targetZoom
	for i, c := range bins {
		rough[i].numbers.add(c)
		if open[i] == p.Target {
			target = rough[i].zoomTarget(c)
			within[i] = target.within
			numbers[i] = target.bins
			continue
		}
		within[i] = zoomInto(outerQuantiles(c.counts, within[i], featureReading.outer), within[i])
	}
	if bins, err = p.releaseBins(ctx, s, "fine-bins", r, open, within, numbers); err != nil {
		return err
	}
	for i, j := range open {
		if p.Histograms != nil {
			p.Histograms(
				j,
				Histogram{within[i].Lower, within[i].Upper, slices.Clone(bins[i].counts), bins[i].sigma},
			)
		}
		r := p.readRange(j, bins[i], within[i], target, rough[i])
		rough[i].numbers.add(bins[i])
		r.Numbers = rough[i].numbers.count()
		if j == p.Target && p.Transform != rescale.None {
			r = p.transformedRange(r, rough[i].least)
		}
		r.Huge, r.Tiny = rough[i].isHuge(), rough[i].isTiny()
		out[j] = r
	}
	return nil
}

// readRange returns the range of column j by the counts of the second zoom over an interval, with its median.
func (p Private) readRange(
	j int,
	c noisyCounts,
	within interval,
	target targetZoom,
	rough magnitudes,
) Range {
	widen := featureReading.widen
	r := widenInterval(outerQuantiles(c.counts, within, featureReading.outer), widen)
	if j == p.Target {
		widen = targetReading.widen
		r = target.readRange(c, rough)
	}
	if at, ok := median(c, within); ok {
		r.Median = min(max(at, r.Lower), r.Upper)
		r.HasMedian = true
		r.Alike = isOneBin(r, widen, within, len(c.counts))
	}
	if j == p.Target && p.Transform == rescale.None {
		r.Values, r.TwoValues = twoValues(c, within)
	}
	return r
}

// outlineRange returns the range of a column by the counts of the first zoom over an interval.
func (r *magnitudes) outlineRange(c noisyCounts, whole interval) Range {
	r.numbers.add(c)
	in := zoomInto(outerQuantiles(c.counts, whole, outlineReading.outer), whole)
	return Range{
		Lower:   in.Lower,
		Upper:   in.Upper,
		Numbers: r.numbers.count(),
		Huge:    r.isHuge(),
		Tiny:    r.isTiny(),
	}
}

// zoomInto returns the interval of the second zoom: in, and one bin of the first zoom over whole on
// each side of it.
func zoomInto(in, whole interval) interval {
	margin := (whole.Upper - whole.Lower) / Bins
	return interval{max(in.Lower-margin, whole.Lower), min(in.Upper+margin, whole.Upper)}
}

// targetTransform returns how the last of the columns is transformed.
func (p Private) targetTransform(open []int) rescale.Transform {
	if open[len(open)-1] == p.Target {
		return p.Transform
	}
	return rescale.None
}

// transformedRange returns the range of the transformed target. It starts at the lower end of the range in units of
// the target, or at the smallest detected magnitude above 0, which replaces values without a logarithm.
func (p Private) transformedRange(r Range, least float64) Range {
	rule := rescale.Rule{Transform: p.Transform}
	if p.Transform == rescale.Log {
		if least <= 0 {
			least = r.Upper * 0x1p-10
		}
		r.Lower = max(r.Lower, least)
	}
	r.Lower, r.Upper, r.Median = rule.Apply(r.Lower), rule.Apply(r.Upper), rule.Apply(r.Median)
	if !(r.Upper-r.Lower >= minWidth*max(1, math.Abs(r.Upper))) { // no value above 0 was detected
		r.Lower--
		r.Upper++
	}
	r.Median = min(max(r.Median, r.Lower), r.Upper)
	return r
}

// minWidth is the smallest width of the range of a transformed target, in parts of its end.
const minWidth = 1e-6

// magnitudes is the summary of a column from the first histogram.
type magnitudes struct {
	lower, upper       float64   // the magnitudes that hold all but the tails
	negative, positive bool      // signs seen
	unseen             bool      // no bin passed
	faint              bool      // see [Range.Faint]
	least              float64   // lower end of the smallest detected magnitude above 0; 0 if there is none
	numbers            countMean // noisy number of records with a number

	magnitudes noisyCounts
	low, high  int // the outermost bins of magnitudes between lower and upper
}

// isHuge returns [Range.Huge].
func (r magnitudes) isHuge() bool {
	return !r.unseen && (r.low == 0 || r.high == exponentBins-1)
}

// isTiny returns [Range.Tiny].
func (r magnitudes) isTiny() bool {
	onlyZero := r.low == zeroBin && r.high == zeroBin
	return !r.unseen && !onlyZero && r.low >= zeroBin-1 && r.high <= zeroBin+1
}

// readingOf returns how the range of column j is read.
func (p Private) readingOf(j int) rangeReading {
	switch {
	case p.Outline:
		return outlineReading
	case j == p.Target:
		return targetReading
	}
	return featureReading
}

// columnWeights returns the weights with which the columns are counted.
func (p Private) columnWeights(open []int) []int {
	out := make([]int, len(open))
	for i, j := range open {
		out[i] = 1
		if j == p.Target {
			out[i] = TargetWeight
		}
	}
	return out
}

func (p Private) exponentRanges(
	ctx context.Context,
	s *mechanism.Session,
	r mechanism.Records,
	open []int,
) ([]magnitudes, error) {
	columns, err := p.releaseCounts(
		ctx,
		s,
		"exponents",
		r,
		binStatistic{open, p.columnWeights(open), slices.Repeat([]int{exponentBins}, len(open)), nil, p.targetTransform(open)},
	)
	if err != nil {
		return nil, err
	}
	records := recordsAtLeast(columns)
	if s.Relation() != budget.AddRemove { // their number is public
		n, err := r.Len(ctx)
		if err != nil {
			return nil, err
		}
		records = float64(n)
	}
	return p.readMagnitudes(columns, open, records), nil
}

// readMagnitudes finds the magnitudes of the columns from their noisy counts. A bin without records passes the threshold
// with probability at most spurious over all bins of all columns.
func (p Private) readMagnitudes(columns []noisyCounts, open []int, records float64) []magnitudes {
	out := make([]magnitudes, len(open))
	for i, c := range columns {
		threshold := p.noiseThreshold(c.sigma, exponentBins*float64(len(open)))
		strict := p.noiseThreshold(c.sigma, strayRarity*exponentBins*float64(len(open)))
		pooled := p.noiseThreshold(c.sigma, pooledSums*float64(len(open)))
		c = c.withoutStray(threshold, strict)
		out[i] = exponentRange(c, threshold, pooled, p.readingOf(open[i]))
		out[i].faint = fullBin*records < threshold+doubt*c.sigma
		out[i].magnitudes = c
		out[i].numbers.add(columns[i])
	}
	return out
}

// noiseThreshold returns the value that noise alone exceeds in any of n bins with probability at most spurious:
// sigma sqrt(2 ln(n/spurious)) for Gaussian noise, by P(N > t) <= exp(-t^2/2), and b ln(n/(2 spurious)) for
// Laplace noise of scale b = sigma/sqrt(2).
func (p Private) noiseThreshold(sigma, n float64) float64 {
	if p.Pure {
		return sigma / math.Sqrt2 * math.Log(n/(2*spurious))
	}
	return sigma * math.Sqrt(2*math.Log(n/spurious))
}

// exponentRange finds the magnitudes of a column from its noisy counts. They are those of the bins above the threshold,
// without the outermost bins if these hold at most the tail's share of the counts. If no bin is above the threshold,
// neighbouring bins are pooled (see [pooledRange]). If only one is, of the target or of an outline, adjacent bins are
// considered too (see [magnitudesAround]).
func exponentRange(
	c noisyCounts,
	threshold, pooled float64,
	how rangeReading,
) magnitudes {
	total := 0.0
	first := -1
	last := -1
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
		return magnitudes{
			lower:    -1,
			upper:    1,
			negative: true,
			positive: true,
			low:      zeroBin,
			high:     zeroBin,
		}
	}
	if first == last && how != featureReading {
		return magnitudesAround(c, first)
	}
	low := -1
	high := last
	sum := 0.0
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
	out := detectedBetween(low, high, magnitudes{
		negative: first < zeroBin,
		positive: last > zeroBin,
	})
	for b := high; b > max(low-1, zeroBin); b-- {
		if c.counts[b] > threshold {
			out.least, _ = exponentEdges(b)
		}
	}
	return out
}

// detectedBetween returns the detected magnitudes with the edges of the outermost bins.
func detectedBetween(low, high int, c magnitudes) magnitudes {
	c.low = low
	c.high = high
	c.lower, _ = exponentEdges(low)
	_, c.upper = exponentEdges(high)
	if high > zeroBin {
		c.least, _ = exponentEdges(max(low, zeroBin+1))
	}
	return c
}

// interval is a pair of outer quantiles.
type interval struct{ Lower, Upper float64 }

func (p Private) releaseBins(
	ctx context.Context,
	s *mechanism.Session,
	name string,
	r mechanism.Records,
	open []int,
	within []interval,
	numbers []int,
) ([]noisyCounts, error) {
	return p.releaseCounts(
		ctx,
		s,
		name,
		r,
		binStatistic{open, p.columnWeights(open), numbers, within, p.targetTransform(open)},
	)
}

// outerQuantiles computes the outer quantiles from the noisy counts of equal bins by linear interpolation. If the
// counts are not informative, or the quantiles coincide, it returns the whole interval.
func outerQuantiles(counts []float64, whole interval, outer float64) interval {
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

// widenInterval grows an interval around its middle.
func widenInterval(in interval, factor float64) Range {
	middle, half := in.Lower/2+in.Upper/2, float64((in.Upper/2-in.Lower/2)*factor) // the conversion forbids fusing
	return Range{Lower: middle - half, Upper: middle + half}
}

// Quantiles returns the outer noisy quantiles of a feature from its private range, which is that interval widened.
func Quantiles(lower, upper float64) (low, high float64) {
	r := widenInterval(interval{lower, upper}, 1/featureReading.widen)
	return r.Lower, r.Upper
}

// isOneBin reports whether a range, widened by a factor, was read from one of the given number of equal bins over an interval,
// at least a bin away from 0.
func isOneBin(r Range, widened float64, whole interval, bins int) bool {
	width := (whole.Upper - whole.Lower) / float64(bins)
	return r.Upper-r.Lower <= widened*width && (r.Lower > width || r.Upper < -width)
}

// keepSign ends a range at zero on a side where no value was seen.
func keepSign(r Range, seen magnitudes) Range {
	if !seen.negative {
		r.Lower = max(r.Lower, 0)
	}
	if !seen.positive {
		r.Upper = min(r.Upper, 0)
	}
	return r
}
