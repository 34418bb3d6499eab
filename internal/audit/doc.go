// Package audit measures the guarantee of a run from its outputs.
//
// [Neighbours] builds tables that a run must not distinguish from a given one: with a record removed, added or,
// if the number of records is public, replaced, and for privacy units with a whole unit changed. The records
// range from harmless, such as a copy of another one, to hostile, with extreme, missing and infinite values in
// every column. The record-and-replay test (the Re:cord-play method, arXiv 2602.17454) runs every example
// recipe on a table and on each of its neighbours: with the outputs of the first run replayed in the second,
// the inputs of every release must differ by at most the declared sensitivity, and the contents of release/
// must be equal byte by byte.
//
// [Pipeline] and [Step] examine outputs instead. They execute a run, or one step of its plan, many times on
// both of two neighbouring inputs, choose an event that distinguishes them on half of the runs and count it on
// the other half. The Clopper–Pearson bounds of its two probabilities give lower bounds on epsilon and mu that
// hold with a stated confidence for any mechanism (M. Jagielski, J. Ullman and A. Oprea, "Auditing
// differentially private machine learning", 2020; M. Nasr and others, "Tight auditing of differentially private
// machine learning", 2023). A bound above the claim is a violation. A bound below it does not prove privacy.
//
// The package draws no randomness of its own. Its inputs are generated, with one exception: [OwnTable] does the
// same on a table of the data owner. No guarantee covers its result.
package audit
