package mechanism

import "github.com/dptrain/dptrain/budget"

// Count returns a number of records, such as those with a target that can be read, as a
// statistic that can be released.
//
// Add or remove one record: it moves by at most 1. Substitution: by at most 1 as well,
// where only one of the two records counts.
func (s *Session) Count(records int) Bounded[int64] {
	return Bounded[int64]{int64(records) << 20, Absolute, 1 / countUnit, countUnit, StatCount}
}

// StatCount is the statistic of [Session.Count].
const StatCount budget.Statistic = "count"
