// Package neighbour classifies by nearest neighbours, and makes fewer neighbours of many
// records: stochastic neighbour compression (Kusner, Tyree, Weinberger, Agrawal, "Stochastic
// Neighbor Compression", 2014), condensing (Hart, "The Condensed Nearest Neighbor Rule", 1968),
// fast condensing (Angiulli, "Fast Condensed Nearest Neighbor Rule", 2005) and a stratified
// subsample.
//
// This package provides no privacy. Condensing keeps records, and compression starts from records and may stay close to
// them.
//
// The package knows matrices only: rows of numbers with a class each. What
// is random takes an order of the records or a public seed from its caller, so that these give one
// result. Results do not depend on the number of processors.
package neighbour
