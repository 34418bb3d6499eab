package costtree

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	settings "github.com/dptrain/dptrain/costtree"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Settings (docs/proofs/cost-tree.md, "Settings").
const (
	// maxDepth bounds the levels of a tree.
	maxDepth = 5
	// maxCost bounds a cost and a budget.
	maxCost = method.MaxCost
	// medianShare is the share of mu^2 for the medians; the matrices take the rest. Each has equal draws, one
	// per level.
	medianShare = .1
	// defaultDepth is the default depth of a tree if the root has at least recordsPerNoise records per unit of
	// the noise of its matrix; otherwise the depth is 1.
	defaultDepth    = 2
	recordsPerNoise = 200
	// leastWeight is the minimum square of the constant, relative to the noise, at a node with a model of its
	// own: 20/kappa^2 records per unit of noise.
	leastWeight = 20
	// countDoubt is the number of standard deviations of its noise subtracted from the number of records before
	// the depth is chosen.
	countDoubt = 2
)

// Node names of the plan.
const (
	treeNode    = "cost-tree"
	gramLeaf    = "grams"
	mediansLeaf = "medians"
)

// ErrSettings is returned at plan time for a depth, a budget or a cost that is out of range.
var ErrSettings = errors.New("a setting of the cost tree is out of range")

// CostTree is a tree of linear models that pays for features; see the package comment. The zero value has no
// budget limit, unit costs and a depth of 2, or of 1 with few records.
type CostTree settings.CostTree

// Name returns "cost-tree".
func (CostTree) Name() string {
	return treeNode
}

// maxLevels returns the number of levels that are paid for.
func (t CostTree) maxLevels() int {
	if t.Depth == 0 {
		return defaultDepth
	}
	return t.Depth
}

// Plan returns the leaf of the matrices, with one draw per level, and that of the medians, with one draw fewer.
// Its errors are [ErrSettings] and [linear.ErrTooWide].
func (t CostTree) Plan(f method.Facts) (budget.Node, error) {
	if err := t.checkSettings(); err != nil {
		return budget.Node{}, err
	}
	if err := linear.CheckWidth(newFrame(f.Columns, nil).side, "entries a row"); err != nil {
		return budget.Node{}, err
	}
	grams := func(share float64) budget.Node {
		return budget.GaussianLeaf(gramLeaf, linear.GramShare*share,
			t.maxLevels()).WithStatistic(mechanism.StatNodeGrams)
	}
	if t.maxLevels() == 1 {
		return budget.Sequence(treeNode, grams(1)), nil
	}
	medians := budget.ExponentialLeaf(mediansLeaf, linear.GramShare*medianShare,
		t.maxLevels()-1).WithStatistic(mechanism.StatMedians)
	return budget.Sequence(treeNode, grams(1-medianShare), medians), nil
}

func (t CostTree) checkSettings() error {
	switch {
	case t.Depth < 0 || t.Depth > maxDepth:
		return fmt.Errorf("%w: depth %d; choose one from 1 to %d, or 0 for the default",
			ErrSettings, t.Depth, maxDepth)
	case !(t.Budget >= 0 && t.Budget <= maxCost):
		return fmt.Errorf("%w: budget %v; choose one from 0 to %v, 0 for none", ErrSettings,
			t.Budget, maxCost)
	}
	for name, cost := range t.Costs {
		if !(cost >= 0 && cost <= maxCost) {
			return fmt.Errorf("%w: the cost of %q is %v; choose one from 0 to %v", ErrSettings,
				name, cost, maxCost)
		}
	}
	return nil
}

// Fit trains; see [method.Trainer].
func (t CostTree) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	f := newFrame(d.Columns, d.Ranges)
	g := &grower{
		CostTree: t,
		frame:    f,
		session:  s.Sub(treeNode),
		data:     d,
		routes:   routes{Soft: t.Soft},
	}
	for _, c := range f.columns[:len(f.columns)-1] {
		cost, ok := t.Costs[c.Name]
		if !ok {
			cost = 1
		}
		g.costs = append(g.costs, cost)
	}
	if err := g.growTree(ctx); err != nil {
		return nil, err
	}
	return g.newFit(), nil
}

// A grower is a tree under construction.
type grower struct {
	CostTree
	frame   *frame
	session *mechanism.Session
	data    method.Data
	costs   []float64 // by column

	nodes  []*node // as in routes
	routes routes
	draws  int     // of the matrices
	mean   float64 // of a numeric target
}

// A node holds the values learned at a node.
type node struct {
	theta     [][]float64 // one list per target, by entries of the frame's features and constant
	deviation [][]float64 // standard deviation of the noise in theta
	used      []int       // entries with a coefficient, increasing
	paid      []bool      // columns
	route     []float64   // weights of the score that routes its records
	inherited bool        // the node repeats its parent
}

// growTree adds one level after the other. If no node of a level is split, the draws of the lower levels are spent
// on the same nodes, so that every draw that was paid for is made.
func (g *grower) growTree(ctx context.Context) error {
	g.nodes = []*node{nil}
	g.routes.Nodes = []route{{}}
	g.routes.Open = []int{0}
	for level := range g.maxLevels() {
		released, err := g.releaseGrams(ctx)
		if err != nil {
			return err
		}
		large := g.splittable(level, released)
		if len(large) == 0 {
			if err := g.averageRemaining(ctx, level, released); err != nil {
				return err
			}
		}
		if level == 0 {
			g.mean = g.frame.targetMean(released[0])
		}
		parents := g.lastLevel()
		for k, at := range g.routes.Open {
			g.nodes[at] = g.learnNode(released[k], parents[at])
		}
		if len(large) == 0 {
			return g.spendUnusedMedians(ctx, level)
		}
		if err := g.splitNodes(ctx, level, large); err != nil {
			return err
		}
	}
	return nil
}

// splittable lists the open nodes that are split: none at the last level, nor at the root of a tree without a
// set depth if there are few records.
func (g *grower) splittable(level int, released []greedy.Released) []int {
	if level == g.maxLevels()-1 || level == 0 && g.Depth == 0 && !supportsSplit(released[0]) {
		return nil
	}
	var out []int
	for k, at := range g.routes.Open {
		if !hasFewRecords(released[k]) {
			out = append(out, at)
		}
	}
	return out
}

// lastLevel returns the parent of every node, nil for the root.
func (g *grower) lastLevel() []*node {
	out := make([]*node, len(g.nodes))
	for i, r := range g.routes.Nodes {
		if r.Low > 0 {
			out[r.Low], out[r.High] = g.nodes[i], g.nodes[i]
		}
	}
	return out
}

// nodeWeight returns the square of the constant over the records of a node, in units of the noise of its matrix.
func nodeWeight(r greedy.Released) float64 {
	return r.Entry(r.Side-1, r.Side-1) / r.Sigma
}

// hasFewRecords reports whether a node has too few records for a model of its own.
func hasFewRecords(r greedy.Released) bool {
	return !(nodeWeight(r) >= leastWeight)
}

// supportsSplit reports whether the root has enough records for a second level.
func supportsSplit(r greedy.Released) bool {
	return (nodeWeight(r)-countDoubt)/(linear.Kappa*linear.Kappa) > recordsPerNoise
}

// averageRemaining spends the draws of the lower levels on the matrices of this one: their mean has the noise
// of one draw with the mu^2 of all.
func (g *grower) averageRemaining(
	ctx context.Context,
	level int,
	released []greedy.Released,
) error {
	n := float64(g.maxLevels() - level)
	for range g.maxLevels() - level - 1 {
		next, err := g.releaseGrams(ctx)
		if err != nil {
			return err
		}
		for k := range released {
			for i, v := range next[k].Packed {
				released[k].Packed[i] += v
			}
		}
	}
	for k := range released {
		for i := range released[k].Packed {
			released[k].Packed[i] /= n
		}
		released[k].Sigma /= math.Sqrt(n)
	}
	return nil
}

// spendUnusedMedians makes the draws of medians for which no level remains. Their results are not used.
func (g *grower) spendUnusedMedians(ctx context.Context, level int) error {
	for ; level < g.maxLevels()-1; level++ {
		if _, err := g.releaseMedians(ctx, level, g.routes); err != nil {
			return err
		}
	}
	return nil
}

// releaseGrams draws the matrices of all open nodes in one draw.
func (g *grower) releaseGrams(ctx context.Context) ([]greedy.Released, error) {
	acc, err := mechanism.Sum[*gramsPass](
		ctx,
		g.session,
		g.data.Records,
		gramsStatistic{g.data.Columns, g.data.Ranges, g.routes},
	)
	if err != nil {
		return nil, err
	}
	values, err := g.drawGrams(acc.grams)
	if err != nil {
		return nil, err
	}
	sigma := g.session.Scale(gramLeaf)
	size := len(values) / len(g.routes.Open)
	var out []greedy.Released
	for matrix := range slices.Chunk(values, size) {
		out = append(out,
			greedy.Released{
				Side:   g.frame.side,
				Packed: matrix,
				First:  g.frame.first,
				Sigma:  sigma,
			})
	}
	return out, ctx.Err()
}

func (g *grower) drawGrams(x *mechanism.NodeGrams) ([]float64, error) {
	noisy, err := mechanism.SymmetricGaussianDraw(g.session, gramLeaf, g.draws, x.Bound())
	g.draws++
	for range extraDraws(g.session, len(g.routes.Open)) { // only with a planted fault
		if _, err = mechanism.SymmetricGaussianDraw(g.session, gramLeaf, g.draws,
			x.Bound()); err != nil {
			break
		}
		g.draws++
	}
	return noisy.Value(), err
}

// releaseMedians draws one point per open node.
func (g *grower) releaseMedians(
	ctx context.Context,
	draw int,
	r routes,
) ([]int, error) {
	scores := make([][]float64, len(r.Open))
	for k, at := range r.Open {
		scores[k] = g.nodes[at].route
	}
	acc, err := mechanism.Sum[*mediansPass](
		ctx,
		g.session,
		g.data.Records,
		mediansStatistic{g.data.Columns, g.data.Ranges, r, scores},
	)
	if err != nil {
		return nil, err
	}
	chosen, err := mechanism.ChooseEach(
		g.session,
		mediansLeaf,
		draw,
		acc.medians.Bound(),
	)
	return chosen.Value(), err
}

// splitNodes draws the medians of nodes and opens their children. All other nodes remain leaves.
func (g *grower) splitNodes(ctx context.Context, level int, large []int) error {
	next := g.routes.clone() // passes may still use the old ones
	next.Open = large
	chosen, err := g.releaseMedians(ctx, level, next)
	if err != nil {
		return err
	}
	next.Open = nil
	for k, at := range large {
		low := len(g.nodes)
		next.Nodes[at] = route{
			Weights:   g.nodes[at].route,
			Threshold: medianPoints()[chosen[k]],
			Low:       low,
			High:      low + 1,
		}
		next.Nodes = append(next.Nodes, route{}, route{})
		next.Open = append(next.Open, low, low+1)
		g.nodes = append(g.nodes, nil, nil)
	}
	g.routes = next
	return nil
}
