// Package ledger records in one file the budget that runs have spent, across runs, people and processes.
//
// # Promise
//
// A data set is registered once with a name, a relation and a total (epsilon, delta), which is converted immediately
// into the currency of a privacy filter (package budget: [budget.Total], [budget.Charge]). A run reserves the price of
// its whole plan before it reads a row; [Ledger.Reserve] refuses it if the sum of all reservations would cross the
// total. When the run has ended it commits its reservation. A reservation that is never committed, because its run
// died, stays spent. So the cost of all releases is at most the sum of reservations, which is at most the total, and
// by the filter theorem all releases about the data set together have the total's guarantee, although each run was
// chosen after seeing the ones before.
//
// Under the relation substitute-private-columns a data set is registered with its protected columns, and a run that
// uses one of them as public is refused ([Account.CheckPublic]): two runs that each expose the columns the other hides
// would have no joint guarantee at any cost.
//
// A run's outputs can be regarded as drawn (and sealed) when it reserves, since its plan is fixed then. Runs that
// overlap in time are therefore a sequence too, in the order of their reservations, each chosen after some of the
// earlier outputs.
//
// # The file
//
// The store is a bbolt database: one file, mode 0600, used by one process at a time through the lock of the operating
// system. It holds an append-only list of entries. An entry is a line of JSON in one canonical form that contains the
// SHA-256 of the entry before it; the store also holds the SHA-256 of the last entry, the head. It keeps the sums up
// to the last entry ([Ledger.Account]), so that the cost of an operation does not grow with the number of entries.
//
// An operation opens the file, checks the pages that it touches, the last entry and the sums, appends one entry in one
// transaction, waits until it is on disk, and closes the file. [Ledger.Read] and [Ledger.Verify] check the whole file
// and recompute the sums. No lock is held while a run trains.
//
// # Invariants
//
//   - Entries are appended, never changed or removed.
//   - An entry is on disk before the call that makes it returns.
//   - A head that was printed in a report covers the reservation of that run and everything before it:
//     a ledger that still contains this head has lost no entry up to it.
//   - A reservation is made before a row is read and a commit adds only a number,
//     so no entry depends on a record.
//   - A file that is damaged, of another version, or not a ledger is refused, whatever its
//     bytes are, and is not modified.
package ledger
