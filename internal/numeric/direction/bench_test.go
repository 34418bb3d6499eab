package direction

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkRead reads one noisy histogram, with all redraws.
func BenchmarkRead(b *testing.B) {
	h := specifiedHistogram(false)
	src := rand.New(rand.NewPCG(1, 2))
	for range b.N {
		Read(h, Noise{Scale: 1}, src)
	}
}
