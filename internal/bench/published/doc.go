// Package published implements four methods as in their papers and public scripts, so that experiments on
// public data can be compared with the literature.
//
// # No guarantee
//
// By our reading and our arithmetic the four methods do not satisfy the privacy that is claimed for them. They are for
// public data only and give no guarantee. Code that trains on private data must not import them: only bench and the
// command do. The text below is our reading of other people's work; the arithmetic behind it runs
// in the tests of this package. For each method they give two neighbouring tables and an epsilon, compute the
// exact distribution of the output on both and find a ratio above the claim. For each witness, the version that
// this project uses is tested on the same pair and stays within its epsilon.
//
// A witness is a pair of tables, not an attack: it shows that the stated bound is not a bound. Neighbours
// differ by one record, present or absent, which is the relation of both papers; where a step is about models
// instead of records, one model of the neighbour is moved.
//
// # as-published-kendall
//
// From "Better Private Linear Regression Through Better Private Feature
// Selection" and its script. Claim: k rounds of the exponential mechanism on
// rank correlations scaled by n/2, with sensitivity 3/2 in the first round and 3
// later, are epsilon-DP. The sensitivities are right for the correlation that
// the paper defines, which knows no ties. The script computes another, tau-b,
// which divides by the number of untied pairs.
//
// What fails: few untied pairs make tau-b jump. With x = y = (0, ..., 0, 1) and
// n = 1000 the score of x is n/2 = 500; with the record (0, 1) added it is
// 353.73. At scale 6, epsilon 1 over two rounds, the first choice has a log
// ratio of 24.4. The tau-b of a constant column is NaN, and
// the sort behind the choice ranks NaN above every number, so a
// constant column is chosen with certainty and no epsilon covers the record
// that makes it vary. In the following rounds all scores are NaN, and
// the last column is always chosen.
//
// Beside it: tau-a, in which tied pairs count 0, in the exponential mechanism of
// width 5/2 and later 5.
//
// # as-published-sis
//
// DP-SIS of "Feature Selection from Differentially Private Correlations". Claim:
// once every column and the target are centred and divided by their largest
// absolute value, |x'y| has sensitivity 1, so that a private top-k of it is
// epsilon-DP.
//
// What fails: mean and largest value come from the records, and one record sets
// both for everyone. With y = x1 = +1, -1, +1, ... (n = 100) and x2 equal to y on
// half of the rows and 0 elsewhere, the scores are (100, 50); with the record
// x1 = 1e6, x2 = 0, y = 1 added they are (0.990, 49.51). At epsilon 1 the choice
// of one column has a log ratio of 25.0, and it grows with n.
//
// Beside it: the plain sum |sum x y| of cells clamped to [-1, 1] after a public
// map, which moves by at most 1.
//
// # as-published-lipschitz
//
// The canonical Lipschitz top-k as algorithm 2 of the same paper states it
// (after Shekelyan and Loukides). Claim: epsilon-DP for scores of sensitivity 1.
// Here its scores have the correct sensitivity, tau-a over 3/2, so that only its
// own fault remains.
//
// What fails: sets of k columns are grouped into classes by the best column
// missing from them (rank h+1) and the worst one in them (rank t), and a class is
// assumed to have C(t-h-1, k-h-1) members. The column of rank h+1 may then be
// drawn, although it should be missing. So classes overlap, and a set that
// contains the first h ranks is listed in h+1 classes.
// How often a set is listed depends on the order of the scores, which one record
// can reverse by an arbitrarily small change: with d = 2k nearly equal scores
// the log ratio is ln k whatever epsilon is (.693, 1.099, 1.609 and 1.946 for d =
// 4, 6, 10 and 14). Together with the scores it is more: 1.68 and above at
// epsilon 1.
//
// Beside it: classes of C(t-h-2, k-h-1) members, which is the exponential
// mechanism over all sets.
//
// # as-published-tukey
//
// The Tukey mechanism with the tighter check of the first paper, after Amin,
// Joseph, Ribero and Vassilvitskii, and its script. Claim: (epsilon,
// delta)-DP. The records are shuffled into m batches of floor(n/m), each gives a
// least-squares model, a check measures how far the models are from an unsafe
// configuration, and a point of large depth among them is drawn.
//
// What fails, in the order of the steps:
//
//   - When floor((n+1)/m) exceeds floor(n/m) one more record changes every
//     batch. The test has a table of 999 records and one of 1000, m = 500, on
//     which the outputs hardly overlap.
//   - With fewer than m d records there is an error instead of an output.
//   - The distance is compared with a threshold after Laplace noise of scale
//     epsilon/2, where its inverse is meant. The bit "the check has passed" then
//     has a log ratio of 2/epsilon for a distance that moves by 1: 2.0 at
//     epsilon 1, where the check's share is 0.5.
//   - The search for the largest k that satisfies the check's inequality returns
//     k+1, but -1 if no k satisfies it. So the distance jumps from -1 to 1 and
//     the log ratio to 4/epsilon.
//   - With a fixed number of models one record does not add a model, it moves
//     one. The depth of a point may go up while that of another goes down, and
//     the density of the draw, with weight exp(e T) at depth T, changes by up to
//     2e; the factor 2 is left out. With m = 24 and e = 0.4 the log ratio is
//     -0.778.
//   - The draw computes the weights with t-1 models trimmed from either end and
//     the points with t trimmed: the weight of depth q is used to draw at depth
//     q+1. The density of neighbouring depths then depends on the lengths of
//     single gaps, and moving one model changes it without bound. In more than
//     one dimension the volumes behind the first dimension of exact depth are
//     those of depth q+1 as well.
//
// Beside it: a coin of its own sends each record to a bucket, so that a record
// changes one bucket; noise of scale 1/e1 and a check that counts k from 0,
// moves by 1 and needs no more; the factor 2 charged.
//
// # Numbers instead of crashes
//
// Where the scripts divide by zero, overflow or stop, this package goes on as
// described at each method: experiments over many tables should lose a trial,
// not the run. A missing cell counts as 0. Volumes are kept as logarithms. These
// are departures of arithmetic, not of the laws.
//
// # Randomness
//
// Random bits come from a [Source] that the caller provides and may seed: a trial
// can be repeated, which is one more reason why these methods are not private.
package published
