// Package method says what a way to train a model is: one value with one
// signature.
//
// A [Trainer] is planned from public facts ([Facts]) and then fitted to records
// ([Data]); what it learned is a [Fit], all of which is public. The zero value of
// a trainer has the defaults of its method. A trainer of numbers is a classifier
// as well: package pipeline fits it to -1 and +1, one class against the rest.
//
// # Invariants
//
//   - Plan reads no record, and the node that it returns is all that Fit spends.
//   - Fit fails for no reason that depends on a record. It may fail because of what was
//     released: then the error wraps [ErrAbstained].
package method
