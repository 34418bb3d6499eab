package gram

import (
	"math/rand/v2"
	"sync"
	"testing"
)

const (
	benchRows = 500_000
	benchCols = 90
)

// BenchmarkTall measures the reference shape: 500,000 rows of 90 columns, half of the rows on each of two goroutines,
// with the results merged. scripts/bench-gram.sh compares it with numpy.
func BenchmarkTall(b *testing.B) {
	x := uniformColumns(rand.New(rand.NewPCG(1, 2)), benchRows, benchCols)
	b.SetBytes(2 * benchRows * benchCols)
	for b.Loop() {
		twoWorkers(x)
	}
}

func twoWorkers(x [][]int16) []int64 {
	p := len(x)
	n := len(x[0])
	var part [2][]int64
	var wg sync.WaitGroup
	for g := range part {
		wg.Go(func() {
			part[g] = make([]int64, Len(p))
			Accumulate(
				part[g],
				rowsOf(x, g*n/2, (g+1)*n/2),
			)
		})
	}
	wg.Wait()
	for k := range part[0] {
		part[0][k] += part[1][k]
	}
	return part[0]
}

func BenchmarkBlock(b *testing.B) {
	for _, shape := range []struct {
		name string
		n, p int
	}{
		{"8192x8", 8192, 8},
		{"8192x30", 8192, 30},
		{"8192x90", 8192, 90},
		{"8192x400", 8192, 400},
	} {
		x := uniformColumns(
			rand.New(rand.NewPCG(1, 2)),
			shape.n, shape.p,
		)
		dst := make([]int64, Len(shape.p))
		for _, k := range allTiles() {
			b.Run(shape.name+"/"+k.name, func(b *testing.B) {
				var s Scratch
				b.ReportAllocs()
				for b.Loop() {
					s.accumulate(dst, x, k.tile)
				}
				macs := float64(shape.n) * float64(Len(shape.p)) * float64(b.N)
				b.ReportMetric(macs/b.Elapsed().Seconds()/1e9, "Gmac/s")
			})
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x := uniformColumns(rand.New(rand.NewPCG(1, 2)), 1<<14, 2)
	for _, k := range allTiles() {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(4 << 14)
			var sum int64
			for b.Loop() {
				sum += dot(x[0], x[1], k.tile)
			}
			_ = sum
		})
	}
}
