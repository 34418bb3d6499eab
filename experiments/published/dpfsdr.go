package published

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// DPFSDR is algorithms 1 to 3 of "Differentially Private Feature Selection Based on Dynamic
// Relevance for Correlated Data": importances with Laplace noise of scale (max - min)/Epsilon1,
// exact correlations between columns, and a forward search on the exact accuracy of linear support vector machines, one
// for two classes and otherwise one for each class against the rest. Their coefficients have Laplace noise of scale
// CS/Epsilon2, where CS is the correlated sensitivity of the machine on the given table.
//
// The noise of every step is scaled to the table, correlations and accuracies are exact, and the machines of all steps
// are charged once, so it satisfies no epsilon. The paper does not specify some details, which are chosen as
// follows: columns are standardised, the loss is the huberised hinge loss with a penalty of .02 n, and the effect of a
// record on the machine is approximated to first order.
type DPFSDR struct {
	Epsilon1  float64
	Epsilon2  float64
	Threshold float64 // of correlations between columns; 0: .95
}

const (
	recordThreshold = .8 // of correlations between records, as in the paper
	svmPenalty      = .02
	leastRedundancy = 1e-3
	newtonSteps     = 50
)

// A Separator is a linear classifier with one score for two classes, and otherwise one for each class.
type Separator struct {
	Columns       []int
	Mean, Scale   []float64   // of the columns
	Weights       [][]float64 // of each score, the intercept last
	NonprivateAcc float64     // training accuracy of the last accepted step
}

// Class returns the class of row i of columns x: for a single score 1 if it is positive, and otherwise the class with
// the largest score.
func (s Separator) Class(x [][]float64, i int) int {
	row := make([]float64, len(s.Columns))
	for k, j := range s.Columns {
		row[k] = (x[j][i] - s.Mean[k]) / s.Scale[k]
	}
	return classify(s.Weights, row)
}

func classify(weights [][]float64, row []float64) int {
	scores := make([]float64, len(weights))
	for c, w := range weights {
		scores[c] = w[len(row)]
		for k, v := range row {
			scores[c] += w[k] * v
		}
	}
	if len(scores) > 1 {
		return slices.Index(scores, slices.Max(scores))
	}
	if scores[0] > 0 {
		return 1
	}
	return 0
}

// machineLabels returns the labels -1 and +1 of every machine: of class 1 for two classes, and otherwise of each class.
func machineLabels(classes []int) [][]float64 {
	first := 0
	last := slices.Max(classes)
	if last <= 1 {
		first = 1
		last = 1
	}
	var out [][]float64
	for positive := first; positive <= last; positive++ {
		labels := make([]float64, len(classes))
		for i, class := range classes {
			labels[i] = -1
			if class == positive {
				labels[i] = 1
			}
		}
		out = append(out, labels)
	}
	return out
}

// Fit selects columns and trains. Classes are numbered from 0.
func (m DPFSDR) Fit(src Source, x [][]float64, classes []int) Separator {
	z, means, scales := standardised(x)
	importance := fScoreShares(z, classes)
	labels := machineLabels(classes)
	size := (slices.Max(importance) - slices.Min(importance)) / m.Epsilon1
	for j := range importance {
		importance[j] += laplace(src, size)
	}
	left := m.uncorrelated(z, byScore(importance))
	records := recordCorrelations(z)
	selected := []int{left[0]}
	left = left[1:]
	weights, best := m.train(src, z, classes, labels, selected, records)
	for len(left) > 0 {
		accepted := -1
		for _, j := range byRelevance(z, importance, left, selected) {
			grown := append(slices.Clone(selected), j)
			w, accuracy := m.train(src, z, classes, labels, grown, records)
			if accuracy > best {
				selected = grown
				weights = w
				best = accuracy
				accepted = j
				break
			}
		}
		if accepted < 0 {
			break
		}
		left = slices.DeleteFunc(left, func(j int) bool {
			return j == accepted
		})
	}
	out := Separator{
		Columns:       selected,
		Weights:       weights,
		NonprivateAcc: best,
	}
	for _, j := range selected {
		out.Mean = append(out.Mean, means[j])
		out.Scale = append(out.Scale, scales[j])
	}
	return out
}

// standardised returns columns of mean 0 and variance 1, constant ones as 0.
func standardised(x [][]float64) (z [][]float64, means, scales []float64) {
	for _, column := range x {
		n := float64(len(column))
		mean := 0.
		squares := 0.
		for _, v := range column {
			mean += v / n
		}
		for _, v := range column {
			squares += (v - mean) * (v - mean)
		}
		scale := math.Sqrt(squares / n)
		if !(scale > 0) {
			scale = 1
		}
		out := make([]float64, len(column))
		for i, v := range column {
			out[i] = (v - mean) / scale
		}
		z = append(z, out)
		means = append(means, mean)
		scales = append(scales, scale)
	}
	return z, means, scales
}

// fScoreShares returns the F-scores of standardised columns over their sum (equations 8 and 9).
func fScoreShares(z [][]float64, classes []int) []float64 {
	out := make([]float64, len(z))
	total := 0.
	for j, column := range z {
		between := 0.
		within := 0.
		for class := range slices.Max(classes) + 1 {
			n := 0.
			sum := 0.
			squares := 0.
			for i, v := range column {
				if classes[i] == class {
					n++
					sum += v
					squares += v * v
				}
			}
			if n < 2 {
				continue
			}
			between += sum / n * sum / n // the mean of all records is 0
			within += (squares - sum*sum/n) / (n - 1)
		}
		if within > 0 {
			out[j] = between / within
		}
		total += out[j]
	}
	for j := range out {
		out[j] /= max(total, 1e-300)
	}
	return out
}

// uncorrelated keeps the columns of an order whose exact correlation with all kept before is below the threshold.
func (m DPFSDR) uncorrelated(z [][]float64, order []int) []int {
	threshold := m.Threshold
	if threshold == 0 {
		threshold = .95
	}
	var kept []int
	for _, j := range order {
		if !slices.ContainsFunc(kept, func(i int) bool {
			return correlation(z[i], z[j]) >= threshold
		}) {
			kept = append(kept, j)
		}
	}
	return kept
}

// correlation returns the absolute correlation of standardised columns.
func correlation(a, b []float64) float64 {
	sum := 0.
	for i, v := range a {
		sum += v * b[i]
	}
	return math.Abs(sum) / float64(len(a))
}

// byRelevance orders columns by importance over mean correlation with the selected ones (equation 15).
func byRelevance(
	z [][]float64,
	importance []float64,
	left, selected []int,
) []int {
	relevance := make([]float64, len(left))
	for k, j := range left {
		sum := 0.
		for _, i := range selected {
			sum += correlation(z[i], z[j])
		}
		relevance[k] = importance[j] / max(sum/float64(len(selected)), leastRedundancy)
	}
	out := make([]int, len(left))
	for k, at := range byScore(relevance) {
		out[k] = left[at]
	}
	return out
}

// recordCorrelations returns, for every record, the records whose correlation with it is at least the threshold.
func recordCorrelations(z [][]float64) [][]related {
	n := len(z[0])
	d := float64(len(z))
	rows := make([][]float64, len(z[0]))
	for i := range rows {
		for _, column := range z {
			rows[i] = append(rows[i], column[i])
		}
	}
	unit, _, _ := standardised(rows)
	out := make([][]related, n)
	for i := range n {
		for j := range n {
			sum := 0.
			for k, v := range unit[i] {
				sum += v * unit[j][k]
			}
			if degree := math.Abs(sum) / d; i == j || degree >= recordThreshold {
				out[i] = append(out[i], related{j, degree})
			}
		}
	}
	return out
}

// related is a record and its correlated degree.
type related struct {
	record int
	degree float64
}

// train fits the machines to some columns, adds noise and returns them with their exact training accuracy.
func (m DPFSDR) train(
	src Source,
	z [][]float64,
	classes []int,
	labels [][]float64,
	columns []int,
	records [][]related,
) (weights [][]float64, accuracy float64) {
	for _, l := range labels {
		weights = append(weights, m.machine(src, z, l, columns, records))
	}
	right := 0
	row := make([]float64, len(columns))
	for i, class := range classes {
		for k, j := range columns {
			row[k] = z[j][i]
		}
		if classify(weights, row) == class {
			right++
		}
	}
	return weights, float64(right) / float64(len(classes))
}

// machine fits one machine and adds noise to its coefficients.
func (m DPFSDR) machine(
	src Source, z [][]float64, labels []float64, columns []int, records [][]related,
) []float64 {
	d := len(columns) + 1
	n := len(labels)
	row := func(i int) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		for k, j := range columns {
			v.SetVec(k, z[j][i])
		}
		v.SetVec(d-1, 1)
		return v
	}
	penalty := svmPenalty * float64(n)
	theta := mat.NewVecDense(d, nil)
	hessian := mat.NewSymDense(d, nil)
	slopes := make([]float64, n)
	for range newtonSteps {
		hessian.Zero()
		gradient := mat.NewVecDense(d, nil)
		gradient.ScaleVec(penalty, theta)
		for k := range d {
			hessian.SetSym(k, k, penalty)
		}
		for i := range n {
			v := row(i)
			margin := labels[i] * mat.Dot(v, theta)
			slopes[i] = min(max(margin-1.5, -1), 0)
			gradient.AddScaledVec(gradient, slopes[i]*labels[i], v)
			if margin > .5 && margin < 1.5 {
				hessian.SymRankOne(hessian, 1, v)
			}
		}
		if mat.Norm(gradient, 2) <= 1e-8*float64(n) {
			break
		}
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			break
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil {
			break
		}
		theta.AddScaledVec(theta, -stepLength(z, columns, labels, theta, &step, gradient, penalty),
			&step)
	}
	noise := m.correlatedSensitivity(hessian, slopes, row, records) / m.Epsilon2
	weights := slices.Clone(theta.RawVector().Data)
	for k := range weights[:d-1] {
		weights[k] += laplace(src, noise)
	}
	return weights
}

// stepLength halves a Newton step until the objective falls enough.
func stepLength(
	z [][]float64,
	columns []int,
	labels []float64,
	theta, step, gradient *mat.VecDense,
	penalty float64,
) float64 {
	value := func(t float64) float64 {
		sum := 0.
		w := mat.NewVecDense(theta.Len(), nil)
		w.AddScaledVec(theta, -t, step)
		for i, label := range labels {
			score := w.AtVec(len(columns))
			for k, j := range columns {
				score += w.AtVec(k) * z[j][i]
			}
			switch margin := label * score; {
			case margin < .5:
				sum += 1 - margin
			case margin < 1.5:
				sum += (1.5 - margin) * (1.5 - margin) / 2
			}
		}
		return sum + penalty/2*mat.Dot(w, w)
	}
	start := value(0)
	slope := mat.Dot(gradient, step)
	for t := 1.; t > 1e-6; t /= 2 {
		if value(t) <= start-1e-4*t*slope {
			return t
		}
	}
	return 0
}

// correlatedSensitivity returns the largest sum, over the records correlated with one, of correlated degree times the change of the
// coefficients when that record is left out (equation 4), to first order.
func (m DPFSDR) correlatedSensitivity(
	hessian *mat.SymDense,
	slopes []float64,
	row func(int) *mat.VecDense,
	records [][]related,
) float64 {
	var factor mat.Cholesky
	if !factor.Factorize(hessian) {
		return 0
	}
	changes := make([]float64, len(slopes))
	for i, slope := range slopes {
		var change mat.VecDense
		if slope == 0 || factor.SolveVecTo(&change, row(i)) != nil {
			continue
		}
		changes[i] = math.Abs(slope) * mat.Norm(&change, 1)
	}
	largest := 0.
	for _, list := range records {
		sum := 0.
		for _, r := range list {
			sum += r.degree * changes[r.record]
		}
		largest = max(largest, sum)
	}
	return largest
}
