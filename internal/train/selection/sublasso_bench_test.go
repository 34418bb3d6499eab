package selection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
)

// BenchmarkSubLasso counts the votes of all buckets of SGEMM for five columns: assign the records to buckets,
// standardise, fit, vote. The buckets are public here, so that scripts/bench-sublasso.py can fit to the same ones; it
// compares the counts too.
func BenchmarkSubLasso(b *testing.B) {
	tab, f := readSGEMM(b)
	s := anySession(b, 5)
	for _, m := range []int{492, 2438} {
		deal := func() []dataset.View {
			return tab.View().Split(m, func(id uint64) int {
				return int(splitMix(id) % uint64(m))
			})
		}
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			for b.Loop() {
				err := (SubLasso{K: 5}).countVotes(
					context.Background(),
					s,
					f,
					deal(),
					s.NewVotes(len(f.Columns), 5),
				)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.Log("votes", tallyVotes(b, f, 5, deal()))
		})
	}
}

// BenchmarkSubLassoWide uses a table with far more columns than records.
func BenchmarkSubLassoWide(b *testing.B) {
	f, tab := noiseTable(100, 7000)
	s := anySession(b, 5)
	rng := rand.New(rand.NewPCG(1, 1))
	parts := tab.View().Split(10, func(uint64) int {
		return rng.IntN(10)
	})
	for b.Loop() {
		err := (SubLasso{K: 5}).countVotes(
			context.Background(),
			s,
			f,
			parts,
			s.NewVotes(len(f.Columns), 5),
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// readSGEMM reads the table of scripts/bench-sublasso.py.
func readSGEMM(b *testing.B) (*dataset.Table, Facts) {
	b.Helper()
	path := testkit.PublicData(b, "regression", "361104_SGEMM.csv.gz")
	names, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var schema dataset.Schema
	for _, name := range names {
		schema.Columns = append(schema.Columns, dataset.Column{Name: name})
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		b.Fatal(err)
	}
	last := len(names) - 1
	return tab, Facts{Columns: schema.Columns[:last], Target: schema.Columns[last]}
}

// splitMix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
