// Package ledger keeps what runs have spent, across runs, people and processes,
// in one file.
//
// # Promise
//
// A data set is registered once with a name, a relation and a total (epsilon,
// delta), which is turned there and then into the currency of a privacy filter
// (package budget: [budget.Total], [budget.Charge]). A run reserves the price of
// its whole plan before it reads a row; [Ledger.Reserve] refuses it if the sum
// of all reservations would cross the total. When the run has ended it commits
// its reservation. A reservation that is never committed, because its run died,
// stays spent: nothing gives a reservation back. So the sum of what was ever
// released is at most the sum of reservations, which is at most the total, and by the
// filter theorem everything released about the data set together has the
// total's guarantee, although each run was chosen after seeing the ones before.
//
// Under the relation substitute-private-columns a data set is registered with the
// columns that are protected, and a run that uses one of them as public is
// refused ([Account.CheckPublic]): two runs that each expose what the other hides
// would keep no promise together, whatever they cost.
//
// A run's outputs may be taken as drawn (and sealed) when it reserves: its plan
// is fixed then. Runs that overlap in time are therefore a sequence too, in the
// order of their reservations, each chosen after some of the earlier outputs.
//
// # The file
//
// The store is a bbolt database: one file, mode 0600, one process at a time by the
// lock of the operating system. It holds a list of entries that is only ever
// appended to. An entry is a line of JSON in one canonical form; it holds the
// SHA-256 of the entry before it, and the store holds that of the last one, the
// head. Beside them stand the sums up to the last entry ([Ledger.Account]), so that
// what an operation costs does not grow with the entries.
//
// An operation opens the file, checks the pages that it touches, the last entry and
// the sums, appends one entry in one transaction, waits until the disk has it, and
// closes the file. [Ledger.Read] and [Ledger.Verify] check all of it and add the
// entries up again. No lock is held while a run trains.
//
// # Invariants
//
//   - Entries are appended, never changed or removed.
//   - An entry is on disk before the call that makes it returns.
//   - A head that was printed in a report covers the reservation of that run and everything before it:
//     a ledger that still contains this head has lost none of it.
//   - A reservation is made before a row is read and a commit adds a number only,
//     so no entry depends on a record.
//   - A file that is damaged, of another version, or no ledger is refused, whatever its
//     bytes are, and is left as it is.
package ledger
