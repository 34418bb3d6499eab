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
	e.document(reflect.ValueOf(source).Elem(), "")
	e.buf.WriteByte('\n')
	return e.buf.Bytes(), e.err
}

// Line returns the form of value on one line of a file.
func Line(value any) (string, error) {
	e := newEncoder("")
	e.scalar(value)
	return e.buf.String(), e.err
}

// encoder writes values to a buffer and keeps the first error.
type encoder struct {
	schema schema
	buf    bytes.Buffer
	err    error
}

func newEncoder(version string) *encoder { return &encoder{schema: newSchema(version)} }

// document writes an object with one member per line.
func (e *encoder) document(v reflect.Value, indent string) {
	end := ""
	e.buf.WriteByte('{')
	e.members(v, func(f *field, member reflect.Value) {
		e.buf.WriteString("\n" + indent + "  \"" + f.key + "\": ")
		e.member(f, member, indent+"  ")
		end = "\n" + indent
	})
	e.buf.WriteString(end + "}")
}

// member writes a member of a document.
func (e *encoder) member(f *field, v reflect.Value, indent string) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		e.member(f, v.Elem(), indent)
	case v.Kind() == reflect.Struct && f.layout != "line" && !e.isFlat(v.Type()):
		e.document(v, indent)
	case v.Kind() == reflect.Slice && (f.layout == "open" || v.Type().Elem().Kind() == reflect.Struct) && v.Len() > 0:
		e.lines(f, v, indent)
	default:
		e.line(v)
	}
}

// lines writes a list with one element per line.
func (e *encoder) lines(f *field, v reflect.Value, indent string) {
	separator := "["
	for i := range v.Len() {
		e.buf.WriteString(separator + "\n" + indent + "  ")
		separator = ","
		if f.layout == "open" {
			e.document(reflect.Indirect(reflect.ValueOf(v.Index(i).Interface())), indent+"  ")
		} else {
			e.line(v.Index(i))
		}
	}
	e.buf.WriteString("\n" + indent + "]")
}

// isFlat reports whether all members of a struct are scalars, so that it fits on one line.
func (e *encoder) isFlat(t reflect.Type) bool {
	for _, f := range e.schema.fields(t) {
		switch t.FieldByIndex(f.index).Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
			return false
		}
	}
	return true
}

// line writes a value on one line.
func (e *encoder) line(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		e.buf.WriteByte('{')
		e.members(v, func(f *field, member reflect.Value) {
			e.buf.WriteString(`"` + f.key + `":`)
			e.line(member)
		})
		e.buf.WriteByte('}')
	case v.Kind() == reflect.Pointer && !v.IsNil():
		e.line(v.Elem())
	case v.Kind() == reflect.Slice:
		e.buf.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.buf.WriteByte(',')
			}
			e.line(v.Index(i))
		}
		e.buf.WriteByte(']')
	default:
		e.scalar(v.Interface())
	}
}

// members calls write for each member of v in the version and writes commas between them.
func (e *encoder) members(v reflect.Value, write func(f *field, member reflect.Value)) {
	first := true
	for _, f := range e.schema.fields(v.Type()) {
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

// scalar writes a value that is neither a list nor a struct. The keys of maps are sorted.
func (e *encoder) scalar(value any) {
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
