// Package pipeline prices a private training run and carries it out.
//
// A [Pipeline] is a plain description: the declared columns, the budget, the
// selector and the trainer. [Pipeline.Plan] prices it without any row: the
// result says what every step costs and what the whole guarantees.
// [Pipeline.Fit] splits the records by a coin each, selects, scales, trains on
// the training part and measures on the held-out part, and returns a [Result]
// whose public half is all that may leave. The package knows no file.
//
// # Order of the stages
//
//	training part:  [count ->] selection (raw columns) -> scaling (chosen columns) -> model
//	held-out part:  R² of the model
//
// With a [Search] the training part is dealt once more, and each of a secret number
// of tries carries out these stages for one of several candidates:
//
//	training part:  selection -> scaling -> model, on the one share
//	                R² of that model, on the other; the best one stays
//
// The count is released only by a run that chooses between branches (auto.go).
// The two parts hold different records, and nobody learns which is in which, so
// that together they may spend more than each alone (docs/proofs/prices.md, "The secret coin").
package pipeline
