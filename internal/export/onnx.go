package export

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// ONNX writes an ONNX graph in double precision, with operators of ai.onnx 18 and ai.onnx.ml 2. It has one
// input per column, of shape records x 1: doubles, NaN or infinite for missing numbers, or texts without
// surrounding spaces. Its outputs are prediction, or for a classifier class and, if the model has them,
// probabilities with one column per class. An output with the name of an input gets a trailing underscore.
// Errors are as for [Python], or report a column without a name.
func ONNX(w io.Writer, m regression.Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if err := exactTexts(m, "ONNX"); err != nil {
		return err
	}
	var names []string
	for _, c := range m.Inputs() {
		if c.Name == "" {
			return fmt.Errorf("a model with a column that has no name %w to ONNX", ErrKind)
		}
		names = append(names, c.Name)
	}
	x := onnxModel{
		onnxGraph: newONNXGraph(names),
		treated:   map[string]onnxCell{},
		names:     names,
	}
	for _, c := range m.Inputs() {
		kind := int64(onnxDouble)
		if c.Type == regression.Category {
			kind = onnxString
		}
		x.inputs = append(x.inputs, x.encodeValueInfo(c.Name, kind, 1))
	}
	if err := x.outputsOf(m); err != nil {
		return err
	}
	_, err := w.Write(
		x.encodeModel("Predictions of a model that dptrain trained for " + m.Output().Target))
	return err
}

// An onnxModel is a graph that predicts.
type onnxModel struct {
	*onnxGraph
	names   []string
	treated map[string]onnxCell // by column and its properties
}

// An onnxCell is a treated cell: for a number its value and 1 if it is missing, for a category its code, or -1 for
// others.
type onnxCell struct{ value, missing, code string }

// unusedName returns a name that is not the name of an input.
func (x *onnxModel) unusedName(name string) string {
	for slices.Contains(x.names, name) {
		name += "_"
	}
	return name
}

func (x *onnxModel) outputsOf(m regression.Model) error {
	var scores []string
	for _, s := range scoresOf(m) {
		score, err := x.modelScore(s)
		if err != nil {
			return err
		}
		scores = append(scores, score)
	}
	c, ok := m.(*regression.Classifier)
	if !ok {
		x.addOutput(
			x.unusedName("prediction"),
			x.undoTransform(regression.LinearPart(m), scores[0]),
			onnxDouble,
			1,
		)
		return nil
	}
	all := x.concatColumns(scores)
	var place string
	if len(scores) == 1 {
		place = x.addOp("Reshape",
			[]string{x.castTo(x.addOp("Greater", []string{all, x.rowConstant(c.Cutoff)}),
				onnxInt64), x.integerConstant(-1)})
	} else {
		place = x.addOp(
			"ArgMax",
			[]string{all},
			integerAttribute("axis", 1),
			integerAttribute("keepdims", 0),
		)
	}
	x.addOutput(
		x.unusedName("class"),
		x.addOp("Gather", []string{x.textConstant(c.Classes), place}),
		onnxString,
		0,
	)
	switch {
	case c.Probability != nil:
		second := x.probabilityOf(c.Probability, all)
		x.addOutput(x.unusedName("probabilities"),
			x.concatColumns([]string{x.addOp("Sub", []string{x.rowConstant(1), second}), second}),
			onnxDouble, 2)
	case scoresAreLogarithms(c):
		p := x.addOp("Softmax", []string{all}, integerAttribute("axis", 1))
		x.addOutput(x.unusedName("probabilities"), p, onnxDouble, len(scores))
	}
	return nil
}

// probabilityOf returns the probability of the second class at a score.
func (x *onnxModel) probabilityOf(
	p *regression.Probability,
	score string,
) string {
	if len(p.Scores) == 0 {
		z := x.addOp("Add",
			[]string{x.addOp("Mul", []string{score, x.rowConstant(p.Slope)}),
				x.rowConstant(p.Intercept)})
		one := x.rowConstant(1)
		return x.addOp("Div",
			[]string{one,
				x.addOp("Add",
					[]string{one, x.addOp("Exp", []string{x.addOp("Neg", []string{z})})})})
	}
	out := x.addOp("Add",
		[]string{x.addOp("Mul", []string{score, x.rowConstant(0)}), x.rowConstant(p.Values[0])})
	for k := 1; k < len(p.Scores); k++ {
		from := p.Scores[k-1]
		width := p.Scores[k] - p.Scores[k-1]
		share := x.addOp("Div",
			[]string{x.addOp("Sub", []string{score, x.rowConstant(from)}), x.rowConstant(width)})
		out = x.addOp("Add",
			[]string{out,
				x.addOp("Mul",
					[]string{x.clamp(share, 0, 1), x.rowConstant(p.Values[k] - p.Values[k-1])})})
	}
	return out
}

// treatCells treats the cells of a column.
func (x *onnxModel) treatCells(c *regression.Column) onnxCell {
	key := fmt.Sprintf("%+v", *c)
	if t, ok := x.treated[key]; ok {
		return t
	}
	var t onnxCell
	if c.Type == regression.Category {
		texts := namesOf(c).Texts()
		names := slices.Sorted(maps.Keys(texts))
		codes := make([]int64, len(names))
		for i, name := range names {
			codes[i] = int64(texts[name])
		}
		if len(names) == 0 { // every cell is other
			codes = []int64{-1}
			names = []string{""}
		}
		t.code = x.addNode(onnxML, "LabelEncoder", []string{c.Name}, x.newName(), [][]byte{
			integerAttribute("default_int64", -1), stringsAttribute("keys_strings", names),
			integersAttribute("values_int64s", codes),
		})
	} else {
		missing := x.addOp("Or",
			[]string{x.addOp("IsNaN", []string{c.Name}), x.addOp("IsInf", []string{c.Name})})
		t.missing = x.castTo(missing, onnxDouble)
		t.value = x.addOp("Where",
			[]string{missing, x.rowConstant(min(max(c.Missing, c.Lower), c.Upper)),
				x.clamp(c.Name, c.Lower, c.Upper)})
	}
	x.treated[key] = t
	return t
}

func (x *onnxModel) clamp(v string, lower, upper float64) string {
	return x.addOp("Min",
		[]string{x.addOp("Max", []string{v, x.rowConstant(lower)}), x.rowConstant(upper)})
}

// undoTransform is the mean of the target at a score of a model; the score itself if the target is not transformed.
func (x *onnxModel) undoTransform(m *regression.Linear, score string) string {
	if m == nil || m.Back == nil {
		return score
	}
	line := x.addOp("Add",
		[]string{x.addOp("Mul", []string{score, x.rowConstant(m.Back.Slope)}),
			x.rowConstant(m.Back.Intercept)})
	score = x.clamp(line, m.Lower, m.Upper)
	if m.Back.Transform == string(rescale.Log) {
		z := x.addOp("Min",
			[]string{x.addOp("Add", []string{score, x.rowConstant(m.Back.Variance / 2)}),
				x.rowConstant(rescale.MostLog)})
		return x.clamp(x.addOp("Exp", []string{z}), m.Back.Lower, m.Back.Upper)
	}
	root := x.clamp(score, 0, rescale.MostRoot)
	return x.clamp(
		x.addOp("Add",
			[]string{x.addOp("Mul", []string{root, root}), x.rowConstant(m.Back.Variance)}),
		m.Back.Lower,
		m.Back.Upper,
	)
}

func (x *onnxModel) addUp(list []string) string {
	out := list[0]
	for _, v := range list[1:] {
		out = x.addOp("Add", []string{out, v})
	}
	return out
}

// A design is the set of columns that linear sums multiply: for a number its value and whether it is missing, for a
// category one column for others and one for each category.
type design struct {
	columns string
	width   int
	first   []int // for each column of the model; -1 if it is in no sum
	model   *regression.Linear
}

// concatDesign concatenates the columns used by any of the terms.
func (x *onnxModel) concatDesign(
	m *regression.Linear,
	terms ...[]regression.Term,
) design {
	d := design{
		model: m,
		first: make([]int, len(m.Columns)),
	}
	for i := range d.first {
		d.first[i] = -1
	}
	for _, list := range terms {
		for _, t := range list {
			d.first[t.Column] = 0
		}
	}
	var parts []string
	for i := range m.Columns {
		c := &m.Columns[i]
		if d.first[i] < 0 {
			continue
		}
		d.first[i] = d.width
		cell := x.treatCells(c)
		if c.Type == regression.Category {
			codes := make([]int64, len(c.Categories)+1)
			for k := range codes {
				codes[k] = int64(k) - 1
			}
			parts = append(parts,
				x.castTo(x.addOp("Equal", []string{cell.code, x.integerConstant(codes...)}),
					onnxDouble))
			d.width += len(codes)
			continue
		}
		parts = append(parts, cell.value, cell.missing)
		d.width += 2
	}
	if d.width > 0 {
		d.columns = x.concatColumns(parts)
	}
	return d
}

// termWeights returns the coefficients of terms by the columns of a design.
func (d *design) termWeights(terms []regression.Term) []float64 {
	out := make([]float64, d.width)
	for _, t := range terms {
		at := d.first[t.Column]
		c := &d.model.Columns[t.Column]
		switch {
		case t.Missing:
			at++
		case c.Type == regression.Category && !t.Other:
			at += 1 + slices.Index(c.Categories, t.Category)
		}
		out[at] += t.Coefficient
	}
	return out
}

// A line is a linear sum.
type line struct {
	intercept float64
	terms     []regression.Term
}

// linearSums returns the concatenation of linear sums.
func (x *onnxModel) linearSums(m *regression.Linear, lines []line) string {
	lists := make([][]regression.Term, len(lines))
	intercepts := make([]float64, len(lines))
	for i, l := range lines {
		lists[i] = l.terms
		intercepts[i] = l.intercept
	}
	d := x.concatDesign(m, lists...)
	if d.width == 0 { // as many rows as records
		return x.addOp("Add",
			[]string{x.addOp("Mul", []string{x.zeroColumn(m), x.rowConstant(0)}),
				x.rowConstant(intercepts...)})
	}
	matrix := make([]float64, d.width*len(lines))
	for j, l := range lines {
		for i, w := range d.termWeights(l.terms) {
			matrix[i*len(lines)+j] = w
		}
	}
	return x.addOp("Add",
		[]string{x.addOp("MatMul", []string{d.columns, x.matrixConstant(len(lines), matrix)}),
			x.rowConstant(intercepts...)})
}

// zeroColumn is a column of finite numbers, one per record.
func (x *onnxModel) zeroColumn(m *regression.Linear) string {
	cell := x.treatCells(&m.Columns[0])
	if cell.value != "" {
		return cell.value
	}
	return x.castTo(cell.code, onnxDouble)
}

// modelScore returns the score of a model with a number for its prediction.
func (x *onnxModel) modelScore(m regression.Model) (string, error) {
	linear := regression.LinearPart(m)
	if linear == nil || len(linear.Columns) == 0 {
		return "", fmt.Errorf("a model of the kind %q %w to ONNX", m.Kind(), ErrKind)
	}
	total := x.linearSums(linear, []line{{linear.Intercept, linear.Terms}})
	switch m := m.(type) {
	case *regression.Linear:
	case *regression.ClippedLinear:
		total = x.clippedScore(m, total)
	case *regression.Additive:
		total = x.additiveScore(m, total)
	case *regression.Kernel:
		total = x.additiveScore(&m.Additive, total)
		bins := x.kernelBins(m)
		for _, k := range m.Kernels {
			total = x.addOp("Add", []string{total, x.kernelSum(k, m.Landmarks, bins)})
		}
	case *regression.Votes:
		total = x.votesScore(m, total)
	case *regression.Tree:
		total = x.treeScore(m, total)
	case *regression.Prototypes:
		total = x.prototypesScore(m, total)
	default:
		return "", fmt.Errorf("a model of the kind %q %w to ONNX", m.Kind(), ErrKind)
	}
	return x.clamp(total, linear.Lower, linear.Upper), nil
}
