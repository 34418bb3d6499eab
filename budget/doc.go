// Package budget computes the price of privacy. It is pure mathematics: it opens no file, draws no randomness
// and never sees a row.
//
// # The plan tree
//
// A computation is described, before any row is read, as a tree of [Node]
// values. A leaf is one mechanism with a [Law] and a number of equal, possibly
// adaptive draws. [Sequence] runs its kids one after another on the same records,
// [Parallel] runs them on disjoint records, [Branches] runs an informer and then the one
// branch that the informer's released value chose, and [SelectBest] runs a candidate
// a random number of times and keeps the best (private hyper-parameter
// selection).
//
// Leaves carry shares, which are relative weights. [Calibrate] finds the one
// multiplier that makes the whole tree fit a [Target] and writes a law into
// every leaf. The result, a [Priced] tree, answers for every epsilon which delta
// is guaranteed and states the whole as a [Guarantee].
//
// # Laws
//
// A law describes privacy loss, not noise. The stage that owns a leaf derives the sensitivity of its statistic
// under the neighbouring relation in force, and from it the noise scale (noise = sensitivity/Mu for a
// Gaussian, sensitivity/Epsilon for Laplace, range/Epsilon for the exponential mechanism). For this reason
// this package never doubles a cost under substitution; the conversions between relations are functions of
// their own.
//
// # Accountants
//
// Three upper bounds are computed, and the smallest is reported at each epsilon. Each holds for adaptive
// draws.
//
//   - The privacy loss distribution (PLD). Gaussians are merged exactly; every
//     other law enters through its hockey-stick curve, discretised by connecting
//     the dots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022), and the loss
//     distributions are convolved by FFT (Zhu, Dong, Wang 2022, Theorem 10:
//     products of dominating pairs dominate adaptive compositions).
//   - A Rényi ledger; zero-concentrated privacy is its linear case. It is the only
//     one that can price a [SelectBest].
//   - Basic composition: epsilons and deltas add.
//
// # Invariants
//
//   - Every reported delta or epsilon is an upper bound. Discretisation only ever
//     raises the curve; a numerical slack of at least 1e-12 is added to every
//     delta that went through an FFT; calibration returns the feasible end of its
//     last bracket.
//   - Budgets, laws and numbers of draws are fixed before data are touched.
//     Inputs of a mechanism may depend on earlier releases; which mechanism runs
//     may do so only through Branches.
//   - One relation and one target per tree.
//   - There is no package state. All functions may be called concurrently, and a
//     Priced tree changes in one thing alone: whether its one run was taken.
package budget
