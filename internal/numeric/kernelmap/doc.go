// Package kernelmap is the feature map of a Gaussian kernel, in integers.
//
// A [Map] turns the bins of a record into features: coordinates of the bins times a metric are a point,
// the kernel of the point and of landmarks is close to 1 where they are near, and weights of the kernel
// values give a vector q. The features are q / max(|q|, [Shortest]), so that their length is at most 1 for
// every record and every map. Training adds features times residuals up, predictions add features times
// coefficients.
//
// # Invariants
//
//   - Points, distances, kernels and q are whole numbers, so that they are the same on every machine, in every
//     order of summation. The length, a root and a division are floats in a fixed order without fusing, which IEEE 754
//     defines to the last bit.
//   - The squares of a record's features sum to at most 2^(2 [FeatureBits]), whatever the map holds.
//   - A map of any numbers is total: sums wrap modulo 2^32, and an input beyond a table counts as 0.
//   - Memory is that of a stripe of records times landmarks, for each goroutine.
//
// The method is in docs/proofs/boosted-kernel.md.
package kernelmap
