// Package pipeline prices and runs private training.
//
// A [Pipeline] describes a run: the declared columns, the budget, the selector and the trainer. [Pipeline.Plan]
// prices it without any rows: the result holds the price of every step and the guarantee of the whole.
// [Pipeline.Fit] splits the records by a coin each, selects, scales, trains on the training part and measures
// on the held-out part. It returns a [Result], whose public half may be published. The package does not
// access files.
//
// # Order of the stages
//
//	training part:  [count ->] selection (raw columns) -> scaling (chosen columns) -> model
//	held-out part:  R² of the model
//
// With a [Search] the training part is split once more, and each of a secret number of tries runs these stages
// for one of several candidates:
//
//	training part:  selection -> scaling -> model, on one share
//	                R² of that model, on the other; the best try is kept
//
// The count is released only by a run that chooses between branches (auto.go). The two parts hold different
// records, and the split is secret, so each part may use more budget (docs/proofs/prices.md, "The secret
// coin").
package pipeline
