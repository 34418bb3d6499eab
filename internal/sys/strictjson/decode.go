package strictjson

import (
	"reflect"
	"strconv"
)

type decoder struct {
	cursor
	schema schema
}

// decodeValue reads the next value into v. If nullable is true, null sets a pointer to nil.
func (d *decoder) decodeValue(v reflect.Value, nullable bool) *Error {
	first := d.nextByte()
	switch v.Kind() {
	case reflect.Pointer:
		if nullable && first == 'n' {
			d.readLiteral()
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.decodeValue(v.Elem(), false)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Value]() {
			v.Set(reflect.ValueOf(Value{d.data, d.offset}))
			d.skipValue()
			return nil
		}
		return d.decodeStruct(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return d.readList(func(i int) *Error {
			v.Grow(1)
			v.SetLen(i + 1)
			return d.decodeValue(v.Index(i), false).inElement(i)
		})
	case reflect.Interface:
		value, err := d.decodeAny()
		if err == nil && value != nil {
			v.Set(reflect.ValueOf(value))
		}
		return err
	}
	return d.decodeScalar(v)
}

// decodeStruct reads an object: each key of the version at most once, in any order, including all required keys.
func (d *decoder) decodeStruct(v reflect.Value) *Error {
	start := d.offset
	fields := d.schema.presentFields(v)
	given := make([]bool, len(fields))
	err := d.readObject(func(key string, at int) *Error {
		i := findField(fields, key)
		switch {
		case i < 0:
			return newProblem(d.data, at, "unknown key "+Quote(key))
		case given[i]:
			return newProblem(d.data, at, "key "+Quote(key)+" is repeated")
		}
		given[i] = true
		return d.decodeValue(v.FieldByIndex(fields[i].index), fields[i].nullable).InValue(key)
	})
	if err != nil {
		return err
	}
	for i, f := range fields {
		if f.use == required && !given[i] {
			return newProblem(d.data, start, "key "+Quote(f.key)+" is absent")
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

func (d *decoder) decodeScalar(v reflect.Value) *Error {
	at := d.offset
	switch v.Kind() {
	case reflect.String:
		if d.nextByte() != '"' {
			return d.problemHere("must be a string")
		}
		v.SetString(d.readText())
		return nil
	case reflect.Float64:
		x, err := d.readNumber()
		v.SetFloat(x)
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(string(d.readLiteral()))
		if err != nil || d.data[at] != 't' && d.data[at] != 'f' { // ParseBool reads 1 too
			return newProblem(d.data, at, "must be true or false")
		}
		v.SetBool(b)
		return nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(d.readLiteral()), 10, 64)
		if err != nil {
			return newProblem(d.data, at, "must be a whole number")
		}
		v.SetInt(n)
		return nil
	}
	panic("strictjson: no form for a " + v.Type().String())
}

// decodeAny reads a value of any type and represents it as package encoding/json does.
func (d *decoder) decodeAny() (any, *Error) {
	switch d.nextByte() {
	case '{':
		out := map[string]any{}
		return out, d.readObject(func(key string, at int) (err *Error) {
			if _, given := out[key]; given {
				return newProblem(d.data, at, "key "+Quote(key)+" is repeated")
			}
			out[key], err = d.decodeAny()
			return err
		})
	case '[':
		out := []any{}
		err := d.readList(func(int) *Error {
			value, err := d.decodeAny()
			out = append(out, value)
			return err
		})
		return out, err
	case '"':
		return d.readText(), nil
	case 't', 'f':
		return d.readLiteral()[0] == 't', nil
	case 'n':
		d.readLiteral()
		return nil, nil
	}
	return d.readNumber()
}
