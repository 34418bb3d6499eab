package costtree

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// learnNode selects features for a node and fits its models. A node with too few records repeats its parent.
func (g *grower) learnNode(r greedy.Released, parent *node) *node {
	if parent != nil && hasFewRecords(r) {
		again := *parent
		again.inherited = true
		return &again
	}
	p := r.Problem()
	p.Group = make([]int, g.frame.first+1)
	p.Cost = g.costs
	p.Budget = math.Inf(1)
	for i, slot := range g.frame.enc.Slots()[:g.frame.first] {
		p.Group[i] = slot.Column
	}
	if g.Budget > 0 {
		p.Budget = g.Budget
	}
	if parent != nil {
		p.Paid = parent.paid
	}
	choice := p.Select()
	fit := p.Solve(choice.Entries())
	n := &node{
		theta: fit.Theta,
		paid:  choice.Paid,
		used:  slices.Sorted(slices.Values(fit.Entries)),
	}
	n.deviation = coefficientDeviations(fit, r.Sigma)
	n.route = routeOf(p, fit.Theta)
	return n
}

// coefficientDeviations returns the standard deviations of the noise in the coefficients. With S the inverse on the
// entries that are used, E the noise of the matrix and e that of the products with the target, the error of
// theta is to first order S (e - E theta), with covariance S M S, M = sigma^2/2 ((1 + |theta|^2) I + theta
// theta'). The effect of the noise on the choice of the entries is ignored.
func coefficientDeviations(fit greedy.Fit, sigma float64) [][]float64 {
	k := len(fit.Entries)
	var out [][]float64
	for _, theta := range fit.Theta {
		deviation := make([]float64, len(theta))
		out = append(out, deviation)
		if k == 0 {
			continue
		}
		x := mat.NewVecDense(k, nil)
		for i, e := range fit.Entries {
			x.SetVec(i, theta[e])
		}
		var along mat.VecDense
		along.MulVec(fit.Inverse, x)
		for i, e := range fit.Entries {
			square := 0.
			for j := range k {
				square += fit.Inverse.At(i, j) * fit.Inverse.At(i, j)
			}
			a := along.AtVec(i)
			deviation[e] = sigma * math.Sqrt(((1+mat.Dot(x, x))*square+a*a)/2)
		}
	}
	return out
}

// routeOf returns the weights of the score that routes the records of a node: the score of the only target, or
// of several targets the combination of length 1 with the largest variance over the records, according to the
// matrix.
func routeOf(p *greedy.Problem, theta [][]float64) []float64 {
	if len(theta) == 1 {
		return theta[0]
	}
	d := len(theta[0])
	k := len(theta)
	all := mat.NewDense(k, d, nil)
	for t, x := range theta {
		all.SetRow(t, x)
	}
	var half mat.Dense
	half.Mul(all, p.Gram)
	spread := mat.NewSymDense(k, nil)
	weight := max(p.Gram.At(p.Constant, p.Constant), p.Ridge)
	for a := range k {
		for b := a; b < k; b++ {
			means := half.At(a, p.Constant) * half.At(b, p.Constant)
			if weight > 0 {
				means /= weight
			}
			spread.SetSym(a, b, mat.Dot(half.RowView(a), all.RowView(b))-means)
		}
	}
	mix := mat.NewVecDense(k, nil)
	mix.SetVec(0, 1)
	var eig mat.EigenSym
	if eig.Factorize(spread, true) {
		var vectors mat.Dense
		eig.VectorsTo(&vectors)
		mix.CopyVec(vectors.ColView(k - 1))
	}
	top := 0
	for t := range k {
		if math.Abs(mix.AtVec(t)) > math.Abs(mix.AtVec(top)) {
			top = t
		}
	}
	if mix.AtVec(top) < 0 { // fix the sign of the direction
		mix.ScaleVec(-1, mix)
	}
	out := mat.NewVecDense(d, nil)
	out.MulVec(all.T(), mix)
	return out.RawVector().Data
}

// newFit converts the tree to original units.
func (g *grower) newFit() *method.Fit {
	target := g.frame.columns[len(g.frame.columns)-1]
	if target.Kind != dataset.Category {
		y := g.frame.targetRange()
		return &method.Fit{
			Model:      g.buildTree(0, y.Lower, y.Upper),
			TargetMean: g.mean,
		}
	}
	model := &regression.Classifier{
		Target:  target.Name,
		Classes: target.Categories,
	}
	for t := range target.Categories {
		model.Scores = append(model.Scores, g.buildTree(t, -method.ScoreLimit, method.ScoreLimit))
	}
	return &method.Fit{Model: model, Scale: method.Shares}
}

// buildTree returns the tree whose leaves predict a target.
func (g *grower) buildTree(target int, lower, upper float64) *regression.Tree {
	columns, place := g.usedColumns()
	m := &regression.Tree{Linear: regression.Linear{
		Target:  g.frame.columns[len(g.frame.columns)-1].Name,
		Columns: columns,
		Lower:   lower,
		Upper:   upper,
	}}
	for j := range g.costs {
		if place[j] >= 0 {
			m.Costs = append(m.Costs, g.costs[j])
		}
	}
	g.placeNode(m, target, place, 0)
	return m
}

// usedColumns returns the inputs of the model, which are the columns used by nodes, and the index of each column
// among them, or -1.
func (g *grower) usedColumns() (inputs []regression.Column, place []int) {
	features := g.frame.columns[:len(g.frame.columns)-1]
	slots := g.frame.enc.Slots()
	used := make([]bool, len(features))
	for _, n := range g.nodes {
		for _, e := range n.used {
			if e < g.frame.first {
				used[slots[e].Column] = true
			}
		}
	}
	place = make([]int, len(features))
	for j, c := range linear.Inputs(features, g.frame.enc) {
		if place[j] = -1; used[j] {
			place[j] = len(inputs)
			inputs = append(inputs, c)
		}
	}
	return inputs, place
}

// placeNode appends node i and its descendants to a tree and returns its index. A node whose children both repeat
// it is a leaf.
func (g *grower) placeNode(
	m *regression.Tree,
	target int,
	columns []int,
	i int,
) int {
	n := g.nodes[i]
	r := g.routes.Nodes[i]
	y := g.frame.targetRange()
	split := r.Low > 0 && !(g.nodes[r.Low].inherited && g.nodes[r.High].inherited)
	theta := n.theta[target]
	deviation := n.deviation[target]
	if split && len(n.theta) > 1 { // it has no deviation of its own
		theta = n.route
		deviation = make([]float64, len(n.route))
	}
	var out regression.TreeNode
	intercept, coefficients := g.frame.originalUnits(theta, y.Center(), y.Half())
	out.Intercept = intercept
	slots := g.frame.enc.Slots()
	for _, e := range n.used {
		if e == g.frame.first {
			continue
		}
		unit, _ := g.frame.slotUnit(slots[e])
		term := g.frame.slotTerm(slots[e])
		term.Column = columns[slots[e].Column]
		term.Coefficient = coefficients[e]
		term.StdError = math.Abs(y.Half()*unit) * deviation[e]
		out.Terms = append(out.Terms, term)
	}
	at := len(m.Nodes)
	m.Nodes = append(m.Nodes, out)
	if split {
		low := g.placeNode(m, target, columns, r.Low)
		high := g.placeNode(m, target, columns, r.High)
		m.Nodes[at].Threshold = y.Center() + y.Half()*r.Threshold
		m.Nodes[at].Low = low
		m.Nodes[at].High = high
	}
	return at
}
