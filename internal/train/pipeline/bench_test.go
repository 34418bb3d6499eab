package pipeline

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// BenchmarkKendallSGEMM fits kendall+joint-gram with k = 5 on 241,600 x 15 real
// rows, without reading the file.
func BenchmarkKendallSGEMM(b *testing.B) {
	benchmarkSGEMM(b, selection.Kendall{K: 5})
}

// BenchmarkAllSGEMM fits the same model without selection.
func BenchmarkAllSGEMM(b *testing.B) {
	benchmarkSGEMM(b, selection.None{})
}

func benchmarkSGEMM(b *testing.B, s selection.Selector) {
	p, tab := publicTable(b, "361104_SGEMM.csv.gz")
	p.Selector = s
	p.Model = adassp.JointGram{}
	for b.Loop() {
		_, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAdditiveSGEMM fits boosted-additive on the same rows.
func BenchmarkAdditiveSGEMM(b *testing.B) {
	p, tab := publicTable(b, "361104_SGEMM.csv.gz")
	p.Selector = selection.None{}
	p.Model = boosting.Additive{}
	for b.Loop() {
		_, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAutoSGEMM fits the defaults on the same rows.
func BenchmarkAutoSGEMM(b *testing.B) {
	benchmarkAuto(b, "361104_SGEMM.csv.gz")
}

// BenchmarkAutoCalifornia fits the defaults on 20,640 x 8 rows.
func BenchmarkAutoCalifornia(b *testing.B) {
	benchmarkAuto(b, "361089_california.csv.gz")
}

func benchmarkAuto(b *testing.B, table string) {
	p, tab := publicTable(b, table)
	for b.Loop() {
		_, err := p.Fit(context.Background(), tab, Options{})
		if err != nil {
			b.Fatal(err)
		}
	}
}
