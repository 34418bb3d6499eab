// Package mechanism is the only package of dptrain that can turn private numbers into
// public ones.
//
// # Sessions
//
// A [Session] is created from a priced plan tree (package budget). It holds the relation, the
// noise distribution of every leaf and a fresh secret key. A stage gets its part of the session
// ([Session.Sub]) and names the leaf that it spends. If the leaf was not planned, the draw was
// spent before or the noise distribution is of another kind, the release fails with an error.
//
// # Private and public types
//
// A [Bounded] value is a private statistic together with an upper bound on its distance from the
// same statistic on a neighbouring table. Only the accumulators of this package create one
// ([Histogram], [Gram], [Cross], [BinSums], [ClassStats], [Sums], [Kendall], [Votes], [Products];
// [Session.Count] for a number of records; [Minimizer], whose bound is a theorem about the
// minimiser). They clamp, count and add in integers, so the bound holds by construction and does
// not depend on the order of the rows or the number of threads. A [Public] value is the output of
// a release or a declared fact.
//
// # Who is protected
//
// Bounds are derived for one record. If the plan protects units of up to m records, every release
// widens the bound of its input to that of a whole unit, in one place ([perUnit]), by the triangle
// inequality. Bounds about buckets stay, because a unit touches one bucket. [Lots] decide which m
// records of a unit are kept.
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
// [TopK] chooses several candidates at once. Its peeling form runs the exponential mechanism round
// by round. The forms that take one pass compare Gumbel or exponential noise in floating point,
// drawn with full relative precision in both tails. A bound on the error of every comparison
// becomes a bound on the change of the distribution and is subtracted from epsilon, at most 2^-20
// for up to 1000 chosen candidates, so the declared guarantee holds exactly there too.
//
// [TukeyDepth] releases a point of a cloud of models, each fitted to one bucket of records, or
// abstains. Its volumes, its check and its draw are computed in integers of any length.
//
// # Private selection
//
// [Best] runs planned candidates, drawn at random, a secret random number of times and returns the
// best run. The leaves of candidates can be spent inside it only.
//
// # Streams and coins
//
// The noise of draw i of a leaf comes from a stream whose key is derived from (run key,
// leaf path, i), so the order of goroutines does not matter. Coins of records, which choose the
// part of a split or the bucket, are a keyed function of (run key, path, record identity), under
// keys that are not used for noise. Without a privacy unit the identity is the position of the
// record; [Coins] explains why that is enough. The run key comes from crypto/rand and cannot be
// set, except in builds with the tag "replay", which exist for tests and hold exact private
// values. There the keys come from a seed, so a test has the same result on every machine.
package mechanism
