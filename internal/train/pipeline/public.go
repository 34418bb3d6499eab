package pipeline

import "slices"

// Names in a plan: the nodes of what all records are in, of the training and of the held-out part, and in the
// second the step that chooses between branches.
const (
	AllName     = allNode
	TrainName   = trainNode
	HoldoutName = holdoutNode
	CountName   = countLeaf
	// Where words are paid for only if some column holds them: the node of the choice, and its branches.
	UndeclaredName = undeclaredNode
	NumbersWay     = numbersWay
	WordsWay       = wordsWay
)

// SearchPath is the path of the node of a search.
func (p *Plan) SearchPath() string { return p.root }

// SizesPath is the path of the node that tries sizes; where words are paid for only if there are some, in
// the way in which there are none, and where classes are found, in the way with two of them. The other ways
// have the same.
func (p *Plan) SizesPath() string {
	path := p.root
	if len(p.byClasses) > 0 {
		path = p.byClasses[0].root
	}
	if p.of.asksFirst() {
		path += "/" + undeclaredNode + "/" + numbersWay
	}
	return path + "/" + modelNode
}

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
	for _, t := range append(slices.Clone(p.tries), p.byClasses...) {
		out = append(out, t.Methods()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
