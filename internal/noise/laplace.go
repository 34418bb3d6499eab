package noise

// Laplace returns round(Lap(b)) for an integer scale b in [1, MaxScale].
// With E exponential of mean b, floor(2E) is geometric with ratio exp(-1/(2b))
// and round(E) = floor((floor(2E)+1)/2), so the rounded distribution is sampled
// exactly in integers.
func (s *Stream) Laplace(b uint64) int64 {
	m := s.drawGeometric(2 * b)
	v := int64((m + 1) / 2)
	if s.Bit() {
		return -v
	}
	return v
}

// drawGeometric returns m >= 0 with P(m) = (1-q) q^m, q = exp(-1/t) (Canonne,
// Kamath, Steinke 2020, algorithm 2, steps for |Z|).
func (s *Stream) drawGeometric(t uint64) uint64 {
	for {
		u := s.Uniform(t)
		if !s.bernoulliExp(u, t) {
			continue
		}
		v := uint64(0)
		for s.bernoulliExp(1, 1) {
			v++
		}
		return u + t*v
	}
}
