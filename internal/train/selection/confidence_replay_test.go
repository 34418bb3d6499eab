//go:build replay

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// calibrationTables returns the number of tables of every selector, and the difference between stated and true
// frequencies that is allowed. In the range with the fewest columns, frequencies over 400 tables have a standard
// deviation of .021, and over 120 tables of .039: the allowed difference is 2.4 times as large.
func calibrationTables() (tables int, allowed float64) {
	if testkit.Full() {
		return 400, .05
	}
	return 120, .09
}

// effectsOf returns the effects of d columns on the target, in one of four patterns: a few strong effects, decreasing
// effects, a large number of equal effects, or no effects.
func effectsOf(rng *rand.Rand, kind, d int) []float64 {
	out := make([]float64, d)
	for j := range out {
		switch kind {
		case 0:
			if j < 3 {
				out[j] = .2 + .4*rng.Float64()
			}
		case 1:
			out[j] = .6 * math.Pow(.7, float64(j))
		case 2:
			if j < d/2 {
				out[j] = .25
			}
		}
		if rng.IntN(2) == 0 {
			out[j] = -out[j]
		}
	}
	rng.Shuffle(d, func(i, j int) {
		out[i], out[j] = out[j], out[i]
	})
	return out
}

// confidenceTable draws a table whose columns share a factor in every other table. The target
// is a number without classes and a class otherwise.
func confidenceTable(
	t *testing.T,
	rng *rand.Rand,
	index, classes int,
) (dataset.View, Facts) {
	d := 8 + rng.IntN(9)
	n := 400 * (1 << rng.IntN(4))
	effects := effectsOf(rng, index%4, d)
	common := float64(index/4%2) * .6
	columns := make([][]float64, d)
	labels := make([]int32, n)
	numbers := make([]float64, n)
	for i := range n {
		factor := rng.NormFloat64()
		score := 0.
		for j := range columns {
			x := common*factor + math.Sqrt(1-common*common)*rng.NormFloat64()
			columns[j] = append(columns[j], x/3)
			score += effects[j] * x
		}
		score += .8 * rng.NormFloat64()
		numbers[i] = score / 4
		for labels[i] = 0; int(labels[i]) < classes-1 &&
			score > -.4+.8*float64(labels[i]); labels[i]++ {
		}
	}
	v, f := classTable(t, 1, columns, nil, 0, max(classes, 2), labels)
	if classes > 0 {
		return v, f
	}
	f.Target = dataset.Column{
		Name:   "y",
		Ranged: true,
		Lower:  -1,
		Upper:  1,
	}
	f.Ranges[d] = scaling.Range{
		Lower:    -1,
		Upper:    1,
		Declared: true,
	}
	var data []dataset.ColumnData
	for _, c := range append(columns, numbers) {
		data = append(data, dataset.ColumnData{Floats: c})
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)},
		data,
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab.View(), f
}

// TestConfidenceIsCalibrated checks over the tables of each selector that probabilities and frequencies of truly being
// chosen differ by little on average: those of the chosen columns, and those of all columns in every range of
// probabilities. The truth is the choice of the same rule with hardly any noise. Tables and keys are the same in
// every run.
func TestConfidenceIsCalibrated(t *testing.T) {
	const k = 3
	for _, tt := range []struct {
		x       rater
		classes int
	}{
		{GreedyGram{K: k}, 0},
		{GreedyGram{K: k}, 2},
		{GreedyGram{K: k}, 3},
		{DPFS{K: k, Exact: true}, 2},
		{DPFS{K: k, Exact: true}, 3},
		{CRFS{K: k, Exact: true}, 2},
		{DPFSDR{K: k, Exact: true}, 2},
	} {
		t.Run(fmt.Sprintf(
			"%s %d classes",
			tt.x.Name(), tt.classes,
		), func(t *testing.T) {
			checkCalibration(t, tt.x, tt.classes)
		})
	}
}

func checkCalibration(t *testing.T, x rater, classes int) {
	rng := rand.New(rand.NewPCG(11, 3))
	const bins = 3
	var stated, found, count [bins + 1]float64 // the last one: chosen columns
	tables, allowed := calibrationTables()
	for index := range tables {
		v, f := confidenceTable(t, rng, index, classes)
		epsilon := []float64{.3, 1, 3}[index%3]
		choice, err := x.Choose(
			context.Background(),
			classSession(t, x, epsilon, f),
			f,
			memory.NewRecords(v),
		)
		if err != nil {
			t.Fatal(err)
		}
		confidence, err := choice.Confidence(context.Background(), len(choice.Picked))
		if err != nil || len(confidence.Probabilities) != len(f.Columns) {
			t.Fatalf("%v, %v", confidence, err)
		}
		truth := classPick(t, x, 1e6, f, v)
		sum := 0.
		for j, p := range confidence.Probabilities {
			sum += p
			in := 0.
			if slices.Contains(truth, j) {
				in = 1
			}
			add := func(b int) {
				stated[b] += p
				found[b] += in
				count[b]++
			}
			add(min(int(p*bins), bins-1))
			if slices.Contains(choice.Picked, j) {
				add(bins)
			}
		}
		if math.Abs(sum-float64(len(truth))) > 1e-9 {
			t.Errorf(
				"table %d: probabilities add up to %v for %d columns",
				index,
				sum,
				len(truth),
			)
		}
	}
	for b, n := range count {
		p := stated[b] / n
		q := found[b] / n
		t.Logf(
			"range %d: stated %.3f, found %.3f of %v",
			b, p, q, n,
		)
		if !(n >= 100) ||
			!(math.Abs(p-q) <= allowed) {
			t.Errorf(
				"range %d: stated %.3f, found %.3f of %v",
				b, p, q, n,
			)
		}
	}
}
