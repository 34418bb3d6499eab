package strictjson

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Encode returns the file of the struct that source points to, with the members of the given format version. It
// returns an error for numbers that are not finite and for types without a JSON form.
func Encode(source any, version string) ([]byte, error) {
	e := newEncoder(version)
	e.writeDocument(reflect.ValueOf(source).Elem(), "")
	e.buf.WriteByte('\n')
	return e.buf.Bytes(), e.err
}

// Line returns the form of value on one line of a file.
func Line(value any) (string, error) {
	e := newEncoder("")
	e.writeScalar(value)
	return e.buf.String(), e.err
}

// encoder writes values to a buffer and keeps the first error.
type encoder struct {
	schema schema
	buf    bytes.Buffer
	err    error
}

func newEncoder(version string) *encoder {
	return &encoder{schema: newSchema(version)}
}

// writeDocument writes an object with one member per line.
func (e *encoder) writeDocument(v reflect.Value, indent string) {
	end := ""
	e.buf.WriteByte('{')
	e.eachMember(v, func(f *field, member reflect.Value) {
		e.buf.WriteString("\n" + indent + "  \"" + f.key + "\": ")
		e.writeMember(f, member, indent+"  ")
		end = "\n" + indent
	})
	e.buf.WriteString(end + "}")
}

// writeMember writes a member of a document.
func (e *encoder) writeMember(f *field, v reflect.Value, indent string) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		e.writeMember(f, v.Elem(), indent)
	case v.Kind() == reflect.Struct && f.layout != "line" && !e.isFlat(v.Type()):
		e.writeDocument(v, indent)
	case v.Kind() == reflect.Slice &&
		(f.layout == "open" || v.Type().Elem().Kind() == reflect.Struct) && v.Len() > 0:
		e.writeLines(f, v, indent)
	default:
		e.writeLine(v)
	}
}

// writeLines writes a list with one element per line.
func (e *encoder) writeLines(f *field, v reflect.Value, indent string) {
	separator := "["
	for i := range v.Len() {
		e.buf.WriteString(separator + "\n" + indent + "  ")
		separator = ","
		if f.layout == "open" {
			e.writeDocument(reflect.Indirect(reflect.ValueOf(v.Index(i).Interface())), indent+"  ")
		} else {
			e.writeLine(v.Index(i))
		}
	}
	e.buf.WriteString("\n" + indent + "]")
}

// isFlat reports whether all members of a struct are scalars, so that it fits on one line.
func (e *encoder) isFlat(t reflect.Type) bool {
	for _, f := range e.schema.fieldsOf(t) {
		switch t.FieldByIndex(f.index).Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
			return false
		}
	}
	return true
}

// writeLine writes a value on one line.
func (e *encoder) writeLine(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		e.buf.WriteByte('{')
		e.eachMember(v, func(f *field, member reflect.Value) {
			e.buf.WriteString(`"` + f.key + `":`)
			e.writeLine(member)
		})
		e.buf.WriteByte('}')
	case v.Kind() == reflect.Pointer && !v.IsNil():
		e.writeLine(v.Elem())
	case v.Kind() == reflect.Slice:
		e.buf.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.buf.WriteByte(',')
			}
			e.writeLine(v.Index(i))
		}
		e.buf.WriteByte(']')
	default:
		e.writeScalar(v.Interface())
	}
}

// eachMember calls write for each member of v in the version and writes commas between them.
func (e *encoder) eachMember(
	v reflect.Value,
	write func(f *field, member reflect.Value),
) {
	first := true
	for _, f := range e.schema.presentFields(v) {
		member := v.FieldByIndex(f.index)
		if f.use == optional && member.IsZero() {
			continue
		}
		if !first {
			e.buf.WriteByte(',')
		}
		first = false
		write(&f, member)
	}
}

// writeScalar writes a value that is neither a list nor a struct. The keys of maps are sorted.
func (e *encoder) writeScalar(value any) {
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		if e.err == nil {
			e.err = err
		}
		return
	}
	e.buf.Truncate(e.buf.Len() - 1) // the newline Encode adds
}
