// Package linear is the base of all linear trainers: how a record becomes a row, what is read
// from released second moments, and how coefficients of scaled rows become a model in original
// units.
//
// [Frame] and [ClassFrame] say how a record is seen, with a number and with classes as the
// target; [Rows] encodes blocks. [Moments] is the joint noisy Gram matrix and what is read from
// it; [Packed], [Solution] and [Spectrum] hold the algebra. [Model], [Spreads] and [Frame.Fit]
// write what was learned, from released values only. [PerturbedMinimizer] is the linear
// classifier of least loss, released with noise.
//
// Nothing here knows a trainer. Every function on released values is total: any finite matrix
// gives a finite model.
package linear
