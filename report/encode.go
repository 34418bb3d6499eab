package report

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// Encode writes r as report.json. Equal reports give equal bytes. It fails for a
// report that holds a number that is not finite, and with the errors of w.
func Encode(w io.Writer, r *Report) error { return encode(w, r, r.Format) }

// encode writes a struct as JSON for people and for line-wise comparison: one
// member a line, and lists of objects with one object a line. Members that belong
// to another format are left out.
func encode(w io.Writer, v any, format string) error {
	e := encoder{format: format}
	e.object(reflect.ValueOf(v).Elem(), "")
	e.buf.WriteByte('\n')
	if e.err != nil {
		return e.err
	}
	_, err := w.Write(e.buf.Bytes())
	return err
}

// encoder keeps the first error.
type encoder struct {
	format string
	buf    bytes.Buffer
	err    error
}

// foreign reports whether a field belongs to another format than this one.
func foreign(f reflect.StructField, format string) bool {
	of := f.Tag.Get("format")
	return of != "" && of != format
}

// object writes one member a line.
func (e *encoder) object(v reflect.Value, indent string) {
	e.buf.WriteByte('{')
	members := 0
	for i := range v.NumField() {
		key, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if option == "omitempty" && v.Field(i).IsZero() || foreign(v.Type().Field(i), e.format) {
			continue
		}
		if members > 0 {
			e.buf.WriteByte(',')
		}
		members++
		e.buf.WriteString("\n" + indent + "  \"" + key + "\": ")
		e.member(v.Field(i), indent+"  ")
	}
	e.buf.WriteString("\n" + indent + "}")
}

func (e *encoder) member(v reflect.Value, indent string) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		e.member(v.Elem(), indent)
	case v.Kind() == reflect.Struct && !flat(v.Type()):
		e.object(v, indent)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && v.Len() > 0:
		e.buf.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.buf.WriteByte(',')
			}
			e.buf.WriteString("\n" + indent + "  ")
			e.line(v.Index(i))
		}
		e.buf.WriteString("\n" + indent + "]")
	default:
		e.line(v)
	}
}

// flat tells structs of scalars, which fit on one line.
func flat(t reflect.Type) bool {
	for i := range t.NumField() {
		switch t.Field(i).Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
			return false
		}
	}
	return true
}

// line writes a value on one line. The keys of maps are sorted.
func (e *encoder) line(v reflect.Value) {
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		if e.err == nil {
			e.err = err
		}
		return
	}
	e.buf.Truncate(e.buf.Len() - 1) // the newline Encode adds
}
