package suite

import (
	"context"
	"math"
	"slices"
)

// metricLevels is the mean absolute error of a predicted level, in levels, with a minus sign.
const metricLevels = "levels"

// orderedMethods compares classes without their order, numbers that are rounded, and thresholds on a number.
func orderedMethods() []targetMethod {
	return []targetMethod{
		{orderedTarget, "auto, classes", func(ctx context.Context, x *targetTrial) (map[string]float64, error) {
			p, err := x.fitAuto(ctx, x.train, x.test, "", x.source.levels, 1)
			return x.judgeLevels(p), err
		}},
		{orderedTarget, "auto, rounded", func(ctx context.Context, x *targetTrial) (map[string]float64, error) {
			p, err := x.fitAuto(ctx, x.train, x.test, "", nil, 1)
			return x.judgeLevels(p), err
		}},
		{orderedTarget, "auto, thresholds", func(ctx context.Context, x *targetTrial) (map[string]float64, error) {
			return x.fitThresholds(ctx)
		}},
	}
}

// judgeLevels returns the accuracy and the error of the nearest levels.
func (x *targetTrial) judgeLevels(p []float64) map[string]float64 {
	if p == nil {
		return nil
	}
	right := 0.
	distance := 0.
	for k, v := range x.truth(x.test) {
		level := min(max(math.Round(p[k]), 0), float64(len(x.source.levels)-1))
		if level == v {
			right++
		}
		distance += math.Abs(level - v)
	}
	n := float64(len(x.test))
	return map[string]float64{
		metricAccuracy: right / n,
		metricLevels:   -distance / n,
	}
}

// The thresholds: a share of the squared budget for the counts, and the bins of predictions.
const (
	thresholdShare = .1
	thresholdBins  = 32
)

// fitThresholds trains on the levels as numbers, counts levels by prediction with noise, and predicts in each bin the
// median level, which never decreases from bin to bin. A record adds 1 to one count.
func (x *targetTrial) fitThresholds(ctx context.Context) (map[string]float64, error) {
	p, err := x.fitAuto(
		ctx,
		x.train,
		slices.Concat(x.train, x.test),
		"",
		nil,
		1-thresholdShare,
	)
	if err != nil {
		return nil, err
	}
	levels := len(x.source.levels)
	bin := func(v float64) int {
		return int(min(max(v/float64(levels-1)*thresholdBins, 0), thresholdBins-1))
	}
	counts := make([][]float64, thresholdBins)
	for b := range counts {
		counts[b] = make([]float64, levels)
	}
	for k, v := range x.truth(x.train) {
		counts[bin(p[k])][int(v)]++
	}
	for _, row := range counts {
		for k := range row {
			row[k] += x.g.normal() / muOf(thresholdShare)
		}
	}
	level := monotoneLevels(counts)
	out := make([]float64, len(x.test))
	for k := range out {
		out[k] = level[bin(p[len(x.train)+k])]
	}
	return x.judgeLevels(out), nil
}

// monotoneLevels returns the levels by bin that increase and have the smallest total distance, by dynamic programming.
func monotoneLevels(counts [][]float64) []float64 {
	levels := len(counts[0])
	best := make([]float64, levels) // smallest loss so far if the last bin has at most this level
	from := make([][]int, len(counts))
	for b, row := range counts {
		from[b] = make([]int, levels)
		loss := make([]float64, levels)
		for k := range loss {
			for v, n := range row {
				loss[k] += n * math.Abs(float64(k-v))
			}
			loss[k] += best[k]
			from[b][k] = k
		}
		for k := 1; k < levels; k++ {
			if loss[k-1] <= loss[k] {
				loss[k] = loss[k-1]
				from[b][k] = from[b][k-1]
			}
		}
		best = loss
	}
	out := make([]float64, len(counts))
	k := levels - 1
	for b := len(counts) - 1; b >= 0; b-- {
		k = from[b][k]
		out[b] = float64(k)
	}
	return out
}

// metricPinball is the mean loss of the quantiles, with a minus sign, relative to that of the exact quantiles of the
// training targets.
const metricPinball = "loss saved"

// quantileLevels are the quantiles.
var quantileLevels = [...]float64{.1, .5, .9}

// The counts of errors on the held-out part of the training rows, which has a budget of its own, as they have today.
const (
	heldOutShare   = .2
	errorBins      = 64
	errorBudget    = .5 // of the squared budget of the part
	sharedStrength = 4. // how many standard deviations of all counts of a group a group needs to leave the shared shape
)

// quantileMethods compares one width for all, one offset for each quantile, and offsets by prediction.
func quantileMethods() []targetMethod {
	var out []targetMethod
	for _, m := range []struct {
		name   string
		groups int
	}{{"one width", 0}, {"offsets", 1}, {"offsets by 3 groups", 3}, {"offsets by prediction", 8}} {
		out = append(out, targetMethod{quantileTarget, m.name, func(ctx context.Context, x *targetTrial) (map[string]float64, error) {
			return x.fitOffsets(ctx, m.groups)
		}})
	}
	return out
}

// fitOffsets trains on a part of the rows, counts errors on the rest with noise by groups of predictions, and adds the
// quantiles of the errors to the predictions. With 0 groups it adds and subtracts one width, as intervals do today.
func (x *targetTrial) fitOffsets(
	ctx context.Context,
	groups int,
) (map[string]float64, error) {
	cut := int(heldOutShare * float64(len(x.train)))
	held := x.train[:cut]
	train := x.train[cut:]
	p, err := x.fitAuto(ctx, train, slices.Concat(held, x.test), "", nil, 1)
	if err != nil {
		return nil, err
	}
	own := p[:len(held)]
	tested := p[len(held):]
	errs := make([]float64, len(held))
	sizes := make([]float64, len(held))
	for k, y := range x.truth(held) {
		errs[k] = y - own[k]
		sizes[k] = math.Abs(errs[k])
	}
	reach := quantile(slices.Sorted(slices.Values(sizes)), .995)
	edges := groupEdges(own, max(groups, 1))
	group := func(v float64) int {
		k, _ := slices.BinarySearch(edges, v)
		return k
	}
	noise := 1 / muOf(errorBudget)
	counts := make([][]float64, max(groups, 1))
	for b := range counts {
		counts[b] = make([]float64, errorBins)
		for k := range counts[b] {
			counts[b][k] = noise * x.g.normal()
		}
	}
	for k, e := range errs {
		at := (e/reach + 1) / 2
		if groups == 0 {
			at = sizes[k] / reach
		}
		counts[group(own[k])][int(min(max(at*errorBins, 0), errorBins-1))]++
	}
	pooled := poolCounts(counts, sharedStrength*noise*math.Sqrt(errorBins))
	predicted := make([][]float64, len(quantileLevels))
	for q, level := range quantileLevels {
		predicted[q] = make([]float64, len(tested))
		for k, v := range tested {
			predicted[q][k] = v + offsetOf(pooled[group(v)], level, reach, groups == 0)
		}
	}
	return map[string]float64{metricPinball: 1 - x.pinball(predicted)/x.pinballOfConstants()}, nil
}

// groupEdges returns the edges between groups of equally many predictions.
func groupEdges(predictions []float64, groups int) []float64 {
	sorted := slices.Sorted(slices.Values(predictions))
	var out []float64
	for b := 1; b < groups; b++ {
		out = append(out, quantile(sorted, float64(b)/float64(groups)))
	}
	return out
}

// poolCounts adds a number of records with the shape of all groups to each group, so that noise does not decide where
// records are few.
func poolCounts(counts [][]float64, records float64) [][]float64 {
	if len(counts) == 1 {
		return counts
	}
	all := make([]float64, len(counts[0]))
	total := 0.
	for _, row := range counts {
		for k, n := range row {
			all[k] += n
			total += n
		}
	}
	out := make([][]float64, len(counts))
	for b, row := range counts {
		out[b] = slices.Clone(row)
		for k := range row {
			out[b][k] += records * all[k] / max(total, 1)
		}
	}
	return out
}

// offsetOf returns a quantile of noisy counts of errors. symmetric is for counts of their sizes.
func offsetOf(counts []float64, level, reach float64, symmetric bool) float64 {
	if !symmetric {
		return reach * (2*quantileOfCounts(counts, level) - 1)
	}
	if level == .5 {
		return 0
	}
	width := reach * quantileOfCounts(counts, math.Abs(2*level-1))
	if level < .5 {
		return -width
	}
	return width
}

// quantileOfCounts returns the position of a quantile in [0, 1]: where the running sum of the noisy counts first
// exceeds its share, of the largest sum before.
func quantileOfCounts(counts []float64, level float64) float64 {
	total := 0.
	for _, n := range counts {
		total += n
	}
	sum := 0.
	for k, n := range counts {
		if sum+n > level*total {
			within := 0.
			if n > 0 {
				within = min(max((level*total-sum)/n, 0), 1)
			}
			return (float64(k) + within) / float64(len(counts))
		}
		sum += n
	}
	return 1
}

// pinball returns the mean loss of predicted quantiles of the test rows, one list per level.
func (x *targetTrial) pinball(predicted [][]float64) float64 {
	sum := 0.
	for q, level := range quantileLevels {
		for k, y := range x.truth(x.test) {
			e := y - predicted[q][k]
			sum += max(level*e, (level-1)*e)
		}
	}
	return sum / float64(len(x.test)*len(quantileLevels))
}

// pinballOfConstants returns the loss of the quantiles of the training targets.
func (x *targetTrial) pinballOfConstants() float64 {
	sorted := slices.Sorted(slices.Values(x.truth(x.train)))
	predicted := make([][]float64, len(quantileLevels))
	for q, level := range quantileLevels {
		predicted[q] = slices.Repeat([]float64{quantile(sorted, level)}, len(x.test))
	}
	return x.pinball(predicted)
}
