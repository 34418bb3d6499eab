// Package cluster is the engine for tables that the workers of a cluster read. The table is divided into splits: row
// groups of Parquet, or whole files. In every pass each split becomes a task, which a worker runs. Its answer is a
// partial sum of exact integers. The sum of all answers does not depend on their order or on the machines, so a release
// has the same bytes as with a table in memory under the same key.
//
// The worker is this program; see [Work]. A task contains public facts, released values and the keys of coins, which
// are secret. The keys of noise and the key of the run stay in the process of the session. Exact sums come back, so the
// operator of the cluster is trusted with the records and with the sums.
//
// A cluster may lose, repeat and truncate messages. Each task therefore has a number and the total number of tasks, and
// an answer carries this number, its length and a MAC under a key of the pass. A pass fails unless there is exactly one
// complete answer of this pass for each task, and a failed pass ends the run before anything is released. If the cluster
// runs a task again, the answer has the same bytes, because it depends on the task and the records only.
//
// Error messages come from this package. Texts of a cluster are not repeated, because they may quote a row.
package cluster
