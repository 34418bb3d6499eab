// Package golearn runs three methods of github.com/sjwhitworth/golearn as baselines without privacy: its k nearest
// neighbours, its ID3 tree, and a forest of such trees. They are for public data only.
//
// # The parts of golearn that are used
//
// Packages base, trees, kdtree, metrics/pairwise and evaluation are pure Go and build with CGO_ENABLED=0. Three
// packages are not used:
//
//   - knn names a function that only its cgo file defines. With CGO_ENABLED=0 it fails with "knn/knn.go:132:16:
//     KNN.optimisedEuclideanPredict undefined (type *KNNClassifier has no field or method
//     optimisedEuclideanPredict)". Its other search is the tree of package kdtree, so [KNN] calls that.
//   - ensemble imports linear_models for its MultiLinearSVC. That package wraps liblinear in cgo and fails with
//     "linear_models/logistic.go:10:9: undefined: Parameter" and nine more errors of this kind. Its RandomForest is
//     meta.BaggedModel with ID3 trees, each of them on some features.
//   - meta builds, but its BaggedModel trains on SampleWithReplacement, a view that has its rows in one order for Get
//     and in another for MapOverRows. The root of every tree then sends rows to children by the features of other rows.
//     So [Forest] copies the rows of a sample into a grid of their own, and counts the votes itself.
//
// All of them build with cgo, which the program does not need otherwise.
//
// # Faults of golearn that are avoided
//
// A node of the k-d tree without a right child counts as a point at the origin, which is reported as row 0. [KNN]
// moves all points far from the origin. Equal points make a chain as long as their number, so equal rows are one point
// here. An ID3 node with one feature left is a leaf, so that feature would never be used: [ID3] adds a constant one.
// A category that a node has not seen goes to an arbitrary child, so predictions of a tree may differ between calls.
package golearn
