// Package baseline implements the baselines of the papers on classification, for experiments on public data.
//
// # Sound versions
//
// [PATE] is the extension of "Private Aggregation of Teacher Ensembles" of section 7 of "Classification with Partially
// Private Features", and [People] is "Boosting for People", a baseline of the same section. The paper does not describe
// either in enough detail to reproduce it, so this package has our versions, chosen so that the guarantee holds. Both
// protect the private columns of a record ([budget.SubstitutePrivateColumns]): the target, the public columns and the
// number of records are public. Their noise comes from a session of package mechanism, and every sensitivity is derived
// next to the line that computes it.
//
// # Not for private data
//
// These methods are nevertheless worse than those that the project offers, and a PATE does not even produce a model.
// Only package bench and the packages below it may import them.
//
// [Open] is training without privacy, on some columns of a table.
package baseline
