package export

import (
	"math"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/regression"
)

func (x *onnxModel) clippedScore(
	m *regression.ClippedLinear,
	sum string,
) string {
	norm := []string{x.addOp("Add",
		[]string{x.addOp("Mul", []string{x.zeroColumn(&m.Linear), x.rowConstant(0)}),
			x.rowConstant(m.Constant * m.Constant)})}
	for i := range m.Columns {
		c := &m.Columns[i]
		cell := x.treatCells(c)
		if c.Type == regression.Category {
			least := int64(0)
			if c.Other {
				least = -1
			}
			norm = append(norm,
				x.castTo(x.addOp("GreaterOrEqual", []string{cell.code, x.integerConstant(least)}),
					onnxDouble))
			continue
		}
		z := x.addOp("Div",
			[]string{x.addOp("Sub", []string{cell.value, x.rowConstant(c.Lower/2 + c.Upper/2)}),
				x.rowConstant(c.Upper/2 - c.Lower/2)})
		z = x.clamp(z, -1, 1)
		norm = append(norm, x.addOp("Mul", []string{z, z}))
	}
	for _, t := range m.Terms {
		if t.Missing {
			norm = append(norm,
				x.addOp("Mul",
					[]string{x.treatCells(&m.Columns[t.Column]).missing,
						x.rowConstant(regression.MissingSquare)}))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	n := x.addUp(norm)
	shorter := x.addOp("Mul",
		[]string{x.addOp("Div", []string{x.rowConstant(m.Norm), x.addOp("Sqrt", []string{n})}),
			x.addOp("Sub", []string{sum, x.rowConstant(center)})})
	return x.addOp("Where",
		[]string{x.addOp("Greater", []string{n, x.rowConstant(m.Norm * m.Norm)}),
			x.addOp("Add", []string{shorter, x.rowConstant(center)}), sum})
}

func (x *onnxModel) additiveScore(m *regression.Additive, total string) string {
	for _, s := range m.Shapes {
		total = x.addOp("Add",
			[]string{total, x.stepLookup(s.Step, x.treatCells(&m.Columns[s.Column]).value)})
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		total = x.addOp("Add",
			[]string{total,
				x.stepLookup(s.Step, x.linearSums(&m.Linear, []line{{s.Intercept, terms}}))})
	}
	return total
}

// stepLookup looks up the value of a step function for each number: that after the last edge not above the number.
func (x *onnxModel) stepLookup(s regression.Step, of string) string {
	if len(s.Edges) == 0 {
		return x.rowConstant(s.Values[0])
	}
	above := x.castTo(x.addOp("GreaterOrEqual", []string{of, x.rowConstant(s.Edges...)}), onnxInt64)
	return x.addOp("Gather",
		[]string{x.vectorConstant(s.Values),
			x.addOp("ReduceSum", []string{above, x.integerConstant(1)},
				integerAttribute("keepdims", 1))})
}

func (x *onnxModel) votesScore(m *regression.Votes, total string) string {
	if len(m.Members) == 0 {
		return total
	}
	lines := make([]line, len(m.Members))
	weights := make([]float64, len(m.Members))
	against := make([]float64, len(m.Members))
	for i, v := range m.Members {
		lines[i] = line{v.Intercept, v.Terms}
		weights[i] = v.Weight
		against[i] = -v.Weight
	}
	yes := x.addOp("GreaterOrEqual", []string{x.linearSums(&m.Linear, lines), x.rowConstant(0)})
	return x.addOp("Add",
		[]string{total,
			x.reduceRows("ReduceSum",
				x.addOp("Where",
					[]string{yes, x.rowConstant(weights...), x.rowConstant(against...)}))})
}

// reduceRows reduces every row to one number.
func (x *onnxModel) reduceRows(kind, of string) string {
	return x.addOp(
		kind,
		[]string{of, x.integerConstant(1)},
		integerAttribute("keepdims", 1),
	)
}

// treeScore adds the score of the leaf of each record. A record is in a leaf if at each split on the path to the leaf
// it turns in the direction of the path: the number of turns that agree is the length of the path.
func (x *onnxModel) treeScore(m *regression.Tree, total string) string {
	t := treePaths{m: m, place: map[int]int{}}
	t.collectPaths(0, nil)
	leaves := x.linearSums(&m.Linear, t.leaves)
	if len(t.splits) == 0 {
		return x.addOp("Add", []string{total, leaves})
	}
	matrix := make([]float64, len(t.splits)*len(t.leaves))
	lengths := make([]float64, len(t.leaves))
	highs := make([]float64, len(t.leaves))
	for j, way := range t.ways {
		lengths[j] = float64(len(way))
		for _, turn := range way {
			sign := 1.
			if turn.high {
				sign = -1
				highs[j]++
			}
			matrix[turn.split*len(t.leaves)+j] = sign
		}
	}
	low := x.castTo(
		x.addOp("LessOrEqual",
			[]string{x.linearSums(&m.Linear, t.splits), x.rowConstant(t.thresholds...)}),
		onnxDouble)
	agree := x.addOp("Add",
		[]string{x.addOp("MatMul", []string{low, x.matrixConstant(len(t.leaves), matrix)}),
			x.rowConstant(highs...)})
	there := x.addOp("Equal",
		[]string{x.castTo(agree, onnxInt64), x.castTo(x.rowConstant(lengths...), onnxInt64)})
	return x.addOp("Add",
		[]string{total,
			x.reduceRows("ReduceSum", x.addOp("Where", []string{there, leaves, x.rowConstant(0)}))})
}

// treePaths collects the splits, the leaves and the path to each leaf.
type treePaths struct {
	m          *regression.Tree
	splits     []line
	leaves     []line
	thresholds []float64
	ways       [][]turn
	place      map[int]int
}

type turn struct {
	split int
	high  bool
}

func (t *treePaths) collectPaths(at int, way []turn) {
	n := &t.m.Nodes[at]
	if n.Low == 0 && n.High == 0 {
		t.leaves, t.ways = append(t.leaves, line{n.Intercept, n.Terms}),
			append(t.ways, append([]turn(nil), way...))
		return
	}
	split := len(t.splits)
	t.splits = append(t.splits, line{n.Intercept, n.Terms})
	t.thresholds = append(t.thresholds, n.Threshold)
	t.collectPaths(n.Low, append(way, turn{split, false}))
	t.collectPaths(n.High, append(way, turn{split, true}))
}

func (x *onnxModel) prototypesScore(
	m *regression.Prototypes,
	total string,
) string {
	var sides [2][]line
	for _, p := range m.Prototypes {
		side := 0
		if p.Against {
			side = 1
		}
		sides[side] = append(sides[side], line{p.Intercept, p.Terms})
	}
	for side, kind := range []string{"Add", "Sub"} {
		if len(sides[side]) > 0 {
			scores := x.clamp(x.linearSums(&m.Linear, sides[side]), m.Lower, m.Upper)
			largest := x.reduceRows("ReduceMax", scores)
			rest := x.reduceRows("ReduceSum",
				x.addOp("Exp", []string{x.addOp("Sub", []string{scores, largest})}))
			total = x.addOp(kind,
				[]string{total, x.addOp("Add", []string{largest, x.addOp("Log", []string{rest})})})
		}
	}
	return total
}

// kernelBins returns the inputs of the kernels for a record, as integers.
func (x *onnxModel) kernelBins(m *regression.Kernel) []string {
	out := make([]string, len(m.Cells))
	for i, in := range m.Cells {
		c := &m.Columns[in.Column]
		cell := x.treatCells(c)
		switch in.Of {
		case kernelmap.Categories:
			table := make([]int64, 1, len(in.Bins)) // other categories come first here
			for k, b := range in.Bins {
				if k == len(in.Bins)-1 {
					table[0] = int64(b)
				} else {
					table = append(table, int64(b))
				}
			}
			out[i] = x.addOp("Gather",
				[]string{x.integerConstant(table...),
					x.addOp("Add", []string{cell.code, x.integerConstant(1)})})
		case kernelmap.Missing:
			out[i] = x.castTo(cell.missing, onnxInt64)
		default:
			half := c.Upper/2 - c.Lower/2
			scale := 0.
			if half > 0 {
				scale = kernelmap.CellOne / half
			}
			z := x.addOp("Mul",
				[]string{x.addOp("Sub", []string{cell.value, x.rowConstant(c.Lower/2 + c.Upper/2)}),
					x.rowConstant(scale)})
			whole := x.castTo(x.clamp(z, -kernelmap.CellOne, kernelmap.CellOne), onnxInt64)
			bin := x.addOp("Div",
				[]string{x.addOp("Add", []string{whole, x.integerConstant(kernelmap.CellOne)}),
					x.integerConstant(2 * kernelmap.CellOne / 256)})
			out[i] = x.addOp("Min", []string{bin, x.integerConstant(255)})
		}
	}
	return out
}

// kernelSum adds up the products of the features of a map and their coefficients, in whole numbers that doubles
// represent exactly except for the last step, as [kernelmap.Map] does.
func (x *onnxModel) kernelSum(k kernelmap.Term, landmarks [][]uint8, bins []string) string {
	dims := 0
	if len(k.Map.Metric) > 0 {
		dims = len(k.Map.Metric[0])
	}
	if dims == 0 || len(k.Map.Weights) == 0 || len(landmarks) == 0 {
		return x.rowConstant(0)
	}
	reach := math.Floor(math.MaxInt16 / math.Sqrt(float64(dims)))
	var cells []string
	var metric []float64
	for i, c := range k.Map.Coordinates {
		values := make([]float64, 256) // 0 beyond the table
		for b, v := range c.Values {
			values[b] = float64(v)
		}
		cells = append(cells, x.addOp("Gather", []string{x.vectorConstant(values), bins[c.Input]}))
		for _, v := range k.Map.Metric[i] {
			metric = append(metric, float64(v))
		}
	}
	point := x.wrapToInt32(
		x.addOp("MatMul", []string{x.concatColumns(cells), x.matrixConstant(dims, metric)}))
	point = x.addOp("Sub",
		[]string{x.addOp("Div",
			[]string{x.addOp("Add", []string{point, x.integerConstant(1 << 31)}),
				x.integerConstant(1 << 13)}), x.integerConstant(1 << 18)})
	here := x.clamp(x.castTo(point, onnxDouble), -reach, reach)

	points := mapPoints(k.Map, landmarks, int32(reach))
	squares := make([]float64, len(landmarks))
	turned := make([]float64, dims*len(landmarks))
	for i, p := range points {
		for j, v := range p {
			turned[j*len(points)+i] = -2 * float64(v)
			squares[i] += float64(v) * float64(v)
		}
	}
	own := x.reduceRows("ReduceSum", x.addOp("Mul", []string{here, here}))
	d := x.addOp("Add",
		[]string{x.addOp("MatMul", []string{here, x.matrixConstant(len(points), turned)}),
			x.addOp("Add", []string{own, x.rowConstant(squares...)})})
	near := x.castTo(x.gaussianKernel(d), onnxDouble)

	weights := make([]float64, len(points)*len(k.Map.Weights))
	scales := make([]float64, len(k.Map.Weights))
	for j, row := range k.Map.Weights {
		scales[j] = math.Ldexp(1, -int(k.Map.Shifts[j]))
		for i, w := range row {
			weights[i*len(scales)+j] = float64(w)
		}
	}
	q := x.castTo(
		x.wrapToInt32(x.addOp("MatMul", []string{near, x.matrixConstant(len(scales), weights)})),
		onnxDouble)
	q = x.addOp("Mul", []string{q, x.rowConstant(scales...)})
	length := x.addOp("Sqrt", []string{x.reduceRows("ReduceSum", x.addOp("Mul", []string{q, q}))})
	const one = 1 << kernelmap.FeatureBits
	by := x.addOp("Div",
		[]string{x.rowConstant(one * (1 - 0x1p-30)),
			x.addOp("Max", []string{length, x.rowConstant(kernelmap.Shortest)})})
	features := x.castTo(x.castTo(x.addOp("Mul", []string{q, by}), onnxInt64), onnxDouble)
	sum := x.reduceRows("ReduceSum",
		x.addOp("Mul", []string{features, x.rowConstant(k.Coefficients...)}))
	return x.addOp("Div", []string{sum, x.rowConstant(one)})
}

// mapPoints returns the points of landmarks, each at most reach from 0 in every dimension.
func mapPoints(m *kernelmap.Map, landmarks [][]uint8, reach int32) [][]int32 {
	out := make([][]int32, len(landmarks))
	for i, bins := range landmarks {
		sums := make([]int32, len(m.Metric[0]))
		for k, c := range m.Coordinates {
			if bin := int(bins[c.Input]); bin < len(c.Values) {
				for j, v := range m.Metric[k] {
					sums[j] += int32(c.Values[bin]) * int32(v)
				}
			}
		}
		for j, s := range sums {
			sums[j] = min(max(s>>13, -reach), reach)
		}
		out[i] = sums
	}
	return out
}

// wrapToInt32 converts doubles to whole numbers, modulo 2^32 and around 0.
func (x *onnxModel) wrapToInt32(v string) string {
	const half = 1 << 31
	v = x.addOp("Add", []string{x.castTo(v, onnxInt64), x.integerConstant(half)})
	v = x.addOp("BitwiseAnd", []string{v, x.integerConstant(2*half - 1)})
	return x.addOp("Sub", []string{v, x.integerConstant(half)})
}

// gaussianKernel returns the kernel of squared distances, on the grid 2^-14: 2^-d/65536 by a polynomial of the
// fraction.
func (x *onnxModel) gaussianKernel(d string) string {
	const one = 1 << 16
	const mostShift = 32
	d = x.addOp("BitwiseAnd", []string{x.castTo(d, onnxInt64), x.integerConstant(1<<32 - 1)})
	fraction := x.addOp("BitwiseAnd", []string{d, x.integerConstant(one - 1)})
	p := x.integerConstant(2632)
	for _, coefficient := range []int64{15200, 45340, one - 1} {
		p = x.addOp("Mul", []string{fraction, p})
		p = x.addOp("Div", []string{p, x.integerConstant(one)})
		p = x.addOp("Sub", []string{x.integerConstant(coefficient), p})
	}
	powers := make([]int64, mostShift+1)
	for i := range powers {
		powers[i] = 1 << i
	}
	shift := x.addOp("Div", []string{d, x.integerConstant(one)})
	shift = x.addOp("Min", []string{shift, x.integerConstant(mostShift)})
	power := x.addOp("Gather", []string{x.integerConstant(powers...), shift})
	p = x.addOp("Div", []string{p, power})
	return x.addOp("Div", []string{p, x.integerConstant(4)})
}
