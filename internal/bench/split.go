package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// folds is the number of parts of one permutation: a trial tests on one of them.
const folds = 10

// generator is splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", 2014, figure 17, with the mixing constants of Vigna's
// public code). It deals public rows to folds, from a public seed; it must never
// come near noise or a private record.
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniformBelow returns a uniform number in [0, n), n >= 1, without bias (Lemire, "Fast
// Random Integer Generation in an Interval", 2019).
func (g *generator) uniformBelow(n uint64) uint64 {
	high, low := bits.Mul64(g.next(), n)
	for threshold := -n % n; low < threshold; {
		high, low = bits.Mul64(g.next(), n)
	}
	return high
}

// newGenerator returns the generator of one permutation: its state is the first
// eight bytes of SHA-256("dptrain.bench/1 split", seed, round), the numbers in
// big-endian order.
func newGenerator(seed, round uint64) *generator {
	text := binary.BigEndian.AppendUint64([]byte("dptrain.bench/1 split"), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, round))
	g := generator(binary.BigEndian.Uint64(sum[:]))
	return &g
}

// splitTrial returns the rows that trial t (from 0) of a table of n rows trains and
// tests on, each increasing. Trials 10r to 10r+9 are the ten folds of the r-th
// permutation: fold f tests on its positions from f n/10 up to (f+1) n/10. With
// a limit above 0, training rows are only the first of the other positions, as
// many as a table of limit rows leaves to train on.
func splitTrial(seed uint64, t, n, limit int) (train, test []int32) {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	g := newGenerator(seed, uint64(t/folds))
	for i := n - 1; i > 0; i-- {
		j := g.uniformBelow(uint64(i) + 1)
		order[i], order[j] = order[j], order[i]
	}
	fold := t % folds
	lo, hi := fold*n/folds, (fold+1)*n/folds
	test = slices.Clone(order[lo:hi])
	train = slices.Delete(order, lo, hi)
	if limit > 0 {
		train = train[:min(len(train), limit-limit/folds)]
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test
}
