package astc

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// quantileOf returns a value that the given share of the members is at most.
func quantileOf(values, members []float64, at float64) float64 {
	var list []float64
	for i, w := range members {
		if w > 0 {
			list = append(list, values[i])
		}
	}
	if len(list) == 0 {
		return 0
	}
	sort.Float64s(list)
	k := int(math.Round(at * float64(len(list))))
	switch {
	case k <= 0:
		return list[0] - 1
	case k >= len(list):
		return list[len(list)-1]
	}
	return list[k-1]/2 + list[k]/2
}

// Logistic is a linear classifier with a cost: the minimiser of
//
//	sum_i log(1 + e^(-y_i f(x_i))) + lambda sum_j c_j |beta_j|,   f(x) = beta_0 + x.beta,
//
// y of -1 and +1, with the penalty [Table].Constant on the constant (table 2.1 of the thesis, whose 1/n before
// the sum cannot be meant: no lambda of the table would leave a feature). It is found by Newton
// steps with a coordinate descent in each, and a line search. Columns are taken as they are.
// weights is where the search starts, the constant first; nil for 0. Errors: [ErrTable], that of ctx.
func Logistic(
	ctx context.Context,
	t Table,
	lambda float64,
	weights []float64,
) ([]float64, error) {
	if err := t.checkTable(); err != nil {
		return nil, err
	}
	d := len(t.Group) + 1
	l := &logisticFit{
		table:   t,
		rows:    mat.NewDense(len(t.Rows), d, nil),
		penalty: make([]float64, d),
	}
	for i, r := range t.Rows {
		l.rows.Set(i, 0, 1)
		for j, v := range r {
			l.rows.Set(i, j+1, v)
		}
	}
	for j, g := range t.Group {
		l.penalty[j+1] = lambda * t.Cost[g]
	}
	if t.Constant > 0 {
		l.penalty[0] = lambda * t.Constant
	}
	beta := make([]float64, d)
	copy(beta, weights)
	value := l.value(beta)
	for range 200 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step := l.coordinateDescent(beta)
		next := make([]float64, d)
		after := value
		for size := 1.; size > 1e-10; size /= 2 {
			for j := range next {
				next[j] = beta[j] + size*step[j]
				if size == 1 && math.Abs(next[j]) < 1e-14 {
					next[j] = 0
				}
			}
			if after = l.value(next); after < value {
				break
			}
		}
		if !(value-after > 1e-10*(1+value)) {
			break
		}
		beta = next
		value = after
	}
	return beta, nil
}

type logisticFit struct {
	table   Table
	rows    *mat.Dense
	penalty []float64
}

func (l *logisticFit) margins(beta []float64) []float64 {
	v := mat.NewVecDense(len(l.table.Rows), nil)
	v.MulVec(l.rows, mat.NewVecDense(len(beta), beta))
	return v.RawVector().Data
}

func (l *logisticFit) value(beta []float64) float64 {
	sum := 0.
	for i, f := range l.margins(beta) {
		m := l.table.Y[i] * f
		sum += math.Log1p(math.Exp(-math.Abs(m))) + max(-m, 0)
	}
	for j, b := range beta {
		if b != 0 { // a penalty may be infinite
			sum += l.penalty[j] * math.Abs(b)
		}
	}
	return sum
}

// coordinateDescent minimises the quadratic model at beta with the penalty, by coordinate descent.
func (l *logisticFit) coordinateDescent(beta []float64) []float64 {
	n, d := l.rows.Dims()
	gradient := mat.NewVecDense(n, nil)
	scaled := mat.NewDense(n, d, nil)
	for i, f := range l.margins(beta) {
		y := l.table.Y[i]
		p := 1 / (1 + math.Exp(y*f))
		gradient.SetVec(i, -y*p)
		root := math.Sqrt(max(p*(1-p), 1e-10))
		for j := range d {
			scaled.Set(i, j, root*l.rows.At(i, j))
		}
	}
	var g mat.VecDense
	g.MulVec(l.rows.T(), gradient)
	var h mat.SymDense
	h.SymOuterK(1, scaled.T())
	step, moved := make([]float64, d), make([]float64, d) // moved: h step
	for range 1000 {
		largest := 0.
		for j := range d {
			curve := h.At(j, j)
			if curve <= 0 {
				continue
			}
			at := beta[j] + step[j]
			best := softThreshold(at-(g.AtVec(j)+moved[j])/curve, l.penalty[j]/curve)
			change := best - at
			if change == 0 {
				continue
			}
			step[j] += change
			for k := range moved {
				moved[k] += change * h.At(j, k)
			}
			largest = max(largest, math.Abs(change)*math.Sqrt(curve))
		}
		if largest < 1e-9 {
			break
		}
	}
	for j := range step { // an entry that ends at 0 ends there exactly
		if beta[j]+step[j] == 0 {
			step[j] = -beta[j]
		}
	}
	return step
}

func softThreshold(x, by float64) float64 {
	switch {
	case x > by:
		return x - by
	case x < -by:
		return x + by
	}
	return 0
}

// Scores returns the score of every row for the coefficients of [Logistic], and its cost: all features that the
// model reads.
func (t Table) Scores(
	beta []float64,
	rows [][]float64,
) (scores, paid []float64) {
	read := make([]bool, len(t.Cost))
	for j, b := range beta[1:] {
		if math.Abs(b) > 1e-9 {
			read[t.Group[j]] = true
		}
	}
	price := 0.
	for g, is := range read {
		if is {
			price += t.Cost[g]
		}
	}
	for _, r := range rows {
		scores = append(scores, dotProduct(beta, r))
		paid = append(paid, price)
	}
	return scores, paid
}

// Judge returns the share of records misclassified with the coefficients of [Logistic], and the number of
// features used if each costs 1.
func (t Table) Judge(beta []float64) (wrong float64, features int) {
	scores, paid := t.Scores(beta, t.Rows)
	for i, f := range scores {
		if f > 0 != (t.Y[i] > 0) {
			wrong++
		}
	}
	return wrong / float64(len(t.Rows)), int(paid[0])
}
