// Package cluster is the engine of tables that the workers of a cluster read. The table is cut into splits: row groups of
// Parquet, or whole files. For every pass each split becomes a task, which some worker carries out, and its answer
// is a partial sum: exact integers. Added up they are the sums of the whole table, in whatever order they come and
// wherever they were made. So the release has the bytes that a table in memory gives under the same key.
//
// The worker is this program; see [Work]. A task holds public facts, released values and the keys of coins, which
// are secret. The keys of noise and the key of the run stay with the session that runs here. Exact sums come back, so
// whoever operates the cluster is trusted with the records and with the sums, as with the table.
//
// A cluster loses, repeats and cuts what it carries. So a task has a number among a known number of tasks, and an
// answer carries this number, its length and a MAC under a key of the pass. A pass whose answers are not exactly one for each
// task, all of them whole and of this pass, fails, and with it the run: nothing is released. A task that the cluster carries
// out again gives the same bytes, because it depends on nothing but itself and the records.
//
// What fails says so in words of this package. No text of a cluster is repeated, because it may quote a row.
package cluster
