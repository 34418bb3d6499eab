package mechanism

import "github.com/dptrain/dptrain/internal/noise"

// A PublicStream draws numbers that may be published, such as a random projection or the random
// classifiers of a boosting run. It depends on the run key and on its name only, not on a record,
// and its key is used neither for noise nor for the coins of records. Its numbers are therefore
// independent of the data and of every release, and publishing them is free. Two streams of one
// session and one name are equal. A PublicStream must not be used by several goroutines at once.
type PublicStream struct{ s *noise.Stream }

// PublicStream returns the public stream of this session's path and the given
// name, from its start.
func (s *Session) PublicStream(name string) *PublicStream {
	return &PublicStream{noise.NewStream(s.core.key.Derive("public", s.childPath(name), 0))}
}

// A Seed is the key of a public stream. It is published, so that a reader can draw the same
// numbers again.
type Seed noise.Key

// PublicSeed returns the key of a separate public stream for this session's path and the given
// name. Like [PublicStream] it depends on the run key and the name only. No other key can be
// computed from it.
func (s *Session) PublicSeed(name string) Seed {
	return Seed(s.core.key.Derive("public seed", s.childPath(name), 0))
}

// Stream returns the public stream of a seed, from its start.
func (x Seed) Stream() *PublicStream {
	return &PublicStream{noise.NewStream(noise.Key(x))}
}

// Uint64 returns 64 uniform bits.
func (p *PublicStream) Uint64() uint64 {
	return p.s.Uint64()
}

// Symmetric returns a number uniform among the 2^53 midpoints of equal cells of
// [-1, 1]: never 0, -1 or 1.
func (p *PublicStream) Symmetric() float64 {
	k := int64(p.s.Uint64() >> 11) // [0, 2^53)
	return float64(2*k-(1<<53-1)) * 0x1p-53
}

// Uniform returns a uniform integer in [0, n), n >= 1.
func (p *PublicStream) Uniform(n int) int {
	return int(p.s.Uniform(uint64(n)))
}
