package nonprivate_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
)

// BenchmarkLasso uses the sizes of the comparison of coordinate descent with scikit-learn.
func BenchmarkLasso(b *testing.B) {
	x, y := randomTable(rand.New(rand.NewPCG(1, 1)), 100000, 30)
	d := newDesign(x, y)
	for b.Loop() {
		_, err := nonprivate.Lasso(
			context.Background(),
			d,
			0.01,
			nonprivate.LassoOptions{},
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLassoWide has more columns than rows, so only the columns that enter need Gram columns.
func BenchmarkLassoWide(b *testing.B) {
	x, y := randomTable(rand.New(rand.NewPCG(1, 1)), 60, 5000)
	d := newDesign(x, y)
	for b.Loop() {
		_, err := nonprivate.Lasso(
			context.Background(),
			d,
			0.1,
			nonprivate.LassoOptions{},
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOLS(b *testing.B) {
	x, y := randomTable(rand.New(rand.NewPCG(1, 1)), 100000, 30)
	d := newDesign(x, y)
	for b.Loop() {
		_, err := nonprivate.OLS(context.Background(), d)
		if err != nil {
			b.Fatal(err)
		}
	}
}
