// Package scaling turns raw columns into fixed-point rows without asking a
// person for bounds they could only know by looking at the data.
//
// # Ranges
//
// Every numeric column, target included, needs a public interval [Lower,
// Upper] that is mapped to [-1, 1]. A declared range is used as it is. The
// others are found in three Gaussian releases over all of them at once
// ([Private]): a dense histogram of signs and binary exponents says at which
// magnitude a column lives; one of equal bins over the magnitudes that hold all
// but the outermost records gives two outer quantiles; and one of equal bins
// around these gives them finely, also where a column varies little around a
// large value. The interval between them is widened. All are histograms with one
// count per column, so their noise grows with the root of the number of columns
// only, no delta is needed, and everything after the counts is post-processing
// (docs/proofs/scaling.md).
//
// # Fixed-point rows
//
// An [Encoder] maps a record to int16 numbers on the grid 2^-14, always in the
// same order: missing -> declared value or the middle of the range; affine
// map; clamp to [-1, 1]; round toward zero. Category columns become one 0/1
// block each. Limiting the norm of the row is the business of the accumulator
// that the rows are fed to (package mechanism).
package scaling
