package kendall_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"pgregory.net/rapid"
)

// kendallByDefinition computes S from its definition, over all pairs. cmp.Compare has the documented order, with NaN first and
// -0 equal to +0.
func kendallByDefinition(x, y []float64) int64 {
	total := 0
	for i := range x {
		for j := range i {
			total += cmp.Compare(x[i], x[j]) * cmp.Compare(y[i], y[j])
		}
	}
	return int64(total)
}

func kendallSum(x, y []float64) int64 {
	return kendall.S(kendall.Rank(x, nil), kendall.Rank(y, nil), nil)
}

func TestSExhaustive(t *testing.T) {
	scratch := new(kendall.Scratch)
	for n := 0; n <= 4; n++ {
		size := 1
		for range n {
			size *= n
		}
		column := func(c int) []float64 {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(c%n) - 1
				c /= n
			}
			return values
		}
		for a := range size {
			x := column(a)
			ranks := kendall.Rank(x, scratch)
			for b := range size {
				y := column(b)
				want := kendallByDefinition(x, y)
				got := kendall.S(ranks, kendall.Rank(y, scratch), scratch)
				if got != want {
					t.Fatalf(
						"S(%v, %v) = %d, want %d",
						x, y, got, want,
					)
				}
			}
		}
	}
}

var awkward = []float64{
	math.NaN(), -math.NaN(), math.Inf(-1), math.Inf(1), 0, math.Copysign(0, -1), math.MaxFloat64,
	-math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1, math.Nextafter(1, 2), -1,
	math.Nextafter(-1, -2), 1e9,
}

// drawColumn draws n values of one of several kinds: continuous, few distinct values, clusters too narrow for the
// histogram of the sort, special values.
func drawColumn(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	kind := r.Intn(8)
	levels := 1 + r.Intn(1+n)
	for i := range values {
		switch kind {
		case 0:
			values[i] = r.NormFloat64()
		case 1:
			values[i] = float64(r.Intn(levels))
		case 2:
			values[i] = float64(r.Intn(2))
		case 3:
			values[i] = float64(r.Intn(2)) * (1e9 + 1e-2*r.NormFloat64())
		case 4:
			values[i] = awkward[r.Intn(len(awkward))]
		case 5:
			values[i] = math.Exp2(-1000*r.Float64()*r.Float64()) * float64(r.Intn(3)-1)
		case 6:
			values[i] = 1 + float64(r.Intn(levels))*0x1p-52 + float64(r.Intn(2))*1e300
		case 7:
			values[i] = float64(i * (1 + r.Intn(2)))
		}
	}
	return values
}

func TestSAgainstDefinition(t *testing.T) {
	scratch := new(kendall.Scratch) // shared by all cases: no state may be left over
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		n := rapid.IntRange(0, 600).Draw(t, "rows")
		x := drawColumn(r, n)
		y := drawColumn(r, n)
		got := kendall.S(
			kendall.Rank(x, scratch),
			kendall.Rank(y, scratch), scratch,
		)
		want := kendallByDefinition(x, y)
		if got != want {
			t.Fatalf("S = %d, want %d", got, want)
		}
	})
}

// TestSAgainstDefinitionLong uses 3000 rows, which exercise the split of the inversions and the buckets of the sort,
// and every branch of the row arrangement (ties in neither column, one, or both).
func TestSAgainstDefinitionLong(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	scratch := new(kendall.Scratch)
	const n = 3000
	for range 40 {
		x := drawColumn(r, n)
		y := drawColumn(r, n)
		got := kendall.S(
			kendall.Rank(x, scratch),
			kendall.Rank(y, scratch), scratch,
		)
		want := kendallByDefinition(x, y)
		if got != want {
			t.Fatalf("S = %d, want %d", got, want)
		}
	}
}

func TestInvariances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		n := rapid.IntRange(0, 5000).Draw(t, "rows")
		x := drawColumn(r, n)
		y := drawColumn(r, n)
		want := kendallSum(x, y)
		got := kendallSum(y, x)
		if got != want {
			t.Fatalf(
				"S(y, x) = %d, S(x, y) = %d",
				got, want,
			)
		}
		perm := r.Perm(n)
		px := make([]float64, n)
		py := make([]float64, n)
		up := make([]float64, n)
		down := make([]float64, n)
		order := kendall.Rank(y, nil)
		for i, p := range perm {
			px[i] = x[p]
			py[i] = y[p]
		}
		for i, v := range y {
			if math.IsNaN(v) {
				v = math.Inf(-1) // -NaN would be lowest again
			}
			up[i] = v
			down[i] = -v
		}
		got = kendallSum(px, py)
		if got != want {
			t.Fatalf(
				"after a permutation of the rows S = %d, want %d",
				got, want,
			)
		}
		if kendall.Rank(up, nil).Distinct() != order.Distinct() {
			return // both NaN and -Inf occurred and are now tied
		}
		got = kendallSum(x, up)
		if got != want {
			t.Fatalf(
				"under an increasing map S = %d, want %d",
				got, want,
			)
		}
		got = kendallSum(x, down)
		if got != -want {
			t.Fatalf(
				"under a decreasing map S = %d, want %d",
				got, -want,
			)
		}
		for i, v := range up {
			up[i] = math.Atan(math.Cbrt(v)) // increasing, but may round values together
		}
		if kendall.Rank(up, nil).Distinct() == order.Distinct() {
			got := kendallSum(x, up)
			if got != want {
				t.Fatalf(
					"under another increasing map S = %d, want %d",
					got, want,
				)
			}
		}
	})
}

func TestValues(t *testing.T) {
	for _, test := range []struct {
		x, y []float64
		tau  float64 // S/(n-1)
	}{
		{
			[]float64{1, 2, 3, 4, 5},
			[]float64{1, 3, 2, 5, 4},
			1.5,
		},
		{
			[]float64{1, 1, 2, 3},
			[]float64{1, 2, 2, 3},
			4. / 3,
		},
		{
			[]float64{7, 7, 7, 7},
			[]float64{1, 2, 2, 3},
			0,
		},
		{[]float64{1, 2}, []float64{3, 4}, 1},
		{[]float64{1, 2}, []float64{4, 3}, -1},
		{
			[]float64{
				math.NaN(),
				math.Inf(-1), -1,
				0, math.Inf(1),
			},
			[]float64{1, 2, 3, 4, 5},
			2.5,
		},
		{
			[]float64{0, math.Copysign(0, -1)},
			[]float64{1, 2}, 0,
		},
		{
			[]float64{math.NaN(), -math.NaN()},
			[]float64{1, 2}, 0,
		},
	} {
		got := float64(kendallSum(test.x, test.y)) / float64(len(test.x)-1)
		if got != test.tau {
			t.Errorf(
				"tau(%v, %v) = %v, want %v",
				test.x, test.y, got, test.tau,
			)
		}
	}
	for _, x := range [][]float64{nil, {1}} {
		got := kendallSum(x, x)
		if got != 0 {
			t.Errorf(
				"S of %d rows = %d, want 0",
				len(x), got,
			)
		}
	}
}

func TestRankCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codes := rapid.SliceOf(rapid.Int32()).Draw(t, "codes")
		codes = append(codes, codes[:len(codes)/2]...) // ties
		values := make([]float64, len(codes))
		y := make([]float64, len(codes))
		for i, c := range codes {
			values[i] = float64(c)
			y[i] = float64(i % 7)
		}
		byCode := kendall.RankCodes(codes, nil)
		byValue := kendall.Rank(values, nil)
		if byCode.Distinct() != byValue.Distinct() ||
			byCode.Len() != len(codes) {
			t.Fatalf(
				"%d distinct codes, %d distinct values",
				byCode.Distinct(),
				byValue.Distinct(),
			)
		}
		other := kendall.Rank(y, nil)
		got := kendall.S(byCode, other, nil)
		want := kendall.S(byValue, other, nil)
		if got != want {
			t.Fatalf(
				"S by codes %d, by values %d",
				got, want,
			)
		}
	})
}

func TestLargeSums(t *testing.T) {
	const n = 200_000
	up := make([]float64, n)
	down := make([]float64, n)
	halves := make([]float64, n)
	for i := range up {
		up[i] = float64(i)
		down[i] = -float64(i)
		halves[i] = float64(i / (n / 2))
	}
	const all = int64(n) * (n - 1) / 2
	for _, test := range []struct {
		name string
		x, y []float64
		want int64
	}{
		{"concordant", up, up, all},
		{"discordant", up, down, -all},
		{"halves", up, halves, int64(n/2) * (n / 2)},
		{"halves, reversed", halves, down, -int64(n/2) * (n / 2)},
	} {
		got := kendallSum(test.x, test.y)
		if got != test.want {
			t.Errorf(
				"%s: S = %d, want %d",
				test.name, got, test.want,
			)
		}
	}
}

// TestClusteredColumns uses long columns of clusters, which leave many keys in one bucket of the sort and many with one
// estimate. Their dense ranks, which are evenly spread, have the same S.
func TestClusteredColumns(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	const n = 60_000
	for _, scale := range []float64{
		1e-9, 1e-7, 1e-5, 1e-2,
		1, 1e3,
	} {
		x := make([]float64, n)
		y := make([]float64, n)
		for i := range x {
			x[i] = float64(r.Intn(2)) * (1e9 + scale*math.Abs(r.NormFloat64()))
			y[i] = r.NormFloat64()
		}
		sorted := slices.Compact(slices.Sorted(slices.Values(x)))
		dense := make([]float64, n)
		for i, v := range x {
			place, _ := slices.BinarySearch(sorted, v)
			dense[i] = float64(place)
		}
		got := kendallSum(x, y)
		want := kendallSum(dense, y)
		if got != want ||
			kendall.Rank(x, nil).Distinct() != len(sorted) {
			t.Errorf(
				"scale %v: S = %d, want %d",
				scale, got, want,
			)
		}
	}
}

// TestTwoSplits uses more than 2^19 rows, which split the inversions twice.
func TestTwoSplits(t *testing.T) {
	const n = 1_048_583 // prime, above 2^20
	x := make([]float64, n)
	y := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
		y[i] = float64(i * 7919 % n)
	}
	want := int64(n)*(n-1)/2 - 2*mergeInversions(slices.Clone(y), make([]float64, n))
	got := kendallSum(x, y)
	if got != want {
		t.Errorf("S = %d, want %d", got, want)
	}
}

func mergeInversions(v, work []float64) int64 {
	if len(v) < 2 {
		return 0
	}
	half := len(v) / 2
	total := mergeInversions(v[:half], work) + mergeInversions(v[half:], work)
	a := v[:half]
	b := v[half:]
	merged := work[:0]
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			total += int64(len(a))
			merged = append(merged, b[0])
			b = b[1:]
		} else {
			merged = append(merged, a[0])
			a = a[1:]
		}
	}
	merged = append(append(merged, a...), b...)
	copy(v, merged)
	return total
}

func TestScratchIsUsedAgain(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	scratch := new(kendall.Scratch)
	for i := range 30 {
		n := 100 + 100*i // leaves only, and splits
		x := drawColumn(r, n)
		y := drawColumn(r, n)
		if got, want := kendall.S(kendall.Rank(x, scratch), kendall.Rank(y, scratch), scratch),
			kendallByDefinition(x, y); got != want {
			t.Errorf("S = %d, want %d", got, want)
		}
	}
}

func TestAgainstTarget(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	const n, d = 700, 24
	y := drawColumn(r, n)
	columns := make([][]float64, d)
	kept := make([]*kendall.Ranks, d)
	want := make([]int64, d)
	for j := range columns {
		columns[j] = drawColumn(r, n)
		kept[j] = kendall.Rank(columns[j], nil)
		want[j] = kendallByDefinition(columns[j], y)
	}
	rank := func(j int, s *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(columns[j], s)
	}
	keep := func(j int, _ *kendall.Scratch) *kendall.Ranks {
		return kept[j]
	}
	target := kendall.Rank(y, nil)
	for _, workers := range []int{0, 1, 2, 3, 50} {
		for _, column := range []func(int, *kendall.Scratch) *kendall.Ranks{rank, keep} {
			got, err := kendall.AgainstTarget(
				context.Background(),
				d,
				column,
				target.Kept,
				workers,
			)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf(
					"%d workers: %v, %v, want %v",
					workers, got, err, want,
				)
			}
		}
	}
	got, err := kendall.AgainstTarget(
		context.Background(),
		0,
		rank,
		target.Kept,
		2,
	)
	if err != nil || len(got) != 0 {
		t.Errorf("no columns: %v, %v", got, err)
	}
}

func TestAgainstTargetLength(t *testing.T) {
	target := kendall.Rank([]float64{1, 2, 3}, nil)
	column := func(j int, s *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(make([]float64, 3-j/2), s)
	}
	_, err := kendall.AgainstTarget(context.Background(), 3, column, target.Kept, 1)
	if !errors.Is(err, kendall.ErrLength) ||
		err.Error() != "column 2: "+kendall.ErrLength.Error() {
		t.Errorf("error %v, want ErrLength for column 2", err)
	}
}

func TestAgainstTargetCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	target := kendall.Rank([]float64{1, 2, 3}, nil)
	calls := 0
	column := func(int, *kendall.Scratch) *kendall.Ranks {
		if calls++; calls == 3 {
			cancel()
		}
		return target
	}
	got, err := kendall.AgainstTarget(ctx, 100, column, target.Kept, 1)
	if !errors.Is(err, context.Canceled) || got != nil || calls != 3 {
		t.Errorf(
			"after %d columns: %v, %v; want context.Canceled after 3",
			calls, got, err,
		)
	}
}

func TestSLengthPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	kendallSum([]float64{1, 2}, []float64{1})
}

func TestAllocations(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	const n = 5000
	scratch := new(kendall.Scratch)
	for _, levels := range []int{2, 300, 1 << 30} {
		x := make([]float64, n)
		y := make([]float64, n)
		for i := range x {
			x[i] = float64(r.Intn(levels))
			y[i] = float64(r.Intn(400))
		}
		rx := kendall.Rank(x, scratch)
		ry := kendall.Rank(y, scratch)
		got := testing.AllocsPerRun(10, func() {
			kendall.S(rx, ry, scratch)
		})
		if got != 0 {
			t.Errorf(
				"%d levels: S allocates %v times",
				levels, got,
			)
		}
		got = testing.AllocsPerRun(10, func() {
			kendall.Rank(x, scratch)
		})
		if got != 2 {
			t.Errorf(
				"%d levels: Rank allocates %v times, want 2 (the Ranks and its order)",
				levels,
				got,
			)
		}
	}
}

// TestWorkersShareAColumn checks that if there are more workers than columns, several share one, and the result is
// the same.
func TestWorkersShareAColumn(t *testing.T) {
	const n = 150_000
	r := rand.New(rand.NewSource(9))
	many := func() []float64 {
		return drawIntegers(r, n, n/5)
	}
	for name, pair := range map[string][2][]float64{
		"no ties":      {drawContinuous(r, n), drawContinuous(r, n)},
		"few ties":     {drawContinuous(r, n), many()},
		"ties in both": {many(), many()},
		"many ties":    {drawIntegers(r, n, 3000), drawIntegers(r, n, 2000)},
		"binary":       {drawIntegers(r, n, 2), drawContinuous(r, n)},
	} {
		x := pair[0]
		y := pair[1]
		for i := range x {
			if i%3 == 0 {
				x[i] = math.Round(y[i]) // the columns depend on each other
			}
		}
		want := kendallSum(x, y)
		for _, workers := range []int{2, 3, 5, 8} {
			got, err := kendall.AgainstTarget(
				context.Background(),
				1,
				func(_ int, s *kendall.Scratch) *kendall.Ranks {
					return kendall.Rank(x, s)
				},
				func(s *kendall.Scratch) *kendall.Ranks {
					return kendall.Rank(y, s)
				},
				workers,
			)
			if err != nil || got[0] != want || want == 0 {
				t.Errorf(
					"%s, %d workers: %d, want %d: %v",
					name, workers, got[0], want, err,
				)
			}
		}
	}
}
