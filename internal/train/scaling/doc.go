// Package scaling converts raw columns to fixed-point rows, without requiring bounds that a person could only
// know by looking at the data.
//
// # Ranges
//
// Every numeric column, including the target, needs a public interval [Lower, Upper] that is mapped to [-1, 1].
// A declared range is used unchanged. The others are found in three Gaussian releases for all columns together
// ([Private]): a dense histogram of signs and binary exponents gives the magnitude of a column; one of equal
// bins over the magnitudes that hold all but the outermost records gives two outer quantiles; and one of equal
// bins around these refines them, which also handles columns that vary little around a large value. The
// interval between the quantiles is widened. All three are histograms with one count per column, so their noise
// grows only with the square root of the number of columns, no delta is needed, and all computations on the
// counts are post-processing (docs/proofs/scaling.md).
//
// # Fixed-point rows
//
// An [Encoder] maps a record to int16 numbers on the grid 2^-14, in this order: replace missing cells by the
// declared value or the middle of the range; affine map; clamp to [-1, 1]; round toward zero. Category columns
// become one 0/1 block each. The accumulators that sum the rows limit their norm (package mechanism).
package scaling
