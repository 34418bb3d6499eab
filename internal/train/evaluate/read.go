package evaluate

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
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
	c := groupCells{hits: hits, misses: misses, other: sumCells(toFloats(out.Counts[l]), cell)}
	c.right = sumNoisy(c.hits)
	c.wrong = sumNoisy(c.misses).addNoisy(c.other)
	if bins.numBins() > 0 {
		out.joinScores(&c, bins, tables, cells, noise)
	}
	if len(byGroup) > 0 {
		table := readTable(l, groups.count(), byGroup, groupNoise)
		c.joinGroups(table)
		out.Groups = ClassGroups(groups.Column, groups.Names, table)
	}
	out.Accuracy = portionOf(c.right, c.wrong, Level)
	out.Recalls, out.Balanced = classRecalls(c.hits, c.misses)
	out.Largest = compareLargest(c.hits, c.misses, c.other)
	out.Records, out.Other = c.right.addNoisy(c.wrong).toCount(), c.other.toCount()
	out.OtherShare = portionOf(c.other, sumNoisy(c.hits).addNoisy(sumNoisy(c.misses)), Level)
	out.Missing = noisy{
		value:    math.Round(cells[last]),
		variance: square(noise[last]) + 1./12,
	}.toCount()
	return out
}

// joinScores reads the table of scores and, of more than two classes, that of right predictions, and joins their numbers of
// records with those of the confusion matrix.
func (x *Confusion) joinScores(
	c *groupCells,
	bins Bins,
	tables []mechanism.JointTable,
	cells, noise []float64,
) {
	l := len(x.Classes)
	b := bins.numBins()
	last := len(cells) - 1
	at := tables[0].Cells
	table := cells[at:]
	of := square(noise[at]) + 1./12
	x.Scores = readScores(l, bins, roundCells(table[:b]), roundCells(table[b:2*b]), of)
	scores := [2][]float64{toFloats(x.Scores.Counts[0]), toFloats(x.Scores.Counts[1])}
	alone := noisy{ // the last cell of the last joint table
		value:    math.Round(cells[last-1]),
		variance: square(noise[last-1]) + 1./12,
	}
	c.other = bestMean(c.other, alone)
	if l == 2 {
		if at := bins.Cutoff; at > 0 {
			c.hits[0], c.misses[0] = bestMean(c.hits[0], sumPart(scores[0][:at], of)),
				bestMean(c.misses[0], sumPart(scores[0][at:], of))
			c.hits[1], c.misses[1] = bestMean(c.hits[1], sumPart(scores[1][at:], of)),
				bestMean(c.misses[1], sumPart(scores[1][:at], of))
		}
		c.right, c.wrong = sumNoisy(c.hits), sumNoisy(c.misses).addNoisy(c.other)
		return
	}
	x.Right = inPairs(roundCells(cells[at+tables[1].Cells : last-1]))
	again, missed := rightPredictions(x.Right, alone.variance)
	c.right = bestMean(c.right, sumNoisy(again), sumPart(scores[1], of))
	c.wrong = bestMean(c.wrong, sumNoisy(missed).addNoisy(alone), sumPart(scores[0], of))
	for k := range c.hits {
		c.hits[k], c.misses[k] = bestMean(c.hits[k], again[k]), bestMean(c.misses[k], missed[k])
	}
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
