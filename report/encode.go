package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"reflect"
)

// Encode writes r as report.json. Equal reports give equal bytes. It fails for a
// report that holds a number that is not finite, and with the errors of w.
//
// The checksum, whatever r says, is the SHA-256 of the bytes with an empty text in its
// place.
func Encode(w io.Writer, r *Report) error {
	sealed := *r
	sealed.Checksum = ""
	if r.Format == Format {
		var b bytes.Buffer
		if err := encode(&b, &sealed, r.Format); err != nil {
			return err
		}
		sealed.Checksum = hashOf(b.Bytes())
	}
	return encode(w, &sealed, r.Format)
}

// hashOf returns the SHA-256 of bytes, in hex.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// encode writes a struct as JSON for people and for line-wise comparison: one
// member a line, and lists of objects with one object a line. Members that the
// version of the format does not know are left out.
func encode(w io.Writer, v any, format string) error {
	e := encoder{version: version(format)}
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
	version string
	buf     bytes.Buffer
	err     error
}

// object writes one member a line.
func (e *encoder) object(v reflect.Value, indent string) {
	last := ""
	e.members(v, func(key string, member reflect.Value) {
		e.buf.WriteString("\n" + indent + "  \"" + key + "\": ")
		e.member(member, indent+"  ")
		last = "\n" + indent
	})
	e.buf.Truncate(e.buf.Len() - 1) // the brace comes on a line of its own
	e.buf.WriteString(last + "}")
}

func (e *encoder) member(v reflect.Value, indent string) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		e.member(v.Elem(), indent)
	case v.Kind() == reflect.Struct && !e.flat(v.Type()):
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

// flat reports whether all members of a struct are scalars, so that it fits on one line.
func (e *encoder) flat(t reflect.Type) bool {
	for i := range t.NumField() {
		if _, use := keyOf(t.Field(i), e.version); use == unknown {
			continue
		}
		switch t.Field(i).Type.Kind() {
		case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
			return false
		}
	}
	return true
}

// line writes a value on one line. The keys of maps are sorted.
func (e *encoder) line(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		e.members(v, func(key string, member reflect.Value) {
			e.buf.WriteString(`"` + key + `":`)
			e.line(member)
		})
		return
	case v.Kind() == reflect.Pointer && !v.IsNil():
		e.line(v.Elem())
		return
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct && !v.IsNil():
		e.buf.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.buf.WriteByte(',')
			}
			e.line(v.Index(i))
		}
		e.buf.WriteByte(']')
		return
	}
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

// members writes the members of a struct that its version has, with commas between them.
func (e *encoder) members(v reflect.Value, write func(key string, member reflect.Value)) {
	e.buf.WriteByte('{')
	separator := ""
	for i := range v.NumField() {
		key, use := keyOf(v.Type().Field(i), e.version)
		if use == unknown || use == optional && v.Field(i).IsZero() {
			continue
		}
		e.buf.WriteString(separator)
		separator = ","
		write(key, v.Field(i))
	}
	e.buf.WriteByte('}')
}
