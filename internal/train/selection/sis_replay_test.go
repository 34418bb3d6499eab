//go:build replay

package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// recordSIS runs x on a table of numeric columns, whose last category column, if
// any, comes before the target.
func recordSIS(
	t *testing.T,
	x SIS,
	rel budget.Relation,
	rec *mechanism.Recorder,
	columns [][]float64,
	codes []int32,
) []int {
	t.Helper()
	var schema dataset.Schema
	var data []dataset.ColumnData
	for j, c := range columns {
		if j == len(columns)-1 {
			schema.Columns = append(
				schema.Columns,
				dataset.Column{
					Name:       "site",
					Kind:       dataset.Category,
					Categories: []string{"a", "b"},
					Other:      true,
				},
			)
			data = append(data, dataset.ColumnData{Codes: codes})
		}
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: fmt.Sprint("c", j)},
		)
		data = append(data, dataset.ColumnData{Floats: c})
	}
	v, f := sisView(
		t,
		scaling.Range{Lower: -1, Upper: 1},
		schema, data,
	)
	f.Relation = rel
	got, err := x.Select(
		context.Background(),
		mechanism.NewRecordedSession(priceSIS(t, x, 1, f), rec),
		f,
		memory.NewRecords(v),
	)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSISScores compares the scores that reach the mechanism with their
// definitions, worked by hand.
func TestSISScores(t *testing.T) {
	columns := [][]float64{
		{1, .5, -.25, 7},
		{-1, math.NaN(), .25, 0},
		{.5, -1, 1, -.5},
	}
	codes := []int32{0, 1, 2, 0}
	for _, c := range []struct {
		score SISScore
		want  []float64
	}{
		// 1/2 - 1/2 - 1/4 - 1/2; -1/2 + 0 + 1/4 + 0; S = (0, -1, 1): 2.
		{ScoreProduct, []float64{.75, .25, 2}},
		// In the order of the target the first column is .5, 7, 1, -.25: two pairs
		// rise and four fall; the second NaN, 0, -1, .25: five and one; the third
		// b, a, a, other: three, two, and a tie. Over n-1 = 3.
		{ScoreTau, []float64{2. / 3, 4. / 3, 1. / 3}},
	} {
		rec := mechanism.NewRecorder(1)
		recordSIS(
			t,
			SIS{
				K:     1,
				Score: c.score,
				TopK:  mechanism.OneShot,
			},
			budget.AddRemove,
			rec,
			columns,
			codes,
		)
		in := rec.Releases()[0].Input
		for j, w := range c.want {
			got := float64(in[j]) * 0x1p-20
			if math.Abs(got-w) > 0x1p-19 {
				t.Errorf(
					"%s, column %d: %v, want %v",
					c.score, j, got, w,
				)
			}
		}
	}
}

// TestSISCorrelationScores checks that, for the released centre m, the scores are those of x and y-m, both doubled
// and clamped to [-1, 1].
func TestSISCorrelationScores(t *testing.T) {
	columns := [][]float64{
		{1, .25, -.25, 7},
		{-1, math.NaN(), .125, 0},
		{.5, -1, 1, .25},
	}
	for seed := range byte(8) {
		rec := mechanism.NewRecorder(seed)
		recordSIS(
			t,
			SIS{
				K:     1,
				Score: ScoreCorrelation,
				TopK:  mechanism.OneShot,
			},
			budget.AddRemove,
			rec,
			columns,
			[]int32{0, 1, 2, 0},
		)
		var center, choice mechanism.Release
		for _, r := range rec.Releases() {
			if r.Path == "selection/sis/center" {
				center = r
			} else {
				choice = r
			}
		}
		twice := func(v float64) float64 {
			if v != v {
				return 0
			}
			return min(max(2*v, -1), 1)
		}
		at := func(i int) float64 {
			return 2*float64(i)/(centers-1) - 1
		}
		y := columns[2]
		for i, got := range center.Input {
			sum := 0.0
			for _, v := range y {
				sum += twice(v - at(i))
			}
			want := -math.Abs(sum)
			if math.Abs(float64(got)*0x1p-20-want) > 4*0x1p-14 {
				t.Fatalf(
					"centre %v balances by %v, want %v",
					at(i),
					float64(got)*0x1p-20,
					want,
				)
			}
		}
		m := at(int(center.Out[0]))
		for j := range 2 {
			want := 0.0
			for i, v := range columns[j] {
				want += twice(v) * twice(y[i]-m)
			}
			got := float64(choice.Input[j]) * 0x1p-20
			if math.Abs(got-math.Abs(want)) > 8*0x1p-14 {
				t.Errorf(
					"centre %v, column %d: %v, want %v",
					m, j, got, math.Abs(want),
				)
			}
		}
	}
}

// TestSISReplay replays neighbouring tables, in which a record at any position is removed, or replaced by an ordinary
// or an extreme one. The same leaves are spent on inputs within the declared widths, and the same columns are
// selected. Some pair reaches at least a quarter of a width.
func TestSISReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 40
	columns := make([][]float64, 5)
	codes := make([]int32, n)
	for i := range n {
		codes[i] = rng.Int32N(4)
		for j := range columns {
			columns[j] = append(columns[j], rng.NormFloat64()/2)
		}
	}
	extreme := []float64{1e300, -1e300, math.NaN(), 1, -1}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		for i, score := range []SISScore{ScoreTau, ScoreProduct, ScoreCorrelation} {
			x := SIS{
				K:     2,
				Score: score,
				TopK:  sisForms()[i],
			}
			widest := 0.0
			for _, row := range []int{0, n / 2, n - 1} {
				first := mechanism.NewRecorder(byte(row))
				next := first.Replay()
				a := recordSIS(t, x, rel, first, columns, codes)
				near := make([][]float64, len(columns))
				nearCodes := slices.Clone(codes)
				for j, c := range columns {
					if near[j] = slices.Clone(c); rel == budget.AddRemove {
						near[j] = slices.Delete(near[j], row, row+1)
					} else {
						near[j][row] = extreme[j]
					}
				}
				if nearCodes[row] = 3 - codes[row]; rel == budget.AddRemove {
					nearCodes = slices.Delete(nearCodes, row, row+1)
				}
				b := recordSIS(t, x, rel, next, near, nearCodes)
				faults, closest := mechanism.Compare(first, next)
				if len(faults) > 0 || !slices.Equal(a, b) {
					t.Errorf(
						"%v, %s, row %d: chose %v and %v, %v",
						rel,
						score,
						row,
						a,
						b,
						faults,
					)
				}
				widest = math.Max(widest, closest)
			}
			if widest < .25 {
				t.Errorf(
					"%v, %s: no pair came closer than %.2f of a width",
					rel,
					score,
					widest,
				)
			}
		}
	}
}
