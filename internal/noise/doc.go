// Package noise draws all randomness of dptrain. It samples the noise distributions of
// package mechanism from keyed streams of random bits; package secret, below it, draws
// keys from the operating system.
//
// A [Stream] is the AES-256-CTR stream of a [Key], and keys are derived from the key of a
// run by purpose, path and index ([Key.Derive]). A stream therefore does not depend on
// the order of goroutines, and a run with the same key draws the same numbers.
//
// The samplers are exact. They compare integers and reject, and no rounding error of a
// floating-point function enters the distribution:
//
//   - [Stream.Normal]: the normal distribution rounded to integers, with Karney's method
//     (C. F. F. Karney, "Sampling exactly from the normal distribution", ACM TOMS 42(1),
//     2016).
//   - [Stream.Laplace]: the Laplace distribution rounded to integers, with the geometric
//     sampler of C. Canonne, G. Kamath and T. Steinke ("The discrete Gaussian for
//     differential privacy", 2020, algorithm 2).
//   - [Stream.ExponentialChoice]: an index with probability proportional to the
//     exponential of its score, by rejection with exact Bernoulli(exp(-a/b)) coins (the
//     same paper, algorithm 1).
//   - [Stream.Logarithmic]: the logarithmic distribution.
//
// The exception is [Stream.Gumbel], whose value is a float64 with a proved bound on its
// error; callers must account for the error in epsilon.
package noise
