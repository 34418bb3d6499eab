// Package causal infers which of two numeric columns causes the other, with every record protected.
//
// A [Study] releases one noisy two-dimensional histogram per pair of columns. All other results are computed
// from it. A record is in one cell, so pure epsilon requires Laplace noise of scale 1/epsilon, however many
// scores are computed from the cells afterwards. The direction with the larger likelihood of an additive-noise
// model is chosen. Its stability is the share of redraws of the released histogram with the same choice; below
// direction.Decided, .9, a pair is undecided.
//
// Inference from two columns assumes that there is no third one that causes both. No release can verify that.
// docs/proofs/causal.md has the algorithm, the proofs and the measurements.
package causal
