// Package evaluate measures a model on the held-out records, privately.
//
// A record is either in the training part or in the held-out part, by a coin
// of its own, so the held-out part has a budget beside that of training. Under
// add-remove the coin is secret and each part has more than the promise would leave
// it by itself (docs/proofs/prices.md, "The secret coin"). [Regression] spends it on two
// Gaussian releases: counts of records by the sizes of their residual and of their target,
// which say where to cut both; and sums of squares that are cut there, from which
// R² is computed with an interval for fresh records, for the noise and for the luck of
// which records were held out. The same numbers say the mean absolute error, the root
// of the mean squared error, intervals of prediction and how many targets cannot be
// read (docs/proofs/evaluation.md).
//
// A classifier ([Classification]) takes one release: one Gaussian vector that holds the
// confusion matrix and a table of scores by class. Accuracy, recalls, balanced accuracy,
// AUC, log loss and what other thresholds would do are read from the noisy cells, with
// intervals for fresh records (docs/proofs/classification.md).
package evaluate
