// Package kendall counts concordant and discordant pairs of two columns,
// exactly, in O(n log n).
//
// # What it is for
//
// Kendall feature selection scores a column by the statistic
//
//	S(x, y) = sum over pairs i < j of sgn(x_i - x_j) sgn(y_i - y_j)
//
// divided by n-1, where sgn 0 = 0: a pair tied in either column counts 0 (the
// numerator of Kendall's tau-a). The sensitivity proved for that score is that
// of the integer S. Breaking ties at random, or dividing by a count of untied
// pairs (tau-b), gives another statistic with another sensitivity; neither is
// offered here.
//
// # Invariants
//
//   - Values are used for their order only and only while a column is ranked:
//     S does not change under increasing maps of a column or permutations of
//     the rows, and changes its sign under decreasing maps. Everything after
//     ranking is integer arithmetic.
//   - S is exact for up to 2^31 rows: |S| < 2^61.
//   - The order is total: -0 equals +0, infinities are the ends, all NaN are
//     one value below -Inf. Callers map NaN to a declared value before; a NaN
//     that arrives all the same is harmless. No value causes a panic.
//   - Zero rows, one row and constant columns give 0.
//   - The result does not depend on the number of workers. The running time
//     does depend on the values (on ties above all), so it is as private as
//     they are.
//
// # How it works
//
// [Rank] sorts a column once; a [Ranks] serves any number of calls of [S]. The
// sort is a radix sort by distribution: a histogram of the leading bits in
// which the keys differ predicts the rank of each; a scatter by that
// prediction, and within its buckets two by digits of it, leave little to do (see sorter).
//
// S follows Knight (A computer method for calculating Kendall's tau with
// ungrouped data, JASA 1966): with n0 all pairs, n1, n2 and n3 those tied in x,
// in y and in both,
//
//	S = n0 - n1 - n2 + n3 - 2 disc,
//
// where disc counts the strict inversions of y after sorting by (x, y). Instead
// of merging, the inversions of that permutation are counted by its digits,
// nine bits at a time, with eight counters in each machine word (see
// split). If the distinct values of the two columns make a table of few
// cells a row, as any column does with a binary one, going through the table is
// quicker and is done instead (see coarse).
package kendall
