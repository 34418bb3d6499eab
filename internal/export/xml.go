package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A tag is an element of XML under construction.
type tag struct {
	xml.StartElement
	inside []*tag
	text   string
}

// newTag returns an element. attributes are alternating names and values.
func newTag(name string, attributes ...string) *tag {
	t := &tag{StartElement: xml.StartElement{Name: xml.Name{Local: name}}}
	for i := 0; i < len(attributes); i += 2 {
		t.Attr = append(t.Attr,
			xml.Attr{
				Name:  xml.Name{Local: attributes[i]},
				Value: attributes[i+1],
			})
	}
	return t
}

// addInside adds child elements, and returns the outer element. Nil children are omitted.
func (t *tag) addInside(inside ...*tag) *tag {
	for _, x := range inside {
		if x != nil {
			t.inside = append(t.inside, x)
		}
	}
	return t
}

// MarshalXML implements [xml.Marshaler]. Its error wraps [ErrKind] for a text with a character that XML cannot
// represent.
func (t *tag) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	for _, a := range append(t.Attr, xml.Attr{Value: t.text}) {
		if strings.ContainsFunc(a.Value, notXML) {
			return fmt.Errorf("a model with the text %q, which XML does not allow, %w to PMML",
				a.Value, ErrKind)
		}
	}
	if err := e.EncodeToken(t.StartElement); err != nil {
		return err
	}
	if err := e.EncodeToken(xml.CharData(t.text)); err != nil {
		return err
	}
	for _, x := range t.inside {
		if err := e.Encode(x); err != nil {
			return err
		}
	}
	return e.EncodeToken(t.End())
}

// notXML reports whether a character is not permitted in XML 1.0.
func notXML(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' ||
		r == '\uFFFD'
}

// writeXML writes a document.
func writeXML(w io.Writer, t *tag) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(t); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
