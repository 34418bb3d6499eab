// Package targetencoding replaces the values of category columns by numbers before any trainer: the mean of the target by value
// (docs/proofs/target-encoding.md, "Algorithm").
//
// The means are computed from one release. The trainer of a run with such columns is planned as
//
//	target-encoding (seq): values   sums and counts by value, of all such columns
//	                       encoded  the trainer, on columns of these numbers
//
// The model keeps the number of each value, so it predicts from texts.
package targetencoding
