package evaluate

import (
	"math"
	"slices"
)

// readCells reads everything from the noisy cells of the tables, in the order of
// [confusionStatistic], and the standard deviation of the noise in each. It computes from the rounded
// cells, as a reader of the report would; rounding adds a variance of 1/12.
//
// Numbers of the same records from several tables are joined by their noise. In the accuracy that
// is right predictions K and all others W, those of records with other labels included. Of two classes
// both tables have the right and wrong predictions of each class, if the cutoff is an edge. Of more
// K and W are joined over all three tables.
//
// laplace reports whether the noise is Laplace noise; then there are neither scores nor groups.
func readCells(
	classes []string,
	bins Bins,
	groups Groups,
	cells, noise []float64,
	laplace bool,
) *Confusion {
	l := len(classes)
	b := bins.numBins()
	tables, _ := tablesOf(l, bins, 0)
	own := 0
	for _, table := range tables {
		own += table.Cells
	}
	byGroup := cells[own : len(cells)-1]
	groupNoise := noise[own : len(noise)-1]
	cells = slices.Concat(cells[:own], cells[len(cells)-1:])
	noise = slices.Concat(noise[:own], noise[len(noise)-1:])
	last := own
	out := &Confusion{Classes: classes, Sigma: noise[0]}
	for truth := range l + 1 {
		out.Counts = append(out.Counts, roundCells(cells[truth*l:(truth+1)*l]))
	}
	v := square(out.Sigma) + 1./12
	cell := noisy{variance: v}
	if laplace {
		cell = laplaceCell(v)
	}
	hits, misses := byClass(out.Counts[:l], cell)
	other := sumCells(toFloats(out.Counts[l]), cell)
	right := sumNoisy(hits)
	wrong := sumNoisy(misses).addNoisy(other)
	if b > 0 {
		at := tables[0].Cells
		table := cells[at:]
		of := square(noise[at]) + 1./12
		out.Scores = readScores(l, bins, roundCells(table[:b]), roundCells(table[b:2*b]), of)
		scores := [2][]float64{toFloats(out.Scores.Counts[0]), toFloats(out.Scores.Counts[1])}
		alone := noisy{value: math.Round(cells[last-1]), variance: square(noise[last-1]) + 1./12} // the last cell of the last joint table
		other = bestMean(other, alone)
		if l == 2 {
			if c := bins.Cutoff; c > 0 {
				hits[0], misses[0] = bestMean(hits[0], sumPart(scores[0][:c], of)),
					bestMean(misses[0], sumPart(scores[0][c:], of))
				hits[1], misses[1] = bestMean(hits[1], sumPart(scores[1][c:], of)),
					bestMean(misses[1], sumPart(scores[1][:c], of))
			}
			right, wrong = sumNoisy(hits), sumNoisy(misses).addNoisy(other)
		} else {
			out.Right = inPairs(roundCells(cells[at+tables[1].Cells : last-1]))
			again, missed := rightPredictions(out.Right, alone.variance)
			right = bestMean(right, sumNoisy(again), sumPart(scores[1], of))
			wrong = bestMean(wrong, sumNoisy(missed).addNoisy(alone), sumPart(scores[0], of))
			for k := range hits {
				hits[k], misses[k] = bestMean(hits[k], again[k]), bestMean(misses[k], missed[k])
			}
		}
	}
	if len(byGroup) > 0 {
		table := readTable(l, groups.count(), byGroup, groupNoise)
		joined := groupCells{hits, misses, other, right, wrong}
		joined.joinGroups(table)
		other, right, wrong = joined.other, joined.right, joined.wrong
		out.Groups = ClassGroups(groups.Column, groups.Names, table)
	}
	out.Accuracy = portionOf(right, wrong, Level)
	out.Recalls, out.Balanced = classRecalls(hits, misses)
	out.Largest = compareLargest(hits, misses, other)
	out.Records, out.Other = right.addNoisy(wrong).toCount(), other.toCount()
	out.OtherShare = portionOf(other, sumNoisy(hits).addNoisy(sumNoisy(misses)), Level)
	out.Missing = noisy{
		value:    math.Round(cells[last]),
		variance: square(noise[last]) + 1./12,
	}.toCount()
	return out
}

// byClass returns the records of every class that are predicted rightly and wrongly, from
// the confusion matrix whose cells have the given noise.
func byClass(counts [][]int, noise noisy) (hits, misses []noisy) {
	hits = make([]noisy, len(counts))
	misses = make([]noisy, len(counts))
	for truth, row := range counts {
		for guess, n := range row {
			cell := noise.withValue(float64(n))
			if truth == guess {
				hits[truth] = cell
			} else {
				misses[truth] = misses[truth].addNoisy(cell)
			}
		}
	}
	return hits, misses
}

// rightPredictions returns the same from the table of right predictions.
func rightPredictions(table [][2]int, v float64) (hits, misses []noisy) {
	for _, row := range table {
		misses = append(misses, noisy{value: float64(row[0]), variance: v})
		hits = append(hits, noisy{value: float64(row[1]), variance: v})
	}
	return hits, misses
}

func inPairs(cells []int) [][2]int {
	out := make([][2]int, len(cells)/2)
	for k := range out {
		out[k] = [2]int{cells[2*k], cells[2*k+1]}
	}
	return out
}

// bestMean returns the mean of independent noisy numbers of the same records with weights
// 1/variance, whose noise is the smallest.
func bestMean(list ...noisy) noisy {
	value := 0.
	weight := 0.
	fourth := 0.
	for _, x := range list {
		value += x.value / x.variance
		weight += 1 / x.variance
		fourth += x.fourth / square(square(x.variance))
	}
	return noisy{value / weight, 1 / weight, fourth / square(square(weight))}
}

// sumCells adds up cells with the given noise.
func sumCells(cells []float64, noise noisy) noisy {
	out := noisy{}
	for _, x := range cells {
		out = out.addNoisy(noise.withValue(x))
	}
	return out
}

func sumNoisy(list []noisy) noisy {
	out := noisy{}
	for _, x := range list {
		out = out.addNoisy(x)
	}
	return out
}

// compareLargest compares the predictions with the answer that is always the class with
// the largest noisy number of records; other is the number of records with another label. That of
// right predictions less that of its records is the sum of the other hits less the sum of its
// misses: each record adds 1, -1 or 0.
func compareLargest(hits, misses []noisy, other noisy) Largest {
	most := 0
	for k := range hits {
		if hits[k].value+misses[k].value > hits[most].value+misses[most].value {
			most = k
		}
	}
	own := noisy{}
	others := other
	gained := noisy{}
	for k := range hits {
		if k == most {
			own = hits[k].addNoisy(misses[k])
			continue
		}
		others = others.addNoisy(hits[k]).addNoisy(misses[k])
		gained = gained.addNoisy(hits[k])
	}
	lost := misses[most]
	out := Largest{
		Class:     most,
		Share:     portionOf(own, others, Level),
		GainLower: -1,
		GainUpper: 1,
	}
	if out.Share.Upper-out.Share.Lower >= 1 { // unknown
		return out
	}
	d := gained.value - lost.value
	all := own.value + others.value
	luck := max(gained.value, 0) + max(lost.value, 0) - d*d/all
	variance := gained.variance + lost.variance + max(luck, 0)
	reach := deviationsWithin(Level, (gained.fourth+lost.fourth)/square(variance)) *
		math.Sqrt(variance)
	out.GainLower = max((d-reach)/all, -1)
	out.GainUpper = min((d+reach)/all, 1)
	return out
}

func roundCells(cells []float64) []int {
	out := make([]int, len(cells))
	for i, x := range cells {
		out[i] = int(math.Round(x))
	}
	return out
}
