// Package dense multiplies, factors and diagonalises dense matrices of float64, fast and with the same
// bytes on every machine.
//
// # What it is for
//
// The kernel stages of boosting work with matrices of some hundred rows. A general library spends most
// of a fit on them, and its results depend on the processor.
//
// # Invariants
//
//   - Every number of a result is made by operations of IEEE 754 in an order that the shapes alone fix,
//     without fusing. So the assembly, the portable code and any number of goroutines give the same bytes.
//   - Every function is total: it terminates for all numbers, including infinite ones and NaN. A result reports that
//     a matrix has no factor or that its spectrum was not found.
//   - Matrices are stored by rows, and a function overwrites only the arguments that it documents.
//
// # How it works
//
// Almost all work is in three loops over vectors of four numbers: a tile of 4 x 8 entries of a product,
// a row plus a combination of rows, and a chain of rotations of neighbouring rows. Factors and solutions
// are made in blocks, so that their work is products.
//
// The portable loops are used where AVX2 is absent, on other architectures, and under the build tag purego.
package dense
