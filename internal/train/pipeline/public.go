package pipeline

import "slices"

// Names in a plan: the nodes of what all records are in, of the training and of the held-out part, and in the
// second the step that chooses between branches.
const (
	AllName     = allNode
	TrainName   = trainNode
	HoldoutName = holdoutNode
	CountName   = countLeaf
)

// SearchPath is the path of the node of a search.
func (p *Plan) SearchPath() string {
	return p.root
}

// SizesPath returns the path of the node that tries sizes, in the branch without text columns if words are paid
// for only on demand, and in the branch with two classes if classes are found. The node is the same in the
// other branches.
func (p *Plan) SizesPath() string {
	path := p.root
	if len(p.byClasses) > 0 {
		path = p.byClasses[0].root
	}
	if x, ok := p.of.branchingStage(); ok {
		node, names := x.stage.Branches()
		path += "/" + node + "/" + names[0]
	}
	return path + "/" + modelNode
}

// Unprotected lists the facts that the description states and the guarantee does not protect.
func (p *Pipeline) Unprotected() []Fact {
	return p.unprotectedFacts()
}

// Methods lists the methods that may train the model of a run: that of each branch and
// its fallback, of each candidate in a search.
func (p *Plan) Methods() []string {
	var out []string
	for _, b := range p.branches {
		out = append(out, b.trainer.Name())
		if b.fallback != nil {
			out = append(out, b.fallback.Name())
		}
	}
	for _, t := range append(slices.Clone(p.tries), p.byClasses...) {
		out = append(out, t.Methods()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
