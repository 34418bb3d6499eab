package bench

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitmix64(t *testing.T) {
	// This is the published sequence from the state 1234567.
	g := generator(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431, 16408922859458223821} {
		if got := g.next(); got != want {
			t.Errorf(
				"number %d: %d, want %d",
				i, got, want,
			)
		}
	}
}

// TestSplitIsFrozen checks that splits do not change, since published results depend on them.
func TestSplitIsFrozen(t *testing.T) {
	_, first := splitTrial(0, 0, 30, 0)
	_, last := splitTrial(7, 19, 30, 0)
	if !slices.Equal(first, []int32{19, 25, 27}) ||
		!slices.Equal(last, []int32{4, 23, 27}) {
		t.Errorf("splits changed: %v, %v", first, last)
	}
}

func TestTenTrialsTestEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		round := rapid.IntRange(0, 3).Draw(t, "round")
		count := make([]int, n)
		for trial := round * folds; trial < (round+1)*folds; trial++ {
			train, test := splitTrial(seed, trial, n, 0)
			if len(train)+len(test) != n ||
				len(test) < n/folds ||
				len(test) > (n+folds-1)/folds {
				t.Fatalf(
					"%d training and %d test rows of %d",
					len(train), len(test), n,
				)
			}
			both := slices.Concat(train, test)
			if !slices.IsSorted(train) || !slices.IsSorted(test) {
				t.Fatal("rows are not in order")
			}
			if slices.Sort(both); len(slices.Compact(both)) != n {
				t.Fatal("a row is on both sides")
			}
			for _, row := range test {
				count[row]++
			}
		}
		for row, c := range count {
			if c != 1 {
				t.Fatalf("row %d was tested %d times", row, c)
			}
		}
	})
}

// TestSplitOfFewerRows checks that a limit keeps the test rows and trains on nine tenths of the limit, and that a
// limit above the size of the table has no effect.
func TestSplitOfFewerRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		limit := rapid.IntRange(1, 400).Draw(t, "limit")
		trial := rapid.IntRange(0, 19).Draw(t, "trial")
		all, test := splitTrial(5, trial, n, 0)
		train, same := splitTrial(5, trial, n, limit)
		want := min(len(all), limit-limit/folds)
		if len(train) != want ||
			!slices.Equal(test, same) ||
			!slices.IsSorted(train) {
			t.Fatalf(
				"%d training rows of %d, want %d",
				len(train), n, want,
			)
		}
		for _, row := range train {
			if _, ok := slices.BinarySearch(all, row); !ok {
				t.Fatalf("row %d is not a training row", row)
			}
		}
	})
}

func TestRoundsDiffer(t *testing.T) {
	_, a := splitTrial(0, 0, 200, 0)
	_, b := splitTrial(0, folds, 200, 0)
	if slices.Equal(a, b) {
		t.Error("two permutations have the same first fold")
	}
}

// TestQuantile compares quantiles with those of numpy.quantile.
func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		p, want float64
	}{
		{[]float64{1, 2, 3, 4}, .5, 2.5},
		{[]float64{1, 2, 3, 4}, .25, 1.75},
		{[]float64{1, 2, 3, 4}, .75, 3.25},
		{[]float64{1, 5, 6, 10, 20}, .25, 5},
		{[]float64{1, 5, 6, 10, 20}, 1, 20},
		{[]float64{7}, .25, 7},
	} {
		got := quantile(c.values, c.p)
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf(
				"quantile %v of %v: %v, want %v",
				c.p, c.values, got, c.want,
			)
		}
	}
	if !math.IsNaN(quantile(nil, .5)) {
		t.Error("no values have a quantile")
	}
}

func TestScore(t *testing.T) {
	nan := math.NaN()
	got, err := exactR2(
		[]float64{9, 1, 2},
		[]float64{nan, 1, 2},
	)
	if err != nil || got != 1 {
		t.Errorf(
			"a missing target counts: %v, %v",
			got, err,
		)
	}
	got, err = exactR2([]float64{-3, 3}, []float64{0, 1})
	if err != nil || got != 1-13/.5 {
		t.Errorf(
			"R² was clipped: %v, %v",
			got, err,
		)
	}
	if _, err := exactR2([]float64{1}, []float64{nan}); !errors.Is(err, ErrNoTestRow) {
		t.Errorf("got %v", err)
	}
	_, err = exactR2([]float64{1e200, 0}, []float64{0, 1})
	if !errors.Is(err, ErrNotFinite) {
		t.Errorf("got %v", err)
	}
}

// TestQueueKeepsOrder checks that rows are released in order whichever trials finish last.
func TestQueueKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "order")
		finished := rapid.IntRange(0, 6).Draw(t, "finished")
		var got []int
		q := &queue{
			waiting: map[int][]Row{},
			emit: func(r Row) {
				got = append(got, r.Trial)
			},
		}
		for _, trial := range order[:finished] {
			q.putTrial(trial, []Row{{Trial: trial}})
		}
		q.flushRemaining(6)
		want := slices.Sorted(slices.Values(order[:finished]))
		if !slices.Equal(got, want) {
			t.Fatalf("delivered %v, want %v", got, want)
		}
	})
}
