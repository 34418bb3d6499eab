package strictjson

import (
	"reflect"
	"strconv"
)

type decoder struct {
	cursor
	schema schema
}

// value reads the next value into v. If nullable is true, null sets a pointer to nil.
func (d *decoder) value(v reflect.Value, nullable bool) *Error {
	first := d.next()
	switch v.Kind() {
	case reflect.Pointer:
		if nullable && first == 'n' {
			d.literal()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), false)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Value]() {
			v.Set(reflect.ValueOf(Value{d.data, d.offset}))
			d.skip()
			return nil
		}
		return d.structure(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return d.list(func(i int) *Error {
			v.Grow(1)
			v.SetLen(i + 1)
			return d.value(v.Index(i), false).inElement(i)
		})
	case reflect.Interface:
		value, err := d.any()
		if err == nil && value != nil {
			v.Set(reflect.ValueOf(value))
		}
		return err
	}
	return d.scalar(v)
}

// structure reads an object: each key of the version at most once, in any order, including all required keys.
func (d *decoder) structure(v reflect.Value) *Error {
	start := d.offset
	fields := d.schema.fields(v.Type())
	given := make([]bool, len(fields))
	err := d.object(func(key string, at int) *Error {
		i := findField(fields, key)
		switch {
		case i < 0:
			return problem(d.data, at, "unknown key "+Quote(key))
		case given[i]:
			return problem(d.data, at, "key "+Quote(key)+" is repeated")
		}
		given[i] = true
		return d.value(v.FieldByIndex(fields[i].index), fields[i].nullable).Within(key)
	})
	if err != nil {
		return err
	}
	for i, f := range fields {
		if f.use == required && !given[i] {
			return problem(d.data, start, "key "+Quote(f.key)+" is absent")
		}
	}
	return nil
}

func findField(fields []field, key string) int {
	for i := range fields {
		if fields[i].key == key {
			return i
		}
	}
	return -1
}

func (d *decoder) scalar(v reflect.Value) *Error {
	at := d.offset
	switch v.Kind() {
	case reflect.String:
		if d.next() != '"' {
			return d.problem("must be a string")
		}
		v.SetString(d.text())
		return nil
	case reflect.Float64:
		x, err := d.number()
		v.SetFloat(x)
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(string(d.literal()))
		if err != nil || d.data[at] != 't' && d.data[at] != 'f' { // ParseBool reads 1 too
			return problem(d.data, at, "must be true or false")
		}
		v.SetBool(b)
		return nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(d.literal()), 10, 64)
		if err != nil {
			return problem(d.data, at, "must be a whole number")
		}
		v.SetInt(n)
		return nil
	}
	panic("strictjson: no form for a " + v.Type().String())
}

// any reads a value of any type and represents it as package encoding/json does.
func (d *decoder) any() (any, *Error) {
	switch d.next() {
	case '{':
		out := map[string]any{}
		return out, d.object(func(key string, at int) (err *Error) {
			if _, given := out[key]; given {
				return problem(d.data, at, "key "+Quote(key)+" is repeated")
			}
			out[key], err = d.any()
			return err
		})
	case '[':
		out := []any{}
		err := d.list(func(int) *Error {
			value, err := d.any()
			out = append(out, value)
			return err
		})
		return out, err
	case '"':
		return d.text(), nil
	case 't', 'f':
		return d.literal()[0] == 't', nil
	case 'n':
		d.literal()
		return nil, nil
	}
	return d.number()
}
