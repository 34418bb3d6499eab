package recipe

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/internal/train/method"
)

// encode prints a struct as YAML by its yaml tags: sections as blocks; lists, columns and candidates on one
// line each. The library's own printer does not preserve every text with line breaks, and a published recipe
// must decode exactly. Maps are printed in the order of their keys, so equal values give equal bytes.
func encode(v any) []byte {
	var b strings.Builder
	encodeBlock(&b, reflect.ValueOf(v), "")
	return []byte(b.String())
}

// encodeBlock prints the entries of a struct or a map, one per line.
func encodeBlock(b *strings.Builder, v reflect.Value, indent string) {
	for _, e := range entries(v) {
		b.WriteString(indent + yamlWord(e.key) + ":")
		isBlock := e.value.Kind() == reflect.Map ||
			e.value.Kind() == reflect.Struct && v.Kind() != reflect.Map &&
				e.value.Type() != namesType
		if isBlock && len(entries(e.value)) > 0 {
			b.WriteByte('\n')
			encodeBlock(b, e.value, indent+"  ")
			continue
		}
		if e.value.Kind() == reflect.Slice && e.value.Type().Elem().Kind() == reflect.Struct {
			b.WriteByte('\n')
			for i := range e.value.Len() {
				b.WriteString(indent + "  - " + inline(e.value.Index(i)) + "\n")
			}
			continue
		}
		b.WriteString(" " + inline(e.value) + "\n")
	}
}

// inline prints a value on one line.
func inline(v reflect.Value) string {
	if m, ok := v.Interface().(Missing); ok {
		return m.text()
	}
	if n, ok := v.Interface().(Names); ok {
		if n.Found {
			return privateWord
		}
		return inline(reflect.ValueOf(n.List))
	}
	switch v.Kind() {
	case reflect.String:
		return yamlWord(v.String())
	case reflect.Float64:
		return show(v.Float())
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	var parts []string
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			parts = append(parts, inline(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for _, e := range entries(v) {
		parts = append(parts, yamlWord(e.key)+": "+inline(e.value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

type entry struct {
	key   string
	value reflect.Value
}

// entries lists the entries of a struct or a map, following pointers, without the empty values that the tags
// omit.
func entries(v reflect.Value) []entry {
	var out []entry
	add := func(key string, value reflect.Value) {
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		out = append(out, entry{key, value})
	}
	if v.Kind() == reflect.Map {
		for _, key := range v.MapKeys() {
			add(key.String(), v.MapIndex(key))
		}
		slices.SortFunc(out, func(a, b entry) int {
			return strings.Compare(a.key, b.key)
		})
		return out
	}
	for i := range v.NumField() {
		key, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		f := v.Field(i)
		empty := f.IsZero() ||
			(f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0
		if n, ok := f.Interface().(Names); ok {
			empty = !n.Found && len(n.List) == 0
		}
		if key != "" && key != "-" && !(empty && option == "omitempty") {
			add(key, f)
		}
	}
	if section := sections[v.Type()]; section != "" {
		out = append(out,
			valueEntries(section, v.FieldByName("Keys").Interface().(method.Values))...)
	}
	return out
}

// yamlWord writes s so that YAML reads it back as the text s, on one line.
func yamlWord(s string) string {
	if plainWord(s) && isPlainText(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == ' ' || unicode.IsPrint(c):
			b.WriteRune(c)
		case c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainWord reports whether all characters of s are free of meaning in YAML, in any context.
func plainWord(s string) bool {
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_./- ", c) {
			return false
		}
	}
	return s != "" && s == strings.TrimSpace(s)
}
