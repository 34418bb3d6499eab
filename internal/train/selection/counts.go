package selection

// FeatureCount returns x.K.
func (x Kendall) FeatureCount() int {
	return x.K
}

// FeatureCount returns x.K.
func (x SubLasso) FeatureCount() int {
	return x.K
}

// FeatureCount returns x.K.
func (x SIS) FeatureCount() int {
	return x.K
}

// FeatureCount returns x.K.
func (x DPFSDR) FeatureCount() int {
	return x.K
}

// FeatureCount returns x.K.
func (x DPFS) FeatureCount() int {
	return x.K
}

// FeatureCount returns x.K.
func (x CRFS) FeatureCount() int {
	return x.K
}

// SelectsAll reports whether there are no more than K candidates.
func (x SIS) SelectsAll(candidates int) bool {
	return candidates <= x.K
}

// SelectsAll reports whether exactly K candidates are chosen and there are at most K.
func (x DPFSDR) SelectsAll(candidates int) bool {
	return selectsAll(x.K, x.Exact, candidates)
}

// SelectsAll is [DPFSDR.SelectsAll].
func (x DPFS) SelectsAll(candidates int) bool {
	return selectsAll(x.K, x.Exact, candidates)
}

// SelectsAll is [DPFSDR.SelectsAll].
func (x CRFS) SelectsAll(candidates int) bool {
	return selectsAll(x.K, x.Exact, candidates)
}

func selectsAll(k int, exact bool, candidates int) bool {
	if !exact {
		k = 0
	}
	return candidates <= k
}
