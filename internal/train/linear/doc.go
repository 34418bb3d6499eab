// Package linear is the base of all linear trainers: the encoding of records as rows, the evaluation of
// released second moments, and the conversion of coefficients of scaled rows to a model in original units.
//
// [Frame] and [ClassFrame] describe the encoding of a record with a numeric or a class target; [Rows] encodes
// blocks. [Moments] is the joint noisy Gram matrix and the values computed from it; [Packed], [Solution] and
// [Spectrum] implement the algebra. [Model], [Spreads] and [Frame.Fit] produce models, from released values
// only. [PerturbedMinimizer] is the linear classifier with the smallest loss, released with noise.
//
// The package does not depend on any trainer. Every function on released values is total: any finite matrix
// gives a finite model.
package linear
