package selection

// Told returns x.K.
func (x Kendall) Told() int { return x.K }

// Told returns x.K.
func (x SubLasso) Told() int { return x.K }

// Told returns x.K.
func (x SIS) Told() int { return x.K }

// Told returns x.K.
func (x DPFSDR) Told() int { return x.K }

// Told returns x.K.
func (x DPFS) Told() int { return x.K }

// Told returns x.K.
func (x CRFS) Told() int { return x.K }

// Spares reports whether there are no more than K candidates.
func (x SIS) Spares(candidates int) bool { return candidates <= x.K }

// Spares reports whether there are no more than K candidates, of which exactly so many
// are chosen.
func (x DPFSDR) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

// Spares is [DPFSDR.Spares].
func (x DPFS) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

// Spares is [DPFSDR.Spares].
func (x CRFS) Spares(candidates int) bool { return spares(x.K, x.Exact, candidates) }

func spares(k int, exact bool, candidates int) bool {
	if !exact {
		k = 0
	}
	return candidates <= k
}
