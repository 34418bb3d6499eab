package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/bench"
)

// BenchmarkRun is ten trials of four methods on the largest table: 241,600 rows
// of 15 features, reading included.
func BenchmarkRun(b *testing.B) {
	path := filepath.Join("..", "..", "shared", "data", "regression", "361104_SGEMM.csv.gz")
	if _, err := os.Stat(path); err != nil {
		b.Skip("the public tables of the repository's data folder are not here")
	}
	for b.Loop() {
		if _, err := bench.Run(context.Background(), bench.Config{
			Public: true, Data: []string{path}, Methods: []string{"joint-gram", "nonprivate-ols", "nonprivate-ridge", "nonprivate-lasso"},
		}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
