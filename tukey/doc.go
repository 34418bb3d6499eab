// Package tukey trains linear regression with the Tukey mechanism: it fits a
// model to each of m buckets of records and releases a point that lies deep in
// the cloud of the m models. (Amin, Joseph, Ribero and Vassilvitskii, "Easy
// differentially private linear regression", 2023; with the check and the proof
// of docs/proofs/tukey.md, "Sensitivity and proof", which are those of
// [mechanism.TukeyDepth].)
//
// # When to use it
//
// It clips nothing: neither the rows nor the target enter with a bound, and the
// released model is a middle of m honest fits, so heavy tails and gross outliers
// cost it little. Its noise shrinks with the spread of the models rather than
// with a worst case. The price is records. A model of d parameters needs about
// 3 d rows in every one of several hundred buckets, [Tukey.Records] in all; with
// fewer, the mechanism abstains.
//
// # The stages of a run
//
//  1. m, the number of buckets, follows from public numbers: the parameters, the
//     budget and a released lower bound of the number of records.
//  2. Every record goes to a bucket by its own coin, so that one record more,
//     less or replaced changes one bucket. Buckets are never evened out or
//     resized; empty ones are allowed.
//  3. Every bucket gets a least-squares fit of its own (see bucket.go). Rows
//     cannot make it fail: rules for missing cells, constant columns and buckets
//     without rows are total.
//  4. The release: a check that the cloud is concentrated, then one point of it.
//     It is one (epsilon, delta) step, whose law does not scale.
//
// # Coordinates
//
// The mechanism draws the coordinates of a model independently of each other,
// from intervals around their medians, so it matters which numbers describe a
// model. Slopes do well. The intercept does not: far from the data, at 0 of a
// longitude, say, it follows the slopes closely, and a draw that ignores this
// predicts nothing. So the last coordinate of a point is the prediction at the
// anchor, the middles of the features' ranges, declared or released. A range
// serves as an anchor only: features are clamped to declared ranges, never to
// released ones.
//
// Coefficients carry no standard errors (they are 0): how far a draw may lie
// from the middle depends on the cloud and is not released.
//
// Records without a target that can be read are the caller's to leave out
// ([github.com/dptrain/dptrain/dataset.View.Known]).
package tukey
