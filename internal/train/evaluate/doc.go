// Package evaluate measures a model on the held-out records, privately.
//
// Every record is assigned to the training or the held-out part by a coin of its own, so the held-out part has
// a budget in addition to that of training. Under add-remove the coin is secret, and each part may use more
// budget than the guarantee would permit for it alone (docs/proofs/prices.md, "The secret coin"). [Regression]
// makes two Gaussian releases: counts of records by the sizes of their residuals and of their targets, which
// determine where both are clamped; and sums of clamped squares, from which R² is computed with an interval for
// new records that covers the noise and the sampling error of the held-out part. The same numbers give the mean
// absolute error, the root mean squared error, prediction intervals and the number of missing targets
// (docs/proofs/evaluation.md).
//
// A classifier ([Classification]) makes one release: one Gaussian vector with the confusion matrix and a table
// of scores by class. Accuracy, recalls, balanced accuracy, AUC, log loss and the effect of other thresholds
// are computed from the noisy cells, with intervals for new records (docs/proofs/classification.md).
package evaluate
