package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/noise"
)

// TestCoinsOfManyMatchSingle checks that computing many coins at once gives the coin of each record, whether or not the
// identities are consecutive.
func TestCoinsOfManyMatchSingle(t *testing.T) {
	c := coinsOf(noise.Key{4, 2})
	for name, of := range map[string]func(k int) uint64{
		"places": func(k int) uint64 {
			return uint64(k)
		},
		"places of a chunk": func(k int) uint64 {
			return 3<<32 - 100 + uint64(k)
		},
		"the last places": func(k int) uint64 {
			return math.MaxUint64 - 999 + uint64(k)
		},
		"beyond the last": func(k int) uint64 {
			return math.MaxUint64 - 500 + uint64(k)
		},
		"units": func(k int) uint64 {
			return uint64(k) * 0x9e3779b97f4a7c15
		},
		"one is missing": func(k int) uint64 {
			return uint64(k + k/700)
		},
		"falling": func(k int) uint64 {
			return uint64(5000 - k)
		},
	} {
		for _, n := range []int{0, 1, 7, 1000, tossRows} {
			if name == "the last places" && n > 1000 {
				continue
			}
			records := make([]uint64, n)
			sides := make([]uint8, n)
			for k := range records {
				records[k] = of(k)
			}
			for _, heads := range []bool{true, false} {
				tosses := c.newTosser(.3)
				tosses.buffer = new(tossBuffer)
				tosses.assignSides(sides[:n/3], records[:n/3], heads)
				tosses.assignSides(sides[n/3:], records[n/3:], heads)
				kept := 0
				for k, record := range records {
					want := c.Heads(record, .3) == heads
					if (sides[k] == 0) != want {
						t.Fatalf(
							"%s: record %d of %d has side %d",
							name, k, n, sides[k],
						)
					}
					kept += 1 - int(sides[k])
				}
				if n == tossRows && (kept == 0 || kept == n) {
					t.Errorf(
						"%s: %d of %d records are kept",
						name, kept, n,
					)
				}
			}
		}
	}
}
