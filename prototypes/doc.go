// Package prototypes trains classifiers by a few reference vectors per class, under differential
// privacy. A record belongs to the class whose prototypes are nearest; with one prototype per class that is a
// linear classifier, with several a piecewise linear one. All classes share one softmax, and so one limit for
// what a record may say, where one class against the rest pays one for every class.
//
// # The releases
//
//   - The second moments of the rows, once. From them comes the map W that shrinks large directions of the
//     rows and stretches small ones as far as the noise allows.
//   - The sum of squared norms of the rows W x: how wide the classes are.
//   - The sums of the rows and their number in every class; for several prototypes each, once more in the
//     cells of those. These are the prototypes to start from.
//   - A number of gradients of the sum of log probabilities of the records' classes, by the prototypes.
//
// How many prototypes and steps there are depends on released numbers alone (docs/proofs/prototypes.md,
// "Algorithm"; the proof is there under "Sensitivity and proof").
//
// # Invariants
//
//   - A record's weights are shortened as a vector, in integers, after they were rounded to the grid; so is
//     its row ([mechanism.Outer]). Nothing that is computed in floating point has to be exact for the bound.
//   - What a record adds is computed without fusing and with an exponential of our own: it is the same
//     integers on every processor.
//   - Every table gives a classifier: none without rows, with one class, or with missing cells is an error.
package prototypes
