// Package costtree trains trees of linear models whose features have a cost, under
// differential privacy.
//
// A record goes from the root to a leaf and pays for the columns that it meets, each once.
// It is the private form of the approximately submodular tree of classifiers of M. Kusner,
// "Learning in the Real World: Constraints on Cost, Space, and Privacy" (2016), section
// 2.1.4 (docs/proofs/cost-tree.md, "Algorithm").
//
// # One release per level
//
// Where a record goes is a function of that record and of what was released before. So the
// nodes of a level have disjoint records, and the matrices of second moments of all of them
// are one draw with the sensitivity of a single matrix ([mechanism.NodeGrams]), and the
// medians at which they split one draw more ([mechanism.Medians]). A soft tree, in which a
// record has weights in all nodes of a level that add up to 1, costs the same.
//
// # What is free
//
// Columns are chosen on the released matrix (package internal/numeric/greedy), so which ones a node
// buys costs nothing. In a tree of depth 1 every budget, every list of costs and the whole
// order of the columns can be read from the one release.
//
// # Invariants
//
//   - Every table gives a tree: none without rows, with one class, or with missing cells is an
//     error.
//   - The number of draws of a level does not depend on the number of its nodes.
//   - Routes, coefficients and thresholds are made of released values, declared and released
//     ranges, and nothing else.
package costtree
