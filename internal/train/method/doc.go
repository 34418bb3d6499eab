// Package method defines the interface of training methods.
//
// A [Trainer] is planned from public facts ([Facts]) and then fitted to records ([Data]); its result is a
// [Fit], which is public. The zero value of a trainer has the defaults of its method. A numeric trainer
// can also be a classifier: package pipeline fits it to -1 and +1, one class against the rest.
//
// # Invariants
//
//   - Plan reads no record, and the node that it returns is the whole budget of Fit.
//   - No error of Fit depends on a record. An error may depend on releases: then it wraps [ErrAbstained].
package method
