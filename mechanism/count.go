package mechanism

// Count returns the number of records as a statistic that can be released.
//
// Add or remove one record: it moves by exactly 1. Substitution: it does not
// move; the bound 1 is kept.
func (s *Session) Count(records int) Bounded[int64] {
	return Bounded[int64]{int64(records) << 20, Absolute, 1 / countUnit, countUnit}
}
