package bench_test

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/testkit"
)

// BenchmarkRun measures ten trials of four methods on the largest table, 241,600 rows of 15 features, including
// reading.
func BenchmarkRun(b *testing.B) {
	path := testkit.PublicData(b, "regression", "361104_SGEMM.csv.gz")
	for b.Loop() {
		_, err := bench.Run(
			context.Background(),
			bench.Config{
				Public: true,
				Data:   []string{path},
				Methods: []string{"joint-gram", "nonprivate-ols", "nonprivate-ridge",
					"nonprivate-lasso"},
			},
			nil,
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}
