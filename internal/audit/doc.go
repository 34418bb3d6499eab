// Package audit checks the guarantee of a run from the outside.
//
// [Neighbours] builds the tables that a run must not tell apart from a given
// one: with a record removed, added or, where the number of records is public,
// replaced, and where persons are protected with a whole person; with records as harmless as a copy of another and as hostile as
// extreme, missing and infinite values in every column. The record-and-replay
// test (the Re:cord-play method, arXiv 2602.17454) runs every example recipe on
// a table and on each of its neighbours: with the outputs of the first run put
// in place of the second's, every release must see inputs no further apart than
// it declared, and what lands in release/ must be equal byte by byte.
//
// [Pipeline] and [Step] look at what comes out instead. They carry a run, or one
// step of its plan, out many times on both of two neighbouring inputs, choose on
// half of the runs an event that tells them apart and count it on the other
// half. The Clopper–Pearson ends of its two probabilities give lower bounds of
// epsilon and mu that hold with a stated confidence, whatever the mechanism is (M.
// Jagielski, J. Ullman and A. Oprea, "Auditing differentially private machine
// learning", 2020; M. Nasr and others, "Tight auditing of differentially private
// machine learning", 2023). A bound above the claim is a fault. One below certifies
// nothing.
//
// The package draws no randomness of its own. Its inputs are generated, with one exception: [OwnTable]
// does the same on a table of the data's owner. What that returns is covered by no guarantee.
package audit
