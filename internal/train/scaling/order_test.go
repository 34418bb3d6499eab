package scaling

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestOrder checks that the three numbers are those of the sorted column, bit for bit.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom(
			[]float64{0, math.Copysign(0, -1), 1, -1, 5e-324, -5e-324, math.MaxFloat64,
				-math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)})
		x := rapid.SliceOf(rapid.OneOf(rapid.Float64(), odd)).Draw(t, "x")
		tab, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{{Name: "a"}, {Name: "b"}}},
			[]dataset.ColumnData{
				{Floats: make([]float64, len(x))},
				{Floats: x},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		places, numbers, err := orderOf(
			t.Context(),
			mechanism.NewMaker(budget.SubstitutePrivateColumns),
			memory.NewRecords(tab.View()),
			[]int{1, 0},
			0,
		)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		for _, v := range x {
			if v-v == 0 {
				want = append(want, v+0)
			}
		}
		slices.Sort(want)
		if numbers[0] != int64(len(want)) ||
			numbers[1] != int64(len(x)) {
			t.Fatalf(
				"%v numbers, want %d and %d",
				numbers, len(want), len(x),
			)
		}
		if n := len(want); n > 0 {
			for k, at := range []int{0, (n - 1) / 2, n - 1} {
				got := places[0].valueOf(k)
				if math.Float64bits(got) != math.Float64bits(
					want[at]) {
					t.Errorf(
						"number %d of %d is %v, want %v",
						at, n, got, want[at],
					)
				}
			}
		}
	})
}
