package mechanism

import (
	"math"
	"math/big"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

// TestLogFactorialError compares log-sizes with exact binomials, also of a
// million candidates.
func TestLogFactorialError(t *testing.T) {
	const most = 1_000_000
	l := &lipschitzClasses{logs: newLogFactorials(most)}
	for _, c := range []struct{ d, k, limit float64 }{
		{6, 3, 0x1p-50},
		{100, 50, 0x1p-44},
		{20_000, 200, 0x1p-33},
		{most, 5, math.Pow(2, -26.5)},
		{most, 1000, math.Pow(2, -26.5)},
	} {
		l.k = int(c.k)
		for _, h := range []int{0, l.k / 2, l.k - 1} {
			for _, at := range []int{
				l.k + 1,
				(l.k + int(c.d)) / 2,
				int(c.d),
			} {
				n := new(big.Int).Binomial(
					int64(at-h-2),
					int64(l.k-h-1),
				)
				err := testkit.BigDistance(
					l.logSize(h, at),
					testkit.BigLog(new(big.Float).SetPrec(testkit.BigPrecision).SetInt(n)),
				)
				if err > c.limit {
					t.Errorf(
						"d %v, k %v, class (%d, %d): error %g, limit %g",
						c.d,
						c.k,
						h,
						at,
						err,
						c.limit,
					)
				}
			}
		}
	}
}
