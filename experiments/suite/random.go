package suite

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// generator is splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", 2014). It draws synthetic public tables from a public
// seed; it must never come near noise or a private record.
type generator uint64

// newGenerator returns the generator of one table: its state is the first eight
// bytes of SHA-256("dptrain.suite/1 ", name, 0, seed, table), the numbers in
// big-endian order.
func newGenerator(name string, seed, table uint64) *generator {
	text := binary.BigEndian.AppendUint64(append([]byte("dptrain.suite/1 "+name), 0), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, table))
	g := generator(binary.BigEndian.Uint64(sum[:]))
	return &g
}

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number in (0, 1).
func (g *generator) uniform() float64 {
	return (float64(g.next()>>11) + .5) * 0x1p-53
}

// normal returns a standard normal number (Box and Muller, 1958).
func (g *generator) normal() float64 {
	radius := math.Sqrt(-2 * math.Log(g.uniform()))
	return radius * math.Cos(2*math.Pi*g.uniform())
}

// normals returns n independent standard normal numbers.
func (g *generator) normals(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = g.normal()
	}
	return out
}

// uniformBelow returns a number in [0, n). Its bias, at most n 2^-53, does not matter
// for a synthetic table.
func (g *generator) uniformBelow(n int) int {
	return int(g.uniform() * float64(n))
}

// permutation returns the numbers below n in random order.
func (g *generator) permutation(n int) []int {
	out := make([]int, n)
	for i := range out {
		j := g.uniformBelow(i + 1)
		out[i] = out[j]
		out[j] = i
	}
	return out
}
