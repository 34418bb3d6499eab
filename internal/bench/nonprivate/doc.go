// Package nonprivate trains without any privacy, for public data only: the baselines that
// private training is compared with.
//
// Models have no [regression.Guarantee]. [OLS], [Ridge] and [Lasso] minimise the
// objectives of scikit-learn's LinearRegression, Ridge and Lasso. [LassoSolver] is the same
// lasso for repeated use on one table: it computes no product of two columns
// twice, and starts each solution from the last. Tall and wide tables take
// different ways to the same solution. [Logistic] and [LinearSVM] do the same for
// classification. [Baseline] and [ClassBaseline] name them.
package nonprivate
