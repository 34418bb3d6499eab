// Package baseline holds the methods that the papers on classification compare
// theirs with, for experiments on public data.
//
// # Sound versions
//
// [PATE] is the extension of "Private Aggregation of Teacher Ensembles" of section
// 7 of "Classification with Partially Private Features" and [People] is "Boosting
// for People", with which the same section compares. Neither is given there in
// enough detail to be repeated, so what is here is our version, chosen so that its
// guarantee holds. Both protect the private columns of a record
// ([budget.SubstitutePrivateColumns]): target, public columns and number of records
// are public. Their noise comes from a session of package mechanism, and every
// sensitivity is derived beside the line that computes it.
//
// # Not for private data all the same
//
// They are worse than what the project offers, a PATE does not even end in a model,
// and only package bench and what is below it may import them.
//
// [Open] is training without privacy, on some columns of a table.
package baseline
