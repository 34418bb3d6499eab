package published

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// fixedSource returns a fixed source of random bits.
func fixedSource(seed uint64) Source {
	return rand.NewPCG(seed, 4)
}

// newView returns a table of columns and, last, a target.
func newView(t testing.TB, x [][]float64, y []float64) (dataset.View, int) {
	t.Helper()
	var schema dataset.Schema
	var data []dataset.ColumnData
	for j, c := range append(slices.Clone(x), y) {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("c", j)},
		)
		data = append(data, dataset.ColumnData{Floats: c})
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab.View(), len(x)
}

// withRecord returns columns with one more record.
func withRecord(x [][]float64, record ...float64) [][]float64 {
	out := make([][]float64, len(x))
	for j, c := range x {
		out[j] = append(slices.Clone(c), record[j])
	}
	return out
}

// must panics on an error, for distributions that are known to exist.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// checkNear fails unless got is within tolerance of want.
func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf(
			"%s: %v, want %v within %v",
			what, got, want, tolerance,
		)
	}
}

// firstPickLogP returns the log-probability that the first pick is j.
func firstPickLogP(l Law, j int) float64 {
	logs := []float64{math.Inf(-1)}
	for _, d := range l {
		if d.Columns[0] == j {
			logs = append(logs, d.LogP)
		}
	}
	return logSum(logs)
}

// checkFrequencies draws runs times and compares every frequency with the distribution at six standard deviations, a
// false-alarm rate below 1e-8 per outcome. The seed is fixed.
func checkFrequencies(
	t *testing.T,
	what string,
	l Law,
	runs int,
	draw func(Source) []int,
) {
	t.Helper()
	count := map[string]float64{}
	src := fixedSource(11)
	for range runs {
		count[columnsKey(draw(src))]++
	}
	total := 0.0
	for _, d := range l {
		p := math.Exp(d.LogP)
		n := float64(runs)
		total += p
		got := count[columnsKey(d.Columns)]
		if math.Abs(got-n*p) > 6*math.Sqrt(n*p*(1-p))+1 {
			t.Errorf(
				"%s: %v drawn %v times, expected %.1f",
				what, d.Columns, got, n*p,
			)
		}
		delete(count, columnsKey(d.Columns))
	}
	checkNear(t, what+": total probability", total, 1, 1e-9)
	if len(count) > 0 {
		t.Errorf(
			"%s: %d outcomes drawn that the law does not have",
			what, len(count),
		)
	}
}

// rearrangedColumns returns columns of n records, each a different rearrangement.
func rearrangedColumns(n int, steps ...int) [][]float64 {
	out := make([][]float64, len(steps))
	for j, step := range steps {
		for i := range n {
			out[j] = append(out[j], float64(i*step%n))
		}
	}
	return out
}
