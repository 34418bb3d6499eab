package strictjson

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A keyUse is the role of a key in one version of a format.
type keyUse int

const (
	unknown  keyUse = iota // refused, and not written
	optional               // may be absent; not written if its value is zero
	required
)

// A field is one member of an object.
type field struct {
	key      string
	index    []int  // for reflect.Value.FieldByIndex
	use      keyUse // optional or required
	nullable bool   // null is read as a nil pointer
	layout   string
	section  int // length of the part of index that leads to the section with the member; 0 for a member of no section
}

// A schema caches the fields of structs in one version of a format.
type schema struct {
	version string
	structs map[reflect.Type][]field
}

func newSchema(version string) schema {
	return schema{version, map[reflect.Type][]field{}}
}

// presentFields returns the fields of a struct in the version, in order, without those of absent sections.
func (s *schema) presentFields(v reflect.Value) []field {
	isAbsent := func(f field) bool {
		return f.section > 0 && v.FieldByIndex(f.index[:f.section]).IsNil()
	}
	all := s.fieldsOf(v.Type())
	if !slices.ContainsFunc(all, isAbsent) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), isAbsent)
}

// fieldsOf returns the fields of a struct in the version, in order, with those of all its sections.
func (s *schema) fieldsOf(t reflect.Type) []field {
	list, ok := s.structs[t]
	if !ok {
		list = s.structFields(t)
		s.structs[t] = list
	}
	return list
}

func (s *schema) structFields(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && key == "" || option == "inline" {
			out = append(out, s.inlineFields(i, f.Type)...)
			continue
		}
		if use := s.keyUseOf(f.Tag, option == "omitempty"); use != unknown {
			out = append(out,
				field{
					key:      key,
					index:    []int{i},
					use:      use,
					nullable: option != "omitempty",
					layout:   f.Tag.Get("layout"),
				})
		}
	}
	return out
}

// inlineFields returns the fields of a struct that is field i of another one, or of the section it points to.
func (s *schema) inlineFields(i int, t reflect.Type) []field {
	isSection := t.Kind() == reflect.Pointer
	if isSection {
		t = t.Elem()
	}
	var out []field
	for _, inner := range s.fieldsOf(t) {
		inner.index = append([]int{i}, inner.index...)
		switch {
		case inner.section > 0:
			inner.section++
		case isSection:
			inner.section = 1
		}
		out = append(out, inner)
	}
	return out
}

// keyUseOf evaluates the tag format.
func (s *schema) keyUseOf(tag reflect.StructTag, omitempty bool) keyUse {
	versions, limited := tag.Lookup("format")
	switch {
	case !limited && omitempty:
		return optional
	case !limited:
		return required
	}
	for entry := range strings.SplitSeq(versions, ",") {
		known, mayBeAbsent := strings.CutSuffix(entry, "?")
		if !s.isIn(known) {
			continue
		}
		if mayBeAbsent {
			return optional
		}
		return required
	}
	return unknown
}

// isIn reports whether the version of the schema matches an entry of a tag format: the same version, or with a
// trailing plus sign the same or a later one.
func (s *schema) isIn(known string) bool {
	first, andLater := strings.CutSuffix(known, "+")
	if !andLater {
		return known == s.version
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	version, err := strconv.Atoi(s.version)
	return err == nil && version >= from
}
