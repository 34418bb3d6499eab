// Package suite reproduces the experiments of the papers on regression and classification on public data, so that the
// claims about every method can be checked with one command.
//
// # Suites
//
// [Run] runs one suite:
//
//   - seed-001: least squares, Boosted AdaSSP and the Tukey mechanism, on all
//     columns and on those that SubLasso or Kendall selection chose (section 4 of
//     "Better Private Linear Regression Through Better Private Feature
//     Selection"), and also joint-gram and auto;
//   - seed-000: DP-SIS against the two-stage method on wide tables, and the
//     stability experiments (sections 3 and 5 of "Feature Selection from
//     Differentially Private Correlations", figures 1 to 8);
//   - copies: Kendall against SubLasso on the correlated copies of theorem 3.8 of
//     the first paper;
//   - targets: losses for counts, ordered classes and quantiles against auto, with
//     simulated noise (docs/lab/targets.md);
//   - seed-004: classifiers on partly public columns (sections 4 to 7 of
//     "Classification with Partially Private Features", figures 1 to 4), with the
//     baselines of package baseline;
//   - seed-003: feature selection for a classifier (section 5 of "Differentially
//     Private Feature Selection Based on Dynamic Relevance for Correlated Data",
//     figures 3 to 5), on its tables and over the number of rows;
//   - seed-002: the systems of the thesis "Learning in the Real World: Constraints on
//     Cost, Space, and Privacy". Each of its parts is also a suite of its own:
//     seed-002-space compresses training records to a few reference vectors.
//
// A suite prints exact numbers about its tables. They are not covered by any guarantee, so it refuses to start unless
// [Options.Public] states that the tables are public.
//
// # Components
//
// A [Plan] lists the trials of a suite: a [Task] for each table, a [Cell] for each method and setting on it, and the
// number of trials of each cell. [Plan.Run] executes the trials that are missing in a [Store]. A [Record] is one
// finished trial. [ResultsCSV], [SummaryCSV] and the [Page] are computed from the records alone, and [Page.HTML] writes
// the page as a self-contained file.
//
// # Resuming
//
// The store is a file of JSON lines, one per trial, each written when its trial ends. The same call continues a run that
// was interrupted, or killed during a write: an incomplete last line is removed, and finished trials are not repeated.
// A trial whose method was not available runs again; one that failed or abstained is a result. A larger number of trials
// extends a finished run.
//
// # Randomness
//
// Splits and synthetic tables come from a public seed and do not depend on the method, so differences between methods
// are paired. Privacy noise is as fresh and secret as in any other run, so trials cannot be repeated exactly.
package suite
