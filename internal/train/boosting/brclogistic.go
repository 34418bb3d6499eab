package boosting

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// logisticRidge is the penalty of the public classifier, in records.
	logisticRidge = 1
	// logisticSteps and logisticTolerance stop Newton's method: a step whose decrement, the predicted
	// improvement, is below the tolerance is the last.
	logisticSteps     = 50
	logisticTolerance = 1e-8
)

// fitLogistic returns the coefficients, column by column and then the intercept,
// that minimise
//
//	sum_i v_i log(1 + exp(-y_i theta.x_i)) + logisticRidge/2 |theta|^2,
//
// the weights v scaled to the number of labelled records, by Newton's method
// with halved steps. Records without a label are ignored. It is exact up to
// rounding and deterministic: equal input gives equal output bit for
// bit.
func fitLogistic(
	ctx context.Context,
	features []feature,
	labels []int8,
	weights []float64,
) ([]float64, error) {
	p := newLogistic(features, labels, weights)
	theta := make([]float64, p.size)
	value := p.value(theta)
	for range logisticSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step, decrement := p.newton(theta)
		if !(decrement > logisticTolerance) {
			break
		}
		next := make([]float64, p.size)
		scale := 1.
		better := false
		for range 40 {
			for k := range next {
				next[k] = theta[k] + scale*step[k]
			}
			if v := p.value(next); v < value {
				value = v
				better = true
				break
			}
			scale /= 2
		}
		if !better {
			break
		}
		theta = next
	}
	return theta, nil
}

// logistic is the problem: every record has one nonzero entry a column and the
// constant.
type logistic struct {
	features []feature
	first    []int // coefficient 0 of each column
	size     int
	labels   []int8
	weights  []float64
}

func newLogistic(
	features []feature,
	labels []int8,
	weights []float64,
) *logistic {
	p := &logistic{
		features: features,
		labels:   labels,
		weights:  make([]float64, len(weights)),
	}
	for k := range features {
		p.first = append(p.first, p.size)
		p.size += features[k].width()
	}
	p.size++
	total := 0.
	n := 0.
	for i, w := range weights {
		if labels[i] != 0 {
			total += w
			n++
		}
	}
	if total > 0 {
		for i, w := range weights {
			p.weights[i] = w * n / total
		}
	}
	return p
}

// row writes the nonzero entries of record i and returns its score.
func (p *logistic) row(i int, theta []float64, at []int, x []float64) float64 {
	score := theta[p.size-1]
	for k := range p.features {
		level, v := p.features[k].levelAndValue(i)
		at[k] = p.first[k] + level
		x[k] = v
		if v != 0 {
			score += theta[at[k]] * v
		}
	}
	at[len(p.features)], x[len(p.features)] = p.size-1, 1
	return score
}

func (p *logistic) value(theta []float64) float64 {
	at := make([]int, len(p.features)+1)
	x := make([]float64, len(p.features)+1)
	sum := 0.
	for _, v := range theta {
		sum += logisticRidge / 2. * v * v
	}
	for i, y := range p.labels {
		if y == 0 {
			continue
		}
		m := -float64(y) * p.row(i, theta, at, x)
		sum += p.weights[i] * (max(m, 0) + math.Log1p(math.Exp(-math.Abs(m))))
	}
	return sum
}

// newton returns the Newton step at theta and its decrement.
func (p *logistic) newton(theta []float64) (step []float64, decrement float64) {
	at := make([]int, len(p.features)+1)
	x := make([]float64, len(p.features)+1)
	hessian := make([]float64, p.size*p.size)
	gradient := make([]float64, p.size)
	for k, v := range theta {
		gradient[k] = -logisticRidge * v
		hessian[k*p.size+k] = logisticRidge
	}
	for i, y := range p.labels {
		if y == 0 {
			continue
		}
		q := 1 / (1 + math.Exp(float64(y)*p.row(i, theta, at, x)))
		g := p.weights[i] * q * float64(y)
		h := p.weights[i] * q * (1 - q)
		for a, j := range at {
			if x[a] == 0 {
				continue
			}
			gradient[j] += g * x[a]
			for b := a; b < len(at); b++ { // indices in at increase
				hessian[j*p.size+at[b]] += h * x[a] * x[b]
			}
		}
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	if !factor.Factorize(mat.NewSymDense(p.size, hessian)) ||
		factor.SolveVecTo(&solved, mat.NewVecDense(p.size, gradient)) != nil {
		return nil, 0 // only possible by rounding: the penalty keeps the matrix definite
	}
	step = solved.RawVector().Data
	for k, g := range gradient {
		decrement += g * step[k]
	}
	return step, decrement
}
