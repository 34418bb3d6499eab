// Package causal asks which of two numeric columns causes the other, with every record
// protected.
//
// A [Study] releases one noisy two-dimensional histogram per pair of columns and nothing
// else that depends on the records. A record is in one cell, so pure epsilon is paid for
// Laplace noise of scale 1/epsilon, whatever the number of scores that are read from the
// cells afterwards. The decision is that of the likelihood of an additive-noise model. Its
// stability is the share of redraws of the released histogram that decide alike; below
// direction.Decided, .9, a pair is undecided.
//
// A direction from two columns assumes that no third one causes both. No release can check
// that. docs/proofs/causal.md has the algorithm, the proofs and what was measured.
package causal
