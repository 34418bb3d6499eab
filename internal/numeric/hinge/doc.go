// Package hinge minimises the sum of the huberised hinge loss, or of the logistic one,
// over fixed-point rows plus a ridge penalty,
//
//	J(a) = sum_i l(y_i a.z_i) + lambda/2 |a|^2,
//
// and proves, in floating point, how far the point it returns is from being the
// minimum: the norm of the true gradient there is at most the tolerance. Output
// perturbation needs exactly that. The minimisers of J for two tables that differ
// in one record are close, and a point that only looks like the minimiser need not
// be (docs/proofs/svm.md).
//
// # The loss
//
// l has the derivative clamp(m - 3/2, -1, 0): it is 0 from m = 3/2 on, a parabola
// for m in [1/2, 3/2] and of slope -1 below (the Huber hinge with h = 1/2 of
// Chapelle, "Training a support vector machine in the primal", 2007).
//
// The logistic loss ln(1 + e^-m) has slopes in (-1, 0) too, and curvature at most 1/4.
//
// # What is proved, and from what
//
// Entries of z are integers, so rounding enters in three places only; u = 2^-53.
//
//   - A point is a pair (high, low) of floats a coordinate. The margin y a.z is a
//     compensated dot product (Ogita, Rump and Oishi, "Accurate sum and dot
//     product", 2005, proposition 5.5): it errs by u |m| and a second-order term
//     in |a||z|. The slope is exact but for that and one rounding, and where it
//     is not saturated |m| <= 3/2, so a slope errs by at most 3u plus the
//     second-order term. The logistic slope -1/(1 + e^m) has |m| times its curvature
//     below .23, an exponential that is off by less than seven roundings (Go's is by less
//     than two) and moves it by at most a quarter of that, and two more roundings: at
//     most 4u.
//   - A slope is cut into a multiple of 2^-26 and a rest below 2^-27. Products of
//     the first part with entries are integers in units of 2^-26 and add up
//     exactly over a chunk; those of the rest err by u times 2^-27 each. Chunks
//     are added with compensation.
//   - The total, its penalty and their sum are rounded a handful of times.
//
// So the computed gradient errs by at most about n R 3u + 4u n R, R the norm of
// the longest row, whatever the size of a and however the rows are cut. For
// 2^31 rows that is 2e-6 R; see [Problem.margin].
//
// # The iteration
//
// Newton's method with the exact Hessian of the parabolas' rows (a rounded one of the
// logistic loss). A full step is
// taken where it halves the smallest gradient norm so far. Otherwise the step
// follows an exact line search: along a descent direction p the slope of J
// increases, and bisection finds a step at which it has risen to between -1/10 of
// its initial value and 0.
//
// It converges from everywhere (in exact arithmetic). Every step of the second
// kind lowers J by at least c |gradient|^2, c > 0 depending on lambda and the
// Lipschitz constant of the gradient: J falls all the way to where the step ends,
// and that is either a whole Newton step or so far that nine tenths of the slope
// are gone. Steps of the first kind are finite in number, as each halves a record
// and the iteration ends at the tolerance. After the last such step J falls at every step, and c |gradient|^2
// sums up to at most J, so the gradient gets below any tolerance. No number of
// iterations is a limit: a cap that binds on some table would return a point
// without a proof there.
package hinge
