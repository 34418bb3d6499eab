package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
)

// The stability experiments of section 3 of "Feature Selection from
// Differentially Private Correlations" (figure 1), without privacy: 100 rows of
// 100 standard normal columns; the target is the sum of the first five and noise
// of variance .1. In the second experiment every tenth row has the sum of the
// last five instead, so that every block of the two-stage method has one such
// row.
const (
	stabilityRows     = 100
	stabilityColumns  = 100
	stabilityK        = 5
	stabilityBlocks   = 10
	stabilityVariance = .1
	stabilityTrials   = 1000
)

// The tables and methods of the experiments.
const (
	stableW1      = "w1"
	stableW1W2    = "w1-w2"
	plainSIS      = "nonprivate-sis"
	plainTau      = "nonprivate-tau"
	plainTwoStage = "nonprivate-two-stage"
)

func stabilityMethods() []string {
	return []string{plainTwoStage, plainSIS, plainTau}
}

// stabilityTasks lists the two experiments.
func stabilityTasks(o Options) []Task {
	var tasks []Task
	for _, data := range []string{stableW1, stableW1W2} {
		t := Task{
			Name:   data,
			Trials: o.trials(stabilityTrials),
			Run:    stabilityRun(o.Seed),
		}
		for _, m := range stabilityMethods() {
			t.Cells = append(t.Cells, stabilityCell(data, m))
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func stabilityCell(data, method string) Cell {
	return Cell{data, method, Setting{
		K: stabilityK,
		N: stabilityRows,
	}}
}

func stabilityRun(seed uint64) func(context.Context, []Key, func(Key, Outcome)) error {
	return func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
		return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
			g := newGenerator(k.Data, seed, uint64(k.Trial))
			x, y := stabilityTable(k.Data, g)
			picked, err := stabilityChoice(ctx, k.Method, x, y, g)
			if err != nil {
				return failed(err)
			}
			return Outcome{
				Status: OK,
				Picked: fromOne(picked),
				Values: map[string]float64{
					metricOverlap: overlap(picked, firstColumns(stabilityK), stabilityK),
				},
			}
		}, emit)
	}
}

// firstColumns lists the columns 0..k-1.
func firstColumns(k int) []int {
	out := make([]int, k)
	for j := range out {
		out[j] = j
	}
	return out
}

// stabilityTable draws a table of one experiment.
func stabilityTable(data string, g *generator) (x [][]float64, y []float64) {
	weights := make([]float64, stabilityColumns)
	for j := range stabilityK {
		weights[j] = 1
	}
	x, y = linearTable(g, stabilityRows, weights, stabilityVariance)
	if data != stableW1W2 {
		return x, y
	}
	block := stabilityRows / stabilityBlocks
	for i := block - 1; i < stabilityRows; i += block {
		for j := range stabilityK {
			y[i] += x[stabilityColumns-1-j][i] - x[j][i]
		}
	}
	return x, y
}

// stabilityChoice chooses without privacy.
func stabilityChoice(
	ctx context.Context,
	method string,
	x [][]float64,
	y []float64,
	g *generator,
) ([]int, error) {
	var scores []float64
	var err error
	switch method {
	case plainSIS:
		scores = correlationScores(x, y)
	case plainTau:
		scores, err = tauScores(ctx, x, y)
	case plainTwoStage:
		scores, err = supportCounts(ctx, x, y)
	default:
		err = fmt.Errorf("%w: method %q", ErrUnknown, method)
	}
	if err != nil {
		return nil, err
	}
	return largest(scores, stabilityK, g), nil
}

// supportCounts returns, for each column, the number of blocks of consecutive rows in which a lasso keeps it.
func supportCounts(
	ctx context.Context,
	x [][]float64,
	y []float64,
) ([]float64, error) {
	counts := make([]float64, len(x))
	block := len(y) / stabilityBlocks
	for lo := 0; lo+block <= len(y); lo += block {
		part := make([][]float64, len(x))
		for j, column := range x {
			part[j] = column[lo : lo+block]
		}
		s, err := nonprivate.NewLassoSolver(
			ctx,
			part,
			y[lo:lo+block],
			nonprivate.LassoOptions{Standardize: true},
		)
		if err != nil {
			return nil, err
		}
		found, err := s.Solve(ctx, referenceLambda)
		if err != nil {
			return nil, err
		}
		for j, w := range found.Coefficients {
			if w != 0 {
				counts[j]++
			}
		}
	}
	return counts, nil
}

// largest returns the positions of the k largest scores in increasing order. Ties are broken at random, so that no
// position is favoured.
func largest(scores []float64, k int, g *generator) []int {
	order := g.permutation(len(scores))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(scores[b], scores[a])
	})
	picked := order[:k:k]
	slices.Sort(picked)
	return picked
}
