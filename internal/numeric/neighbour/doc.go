// Package neighbour classifies by nearest neighbours, and makes fewer neighbours of many
// records: stochastic neighbour compression (Kusner, Tyree, Weinberger, Agrawal, "Stochastic
// Neighbor Compression", 2014), condensing (Hart, "The Condensed Nearest Neighbor Rule", 1968),
// fast condensing (Angiulli, "Fast Condensed Nearest Neighbor Rule", 2005) and a stratified
// subsample.
//
// Nothing here is private. What condensing keeps are records, and what compression makes of them
// begins as records and may stay near them.
//
// The package knows matrices only: rows of numbers with a class each. What
// is random takes an order of the records or a public seed from its caller, so that these give one
// result. Results do not depend on the number of processors.
package neighbour
