package neighbour

import "testing"

// BenchmarkLoss measures one evaluation of loss and gradient with 4,096 records, 16 columns and 160 vectors.
func BenchmarkLoss(b *testing.B) {
	p := sinePoints(4096, 16)
	z := p.Subset(sortedByClass(p, evenlySpaced(4096, 160)))
	l := lossOf(p, z.Class, 5)
	for b.Loop() {
		_, err := l.sumLoss(b.Context(), z.X, .5)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch classifies 64 records by 640 vectors.
func BenchmarkSearch(b *testing.B) {
	refs := sinePoints(640, 16)
	s := Search(refs)
	p := sinePoints(64, 16)
	for b.Loop() {
		s.Classes(p, Vote{K: 1})
	}
}
