package suite

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/regression"
)

// The experiment on convergence (figure 4c) measures the accuracy after given numbers of rounds.
const (
	curveSet     = "adult, integer codes, by rounds"
	curveEpsilon = 1.
	curveLength  = 100
)

var curveRounds = [...]int{1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100}

// afterRounds returns the metric of the accuracy after t rounds.
func afterRounds(t int) string {
	return fmt.Sprintf("%s_after_%d", metricAccuracy, t)
}

// curveMethods are the boosters whose rounds are compared.
func curveMethods() []partlyMethod {
	return []partlyMethod{
		{"brc, 100 rounds", false, curveRun(boosting.BRC{})},
		{"brc, as published, 100 rounds", false, curveRun(boosting.BRC{Form: boosting.Paper})},
		{"adaboost of one-column classifiers, not private", true, adaRun(false)},
		{"adaboost of random linear classifiers, not private", true, adaRun(true)},
	}
}

func curveCells() []Cell {
	var out []Cell
	for _, m := range curveMethods() {
		out = append(out, partlyCell(curveSet, m, curveEpsilon))
	}
	return out
}

func curveRun(b boosting.BRC) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		b.Rounds = curveLength
		model, err := x.boost(ctx, b, budget.SubstitutePrivateColumns)
		if err != nil {
			return failed(err)
		}
		values := map[string]float64{}
		for _, t := range curveRounds {
			score := *model.Scores[0].(*regression.Votes)
			score.Members = score.Members[:t]
			o := judge(
				predicted(
					&regression.Classifier{
						Target:  model.Target,
						Classes: model.Classes,
						Scores:  []regression.Model{&score},
					}, x.test))(x.test)
			if o.Status != OK {
				return o
			}
			values[afterRounds(t)] = o.Values[metricAccuracy]
		}
		return Outcome{Status: OK, Values: values}
	}
}

// adaRun is AdaBoost without privacy. Its weak classifiers are drawn independently of the data, on all columns as in
// the paper, or on one column.
func adaRun(all bool) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		train, test, err := scaledColumns(x.train, x.test)
		if err != nil {
			return failed(err)
		}
		y := baseline.Labels(x.train)
		weights := make([]float64, len(y))
		scores := make([]float64, x.test.Len())
		for i := range weights {
			weights[i] = 1 / float64(len(y))
		}
		values := map[string]float64{}
		done := 0
		for _, t := range curveRounds {
			for ; done < t; done++ {
				if ctx.Err() != nil {
					return failed(ctx.Err())
				}
				h := drawWeak(len(train), all, x.generator)
				alpha := reweigh(weights, h.votes(train, len(y)), y)
				for i, v := range h.votes(test, len(scores)) {
					scores[i] += alpha * v
				}
			}
			classes := make([]int32, len(scores))
			for i, s := range scores {
				if s > 0 {
					classes[i] = 1
				}
			}
			values[afterRounds(t)] = accuracy(classes, x.test).Values[metricAccuracy]
		}
		return Outcome{Status: OK, Values: values}
	}
}

// scaledColumns returns the numeric features of two views, scaled to [-1, 1] by the smallest and largest values of
// the first.
func scaledColumns(train, test dataset.View) (a, b [][]float64, err error) {
	columns := train.Schema().Columns
	first := train.Block(0, train.Len())
	second := test.Block(0, test.Len())
	for j, c := range columns[:len(columns)-1] {
		if c.Kind != dataset.Numeric {
			return nil, nil, fmt.Errorf("column %q is no number", c.Name)
		}
		x := filled(first.Float(j, make([]float64, train.Len())))
		z := filled(second.Float(j, make([]float64, test.Len())))
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range x {
			low, high = min(low, v), max(high, v)
		}
		scale := func(x []float64) []float64 {
			out := make([]float64, len(x))
			for i, v := range x {
				if high > low {
					out[i] = min(max(2*(v-low)/(high-low)-1, -1), 1)
				}
			}
			return out
		}
		a, b = append(a, scale(x)), append(b, scale(z))
	}
	return a, b, nil
}

// A weak classifier is the sign of a linear function.
type weak struct {
	constant float64
	at       []int
	slopes   []float64
}

func drawWeak(d int, all bool, g *generator) weak {
	symmetric := func() float64 {
		return 2*g.uniform() - 1
	}
	if !all {
		return weak{symmetric(), []int{g.uniformBelow(d)}, []float64{1}}
	}
	h := weak{constant: symmetric(), at: count(0, d)}
	for range d {
		h.slopes = append(h.slopes, symmetric())
	}
	return h
}

// votes returns -1 or 1 for every record.
func (h weak) votes(x [][]float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = h.constant
		for k, j := range h.at {
			out[i] += h.slopes[k] * x[j][i]
		}
		if out[i] < 0 {
			out[i] = -1
		} else {
			out[i] = 1
		}
	}
	return out
}

// reweigh performs a round of AdaBoost. It returns the weight of the classifier, ln((1-e)/e)/2, and updates the
// weights of the records, which sum to 1.
func reweigh(weights, votes []float64, y []int32) float64 {
	wrong := 0.
	sign := func(i int) float64 {
		return votes[i] * float64(2*y[i]-1)
	}
	for i, w := range weights {
		if sign(i) < 0 {
			wrong += w
		}
	}
	wrong = min(max(wrong, 1e-6), 1-1e-6)
	alpha := math.Log((1-wrong)/wrong) / 2
	total := 0.
	for i := range weights {
		weights[i] *= math.Exp(-alpha * sign(i))
		total += weights[i]
	}
	for i := range weights {
		weights[i] /= total
	}
	return alpha
}
