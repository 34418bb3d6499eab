// Package direction reads from a noisy two-dimensional histogram which of two columns
// causes the other.
//
// Everything here is a function of released counts: it is free after the one release, and
// it knows no record. The candidate "x causes y" means y = f(x) + noise with noise that is
// independent of x (the additive-noise model; Hoyer and others, "Nonlinear causal discovery
// with additive noise models", 2009). Each score is computed for both directions, and the
// smaller one is preferred. docs/proofs/causal.md has the formulas and evaluates
// each of them.
//
// Bins are equal and cover [-1, 1] in both columns: a histogram of B x B counts has the
// centre -1 + (2i+1)/B in row i (the first column of the pair) and in column j.
package direction
