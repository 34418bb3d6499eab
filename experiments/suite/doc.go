// Package suite repeats the experiments of the papers on regression and on
// classification on public data, so that the claims about every method can be
// checked with one command.
//
// # Suites
//
// [Run] carries out one suite:
//
//   - seed-001: least squares, Boosted AdaSSP and the Tukey mechanism, on all
//     columns and on those that SubLasso or Kendall selection chose (section 4 of
//     "Better Private Linear Regression Through Better Private Feature
//     Selection"), with joint-gram and auto beside them;
//   - seed-000: DP-SIS against the two-stage method on wide tables, and the
//     stability experiments (sections 3 and 5 of "Feature Selection from
//     Differentially Private Correlations", figures 1 to 8);
//   - copies: Kendall against SubLasso on the correlated copies of theorem 3.8 of
//     the first paper;
//   - seed-004: classifiers of which some columns are public (sections 4 to 7 of
//     "Classification with Partially Private Features", figures 1 to 4), with the
//     baselines of package baseline;
//   - seed-003: feature selection for a classifier (section 5 of "Differentially
//     Private Feature Selection Based on Dynamic Relevance for Correlated Data",
//     figures 3 to 5), on its tables and over the number of rows;
//   - seed-002: the systems of the thesis "Learning in the Real World: Constraints on
//     Cost, Space, and Privacy", each part of which has a suite of its own, too:
//     seed-002-space compresses training records to a few reference vectors.
//
// It prints exact numbers about its tables. No guarantee covers them, so it
// refuses to start unless [Options.Public] says that the tables are public.
//
// # Pieces
//
// A [Plan] lists the trials of a suite: a [Task] for each table, a [Cell] for
// each method and setting on it, and a number of trials of each cell. [Plan.Run]
// carries out those that a [Store] does not hold. A [Record] is one finished
// trial. From the records alone come [ResultsCSV], [SummaryCSV], and the [Page],
// of which [Page.HTML] makes one file that needs nothing from elsewhere.
//
// # Resuming
//
// The store is a file of JSON lines, one a trial, each written when its trial
// ends. A run that was interrupted, or killed while it wrote, is continued by the
// same call: a torn last line is taken away, and what is finished is not run
// again. A trial whose method was not available is; one that failed or abstained
// is a result. Asking for more trials extends a finished run.
//
// # Randomness
//
// Splits and synthetic tables come from a public seed and do not depend on the
// method: differences between methods are paired. Privacy noise is as fresh and
// secret as in any other run, so that trials cannot be repeated exactly.
package suite
