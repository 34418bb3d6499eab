package mechanism

import (
	"math"

	"github.com/dptrain/dptrain/budget"
)

// Votes counts the buckets of records that vote for each of d candidates. A bucket has
// at most k votes (sample and aggregate: Kifer, Smith and Thakurta, "Private convex
// empirical risk minimization and high-dimensional regression", COLT 2012;
// docs/proofs/sublasso.md, "Sensitivity and proof").
//
// The bounds hold if every record is assigned to one bucket by its own coin
// ([Coins.Uniform] of its identity), the number of buckets is public, and the votes of a
// bucket are a function of its records alone. Buckets must not be balanced, merged or
// dropped by their size, because one record would then move others.
//
// The same bounds hold for a whole privacy unit: its records share an identity, a coin
// and a bucket, so adding or removing a unit changes the votes of one bucket, like one
// record. Releases do not multiply them.
type Votes struct {
	d      int
	k      int
	counts []int64
	seen   []int // the last bucket that voted for each candidate
	bucket int
}

// NewVotes returns an empty count for d candidates and at most k votes a
// bucket.
func (m Maker) NewVotes(d, k int) *Votes {
	d = max(d, 0)
	return &Votes{
		d:      d,
		k:      min(max(k, 0), d),
		counts: make([]int64, d),
		seen:   make([]int, d),
	}
}

// Add counts the votes of one bucket; call it once per bucket. A candidate that
// is repeated or outside [0, d) is ignored, and so is everything after the
// first k others.
func (v *Votes) Add(indices []int) {
	v.bucket++
	left := v.k
	for _, j := range indices {
		if left == 0 {
			return
		}
		if j < 0 || j >= v.d || v.seen[j] == v.bucket {
			continue
		}
		v.seen[j] = v.bucket
		v.counts[j]++
		left--
	}
}

// Merge adds the counts of other buckets, of the same d and k.
func (v *Votes) Merge(o *Votes) {
	for j, c := range o.counts {
		v.counts[j] += c
	}
}

// Scores returns the counts of the given candidates, to choose among.
//
// Add or remove one record: the coins of the others stay, so one bucket's
// votes turn from a set A to a set B, and the count of j moves by [j in B] -
// [j in A], within [-1, 1]: width 2. A record can move one count up and
// another down, so both ends are attained at once and the width is no smaller.
// Substitution: the coins of different identities are independent and uniform,
// so the coin of the record that comes may be coupled to equal that of the one
// that goes, whether or not the identity stays. For every value of the coins
// one bucket changes, as above; a mixture over the coins, which are drawn from
// one law on both tables, has no larger a privacy loss curve.
func (v *Votes) Scores(candidates []int) Bounded[Vector] {
	out := make(Vector, len(candidates))
	for i, j := range candidates {
		out[i] = v.counts[j]
	}
	return Bounded[Vector]{out, Width | OfUnit, 2, 1, StatVotes}
}

// Counts returns the counts of all candidates, to release with noise.
//
// One record, under both relations (see [Votes.Scores]): a set A of votes turns
// into a set B. The squared change is the number of candidates in exactly one of
// the two sets, at most |A| + |B| <= 2k and at most d. So sqrt(min(2k, d)), attained
// by disjoint sets of k, or by complements.
func (v *Votes) Counts() Bounded[Vector] {
	out := make(Vector, v.d)
	for j, c := range v.counts {
		out[j] = c << 20
	}
	sens := roundUp(math.Sqrt(float64(min(2*v.k, v.d)))) / countUnit
	return Bounded[Vector]{out, L2 | OfUnit, sens, countUnit, StatVotesCounted}
}

// Law returns the noise distribution and the number of draws of a leaf below this session's
// path, and whether the leaf is planned. It is a public fact, known before any release.
func (s *Session) Law(name string) (budget.Law, bool) {
	return s.core.priced.Law(s.childPath(name))
}

// The statistics of [Votes.Scores] and [Votes.Counts].
const (
	StatVotes        budget.Statistic = "votes"
	StatVotesCounted budget.Statistic = "votes counted"
)
