// Package structrow describes the fields of a struct as the cells of a record, for tables in memory and for
// predictions.
//
// An exported field is a column. The tag dptrain names it, dptrain:"area"; without a tag the column has the name of
// the field, and dptrain:"-" leaves it out. The option unit, dptrain:"person,unit", marks the column that identifies
// the privacy unit. Fields of embedded structs count as fields of the struct.
package structrow

import (
	"fmt"
	"reflect"
	"strings"
)

// A Kind is the kind of cells of a field.
type Kind uint8

// The kinds of fields.
const (
	Number Kind = iota // integers and floating-point numbers
	Text               // strings
	Truth              // booleans
)

// A Field is a field of a struct that holds the cell of a column.
type Field struct {
	Name  string // of the column
	Kind  Kind
	Unit  bool // whether the column identifies the privacy unit
	index []int
}

// tag is the key of the struct tag.
const tag = "dptrain"

// Fields returns the fields of a struct type, or of the struct that a pointer type refers to, in their order. It
// returns an error for another type, for a field of an unsupported type, for two fields with the name of one column
// and for two units.
func Fields(t reflect.Type) ([]Field, error) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("a row must be a struct, not %v", t)
	}
	var out []Field
	names := map[string]bool{}
	units := 0
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get(tag), ",")
		embedded := f.Anonymous && f.Type.Kind() == reflect.Struct && name == ""
		if !f.IsExported() || name == "-" || embedded {
			continue
		}
		if name == "" {
			name = f.Name
		}
		kind, err := kindOf(f.Type)
		switch {
		case err != nil:
			return nil, fmt.Errorf("field %s: %w; tag it dptrain:\"-\" to leave it out", f.Name, err)
		case options != "" && options != "unit":
			return nil, fmt.Errorf("field %s: the tag has an unknown option %q", f.Name, options)
		case names[name]:
			return nil, fmt.Errorf("field %s: another field has the column name %q", f.Name, name)
		}
		names[name] = true
		if options == "unit" {
			units++
		}
		out = append(out, Field{
			Name:  name,
			Kind:  kind,
			Unit:  options == "unit",
			index: f.Index,
		})
	}
	if units > 1 {
		return nil, fmt.Errorf("%d fields are tagged as the privacy unit, at most one may be", units)
	}
	return out, nil
}

// kindOf returns the kind of cells of a type, or of the type that a pointer type refers to.
func kindOf(t reflect.Type) (Kind, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return Text, nil
	case reflect.Bool:
		return Truth, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return Number, nil
	}
	return 0, fmt.Errorf("%v holds no number, text or boolean", t)
}

// Value returns the cell of a field in a row, which is a struct or a pointer to one, without pointers; ok is false if a
// pointer on the way is nil: the cell is missing.
func (f Field) Value(row reflect.Value) (value reflect.Value, ok bool) {
	row = reflect.Indirect(row)
	if !row.IsValid() {
		return row, false
	}
	value, err := row.FieldByIndexErr(f.index)
	if err != nil {
		return value, false
	}
	value = reflect.Indirect(value)
	return value, value.IsValid()
}
