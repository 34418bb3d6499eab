// Package costtree trains trees of linear models whose features have a cost, under
// differential privacy.
//
// A record follows a path from the root to a leaf and pays once for each column that it meets. The method is
// the private form of the approximately submodular tree of classifiers of M. Kusner, "Learning in the Real
// World: Constraints on Cost, Space, and Privacy" (2016), section 2.1.4 (docs/proofs/cost-tree.md,
// "Algorithm").
//
// # One release per level
//
// The path of a record is a function of that record and of earlier releases. So the nodes of a level have
// disjoint records. The matrices of second moments of all of them are one draw with the sensitivity of a single
// matrix ([mechanism.NodeGrams]), and the medians at which they split are one more draw ([mechanism.Medians]).
// A soft tree, in which the weights of a record in the nodes of a level add up to 1, has the same price.
//
// # What is free
//
// Columns are chosen on the released matrix (package internal/numeric/greedy), so the choice of columns costs
// no budget. In a tree of depth 1, every budget, every list of costs and the whole order of the columns can be
// evaluated from one release.
//
// # Invariants
//
//   - Every table gives a tree: a table without rows, with one class only, or with missing cells is not an error.
//   - The number of draws of a level does not depend on the number of its nodes.
//   - Routes, coefficients and thresholds are computed from released values and from declared and released ranges
//     only.
package costtree
