package regression

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ModelFormat is the value of the key "format" in the model files written here.
const ModelFormat = "dptrain.model/2"

// modelFormat1 is the version before, which is read too: without intervals,
// probabilities and terms of missing cells.
const modelFormat1 = "dptrain.model/1"

// MaxModelBytes is the largest model file that is written or read.
const MaxModelBytes = 16 << 20

// ErrModelKind is returned for a [Model] that has no file layout.
var ErrModelKind = errors.New("models of this kind cannot be written to a model file")

// ErrModelSize is returned for a model file above [MaxModelBytes].
var ErrModelSize = fmt.Errorf("a model file has at most %d bytes", MaxModelBytes)

// EncodeModel writes m as a model file. Equal models give equal bytes. A model
// that contradicts itself or holds a number that is not finite gives a
// [*ModelError], one of unknown kind [ErrModelKind], one above the size limit
// [ErrModelSize]; nothing is written then. Other errors are those of w.
func EncodeModel(w io.Writer, m Model) error {
	var doc document
	if err := doc.model(m); err != nil {
		return err
	}
	if doc.err != nil {
		return doc.err
	}
	if doc.buf.Len() > MaxModelBytes {
		return ErrModelSize
	}
	_, err := w.Write(doc.buf.Bytes())
	return err
}

// The layouts below fix the order of keys within one line of the file.

type columnLayout struct {
	Name       string    `json:"name"`
	Type       string    `json:"type"`
	Lower      *float64  `json:"lower,omitempty"`
	Upper      *float64  `json:"upper,omitempty"`
	Missing    *float64  `json:"missing,omitempty"`
	Categories *[]string `json:"categories,omitempty"`
	Other      *bool     `json:"other,omitempty"`
}

type termLayout struct {
	Column      string  `json:"column"`
	Category    *string `json:"category,omitempty"`
	Other       bool    `json:"other,omitempty"`
	Missing     bool    `json:"missing,omitempty"`
	Coefficient float64 `json:"coefficient"`
	StdError    float64 `json:"std_error"`
}

type interceptLayout struct {
	Coefficient float64 `json:"coefficient"`
	StdError    float64 `json:"std_error"`
}

type rangeLayout struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

type guaranteeLayout struct {
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Mu       float64 `json:"mu"`
	Relation string  `json:"relation"`

	Unit *unitLayout `json:"unit,omitempty"`
}

type unitLayout struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"`
}

func layoutOf(g *Guarantee) guaranteeLayout {
	return guaranteeLayout{g.Epsilon, g.Delta, g.Mu, g.Relation, (*unitLayout)(g.Unit)}
}

type clipLayout struct {
	Constant float64 `json:"constant"`
	Norm     float64 `json:"norm"`
}

type shapeLayout struct {
	Column string    `json:"column"`
	Edges  []float64 `json:"edges"`
	Values []float64 `json:"values"`
}

type memberLayout struct {
	Weight    float64 `json:"weight"`
	Intercept float64 `json:"intercept"`
	Terms     []any   `json:"terms"`
}

type scoreLayout struct {
	Intercept    float64   `json:"intercept"`
	Coefficients []float64 `json:"coefficients"`
	Edges        []float64 `json:"edges"`
	Values       []float64 `json:"values"`
}

// member is a member of the document: a list, written one element a line, or
// any other value.
type member struct {
	name  string
	value any
}

// curves returns the members of an additive model that a linear one has not.
func (m *Additive) curves() []member {
	shapes := make([]any, len(m.Shapes))
	for i, s := range m.Shapes {
		shapes[i] = shapeLayout{m.Columns[s.Column].Name, filled(s.Edges), filled(s.Values)}
	}
	var score any
	if s := m.Score; s != nil {
		score = scoreLayout{s.Intercept, filled(s.Coefficients), filled(s.Edges), filled(s.Values)}
	}
	return []member{{"shapes", shapes}, {"score", score}}
}

// votes returns the member of a votes model that a linear one has not.
func (m *Votes) votes() member {
	members := make([]any, len(m.Members))
	for i, v := range m.Members {
		members[i] = memberLayout{v.Weight, v.Intercept, m.layouts(v.Terms)}
	}
	return member{"members", members}
}

// filled returns list, which JSON writes as [] also when it is nil.
func filled(list []float64) []float64 {
	if list == nil {
		return []float64{}
	}
	return list
}

// model writes the document of a model.
func (d *document) model(m Model) error {
	v, ok := m.(interface{ Validate() error })
	if !ok {
		return ErrModelKind
	}
	if err := v.Validate(); err != nil {
		return err
	}
	d.begin()
	d.member("format", ModelFormat)
	d.member("kind", m.Kind())
	d.member("task", m.Output().Task)
	d.member("target", m.Output().Target)
	if c, ok := m.(*Classifier); ok {
		d.member("classes", c.Classes)
		d.member("cutoff", c.Cutoff)
		if err := d.scores(c.Scores); err != nil {
			return err
		}
		if p := c.Probability; p != nil {
			d.member("probability", probabilityLayout(*p))
		}
	} else if err := d.body(m); err != nil {
		return err
	}
	d.intervals(IntervalsOf(m))
	if g := guaranteeOf(m); g != nil {
		d.member("guarantee", layoutOf(g))
	} else {
		d.member("guarantee", nil)
	}
	d.end()
	return nil
}

// scores writes the scores of a classifier: of each the kind and what only its
// kind has. What they have in common is the classifier's.
func (d *document) scores(scores []Model) error {
	d.key("scores")
	d.buf.WriteByte('[')
	for i, m := range scores {
		if i > 0 {
			d.buf.WriteByte(',')
		}
		inner := document{indent: d.indent + "    "}
		inner.begin()
		inner.member("kind", m.Kind())
		if err := inner.body(m); err != nil {
			return err
		}
		inner.end()
		d.buf.WriteString("\n" + inner.indent)
		d.buf.Write(bytes.TrimSuffix(inner.buf.Bytes(), []byte{'\n'}))
		if d.err == nil {
			d.err = inner.err
		}
	}
	d.buf.WriteString("\n" + d.indent + "  ]")
	return nil
}

// body writes the members that a kind of model has beside those that all have.
// A new kind has a case here and in [jsonReader.body].
func (d *document) body(m Model) error {
	switch m := m.(type) {
	case *Linear:
		m.write(d)
	case *ClippedLinear:
		m.write(d, member{"clip", clipLayout{m.Constant, m.Norm}})
	case *Additive:
		m.write(d, m.curves()...)
	case *Votes:
		m.write(d, m.votes())
	default:
		return ErrModelKind
	}
	return nil
}

// guaranteeOf returns the guarantee of a model of a kind that is written.
func guaranteeOf(m Model) *Guarantee {
	if c, ok := m.(*Classifier); ok {
		return c.Guarantee
	}
	if l := linearPart(m); l != nil {
		return l.Guarantee
	}
	return nil
}

// write writes what a linear model has, of which m may be a part; further are
// the members that only the kind of the whole has.
func (m *Linear) write(doc *document, further ...member) {
	columns := make([]any, len(m.Columns))
	for i := range m.Columns {
		columns[i] = m.Columns[i].layout()
	}
	doc.list("columns", columns)
	doc.list("terms", m.layouts(m.Terms))
	doc.member("intercept", interceptLayout{m.Intercept, m.InterceptStdError})
	for _, f := range further {
		if list, ok := f.value.([]any); ok {
			doc.list(f.name, list)
		} else {
			doc.member(f.name, f.value)
		}
	}
	doc.member("prediction", rangeLayout{m.Lower, m.Upper})
}

// layouts returns the layouts of terms on the columns of m.
func (m *Linear) layouts(terms []Term) []any {
	out := make([]any, len(terms))
	for i, t := range terms {
		c := &m.Columns[t.Column]
		layout := termLayout{Column: c.Name, Other: t.Other, Missing: t.Missing, Coefficient: t.Coefficient, StdError: t.StdError}
		if c.Type == Category && !t.Other {
			layout.Category = &t.Category
		}
		out[i] = layout
	}
	return out
}

func (c *Column) layout() columnLayout {
	layout := columnLayout{Name: c.Name, Type: c.Type.String()}
	if c.Type == Numeric {
		layout.Lower, layout.Upper, layout.Missing = &c.Lower, &c.Upper, &c.Missing
		return layout
	}
	categories := c.Categories
	if categories == nil {
		categories = []string{}
	}
	layout.Categories, layout.Other = &categories, &c.Other
	return layout
}

// document writes a JSON object with one member, or one element of a list, on
// each line. The first error sticks.
type document struct {
	buf     bytes.Buffer
	indent  string // of the object itself
	members int
	err     error
}

func (d *document) begin() { d.buf.WriteString("{") }

func (d *document) end() { d.buf.WriteString("\n" + d.indent + "}\n") }

func (d *document) key(name string) {
	if d.members > 0 {
		d.buf.WriteByte(',')
	}
	d.members++
	d.buf.WriteString("\n" + d.indent + "  \"" + name + "\": ")
}

func (d *document) member(name string, value any) {
	d.key(name)
	d.value(value)
}

func (d *document) list(name string, values []any) {
	d.key(name)
	d.buf.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			d.buf.WriteByte(',')
		}
		d.buf.WriteString("\n" + d.indent + "    ")
		d.value(v)
	}
	if len(values) > 0 {
		d.buf.WriteString("\n" + d.indent + "  ")
	}
	d.buf.WriteByte(']')
}

func (d *document) value(v any) {
	enc := json.NewEncoder(&d.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && d.err == nil {
		d.err = err
		return
	}
	d.buf.Truncate(d.buf.Len() - 1) // the newline Encode adds
}
