package export

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The types of elements and of attributes, and the versions of operators, of the ONNX format
// (github.com/onnx/onnx, onnx/onnx.proto3). Numbers of fields are written where they are used.
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

func (m *message) integer(field protowire.Number, x int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(x)) //nolint:gosec // int64 is written as its two's complement
}

func (m *message) bytes(field protowire.Number, x []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, x)
}

func (m *message) text(field protowire.Number, x string) { m.bytes(field, []byte(x)) }

// An onnxGraph is a graph under construction. A value is known by its name. Values have one row per
// record, and constants are rows.
type onnxGraph struct {
	nodes, constants, inputs, outputs [][]byte
	prefix                            string // of the names of values, which no input has
	names                             int
	known                             map[string]string // names of constants, by content
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

func (g *onnxGraph) name() string {
	g.names++
	return g.prefix + strconv.Itoa(g.names)
}

// op adds a node and returns the name of its one value. Attributes come in the order of their names.
func (g *onnxGraph) op(kind string, inputs []string, attributes ...[]byte) string {
	return g.node("", kind, inputs, g.name(), attributes)
}

func (g *onnxGraph) node(domain, kind string, inputs []string, output string, attributes [][]byte) string {
	var node message // NodeProto
	for _, name := range inputs {
		node.text(1, name)
	}
	node.text(2, output)
	node.text(4, kind)
	for _, a := range attributes {
		node.bytes(5, a)
	}
	if domain != "" {
		node.text(7, domain)
	}
	g.nodes = append(g.nodes, node)
	return output
}

func integerAttribute(name string, x int64) []byte {
	var a message // AttributeProto
	a.text(1, name)
	a.integer(3, x)
	a.integer(20, onnxAttributeInt)
	return a
}

func integersAttribute(name string, list []int64) []byte {
	var a message
	a.text(1, name)
	for _, x := range list {
		a.integer(8, x)
	}
	a.integer(20, onnxAttributeInts)
	return a
}

func stringsAttribute(name string, list []string) []byte {
	var a message
	a.text(1, name)
	for _, x := range list {
		a.text(9, x)
	}
	a.integer(20, onnxAttributeStrings)
	return a
}

// constant adds a tensor, or returns the one with the same content.
func (g *onnxGraph) constant(kind int64, dims []int, content message) string {
	var t message // TensorProto
	for _, d := range dims {
		t.integer(1, int64(d))
	}
	t.integer(2, kind)
	t = append(t, content...)
	key := string(t)
	if name, ok := g.known[key]; ok {
		return name
	}
	name := g.name()
	t.text(8, name)
	g.constants, g.known[key] = append(g.constants, t), name
	return name
}

// doubles is a constant of doubles.
func (g *onnxGraph) doubles(values []float64, dims ...int) string {
	raw := make([]byte, 0, 8*len(values))
	for _, x := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	var content message
	content.bytes(9, raw)
	return g.constant(onnxDouble, dims, content)
}

// matrix is a constant of doubles, by rows.
func (g *onnxGraph) matrix(columns int, values []float64) string {
	return g.doubles(values, len(values)/columns, columns)
}

// row is a constant with one row.
func (g *onnxGraph) row(values ...float64) string { return g.matrix(len(values), values) }

// list is a constant of doubles of one dimension.
func (g *onnxGraph) list(values []float64) string { return g.doubles(values, len(values)) }

// integers is a constant of whole numbers of one dimension.
func (g *onnxGraph) integers(values ...int64) string {
	raw := make([]byte, 0, 8*len(values))
	for _, x := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x)) //nolint:gosec // two's complement
	}
	var content message
	content.bytes(9, raw)
	return g.constant(onnxInt64, []int{len(values)}, content)
}

func (g *onnxGraph) texts(values []string) string {
	var content message
	for _, x := range values {
		content.text(6, x)
	}
	return g.constant(onnxString, []int{len(values)}, content)
}

// cast converts the element type. Doubles are truncated.
func (g *onnxGraph) cast(x string, kind int64) string {
	return g.op("Cast", []string{x}, integerAttribute("to", kind))
}

// concat concatenates values along the second axis.
func (g *onnxGraph) concat(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return g.op("Concat", list, integerAttribute("axis", 1))
}

// value describes an input or an output: columns is 0 for one dimension.
func (g *onnxGraph) value(name string, kind int64, columns int) []byte {
	var shape, records message // TensorShapeProto, its Dimension
	records.text(2, "records")
	shape.bytes(1, records)
	if columns > 0 {
		var d message
		d.integer(1, int64(columns))
		shape.bytes(1, d)
	}
	var tensor, kindOf, info message // TypeProto.Tensor, TypeProto, ValueInfoProto
	tensor.integer(1, kind)
	tensor.bytes(2, shape)
	kindOf.bytes(1, tensor)
	info.text(1, name)
	info.bytes(2, kindOf)
	return info
}

// output names a value as an output.
func (g *onnxGraph) output(name, of string, kind int64, columns int) {
	g.node("", "Identity", []string{of}, name, nil)
	g.outputs = append(g.outputs, g.value(name, kind, columns))
}

// model returns the file.
func (g *onnxGraph) model(description string) []byte {
	var graph message // GraphProto
	for _, x := range g.nodes {
		graph.bytes(1, x)
	}
	graph.text(2, "dptrain")
	for _, x := range g.constants {
		graph.bytes(5, x)
	}
	for _, x := range g.inputs {
		graph.bytes(11, x)
	}
	for _, x := range g.outputs {
		graph.bytes(12, x)
	}
	var out message // ModelProto
	out.integer(1, onnxVersion)
	out.text(2, "dptrain")
	out.text(6, description)
	out.bytes(7, graph)
	for _, set := range []struct {
		domain  string
		version int64
	}{{"", onnxOperators}, {onnxML, onnxMLOperators}} {
		var s message // OperatorSetIdProto
		s.text(1, set.domain)
		s.integer(2, set.version)
		out.bytes(8, s)
	}
	return out
}
