// Package transform trains on a transform of a numeric target, log or sqrt, and converts predictions back to the units
// of the target.
//
// A transform of the target is a public, total rule that depends on one record only. So neighbouring tables
// remain neighbouring, and releases of the transformed table have the usual sensitivity: ranges, models and
// metrics need no change. One release follows the model, the size of its errors on the training part, which is
// needed to convert predictions back to the units of the target (docs/proofs/transform.md, "Algorithm"). The
// plan is
//
//	train (seq): vocabulary, if words are found first
//	             train: the selection, scaling and model, or a search
//	             way-back: errors
//	holdout (seq): r2, r2-transformed
package transform
