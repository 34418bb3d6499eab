package kendall_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// TestExternalAgrees checks that the result with rows in a scratch file matches the one in memory, for runs of all
// sizes, ties, missing values, zeros of both signs, and categories.
func TestExternalAgrees(t *testing.T) {
	file, err := scratch.Create(t.TempDir(), [scratch.KeySize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	value := rapid.OneOf(
		rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1),
			1, 2, -1,
			math.NaN(),
			math.Inf(1),
		}),
		rapid.Float64())
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		x := rapid.SliceOfN(value, n, n).Draw(t, "x")
		y := rapid.SliceOfN(value, n, n).Draw(t, "y")
		codes := rapid.SliceOfN(rapid.Int32Range(0, 5), n, n).Draw(t, "codes")
		e := kendall.NewExternal(
			file,
			rapid.IntRange(1, 400).Draw(t, "most"),
		)
		of := kendall.NewExternal(file, 17)
		for from := 0; from < n; {
			to := min(
				n,
				from+rapid.IntRange(1, 100).Draw(t, "block"),
			)
			target := kendall.Keys(nil, y[from:to], nil)
			for _, err := range []error{
				e.Add(kendall.Keys(nil, x[from:to], nil), target),
				of.Add(kendall.Keys(nil, nil, codes[from:to]), target),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			from = to
		}
		ranks := kendall.Rank(y, nil)
		for _, c := range []struct {
			name string
			e    *kendall.External
			want int64
		}{
			{"numbers", e, kendall.S(kendall.Rank(x, nil), ranks, nil)},
			{"categories", of, kendall.S(kendall.RankCodes(codes, nil), ranks, nil)},
		} {
			got, err := c.e.S()
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Fatalf(
					"%s: %d, in memory %d",
					c.name, got, c.want,
				)
			}
		}
	})
}
