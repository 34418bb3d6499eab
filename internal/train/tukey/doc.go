// Package tukey trains linear regression with the Tukey mechanism: it fits a model to each of m buckets of
// records and releases a point of high depth in the cloud of the m models. (Amin, Joseph, Ribero and
// Vassilvitskii, "Easy differentially private linear regression", 2023; with the check and the proof of
// docs/proofs/tukey.md, "Sensitivity and proof", which are those of [mechanism.TukeyDepth].)
//
// # When to use it
//
// The method needs no bounds on the rows or the target, and the released model is close to the median of m
// least-squares fits, so heavy tails and gross outliers have little effect. Its noise is proportional to the
// spread of the models rather than to a worst case. On the other hand it needs many records. A model of d
// parameters needs about 3 d rows in each of several hundred buckets, [Tukey.Records] in all; with fewer, the
// mechanism abstains.
//
// # The stages of a run
//
//  1. The number of buckets, m, is computed from public numbers: the number of parameters, the budget and a
//     released lower bound on the number of records.
//  2. Every record is assigned to a bucket by its own coin, so that adding, removing or replacing one record
//     changes one bucket. Buckets are never balanced or resized; empty ones are allowed.
//  3. Every bucket gets a least-squares fit of its own (see bucket.go). Rows cannot make it fail: the rules for
//     missing cells, constant columns and buckets without rows are total.
//  4. The release: a check that the cloud is concentrated, then one point of it. It is one (epsilon, delta)
//     step, whose distribution does not scale.
//
// # Coordinates
//
// The mechanism draws the coordinates of a model independently, from intervals around their medians, so the
// parametrisation of the model matters. Slopes are suitable. The intercept is not: far from the data, for
// example at a longitude of 0, it is strongly correlated with the slopes, and a draw that ignores this predicts
// badly. So the last coordinate of a point is the prediction at the anchor: the released medians of the features, or
// the middles of their ranges where no median is released. A released range limits predictions only through the
// target: features are clamped to declared ranges, never to released ones.
//
// Coefficients have standard error 0: the deviation of a draw from the median depends on the cloud and is not
// released.
//
// Callers must leave out records without a usable target ([github.com/dptrain/dptrain/dataset.View.Known]).
package tukey
