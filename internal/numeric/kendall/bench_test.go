package kendall_test

import (
	"context"
	"math"
	"math/rand"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

const benchRows = 500_000 // as in scripts/bench-kendall.py

// drawContinuous draws values of 53 random bits, without ties.
func drawContinuous(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Log(1-r.Float64()) * float64(1-2*r.Intn(2))
	}
	return values
}

// drawIntegers draws integers below levels.
func drawIntegers(r *rand.Rand, n, levels int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(r.Intn(levels))
	}
	return values
}

// BenchmarkPair ranks both columns in every run, each on a core of its own.
func BenchmarkPair(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	x := drawContinuous(r, benchRows)
	y := drawContinuous(r, benchRows)
	benchmarkRanks(b, x, y)
}

// BenchmarkTwenty ranks the target and 20 columns in every run.
func BenchmarkTwenty(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	y := drawContinuous(r, benchRows)
	columns := make([][]float64, 20)
	for j := range columns {
		columns[j] = drawContinuous(r, benchRows)
	}
	benchmarkRanks(b, y, columns...)
}

// benchmarkRanks ranks a target and columns with two workers, and computes S for each column.
func benchmarkRanks(b *testing.B, y []float64, columns ...[]float64) {
	rank := func(j int, s *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(columns[j], s)
	}
	target := func(s *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(y, s)
	}
	for b.Loop() {
		_, err := kendall.AgainstTarget(
			context.Background(),
			len(columns),
			rank,
			target,
			2,
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRank(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	narrow := drawContinuous(r, benchRows)
	for i := range narrow {
		narrow[i] = float64(i%2) * (1e9 + 1e-2*narrow[i])
	}
	for _, column := range []struct {
		name   string
		values []float64
	}{
		{"continuous", drawContinuous(r, benchRows)},
		{"binary", drawIntegers(r, benchRows, 2)},
		{"whole", drawIntegers(r, benchRows, 10_000)},
		{"narrow", narrow},
	} {
		b.Run(column.name, func(b *testing.B) {
			scratch := new(kendall.Scratch)
			for b.Loop() {
				kendall.Rank(column.values, scratch)
			}
		})
	}
}

func BenchmarkS(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	scratch := new(kendall.Scratch)
	rank := func(values []float64) *kendall.Ranks {
		return kendall.Rank(values, scratch)
	}
	cont := rank(drawContinuous(r, benchRows))
	other := rank(drawContinuous(r, benchRows))
	binary := rank(drawIntegers(r, benchRows, 2))
	few := rank(drawIntegers(r, benchRows, 64))
	many := rank(drawIntegers(r, benchRows, 10_000))
	for _, pair := range []struct {
		name string
		x, y *kendall.Ranks
	}{
		{"continuous-continuous", cont, other},
		{"continuous-binary", cont, binary},
		{"binary-binary", binary, rank(drawIntegers(r, benchRows, 2))},
		{"continuous-64", cont, few},
		{"continuous-10000", cont, many},
		{"10000-10000", many, rank(drawIntegers(r, benchRows, 10_000))},
	} {
		b.Run(pair.name, func(b *testing.B) {
			for b.Loop() {
				kendall.S(pair.x, pair.y, scratch)
			}
		})
	}
}
