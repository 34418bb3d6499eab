package evaluate

import (
	"math"
)

// readCells reads everything from the noisy cells: the confusion matrix, the table
// of scores if bins has edges, and the row of the records in no class, with the standard
// deviation of the noise in each. It computes from the rounded cells, as a reader of the
// report would; rounding adds a variance of 1/12.
func readCells(classes []string, bins Bins, cells, noise []float64) *Confusion {
	l, last := len(classes), len(cells)-len(classes)
	out := &Confusion{Classes: classes, Sigma: noise[0], NoneSigma: noise[last]}
	for truth := range l {
		out.Counts = append(out.Counts, rounded(cells[truth*l:(truth+1)*l]))
	}
	out.Counts = append(out.Counts, rounded(cells[last:]))
	v, vNone := sq(out.Sigma)+1./12, sq(out.NoneSigma)+1./12
	n := float64(l)
	right, wrong, none := noisy{0, n * v}, noisy{0, n * (n - 1) * v}, noisy{0, n * vNone}
	hits, misses := make([]noisy, l), make([]noisy, l)
	for truth, row := range out.Counts {
		for guess, count := range row {
			x := float64(count)
			switch {
			case truth == l:
				none.value += x
			case truth == guess:
				right.value += x
				hits[truth] = noisy{x, v}
			default:
				wrong.value += x
				misses[truth].value += x
				misses[truth].variance += v
			}
		}
	}
	out.Accuracy = portion(right, wrong, Level)
	out.Recalls, out.Balanced = recalls(hits, misses)
	out.Largest = largest(hits, misses, right.value+wrong.value)
	out.Records, out.None = right.plus(wrong).count(), none.count()
	if b := bins.count(); b > 0 {
		table := cells[l*l:]
		out.Scores = readScores(l, bins, rounded(table[:b]), rounded(table[b:2*b]), v)
	}
	return out
}

// largest compares the predictions with the answer that is always the class with
// the largest noisy number of records. That of right predictions less that of its
// records is the sum of the other hits less the sum of its misses: each record adds 1,
// -1 or 0, and 2 (L - 1) cells have noise.
func largest(hits, misses []noisy, all float64) Largest {
	best := 0
	for k := range hits {
		if hits[k].value+misses[k].value > hits[best].value+misses[best].value {
			best = k
		}
	}
	var own, others noisy
	gained := noisy{}
	for k := range hits {
		if k == best {
			own = hits[k].plus(misses[k])
			continue
		}
		others = others.plus(hits[k]).plus(misses[k])
		gained = gained.plus(hits[k])
	}
	lost := misses[best]
	out := Largest{Class: best, Share: portion(own, others, Level), GainLower: -1, GainUpper: 1}
	if out.Share.Upper-out.Share.Lower >= 1 { // unknown
		return out
	}
	d := gained.value - lost.value
	luck := max(gained.value, 0) + max(lost.value, 0) - d*d/all
	reach := normal(Level) * math.Sqrt(gained.variance+lost.variance+max(luck, 0))
	out.GainLower, out.GainUpper = max((d-reach)/all, -1), min((d+reach)/all, 1)
	return out
}

func rounded(cells []float64) []int {
	out := make([]int, len(cells))
	for i, x := range cells {
		out[i] = int(math.Round(x))
	}
	return out
}
