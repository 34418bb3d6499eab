package costtree

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// sharpness is the slope of the logistic function that assigns records in a soft tree.
const sharpness = 1

// routes assigns records to the nodes of a level. They consist of released values only, so the path of a record
// depends on that record only. Fields are exported for serialisation to the workers that hold the records.
type routes struct {
	Soft  bool
	Nodes []route // the root first, parents before their children
	Open  []int   // the nodes of the level
}

// A route is the rule of an inner node: a record goes low if its score, Weights times the row, is at most
// Threshold, and high otherwise. A leaf has no children.
type route struct {
	Weights   []float64
	Threshold float64
	Low, High int
}

func (r routes) clone() routes {
	r.Nodes = slices.Clone(r.Nodes)
	return r
}

// A router is a buffer for the weights of the records of a block in every node.
type router struct {
	routes
	weights [][]float64
	scores  []float64
	open    [][]float64
}

// nodeWeights returns the weights of the rows in the open nodes: at least 0, with a sum of at most 1 per record. In a
// hard tree one of them is 1 and the others are 0.
func (r *router) nodeWeights(x *rows) [][]float64 {
	n := len(x.X[0])
	for len(r.weights) < len(r.Nodes) {
		r.weights = append(r.weights, nil)
	}
	for k := range r.weights {
		r.weights[k] = resizeBuffer(r.weights[k], n)
		clear(r.weights[k])
	}
	for i := range r.weights[0] {
		r.weights[0][i] = 1
	}
	r.scores = resizeBuffer(r.scores, n)
	for k, node := range r.Nodes {
		if node.Low == 0 {
			continue
		}
		x.scoreInto(r.scores, node.Weights)
		low := r.weights[node.Low]
		high := r.weights[node.High]
		for i, w := range r.weights[k] {
			up := r.highShare(r.scores[i], node.Threshold)
			high[i] = w * up
			low[i] = w - high[i]
		}
	}
	r.open = r.open[:0]
	for _, k := range r.Open {
		r.open = append(r.open, r.weights[k])
	}
	return r.open
}

// highShare returns the share of a record that goes high.
func (r *router) highShare(score, threshold float64) float64 {
	switch {
	case r.Soft:
		return sigmoid(sharpness * (score - threshold))
	case score <= threshold:
		return 0
	}
	return 1
}

func resizeBuffer(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// gramsStatistic is the matrices of second moments of the open nodes.
type gramsStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Routes  routes
}

// New implements [mechanism.Statistic].
func (x gramsStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := newFrame(x.Columns, x.Ranges)
	return &gramsPass{newRows(f), router{routes: x.Routes},
		m.NewNodeGrams(len(x.Routes.Open), f.side, f.enc.NormLimit(linear.Kappa))}
}

type gramsPass struct {
	rows   rows
	router router
	grams  *mechanism.NodeGrams
}

func (p *gramsPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	weights := p.router.nodeWeights(&p.rows) // before the rows are limited, as in predictions
	p.grams.Add(p.rows.X, weights)
}

func (p *gramsPass) Cells() mechanism.Cells {
	return p.grams.Cells()
}

// mediansStatistic is the distribution of the scores of the open nodes over their records.
type mediansStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Routes  routes
	Scores  [][]float64 // weights of the rows, by open node
}

// New implements [mechanism.Statistic].
func (x mediansStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := newFrame(x.Columns, x.Ranges)
	return &mediansPass{
		rows:    newRows(f),
		router:  router{routes: x.Routes},
		by:      x.Scores,
		values:  make([][]float64, len(x.Scores)),
		medians: m.NewMedians(len(x.Routes.Open), medianPoints()),
	}
}

type mediansPass struct {
	rows    rows
	router  router
	by      [][]float64
	values  [][]float64
	medians *mechanism.Medians
}

func (p *mediansPass) Add(b mechanism.Block) {
	p.rows.Encode(b.Block)
	weights := p.router.nodeWeights(&p.rows)
	for k, by := range p.by {
		p.values[k] = resizeBuffer(p.values[k], b.Len())
		p.rows.scoreInto(p.values[k], by)
	}
	p.medians.Add(p.values, weights)
}

func (p *mediansPass) Cells() mechanism.Cells {
	return p.medians.Cells()
}
