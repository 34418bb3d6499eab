package astc

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

const (
	smooth    = 1e-8 // under the roots of the mixed norm and of absolute values
	pruned    = 1e-3 // smaller weights are dropped
	cstcSteps = 100
)

// CSTCOptions are the settings of [CSTC].
type CSTCOptions struct {
	Depth  int     // levels, at least 1
	Rho    float64 // penalty on absolute weights, of every node
	Lambda float64 // price of a unit of cost, for each record that pays it
}

// CSTC fits the cost-sensitive tree of classifiers (Z. Xu, M. Kusner, K. Weinberger and M. Chen,
// "Cost-sensitive tree of classifiers", 2013), the baseline of the thesis. It minimises
//
//	sum_k sum_i p_ik (y_i - x_i beta_k)^2 + rho sum_k |beta_k|_1
//	  + lambda sum_leaves (sum_i p_il) sum_j c_j sqrt(sum_{k above l} beta_kj^2),
//
// with p given by logistic functions of scores minus thresholds along the path, and c_j the cost of entry j,
// starting from the tree of [Fit], by L-BFGS on norms that are smoothed at 0. Weights below 1e-3 are then
// dropped and the nodes are refitted to the records that reach them. Errors are those of [Fit].
func CSTC(ctx context.Context, t Table, o CSTCOptions) (*Tree, error) {
	start, err := Fit(ctx, t, Options{
		Depth: o.Depth,
		Ridge: 1e-3,
	})
	if err != nil {
		return nil, err
	}
	c := newCSTC(t, start, o)
	if _, err := optimize.Minimize(optimize.Problem{
		Func: func(x []float64) float64 {
			return c.objectiveAt(x, nil)
		},
		Grad: func(grad, x []float64) {
			c.objectiveAt(x, grad)
		},
		Status: func() (optimize.Status, error) {
			return optimize.NotTerminated, ctx.Err()
		},
	}, c.startVector(), &optimize.Settings{
		MajorIterations: cstcSteps,
		Recorder:        c,
	},
		&optimize.LBFGS{Store: 10}); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil && c.best == nil { // a line search that finds no better point ends the search
		return nil, err
	}
	return c.buildTree(), nil
}

// cstc is the objective on its way.
type cstc struct {
	Table
	CSTCOptions
	shape *Tree
	rows  *mat.Dense // with the constant
	above [][]int    // the nodes on the way to each node, itself included

	best  []float64
	value float64
}

func newCSTC(t Table, shape *Tree, o CSTCOptions) *cstc {
	c := &cstc{
		Table:       t,
		CSTCOptions: o,
		shape:       shape,
		rows:        mat.NewDense(len(t.Rows), len(t.Group)+1, nil),
		above:       make([][]int, len(shape.Nodes)),
		value:       math.Inf(1),
	}
	for i, r := range t.Rows {
		c.rows.Set(i, 0, 1)
		for j, v := range r {
			c.rows.Set(i, j+1, v)
		}
	}
	for k, n := range shape.Nodes {
		c.above[k] = append(c.above[k], k)
		if n.Low > 0 {
			c.above[n.Low] = append(c.above[n.Low], c.above[k]...)
			c.above[n.High] = append(c.above[n.High], c.above[k]...)
		}
	}
	return c
}

// Init and Record keep the best point that was seen.
func (c *cstc) Init() error {
	return nil
}

// Record implements [optimize.Recorder].
func (c *cstc) Record(
	l *optimize.Location,
	_ optimize.Operation,
	_ *optimize.Stats,
) error {
	if l.X != nil && l.F < c.value {
		c.best = append(c.best[:0], l.X...)
		c.value = l.F
	}
	return nil
}

// nodeUnknowns is the number of unknowns of a node: weights and the threshold.
func (c *cstc) nodeUnknowns() int {
	return len(c.Group) + 2
}

func (c *cstc) startVector() []float64 {
	x := make([]float64, 0, len(c.shape.Nodes)*c.nodeUnknowns())
	for _, n := range c.shape.Nodes {
		x = append(append(x, n.Theta...), n.Threshold)
	}
	return x
}

// nodeWeights and threshold of node k.
func (c *cstc) nodeWeights(x []float64, k int) []float64 {
	return x[k*c.nodeUnknowns() : (k+1)*c.nodeUnknowns()-1]
}

func (c *cstc) nodeThreshold(x []float64, k int) float64 {
	return x[(k+1)*c.nodeUnknowns()-1]
}

// objectiveAt returns the objective and, if grad is not nil, its gradient.
func (c *cstc) objectiveAt(x, grad []float64) float64 {
	n := len(c.Rows)
	nodes := len(c.shape.Nodes)
	scores := make([][]float64, nodes)
	weights := make([][]float64, nodes)
	ups := make([][]float64, nodes)
	for k := range nodes {
		v := mat.NewVecDense(n, nil)
		v.MulVec(c.rows, mat.NewVecDense(len(c.Group)+1, c.nodeWeights(x, k)))
		scores[k], weights[k], ups[k] = v.RawVector().Data, make([]float64, n), make([]float64, n)
	}
	for i := range n {
		weights[0][i] = 1
	}
	for k, node := range c.shape.Nodes {
		if node.Low == 0 {
			continue
		}
		for i, s := range scores[k] {
			up := 1 / (1 + math.Exp(c.nodeThreshold(x, k)-s))
			ups[k][i] = up
			weights[node.High][i], weights[node.Low][i] = weights[k][i]*up, weights[k][i]*(1-up)
		}
	}
	clear(grad)
	value := c.weightPenalty(x, grad)
	// Costs of leaves, and how a weight moves the objective: from the leaves up.
	moves := make([][]float64, nodes)
	for k := nodes - 1; k >= 0; k-- {
		node := c.shape.Nodes[k]
		price := 0.
		if node.Low == 0 {
			price = c.leafCost(x, k, weights[k], grad)
		}
		moves[k] = make([]float64, n)
		slopes := mat.NewVecDense(n, nil)
		turn := 0.
		for i, s := range scores[k] {
			e := c.Y[i] - s
			value += weights[k][i] * (e*e + price)
			moves[k][i] = e*e + price
			slope := -2 * weights[k][i] * e
			if node.Low > 0 {
				up := ups[k][i]
				low := moves[node.Low][i]
				high := moves[node.High][i]
				moves[k][i] += up*high + (1-up)*low
				bend := weights[k][i] * up * (1 - up) * (high - low)
				slope += bend
				turn -= bend
			}
			slopes.SetVec(i, slope)
		}
		if grad == nil {
			continue
		}
		var g mat.VecDense
		g.MulVec(c.rows.T(), slopes)
		for j := range g.Len() {
			grad[k*c.nodeUnknowns()+j] += g.AtVec(j)
		}
		grad[(k+1)*c.nodeUnknowns()-1] += turn
	}
	return value
}

// weightPenalty is the sum of absolute weights but the constants', times rho.
func (c *cstc) weightPenalty(x, grad []float64) float64 {
	sum := 0.
	for k := range c.shape.Nodes {
		for j, b := range c.nodeWeights(x, k)[1:] {
			root := math.Sqrt(b*b + smooth)
			sum += c.Rho * root
			if grad != nil {
				grad[k*c.nodeUnknowns()+1+j] += c.Rho * b / root
			}
		}
	}
	return sum
}

// leafCost returns the cost of a record in leaf l, times lambda, and adds its derivatives for all records there.
func (c *cstc) leafCost(x []float64, l int, weights, grad []float64) float64 {
	records := 0.
	for _, w := range weights {
		records += w
	}
	sum := 0.
	for j, g := range c.Group {
		square := smooth
		for _, k := range c.above[l] {
			b := c.nodeWeights(x, k)[1+j]
			square += b * b
		}
		root := math.Sqrt(square)
		sum += c.Lambda * c.Cost[g] * root
		if grad == nil {
			continue
		}
		for _, k := range c.above[l] {
			grad[k*c.nodeUnknowns()+1+j] += records * c.Lambda * c.Cost[g] *
				c.nodeWeights(x, k)[1+j] / root
		}
	}
	return sum
}

// buildTree drops small weights and refits the nodes to the records that reach them, keeping the number of records
// that go low.
func (c *cstc) buildTree() *Tree {
	out := &Tree{
		Nodes: append([]Node(nil), c.shape.Nodes...),
		Cost:  c.Cost,
	}
	members := make([][]float64, len(out.Nodes))
	members[0] = make([]float64, len(c.Rows))
	for i := range members[0] {
		members[0][i] = 1
	}
	paid := make([][]bool, len(out.Nodes))
	paid[0] = make([]bool, len(c.Cost))
	for k := range out.Nodes {
		n := &out.Nodes[k]
		entries := []int{0}
		bought := append([]bool(nil), paid[k]...)
		n.Bought = nil
		for j, b := range c.nodeWeights(c.best, k)[1:] {
			if math.Abs(b) < pruned {
				continue
			}
			entries = append(entries, j+1)
			if g := c.Group[j]; !bought[g] {
				bought[g] = true
				n.Bought = append(n.Bought, g)
			}
		}
		p := c.weightedProblem(members[k], Options{Ridge: 1e-3})
		n.problem = p
		n.paid = bought
		n.Theta, n.Entries, n.Records, n.Paid = p.Solve(entries).Theta[0], entries, p.Gram.At(0, 0),
			0
		for g, is := range bought {
			if is {
				n.Paid += c.Cost[g]
			}
		}
		if n.Low == 0 {
			continue
		}
		old := c.scores(c.nodeWeights(c.best, k))
		n.Threshold = quantileOf(c.scores(n.Theta), members[k],
			shareBelow(old, members[k], c.nodeThreshold(c.best, k)))
		members[n.Low], members[n.High] = splitWeights(
			c.scores(n.Theta),
			members[k],
			n.Threshold,
			false,
		)
		paid[n.Low], paid[n.High] = bought, bought
	}
	return out
}

// shareBelow is the part of the members with a score of at most a threshold.
func shareBelow(scores, members []float64, threshold float64) float64 {
	low := 0.
	all := 0.
	for i, w := range members {
		if all += w; scores[i] <= threshold {
			low += w
		}
	}
	if all == 0 {
		return .5
	}
	return low / all
}
