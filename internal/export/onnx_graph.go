package export

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The types of elements and attributes, and the versions of operators, of the ONNX format (github.com/onnx/onnx,
// onnx/onnx.proto3). Field numbers are written at their uses.
const (
	onnxInt64  = 7
	onnxString = 8
	onnxDouble = 11

	onnxVersion     = 8  // of the format
	onnxOperators   = 18 // of the domain ai.onnx
	onnxMLOperators = 2  // of the domain ai.onnx.ml
	onnxML          = "ai.onnx.ml"

	onnxAttributeInt     = 2
	onnxAttributeInts    = 7
	onnxAttributeStrings = 8
)

// A message is a protobuf message under construction. Fields are identified by their numbers.
type message []byte

func (m *message) addInteger(field protowire.Number, x int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(x)) //nolint:gosec // int64 is written as its two's complement
}

func (m *message) addBytes(field protowire.Number, x []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, x)
}

func (m *message) addText(field protowire.Number, x string) {
	m.addBytes(field, []byte(x))
}

// An onnxGraph is a graph under construction. Values are identified by name. Values have one row per record, and
// constants are rows.
type onnxGraph struct {
	nodes     [][]byte
	constants [][]byte
	inputs    [][]byte
	outputs   [][]byte
	prefix    string // prefix of the names of values, which no input has
	names     int
	known     map[string]string // names of constants, by content
}

func newONNXGraph(inputs []string) *onnxGraph {
	g := &onnxGraph{prefix: "v", known: map[string]string{}}
	for again := true; again; {
		again = false
		for _, name := range inputs {
			if strings.HasPrefix(name, g.prefix) {
				g.prefix = "v" + g.prefix
				again = true
			}
		}
	}
	return g
}

func (g *onnxGraph) newName() string {
	g.names++
	return g.prefix + strconv.Itoa(g.names)
}

// addOp adds a node and returns the name of its only value. Attributes must be sorted by name.
func (g *onnxGraph) addOp(
	kind string,
	inputs []string,
	attributes ...[]byte,
) string {
	return g.addNode("", kind, inputs, g.newName(), attributes)
}

func (g *onnxGraph) addNode(
	domain, kind string,
	inputs []string,
	output string,
	attributes [][]byte,
) string {
	var node message // NodeProto
	for _, name := range inputs {
		node.addText(1, name)
	}
	node.addText(2, output)
	node.addText(4, kind)
	for _, a := range attributes {
		node.addBytes(5, a)
	}
	if domain != "" {
		node.addText(7, domain)
	}
	g.nodes = append(g.nodes, node)
	return output
}

func integerAttribute(name string, x int64) []byte {
	var a message // AttributeProto
	a.addText(1, name)
	a.addInteger(3, x)
	a.addInteger(20, onnxAttributeInt)
	return a
}

func integersAttribute(name string, list []int64) []byte {
	var a message
	a.addText(1, name)
	for _, x := range list {
		a.addInteger(8, x)
	}
	a.addInteger(20, onnxAttributeInts)
	return a
}

func stringsAttribute(name string, list []string) []byte {
	var a message
	a.addText(1, name)
	for _, x := range list {
		a.addText(9, x)
	}
	a.addInteger(20, onnxAttributeStrings)
	return a
}

// addConstant adds a tensor, or returns the existing one with the same content.
func (g *onnxGraph) addConstant(
	kind int64,
	dims []int,
	content message,
) string {
	var t message // TensorProto
	for _, d := range dims {
		t.addInteger(1, int64(d))
	}
	t.addInteger(2, kind)
	t = append(t, content...)
	key := string(t)
	if name, ok := g.known[key]; ok {
		return name
	}
	name := g.newName()
	t.addText(8, name)
	g.constants = append(g.constants, t)
	g.known[key] = name
	return name
}

// doubleConstant is a constant of doubles.
func (g *onnxGraph) doubleConstant(values []float64, dims ...int) string {
	raw := make([]byte, 0, 8*len(values))
	for _, x := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	var content message
	content.addBytes(9, raw)
	return g.addConstant(onnxDouble, dims, content)
}

// matrixConstant is a constant of doubles, by rows.
func (g *onnxGraph) matrixConstant(columns int, values []float64) string {
	return g.doubleConstant(values, len(values)/columns, columns)
}

// rowConstant is a constant with one row.
func (g *onnxGraph) rowConstant(values ...float64) string {
	return g.matrixConstant(len(values), values)
}

// vectorConstant is a constant of doubles of one dimension.
func (g *onnxGraph) vectorConstant(values []float64) string {
	return g.doubleConstant(values, len(values))
}

// integerConstant is a constant of whole numbers of one dimension.
func (g *onnxGraph) integerConstant(values ...int64) string {
	raw := make([]byte, 0, 8*len(values))
	for _, x := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x)) //nolint:gosec // two's complement
	}
	var content message
	content.addBytes(9, raw)
	return g.addConstant(onnxInt64, []int{len(values)}, content)
}

func (g *onnxGraph) textConstant(values []string) string {
	var content message
	for _, x := range values {
		content.addText(6, x)
	}
	return g.addConstant(onnxString, []int{len(values)}, content)
}

// castTo converts the element type. Doubles are truncated.
func (g *onnxGraph) castTo(x string, kind int64) string {
	return g.addOp("Cast", []string{x}, integerAttribute("to", kind))
}

// concatColumns concatenates values along the second axis.
func (g *onnxGraph) concatColumns(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return g.addOp("Concat", list, integerAttribute("axis", 1))
}

// encodeValueInfo describes an input or an output: columns is 0 for one dimension.
func (g *onnxGraph) encodeValueInfo(
	name string,
	kind int64,
	columns int,
) []byte {
	var shape, records message // TensorShapeProto, its Dimension
	records.addText(2, "records")
	shape.addBytes(1, records)
	if columns > 0 {
		var d message
		d.addInteger(1, int64(columns))
		shape.addBytes(1, d)
	}
	var tensor, kindOf, info message // TypeProto.Tensor, TypeProto, ValueInfoProto
	tensor.addInteger(1, kind)
	tensor.addBytes(2, shape)
	kindOf.addBytes(1, tensor)
	info.addText(1, name)
	info.addBytes(2, kindOf)
	return info
}

// addOutput names a value as an output.
func (g *onnxGraph) addOutput(name, of string, kind int64, columns int) {
	g.addNode("", "Identity", []string{of}, name, nil)
	g.outputs = append(g.outputs, g.encodeValueInfo(name, kind, columns))
}

// encodeModel returns the file.
func (g *onnxGraph) encodeModel(description string) []byte {
	var graph message // GraphProto
	for _, x := range g.nodes {
		graph.addBytes(1, x)
	}
	graph.addText(2, "dptrain")
	for _, x := range g.constants {
		graph.addBytes(5, x)
	}
	for _, x := range g.inputs {
		graph.addBytes(11, x)
	}
	for _, x := range g.outputs {
		graph.addBytes(12, x)
	}
	var out message // ModelProto
	out.addInteger(1, onnxVersion)
	out.addText(2, "dptrain")
	out.addText(6, description)
	out.addBytes(7, graph)
	for _, set := range []struct {
		domain  string
		version int64
	}{{"", onnxOperators}, {onnxML, onnxMLOperators}} {
		var s message // OperatorSetIdProto
		s.addText(1, set.domain)
		s.addInteger(2, set.version)
		out.addBytes(8, s)
	}
	return out
}
