package evaluate

import (
	"math"
)

// readCells reads everything from the noisy cells of the tables, in the order of
// [confusionStatistic], and the standard deviation of the noise in each. It computes from the rounded
// cells, as a reader of the report would; rounding adds a variance of 1/12.
//
// Numbers of the same records from several tables are joined by their noise. In the accuracy that
// is right predictions K and all others W, those of records with other labels included. Of two classes
// both tables have the right and wrong predictions of each class, if the cutoff is an edge. Of more
// K and W are joined over all three tables.
func readCells(classes []string, bins Bins, cells, noise []float64) *Confusion {
	l := len(classes)
	b := bins.count()
	last := len(cells) - 1
	out := &Confusion{Classes: classes, Sigma: noise[0]}
	for truth := range l + 1 {
		out.Counts = append(out.Counts, rounded(cells[truth*l:(truth+1)*l]))
	}
	v := sq(out.Sigma) + 1./12
	hits, misses := byClass(out.Counts[:l], v)
	other := part(numbers(out.Counts[l]), v)
	right := total(hits)
	wrong := total(misses).plus(other)
	if tables := tablesOf(l, bins); b > 0 {
		at := tables[0].Cells
		table := cells[at:]
		of := sq(noise[at]) + 1./12
		out.Scores = readScores(l, bins, rounded(table[:b]), rounded(table[b:2*b]), of)
		scores := [2][]float64{numbers(out.Scores.Counts[0]), numbers(out.Scores.Counts[1])}
		alone := noisy{math.Round(cells[last-1]), sq(noise[last-1]) + 1./12} // the last cell of the last joint table
		other = best(other, alone)
		if l == 2 {
			if c := bins.Cutoff; c > 0 {
				hits[0], misses[0] = best(hits[0], part(scores[0][:c], of)), best(misses[0], part(scores[0][c:], of))
				hits[1], misses[1] = best(hits[1], part(scores[1][c:], of)), best(misses[1], part(scores[1][:c], of))
			}
			right, wrong = total(hits), total(misses).plus(other)
		} else {
			out.Right = inPairs(rounded(cells[at+tables[1].Cells : last-1]))
			again, missed := rights(out.Right, alone.variance)
			right = best(right, total(again), part(scores[1], of))
			wrong = best(wrong, total(missed).plus(alone), part(scores[0], of))
			for k := range hits {
				hits[k], misses[k] = best(hits[k], again[k]), best(misses[k], missed[k])
			}
		}
	}
	out.Accuracy = portion(right, wrong, Level)
	out.Recalls, out.Balanced = classRecalls(hits, misses)
	out.Largest = largest(hits, misses, other)
	out.Records, out.Other = right.plus(wrong).count(), other.count()
	out.OtherShare = portion(other, total(hits).plus(total(misses)), Level)
	out.Missing = noisy{math.Round(cells[last]), sq(noise[last]) + 1./12}.count()
	return out
}

// byClass returns the records of every class that are predicted rightly and wrongly, from
// the confusion matrix whose cells have noise of variance v.
func byClass(counts [][]int, v float64) (hits, misses []noisy) {
	hits = make([]noisy, len(counts))
	misses = make([]noisy, len(counts))
	for truth, row := range counts {
		for guess, n := range row {
			cell := noisy{float64(n), v}
			if truth == guess {
				hits[truth] = cell
			} else {
				misses[truth] = misses[truth].plus(cell)
			}
		}
	}
	return hits, misses
}

// rights returns the same from the table of right predictions.
func rights(table [][2]int, v float64) (hits, misses []noisy) {
	for _, row := range table {
		misses = append(misses, noisy{float64(row[0]), v})
		hits = append(hits, noisy{float64(row[1]), v})
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

// best returns the mean of independent noisy numbers of the same records with weights
// 1/variance, whose noise is the smallest.
func best(list ...noisy) noisy {
	value := 0.
	weight := 0.
	for _, x := range list {
		value += x.value / x.variance
		weight += 1 / x.variance
	}
	return noisy{value / weight, 1 / weight}
}

func total(list []noisy) noisy {
	out := noisy{}
	for _, x := range list {
		out = out.plus(x)
	}
	return out
}

// largest compares the predictions with the answer that is always the class with
// the largest noisy number of records; other is the number of records with another label. That of
// right predictions less that of its records is the sum of the other hits less the sum of its
// misses: each record adds 1, -1 or 0.
func largest(hits, misses []noisy, other noisy) Largest {
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
			own = hits[k].plus(misses[k])
			continue
		}
		others = others.plus(hits[k]).plus(misses[k])
		gained = gained.plus(hits[k])
	}
	lost := misses[most]
	out := Largest{Class: most, Share: portion(own, others, Level), GainLower: -1, GainUpper: 1}
	if out.Share.Upper-out.Share.Lower >= 1 { // unknown
		return out
	}
	d := gained.value - lost.value
	all := own.value + others.value
	luck := max(gained.value, 0) + max(lost.value, 0) - d*d/all
	reach := normalDeviations(Level) * math.Sqrt(gained.variance+lost.variance+max(luck, 0))
	out.GainLower = max((d-reach)/all, -1)
	out.GainUpper = min((d+reach)/all, 1)
	return out
}

func rounded(cells []float64) []int {
	out := make([]int, len(cells))
	for i, x := range cells {
		out[i] = int(math.Round(x))
	}
	return out
}
