package pipeline

import "slices"

// Names in a plan: the nodes of the training and of the held-out part, and in the former the
// step that chooses between branches.
const (
	TrainName   = trainNode
	HoldoutName = holdoutNode
	CountName   = countLeaf
)

// Unprotected lists what the description states and the guarantee does not protect.
func (p *Pipeline) Unprotected() []Fact { return p.unprotected() }

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
	for _, t := range p.tries {
		out = append(out, t.Methods()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
