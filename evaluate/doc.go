// Package evaluate measures a model on the held-out records, privately.
//
// A record is either in the training part or in the held-out part, by a coin
// of its own, so by parallel composition the whole budget is available again
// for the held-out part, once (architecture idea 8). [Regression] spends it on two
// releases: the median absolute residual, by the exponential mechanism over a
// fixed grid of scales, which says where to clip; and one Gaussian vector of
// four clipped sums, from which R², and an interval for the noise in it, are
// computed.
//
// A classifier ([Classification]) takes one release: the confusion matrix, one
// Gaussian vector of counts in which a record is one cell. Accuracy, balanced
// accuracy and their intervals are read from the noisy cells.
package evaluate
