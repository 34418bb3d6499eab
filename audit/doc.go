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
package audit
