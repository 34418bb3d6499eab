// Package describe summarises the columns of a table, with every record protected: ranges, histograms, means, spreads,
// quartiles, correlations and, by the categories of one column, group means.
//
// A [Study] is priced by [Study.Plan] before a row is read, and [Plan.Run] releases a [Released]: noisy counts and sums from
// one sequence of Gaussian steps. [Read] computes everything else from these numbers. Its intervals have a
// confidence of 95% and are about the values in the table. Only the released numbers depend on a record.
//
// The steps, in the order of a plan, with their shares of mu²:
//
//	vocabulary/kinds    .005  which undeclared columns hold text; only if there are some
//	vocabulary/counts   .05   the categories of text columns; only if there are some
//	scaling/exponents   .08   the ranges of numeric columns without a declared range
//	scaling/bins        .05
//	histogram           .20   64 intervals in 8 groups a column, values beyond the range, and missing values
//	moments             .20   the number of records, sums and sums of squares
//	matrix              .32   products of all pairs of columns
//	groups              .15   counts and sums by the column --by
//
// The shares of the vocabulary are shares of the whole budget; the others are relative, so the share of an omitted step is
// divided among the rest. The sensitivities are derived in package mechanism, next to [mechanism.TreeCounts], [mechanism.Moments],
// [mechanism.Gram] and [mechanism.GroupSums].
package describe
