// Package costtree has the tree of linear models whose features have a cost, as settings for the field Model of a run.
package costtree

// CostTree is a tree of linear models that pays for features: a record follows a path from the root to a leaf and pays
// once for each column that it meets (the private form of M. Kusner, "Learning in the Real World: Constraints on Cost,
// Space, and Privacy", 2016, section 2.1.4; docs/proofs/cost-tree.md, "Algorithm"). It needs a delta. The zero value has no limit of
// costs, unit costs and a depth of 2, or of 1 with few records.
type CostTree struct {
	// Depth is the number of levels, from 1 to 5; 0 leaves it to the noisy number of records.
	Depth int
	// Budget is the maximum cost of the features that a node adds to those of its ancestors; 0 means no limit. It is
	// no privacy budget.
	Budget float64
	// Costs holds the costs of features by name, from 0 to 1e9; all other features cost 1. A category column is
	// one feature, and so is a number together with its indicator of missing cells.
	Costs map[string]float64
	// Soft trains each node on all records, weighted by how clearly they belong to it. Predictions still follow a
	// single path.
	Soft bool
}

// Name returns "cost-tree".
func (CostTree) Name() string {
	return "cost-tree"
}
