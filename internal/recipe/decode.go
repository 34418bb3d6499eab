package recipe

import (
	"math"
	"reflect"
)

// decode sets the fields of a recipe that holds the defaults from the tree. It ignores values of the wrong
// type, which the schema has reported. It returns the paths that were set.
func decode(root *node, r *Recipe) map[string]bool {
	given := map[string]bool{}
	decodeInto(root, "", reflect.ValueOf(r).Elem(), given)
	return given
}

func decodeInto(n *node, path string, v reflect.Value, given map[string]bool) {
	if v.Type() == missingType {
		given[path] = decodeMissing(n, v)
		return
	}
	if v.Type() == namesType {
		given[path] = decodeNames(n, path, v, given)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i, k := range n.keys {
			if f := fieldIndex(v.Type(), k.literal); f >= 0 {
				decodeInto(n.kids[i], child(path, k.literal), v.Field(f), given)
			} else if sections[v.Type()] != "" {
				decodeKey(n.kids[i], child(path, k.literal), k.literal, v, given)
			}
		}
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !v.IsNil() { // unset values remain nil
			fresh.Elem().Set(v.Elem())
		}
		decodeInto(n, path, fresh.Elem(), given)
		if given[path] || n.kind == mapping {
			v.Set(fresh)
		}
	case reflect.Map:
		if n.kind != mapping {
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), len(n.keys))
		for i, k := range n.keys {
			e := reflect.New(v.Type().Elem()).Elem()
			decodeInto(n.kids[i], child(path, k.literal), e, given)
			m.SetMapIndex(reflect.ValueOf(k.literal), e)
		}
		v.Set(m)
	case reflect.Slice:
		if n.kind != list {
			return
		}
		s := reflect.MakeSlice(v.Type(), len(n.kids), len(n.kids))
		for i, k := range n.kids {
			decodeInto(k, item(path, i), s.Index(i), given)
		}
		v.Set(s)
	default:
		given[path] = decodeScalar(n, v)
	}
}

// decodeScalar stores a scalar and reports whether it had the right type.
func decodeScalar(n *node, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String: // taken literally, so that no and 007 stay names
		if n.kind != text && n.kind != number && n.kind != boolean {
			return false
		}
		v.SetString(n.literal)
	case reflect.Bool:
		if n.kind != boolean {
			return false
		}
		v.SetBool(n.truth)
	case reflect.Int:
		if n.kind != number || n.num != math.Trunc(n.num) { // also NaN
			return false
		}
		v.SetInt(int64(min(max(n.num, math.MinInt32), math.MaxInt32))) // the rules bound it further
	case reflect.Float64:
		switch n.kind {
		case number:
			v.SetFloat(n.num)
		case text: // ln(3); the schema allows it for epsilon only
			x, err := ParseEpsilon(n.literal)
			if err != nil {
				return false
			}
			v.SetFloat(x)
		default:
			return false
		}
	default:
		return false
	}
	return true
}
