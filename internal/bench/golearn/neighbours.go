package golearn

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/sjwhitworth/golearn/kdtree"
	"github.com/sjwhitworth/golearn/metrics/pairwise"

	"github.com/dptrain/dptrain/dataset"
)

// neighbours is the number of nearest rows that decide, that of golearn's examples and of scikit-learn.
const neighbours = 5

// farFromOrigin is added to every coordinate: golearn counts an absent child of its k-d tree as a point at the origin,
// which must be farther away than every row. Coordinates are within maxDeviations of it.
const farFromOrigin = 1e4

// A nearest model keeps the distinct training rows in a k-d tree of golearn.
type nearest struct {
	features []int
	scales   []scale
	levels   []int // number of 0/1 columns of a category feature; 0 for a number
	tree     *kdtree.Tree
	points   int
	rows     []float64   // number of training rows at a point
	sums     [][]float64 // by point: rows of each class, or the sum of the targets
}

// trainNeighbours stores the rows with a target. Errors: [ErrRows], or that of ctx.
func trainNeighbours(
	ctx context.Context,
	v dataset.View,
	target int,
	features []int,
	classes bool,
) (Model, error) {
	rows, y := withTarget(v, target, classes)
	if len(rows) == 0 {
		return nil, ErrRows
	}
	width := 1
	if classes {
		width = len(v.Schema().Columns[target].Categories)
	}
	m := &nearest{features: features}
	all := v.Block(0, v.Len())
	for _, j := range features {
		c := v.Schema().Columns[j]
		if c.Kind == dataset.Numeric {
			m.scales = append(m.scales, newScale(all.Float(j, make([]float64, v.Len()))))
			m.levels = append(m.levels, 0)
			continue
		}
		levels := len(c.Categories)
		if c.Other {
			levels++
		}
		m.scales = append(m.scales, scale{})
		m.levels = append(m.levels, levels)
	}
	coordinates := m.coordinates(v)
	index := map[string]int{}
	var points [][]float64
	for i, row := range rows {
		key := keyOf(coordinates[row])
		at, seen := index[key]
		if !seen {
			at = len(points)
			index[key] = at
			points = append(points, coordinates[row])
			m.rows = append(m.rows, 0)
			m.sums = append(m.sums, make([]float64, width))
		}
		m.rows[at]++
		if classes {
			m.sums[at][int(y[i])]++
		} else {
			m.sums[at][0] += y[i]
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.points = len(points)
	m.tree = kdtree.New()
	return m, m.tree.Build(points)
}

// coordinates returns the point of every row: standardised numbers, and a category as one 0/1 column per value.
func (m *nearest) coordinates(v dataset.View) [][]float64 {
	all := v.Block(0, v.Len())
	width := 0
	for _, levels := range m.levels {
		width += max(1, levels)
	}
	points := make([][]float64, v.Len())
	for i := range points {
		points[i] = make([]float64, width)
		for k := range points[i] {
			points[i][k] = farFromOrigin
		}
	}
	at := 0
	for k, j := range m.features {
		if m.levels[k] == 0 {
			for i, x := range all.Float(j, make([]float64, v.Len())) {
				points[i][at] += m.scales[k].apply(x)
			}
			at++
			continue
		}
		for i, code := range all.Codes(j, make([]int32, v.Len())) {
			if int(code) < m.levels[k] {
				points[i][at+int(code)]++
			}
		}
		at += m.levels[k]
	}
	return points
}

// keyOf returns the bytes of a point.
func keyOf(point []float64) string {
	var bytes []byte
	for _, x := range point {
		bytes = binary.BigEndian.AppendUint64(bytes, math.Float64bits(x))
	}
	return string(bytes)
}

// Predict returns the mean target of the nearest rows, or their most frequent class, the first among equals. If a group
// of equal rows is larger than the remaining number of neighbours, each row counts as a fraction.
func (m *nearest) Predict(
	ctx context.Context,
	v dataset.View,
) ([]float64, error) {
	out := make([]float64, v.Len())
	width := len(m.sums[0])
	for i, point := range m.coordinates(v) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, _, err := m.tree.Search(
			min(neighbours, m.points),
			pairwise.NewEuclidean(),
			point,
		)
		if err != nil {
			return nil, err
		}
		votes := make([]float64, width)
		left := float64(neighbours)
		for _, at := range found {
			share := min(1, left/m.rows[at])
			for k, sum := range m.sums[at] {
				votes[k] += share * sum
			}
			if left -= share * m.rows[at]; left <= 0 {
				break
			}
		}
		if width == 1 {
			out[i] = votes[0] / (neighbours - left)
		} else {
			out[i] = float64(largest(votes))
		}
	}
	return out, nil
}
