// Package prototypes trains classifiers with a few reference vectors per class, under differential privacy. A
// record is assigned to the class with the nearest prototypes; with one prototype per class that is a linear
// classifier, with several a piecewise linear one. All classes share one softmax, and therefore one bound on
// the contribution of a record, whereas one-versus-rest needs one for every class.
//
// # The releases
//
//   - The second moments of the rows, once. They determine the map W, which shrinks the directions of large
//     variance and stretches those of small variance as far as the noise allows.
//   - The sum of squared norms of the rows W x, which gives the width of the classes.
//   - The sums and numbers of the rows in every class; with several prototypes per class, once more in their cells.
//     These give the initial prototypes.
//   - A number of gradients of the sum of log probabilities of the records' classes with respect to the prototypes.
//
// The numbers of prototypes and steps depend on released numbers only (docs/proofs/prototypes.md, "Algorithm";
// see there under "Sensitivity and proof" for the proof).
//
// # Invariants
//
//   - A record's weights are shortened as a vector, in integers, after rounding to the grid; so is its row
//     ([mechanism.Outer]). The bound does not depend on the accuracy of floating-point computations.
//   - The contribution of a record is computed without fusing and with an exponential function of this package: it
//     is the same integer on every processor.
//   - Every table gives a classifier: a table without rows, with one class only, or with missing cells is not an
//     error.
package prototypes
