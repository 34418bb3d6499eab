package selection

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A set of 200 that contains the best 20 and takes the others from the best 220.
func ExampleQualityOf() {
	scores := make([]float64, 1000)
	for j := range scores {
		scores[j] = -float64(j)
	}
	var chosen []int
	for j := range 220 {
		if j < 20 || j >= 40 {
			chosen = append(chosen, j)
		}
	}
	fmt.Printf("%+v\n", QualityOf(scores, chosen))
	// Output: {Top:false Great:true Good:true}
}

func TestQualityLevels(t *testing.T) {
	line := func(d int) []float64 {
		out := make([]float64, d)
		for j := range out {
			out[j] = float64(d - j)
		}
		return out
	}
	set := func(d, k int, leave, take []int) (out []int) { // the best k, changed
		for j := range d {
			if j < k && !slices.Contains(leave, j) ||
				slices.Contains(take, j) {
				out = append(out, j)
			}
		}
		return out
	}
	for _, c := range []struct {
		name        string
		k           int
		leave, take []int
		want        Quality
	}{
		{"the best", 10, nil, nil, Quality{true, true, true}},
		{
			"rank 11 for 10", 10,
			[]int{9},
			[]int{10},
			Quality{false, true, true},
		},
		{
			"rank 12 for 10", 10,
			[]int{9},
			[]int{11},
			Quality{false, false, true},
		},
		{
			"rank 15 for 10", 10,
			[]int{9},
			[]int{14},
			Quality{false, false, true},
		},
		{
			"rank 16 for 10", 10,
			[]int{9},
			[]int{15}, Quality{},
		},
		{
			"without the best of 10", 10,
			[]int{0},
			[]int{10},
			Quality{false, false, true},
		},
		{
			"without rank 2 of 10", 10,
			[]int{1},
			[]int{10},
			Quality{false, true, true},
		},
		{
			"without rank 20 of 200",
			200,
			[]int{19},
			[]int{200},
			Quality{false, false, true},
		},
		{
			"without rank 2 of 200", 200,
			[]int{1},
			[]int{299}, Quality{},
		},
		{
			"without rank 3 of 200", 200,
			[]int{2},
			[]int{299},
			Quality{false, false, true},
		},
		{
			"five: rank 6", 5,
			[]int{0},
			[]int{5},
			Quality{false, false, true},
		},
		{
			"five: rank 7", 5,
			[]int{0},
			[]int{6},
			Quality{false, false, true},
		},
		{
			"five: rank 8", 5,
			[]int{0},
			[]int{7}, Quality{},
		},
	} {
		got := QualityOf(
			line(400),
			set(400, c.k, c.leave, c.take),
		)
		if got != c.want {
			t.Errorf(
				"%s: %+v, want %+v",
				c.name, got, c.want,
			)
		}
	}
	if got := QualityOf([]float64{1, 2}, []int{0, 1}); !got.Top {
		t.Errorf("all candidates: %+v", got)
	}
	got := QualityOf(
		[]float64{math.NaN(), -5, math.Inf(-1)},
		[]int{1, 2},
	)
	if !got.Top {
		t.Errorf("NaN is not below everything: %+v", got)
	}
}

// TestQualityOrders checks that the levels are those of the best order that the scores allow, by trying the order
// with the chosen columns first among equals, and that each level implies the next.
func TestQualityOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 40).Draw(t, "d")
		scores := rapid.SliceOfN(rapid.Float64Range(0, 30), d, d).Draw(t, "scores")
		x := make([]float64, d)
		order := make([]int, d)
		for j := range x {
			x[j] = math.Floor(scores[j])
			order[j] = j
		}
		chosen := rapid.Permutation(order).Draw(t, "order")[:rapid.IntRange(1, d-1).Draw(t, "k")]
		k := len(chosen)
		slices.SortFunc(order, func(a, b int) int {
			switch {
			case x[a] != x[b]:
				return int(x[b] - x[a])
			case slices.Contains(chosen, a) == slices.Contains(chosen, b):
				return a - b
			case slices.Contains(chosen, a):
				return -1
			}
			return 1
		})
		level := func(all, within float64) bool {
			for rank, j := range order {
				in := slices.Contains(chosen, j)
				if float64(rank+1) <= all && !in ||
					float64(rank+1) > within && in {
					return false
				}
			}
			return true
		}
		n := float64(k)
		want := Quality{
			level(n, n),
			level(n/10, 11*n/10),
			level(n/100, 3*n/2),
		}
		got := QualityOf(x, chosen)
		if got != want {
			t.Fatalf(
				"%v of %v: %+v, want %+v",
				chosen, x, got, want,
			)
		}
		if got.Top && !got.Great || got.Great && !got.Good {
			t.Fatalf(
				"%+v: a level does not imply the next",
				got,
			)
		}
	})
}

func TestQualityRefuses(t *testing.T) {
	for _, chosen := range [][]int{{-1}, {3}, {1, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken", chosen)
				}
			}()
			QualityOf([]float64{1, 2, 3}, chosen)
		}()
	}
}
