// Package mechanism is the only package of dptrain that can turn private numbers into
// public ones.
//
// # Sessions
//
// A [Session] is made from a priced plan tree (package budget). It holds the
// relation, the law of every leaf and a fresh secret key. A stage is handed
// the part of the session that belongs to it ([Session.Sub]) and names the
// leaf it spends; a leaf that was not planned, a draw spent twice or a law of
// the wrong kind is an error and nothing is released.
//
// # Private and public types
//
// A [Bounded] value is a private statistic together with an upper bound on how
// far it can lie from the same statistic on a neighbouring table. Only the
// bounding accumulators of this package make one ([Histogram], [Gram],
// [Cross], [BinSums], [ClassStats], [Ranks], [Sums], [Kendall], [Votes], the
// products; [Session.Count] for a number of records; [Minimizer], which proves
// its bound instead): they clamp, count and add in integers, so the
// bound holds by construction and does not depend on the order of the rows or
// the number of threads. A [Public] value is what a release returns, or a
// declared fact ([Const]).
//
// # Who is protected
//
// Bounds are derived for one record. Where the plan protects units of up to m
// records, every release widens the bound of what it is given to that of a whole
// unit, in one place ([perUnit]), by the triangle inequality. Bounds about buckets
// stay, for a unit touches one bucket. [Lots] decide which m records of a unit are
// kept.
//
// # Noise
//
// Every release adds noise on the integer grid of its statistic, drawn by the exact
// samplers of package noise:
//
//   - Gaussian: the normal distribution rounded to the grid. For an integer x,
//     x + round(N(0, sigma^2)) = round(x + N(0, sigma^2)), so the release is a
//     function of the continuous Gaussian mechanism and the closed-form curve
//     of Dong, Roth and Su (2022) holds without a discretisation term, in any
//     dimension.
//   - Laplace: the Laplace distribution rounded to the grid.
//   - Exponential mechanism: its exact output distribution, without numerical slack.
//
// Scales are rounded up to an integer number of grid units, never down.
//
// [TopK] chooses several candidates at once. Its peeling form is the exponential
// mechanism round by round; the forms that take one pass compare Gumbel or
// exponential noise in floating point, drawn with full relative precision in
// both tails. A bound on the error of every comparison is turned into a bound on
// the change of the law and taken off the epsilon, 2^-20 at most for up to 1000
// chosen, so the declared law holds exactly there too.
//
// [TukeyDepth] releases no statistic but a point of a cloud of models, each
// fitted to one bucket of records, or abstains. Its volumes, its check and its
// draw are computed in integers of any length.
//
// # Private selection
//
// [Best] runs one of several planned candidates a secret, random number of times and
// returns the best run. Outside it the candidates' leaves cannot be spent.
//
// # Streams and coins
//
// The noise of draw i of a leaf comes from a stream whose key is derived from (run key,
// leaf path, i), so the order of goroutines does not matter. Coins of
// records (which part of the split, which bucket) are a keyed function of
// (run key, path, record identity), from keys that never touch noise; the identity is the
// place of a record where there is no privacy unit, which is enough ([Coins]). The run
// key comes from crypto/rand and cannot be set, except in builds with the tag
// "replay", which exists for tests and holds exact private values; there a test's
// keys come from a seed, so that it has the same answer on every machine.
package mechanism
