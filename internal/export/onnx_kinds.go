package export

import (
	"math"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/regression"
)

func (x *onnxModel) clipped(m *regression.ClippedLinear, sum string) string {
	norm := []string{x.op("Add", []string{x.op("Mul", []string{x.zero(&m.Linear), x.row(0)}), x.row(m.Constant * m.Constant)})}
	for i := range m.Columns {
		c := &m.Columns[i]
		cell := x.cell(c)
		if c.Type == regression.Category {
			least := int64(0)
			if c.Other {
				least = -1
			}
			norm = append(norm, x.cast(x.op("GreaterOrEqual", []string{cell.code, x.integers(least)}), onnxDouble))
			continue
		}
		z := x.op("Div", []string{x.op("Sub", []string{cell.value, x.row(c.Lower/2 + c.Upper/2)}), x.row(c.Upper/2 - c.Lower/2)})
		z = x.clamp(z, -1, 1)
		norm = append(norm, x.op("Mul", []string{z, z}))
	}
	for _, t := range m.Terms {
		if t.Missing {
			norm = append(norm, x.op("Mul", []string{x.cell(&m.Columns[t.Column]).missing, x.row(regression.MissingSquare)}))
		}
	}
	center := m.Lower/2 + m.Upper/2
	if m.Center != nil {
		center = *m.Center
	}
	n := x.sum(norm)
	shorter := x.op("Mul", []string{x.op("Div", []string{x.row(m.Norm), x.op("Sqrt", []string{n})}), x.op("Sub", []string{sum, x.row(center)})})
	return x.op("Where", []string{x.op("Greater", []string{n, x.row(m.Norm * m.Norm)}), x.op("Add", []string{shorter, x.row(center)}), sum})
}

func (x *onnxModel) additive(m *regression.Additive, total string) string {
	for _, s := range m.Shapes {
		total = x.op("Add", []string{total, x.step(s.Step, x.cell(&m.Columns[s.Column]).value)})
	}
	if s := m.Score; s != nil {
		terms := append([]regression.Term(nil), m.Terms...)
		for i := range terms {
			terms[i].Coefficient = s.Coefficients[i]
		}
		total = x.op("Add", []string{total, x.step(s.Step, x.sums(&m.Linear, []line{{s.Intercept, terms}}))})
	}
	return total
}

// step looks numbers up: the value after the edges that are at most the number.
func (x *onnxModel) step(s regression.Step, of string) string {
	if len(s.Edges) == 0 {
		return x.row(s.Values[0])
	}
	above := x.cast(x.op("GreaterOrEqual", []string{of, x.row(s.Edges...)}), onnxInt64)
	return x.op("Gather", []string{x.list(s.Values), x.op("ReduceSum", []string{above, x.integers(1)}, integerAttribute("keepdims", 1))})
}

func (x *onnxModel) votes(m *regression.Votes, total string) string {
	if len(m.Members) == 0 {
		return total
	}
	lines := make([]line, len(m.Members))
	weights := make([]float64, len(m.Members))
	against := make([]float64, len(m.Members))
	for i, v := range m.Members {
		lines[i], weights[i], against[i] = line{v.Intercept, v.Terms}, v.Weight, -v.Weight
	}
	yes := x.op("GreaterOrEqual", []string{x.sums(&m.Linear, lines), x.row(0)})
	return x.op("Add", []string{total, x.across("ReduceSum", x.op("Where", []string{yes, x.row(weights...), x.row(against...)}))})
}

// across reduces every row to one number.
func (x *onnxModel) across(kind, of string) string {
	return x.op(kind, []string{of, x.integers(1)}, integerAttribute("keepdims", 1))
}

// tree adds the score of the leaf of each record. A record is at a leaf if it turns low where the way there does, and
// high where that does: the number of turns that agree is the length of the way.
func (x *onnxModel) tree(m *regression.Tree, total string) string {
	t := treeWays{m: m, place: map[int]int{}}
	t.walk(0, nil)
	leaves := x.sums(&m.Linear, t.leaves)
	if len(t.splits) == 0 {
		return x.op("Add", []string{total, leaves})
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
	low := x.cast(x.op("LessOrEqual", []string{x.sums(&m.Linear, t.splits), x.row(t.thresholds...)}), onnxDouble)
	agree := x.op("Add", []string{x.op("MatMul", []string{low, x.matrix(len(t.leaves), matrix)}), x.row(highs...)})
	there := x.op("Equal", []string{x.cast(agree, onnxInt64), x.cast(x.row(lengths...), onnxInt64)})
	return x.op("Add", []string{total, x.across("ReduceSum", x.op("Where", []string{there, leaves, x.row(0)}))})
}

// treeWays collects the splits, the leaves and the way to each leaf.
type treeWays struct {
	m              *regression.Tree
	splits, leaves []line
	thresholds     []float64
	ways           [][]turn
	place          map[int]int
}

type turn struct {
	split int
	high  bool
}

func (t *treeWays) walk(at int, way []turn) {
	n := &t.m.Nodes[at]
	if n.Low == 0 && n.High == 0 {
		t.leaves, t.ways = append(t.leaves, line{n.Intercept, n.Terms}), append(t.ways, append([]turn(nil), way...))
		return
	}
	split := len(t.splits)
	t.splits, t.thresholds = append(t.splits, line{n.Intercept, n.Terms}), append(t.thresholds, n.Threshold)
	t.walk(n.Low, append(way, turn{split, false}))
	t.walk(n.High, append(way, turn{split, true}))
}

func (x *onnxModel) prototypes(m *regression.Prototypes, total string) string {
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
			scores := x.clamp(x.sums(&m.Linear, sides[side]), m.Lower, m.Upper)
			largest := x.across("ReduceMax", scores)
			rest := x.across("ReduceSum", x.op("Exp", []string{x.op("Sub", []string{scores, largest})}))
			total = x.op(kind, []string{total, x.op("Add", []string{largest, x.op("Log", []string{rest})})})
		}
	}
	return total
}

// bins returns the inputs of the kernels for a record, as integers.
func (x *onnxModel) bins(m *regression.Kernel) []string {
	out := make([]string, len(m.Cells))
	for i, in := range m.Cells {
		c := &m.Columns[in.Column]
		cell := x.cell(c)
		switch in.Of {
		case kernelmap.Categories:
			table := make([]int64, 1, len(in.Bins)) // others come first here
			for k, b := range in.Bins {
				if k == len(in.Bins)-1 {
					table[0] = int64(b)
				} else {
					table = append(table, int64(b))
				}
			}
			out[i] = x.op("Gather", []string{x.integers(table...), x.op("Add", []string{cell.code, x.integers(1)})})
		case kernelmap.Missing:
			out[i] = x.cast(cell.missing, onnxInt64)
		default:
			half := c.Upper/2 - c.Lower/2
			scale := 0.
			if half > 0 {
				scale = kernelmap.CellOne / half
			}
			z := x.op("Mul", []string{x.op("Sub", []string{cell.value, x.row(c.Lower/2 + c.Upper/2)}), x.row(scale)})
			whole := x.cast(x.clamp(z, -kernelmap.CellOne, kernelmap.CellOne), onnxInt64)
			bin := x.op("Div", []string{x.op("Add", []string{whole, x.integers(kernelmap.CellOne)}), x.integers(2 * kernelmap.CellOne / 256)})
			out[i] = x.op("Min", []string{bin, x.integers(255)})
		}
	}
	return out
}

// kernel adds the features of a map times coefficients up, in whole numbers that doubles hold exactly but for the
// last step, as [kernelmap.Map] does.
func (x *onnxModel) kernel(k kernelmap.Term, landmarks [][]uint8, bins []string) string {
	dims := 0
	if len(k.Map.Metric) > 0 {
		dims = len(k.Map.Metric[0])
	}
	if dims == 0 || len(k.Map.Weights) == 0 || len(landmarks) == 0 {
		return x.row(0)
	}
	reach := math.Floor(math.MaxInt16 / math.Sqrt(float64(dims)))
	var cells []string
	var metric []float64
	for i, c := range k.Map.Coordinates {
		values := make([]float64, 256) // 0 beyond the table
		for b, v := range c.Values {
			values[b] = float64(v)
		}
		cells = append(cells, x.op("Gather", []string{x.list(values), bins[c.Input]}))
		for _, v := range k.Map.Metric[i] {
			metric = append(metric, float64(v))
		}
	}
	point := x.wrapped(x.op("MatMul", []string{x.concat(cells), x.matrix(dims, metric)}))
	point = x.op("Sub", []string{x.op("Div", []string{x.op("Add", []string{point, x.integers(1 << 31)}), x.integers(1 << 13)}), x.integers(1 << 18)})
	here := x.clamp(x.cast(point, onnxDouble), -reach, reach)

	points := mapPoints(k.Map, landmarks, int32(reach))
	squares := make([]float64, len(landmarks))
	turned := make([]float64, dims*len(landmarks))
	for i, p := range points {
		for j, v := range p {
			turned[j*len(points)+i] = -2 * float64(v)
			squares[i] += float64(v) * float64(v)
		}
	}
	own := x.across("ReduceSum", x.op("Mul", []string{here, here}))
	d := x.op("Add", []string{x.op("MatMul", []string{here, x.matrix(len(points), turned)}), x.op("Add", []string{own, x.row(squares...)})})
	near := x.cast(x.near(d), onnxDouble)

	weights := make([]float64, len(points)*len(k.Map.Weights))
	scales := make([]float64, len(k.Map.Weights))
	for j, row := range k.Map.Weights {
		scales[j] = math.Ldexp(1, -int(k.Map.Shifts[j]))
		for i, w := range row {
			weights[i*len(scales)+j] = float64(w)
		}
	}
	q := x.cast(x.wrapped(x.op("MatMul", []string{near, x.matrix(len(scales), weights)})), onnxDouble)
	q = x.op("Mul", []string{q, x.row(scales...)})
	length := x.op("Sqrt", []string{x.across("ReduceSum", x.op("Mul", []string{q, q}))})
	const one = 1 << kernelmap.FeatureBits
	by := x.op("Div", []string{x.row(one * (1 - 0x1p-30)), x.op("Max", []string{length, x.row(kernelmap.Shortest)})})
	features := x.cast(x.cast(x.op("Mul", []string{q, by}), onnxInt64), onnxDouble)
	sum := x.across("ReduceSum", x.op("Mul", []string{features, x.row(k.Coefficients...)}))
	return x.op("Div", []string{sum, x.row(one)})
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

// wrapped makes whole numbers of doubles, modulo 2^32 and around 0.
func (x *onnxModel) wrapped(v string) string {
	v = x.op("Add", []string{x.cast(v, onnxInt64), x.integers(1 << 31)})
	return x.op("Sub", []string{x.op("BitwiseAnd", []string{v, x.integers(1<<32 - 1)}), x.integers(1 << 31)})
}

// near is the kernel of squared distances, on the grid 2^-14: 2^-d/65536 by a polynomial of the fraction.
func (x *onnxModel) near(d string) string {
	d = x.op("BitwiseAnd", []string{x.cast(d, onnxInt64), x.integers(1<<32 - 1)})
	f := x.op("BitwiseAnd", []string{d, x.integers(1<<16 - 1)})
	scaled := func(v string) string {
		return x.op("Div", []string{x.op("Mul", []string{f, v}), x.integers(1 << 16)})
	}
	less := func(from int64, v string) string { return x.op("Sub", []string{x.integers(from), v}) }
	p := less(1<<16-1, scaled(less(45340, scaled(less(15200, scaled(x.integers(2632)))))))
	powers := make([]int64, 33)
	for i := range powers {
		powers[i] = 1 << i
	}
	shift := x.op("Min", []string{x.op("Div", []string{d, x.integers(1 << 16)}), x.integers(32)})
	p = x.op("Div", []string{p, x.op("Gather", []string{x.integers(powers...), shift})})
	return x.op("Div", []string{p, x.integers(4)})
}
