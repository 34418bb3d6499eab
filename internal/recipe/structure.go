package recipe

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/internal/train/method"
)

// finding is a problem with its strength. Structural findings (unknown keys, wrong types) suppress all rules
// about the same place; others are reported only if no rule of this package applies. For an unknown key, meant
// is the path of the key that it may misspell: that key is then not reported as missing.
type finding struct {
	Problem
	structural bool
	meant      string
}

// checkStructure checks the tree against the types of the fields of [Recipe] and against the limits in their tags,
// from which [Schema] is generated too.
func checkStructure(root *node, src *source) []finding {
	s := &structure{src: src}
	s.value(root, "", keyType{Type: reflect.TypeFor[Recipe]()}, noLimits())
	return s.found
}

// structure collects the findings of one tree.
type structure struct {
	src   *source
	found []finding
}

// keyType is the type of the value of a key.
type keyType struct {
	reflect.Type
	name bool // a text that may be written as a number or as true or false, such as the name of a column
}

// limits are the limits in the tag of a field, which the JSON Schema of the field has too.
type limits struct {
	least, most           float64 // of a number; NaN for no limit
	above, below          bool    // whether least and most are outside the range
	leastItems, mostItems int     // of a list; mostItems is 0 for no limit
	unique                bool    // items differ
	full                  bool    // a text is not empty
	inList                bool    // it is an item of a list
	required              bool
	needs                 string // another key that is required together with this one
}

// noLimits returns limits that allow every value.
func noLimits() limits {
	return limits{least: math.NaN(), most: math.NaN()}
}

// addWeakFinding adds a finding that a rule may explain better.
func (s *structure) addWeakFinding(path, msg string) {
	s.found = append(s.found, finding{s.src.problem(path, msg, ""), false, ""})
}

// addFinding adds a structural finding.
func (s *structure) addFinding(path, msg, hint string) {
	s.found = append(s.found, finding{s.src.problem(path, msg, hint), true, ""})
}

// wrongType adds the finding about a value of an unexpected type.
func (s *structure) wrongType(n *node, path, expected, hint string) {
	name := shortPath(path)
	if name == "" {
		name = "the recipe"
	}
	s.addFinding(path, name+" must be "+expected+", not "+n.describe(), hint)
}

// value checks a value against the type and the limits of its key.
func (s *structure) value(n *node, path string, t keyType, l limits) {
	for t.Kind() == reflect.Pointer {
		t.Type = t.Elem()
	}
	switch {
	case path == "privacy.epsilon":
		s.epsilon(n, path)
		return
	case t.Type == missingType:
		if !(n.kind == number && finiteNumber(n.num) ||
			n.kind == text && n.literal == missingIndicator) {
			s.wrongType(n, path, "a number or "+missingIndicator, typeHint(n, number))
		}
		return
	case t.Type == namesType && n.kind == text:
		if n.literal != privateWord {
			s.wrongType(n, path, "a list or "+privateWord, "write [a, b]")
		}
		return
	case t.Type == namesType:
		t.Type = reflect.TypeFor[[]string]()
	}
	switch t.Kind() {
	case reflect.Struct:
		s.section(n, path, t.Type)
	case reflect.Map:
		if n.kind != mapping {
			s.wrongType(n, path, "a mapping", mappingHint(n, nil))
			return
		}
		if len(n.keys) < l.leastItems {
			s.refuse(n, path)
		}
		for i, k := range n.keys {
			s.value(
				n.kids[i],
				child(path, k.literal),
				keyType{Type: t.Elem()},
				noLimits(),
			)
		}
	case reflect.Slice:
		s.list(n, path, t, l)
	case reflect.String:
		s.text(n, path, t.name, l)
	case reflect.Bool:
		if n.kind != boolean {
			s.wrongType(n, path, "true or false", typeHint(n, boolean))
		}
	case reflect.Int:
		if n.kind != number || finiteNumber(n.num) && n.num != math.Trunc(n.num) {
			s.wrongType(n, path, "a whole number", typeHint(n, number))
			return
		}
		s.number(n, path, l)
	case reflect.Float64:
		if n.kind != number {
			s.wrongType(n, path, "a number", typeHint(n, number))
			return
		}
		s.number(n, path, l)
	}
}

// text checks a text, or a name that may look like a number. Texts that are not names have a closed list of values,
// or must not be empty.
func (s *structure) text(n *node, path string, name bool, l limits) {
	switch {
	case n.kind == text && n.literal == "" && (l.full || !name && !l.inList):
		s.refuse(n, path)
	case n.kind == text, name && (n.kind == number || n.kind == boolean):
	case name:
		s.wrongType(n, path, "a name", nameHint(n))
	default:
		s.wrongType(n, path, "text", typeHint(n, text))
	}
}

// refuse adds a finding about a value for which a rule gives the reason.
func (s *structure) refuse(n *node, path string) {
	s.addWeakFinding(path, shortPath(path)+" is not accepted: "+n.describe())
}

// logarithm matches an epsilon written as a logarithm.
var logarithm = regexp.MustCompile(epsilonPattern)

// epsilonPattern is the pattern of such texts in the JSON Schema.
const epsilonPattern = `^\s*ln\s*\(.*\)\s*$`

// epsilon checks privacy.epsilon: a number, or the logarithm of one.
func (s *structure) epsilon(n *node, path string) {
	if n.kind == text {
		if _, err := ParseEpsilon(n.literal); err != nil {
			hint := ""
			if strings.HasPrefix(strings.TrimSpace(n.literal), "log") {
				hint = "the natural logarithm is written ln(3)"
			}
			s.addFinding(path, path+": "+err.Error(), hint)
			return
		}
	}
	if n.kind == number && finiteNumber(n.num) ||
		n.kind == text && logarithm.MatchString(n.literal) {
		return // the rules bound it
	}
	if n.kind == number {
		s.wrongType(n, path, "a finite number", "")
		return
	}
	s.wrongType(n, path, "a number or ln(number)", typeHint(n, number))
}

// number checks a number against the limits of its key.
func (s *structure) number(n *node, path string, l limits) {
	name := shortPath(path)
	switch x := n.num; {
	case !finiteNumber(x):
		s.wrongType(n, path, "a finite number", "")
	case l.above && x <= l.least:
		s.addWeakFinding(path, name+" must be above "+plainText(l.least)+", not "+n.describe())
	case x < l.least:
		s.addWeakFinding(path, name+" must be at least "+plainText(l.least))
	case l.below && x >= l.most:
		s.addWeakFinding(path, name+" must be below "+plainText(l.most)+", not "+n.describe())
	case x > l.most:
		s.addWeakFinding(path, name+" must be at most "+plainText(l.most))
	}
}

// plainText writes a limit without an exponent.
func plainText(x float64) string {
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// list checks a list and its items.
func (s *structure) list(n *node, path string, t keyType, l limits) {
	if n.kind != list {
		s.wrongType(n, path, "a list", typeHint(n, list))
		return
	}
	if len(n.kids) < l.leastItems || l.mostItems > 0 && len(n.kids) > l.mostItems {
		s.refuse(n, path)
	}
	if l.unique {
		if i, j, found := repeated(n.kids, t.name); found {
			s.addWeakFinding(path, fmt.Sprintf("%s: items %d and %d are the same", shortPath(path), i+1, j+1))
		}
	}
	for i, k := range n.kids {
		s.value(
			k,
			item(path, i),
			keyType{
				Type: t.Elem(),
				name: t.name,
			},
			limits{
				least:  math.NaN(),
				most:   math.NaN(),
				inList: true,
			},
		)
	}
}

// scalar is the value of a scalar, by which equal ones are found in a long list. Lists and mappings of one kind have
// one value.
type scalar struct {
	kind    kind
	truth   bool
	num     float64
	literal string
}

// scalarOf returns the value of a node. A name is taken as written, so that 1 and 1.0 are two names.
func scalarOf(n *node, name bool) scalar {
	out := scalar{kind: n.kind}
	switch n.kind {
	case boolean:
		out.truth = n.truth
	case number:
		out.num = n.num
	}
	if n.kind == text || name && len(n.kids) == 0 {
		out.literal = n.literal
	}
	return out
}

// repeated returns the first two items of a list that are the same. names reports whether the items are names.
func repeated(items []*node, names bool) (first, second int, found bool) {
	seen := make(map[scalar][]int, len(items))
	for j, item := range items {
		value := scalarOf(item, names)
		for _, i := range seen[value] {
			if item.equal(items[i]) {
				return i, j, true
			}
		}
		seen[value] = append(seen[value], j)
	}
	return 0, 0, false
}

// equal reports whether n and m are the same value, regardless of position and notation.
func (n *node) equal(m *node) bool {
	switch {
	case n.kind != m.kind || len(n.kids) != len(m.kids):
		return false
	case n.kind == boolean:
		return n.truth == m.truth
	case n.kind == number:
		return n.num == m.num
	case n.kind == text:
		return n.literal == m.literal
	}
	for i, kid := range n.kids {
		other := m.kids[i]
		if n.kind == mapping {
			other = m.get(n.keys[i].literal)
		}
		if other == nil || !kid.equal(other) {
			return false
		}
	}
	return true
}

// section checks a mapping with a closed list of keys.
func (s *structure) section(n *node, path string, t reflect.Type) {
	if n.kind != mapping {
		s.wrongType(n, path, "a mapping", mappingHint(n, structKeys(t)))
		return
	}
	fields := fieldsOf(t)
	for i, k := range n.keys {
		f, ok := fields[k.literal]
		if !ok {
			s.unknown(n, path, k.literal, structKeys(t))
			continue
		}
		s.value(n.kids[i], child(path, k.literal), f.keyType, f.limits)
		if f.needs != "" && n.get(f.needs) == nil {
			s.addWeakFinding(path, child(path, k.literal)+" needs "+f.needs+" beside it")
		}
	}
	for key, f := range fields {
		if p := child(path, key); f.required && n.get(key) == nil {
			s.addWeakFinding(p, shortPath(p)+" is required")
		}
	}
}

// unknown adds the finding about an unknown key.
func (s *structure) unknown(n *node, path, key string, allowed []string) {
	p := child(path, key)
	meant := ""
	best, isNear := nearest(key, allowed)
	if isNear && n.get(best) == nil {
		meant = child(path, best)
	}
	s.found = append(s.found,
		finding{s.src.atKey(p, "unknown key "+quoted(key), unknownHint(key, allowed)), true, meant})
}

// A field is a key of a section.
type field struct {
	keyType
	limits
}

// fieldsOf returns the keys of a struct of the recipe, those of methods included.
func fieldsOf(t reflect.Type) map[string]field {
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]field)
	}
	out := map[string]field{}
	for i := range t.NumField() {
		if key := fieldKey(t.Field(i)); key != "" {
			out[key] = field{keyType{
				Type: t.Field(i).Type,
				name: t.Field(i).Tag.Get(takesTag) == takesName,
			}, limitsOf(t.Field(i).Tag)}
		}
	}
	for _, k := range keysOf(sections[t]) {
		f := field{keyType{
			Type: kinds[k.Kind],
			name: k.Kind == method.Names,
		}, noLimits()}
		if k.Kind == method.Prices {
			f.leastItems = 1
		}
		if k.OpenEnded { // the rules check the other end
			f.most = k.Max
		}
		out[k.Name] = f
	}
	knownFields.Store(t, out)
	return out
}

// knownFields caches fieldsOf.
var knownFields sync.Map

// limitsOf reads the limits in the tag of a field.
func limitsOf(tag reflect.StructTag) limits {
	l := noLimits()
	l.needs = tag.Get(needsTag)
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err) // a constant of a tag is wrong
		}
		return x
	}
	for part := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "required":
			l.required = true
		case "minLength":
			l.full = true
		case "uniqueItems":
			l.unique = value == "true"
		case "minItems":
			l.leastItems = int(number(value))
		case "maxItems":
			l.mostItems = int(number(value))
		case "minimum", "exclusiveMinimum":
			l.least = number(value)
			l.above = key != "minimum"
		case "maximum", "exclusiveMaximum":
			l.most = number(value)
			l.below = key != "maximum"
		}
	}
	return l
}

// nameHint returns the remedy for a value that is not a name.
func nameHint(n *node) string {
	if n.kind == null {
		return "quote it if it is a name"
	}
	return ""
}

// nullHint is the remedy for a key without a value.
const nullHint = "give a value, or remove the key to use its default"

// mappingHint returns the remedy for a value that should be a mapping with these keys.
func mappingHint(n *node, keys []string) string {
	switch {
	case n.kind == null:
		return nullHint
	case len(keys) > 0:
		return "write its keys below it, indented: " + strings.Join(keys, ", ")
	}
	return ""
}

// typeHint returns the remedy for a value of the wrong type.
func typeHint(n *node, wanted kind) string {
	switch {
	case n.kind == null:
		return nullHint
	case wanted == list && n.kind != mapping:
		return "write [a, b]"
	case wanted == boolean && n.kind == text:
		return "write true or false without quotes"
	case wanted == number && n.notation:
		return plainHint
	case wanted == number && n.kind == text && isOutOfRange(n.literal):
		return rangeHint
	case wanted == number && n.kind == text && IsPlainNumber(n.literal):
		return "write the number without quotes"
	case wanted == text && (n.kind == number || n.kind == boolean):
		return "quote it if it is text"
	}
	return ""
}

// unknownHint suggests the key that an unknown key may misspell.
func unknownHint(key string, allowed []string) string {
	if best, ok := nearest(key, allowed); ok {
		return "did you mean " + best + "?"
	}
	if home, ok := keyHomes()[key]; ok {
		return "it belongs under " + home
	}
	if len(allowed) == 0 {
		return ""
	}
	return "allowed here: " + oneOf(allowed)
}

// keyHomes maps every key that occurs at exactly one place to that place.
var keyHomes = sync.OnceValue(func() map[string]string {
	places := map[string][]string{}
	note := func(keys []string, place string) {
		for _, key := range keys {
			places[key] = append(places[key], place)
		}
	}
	note(keysAt(nil), "the recipe itself, without indentation")
	for _, section := range keysAt(nil) {
		note(keysAt([]string{section}), section)
	}
	note(keysOfColumn, "data.columns, below the name of a column")
	only := map[string]string{}
	for key, where := range places {
		if len(where) == 1 {
			only[key] = where[0]
		}
	}
	return only
})

// merge combines the findings about the structure with the problems of the rules, so that each mistake has one
// message.
func merge(found []finding, rules Problems) Problems {
	var out Problems
	strong := newPathSet()
	spoken := newPathSet()
	for _, f := range found {
		if f.structural && !strong.at[f.Path] {
			strong.add(f.Path)
			out = append(out, f.Problem)
		}
	}
	for _, f := range found {
		if f.meant != "" {
			strong.at[f.meant] = true // the key itself, not its ancestors
		}
	}
	for _, p := range rules {
		if !strong.related(p.Path) {
			spoken.add(p.Path)
			out = append(out, p)
		}
	}
	for _, f := range found {
		if !f.structural && !strong.related(f.Path) && !spoken.related(f.Path) {
			out = append(out, f.Problem)
		}
	}
	return out.sorted()
}

// pathSet is a set of paths with lookups for ancestors and descendants.
type pathSet struct{ at, above map[string]bool }

func newPathSet() pathSet {
	return pathSet{map[string]bool{}, map[string]bool{}}
}

func (s pathSet) add(path string) {
	s.at[path] = true
	for up := path; up != "" && !s.above[up]; {
		up = parent(up)
		s.above[up] = true
	}
}

func (s pathSet) related(path string) bool {
	if s.at[path] || s.above[path] {
		return true
	}
	for up := path; up != ""; {
		up = parent(up)
		if s.at[up] {
			return true
		}
	}
	return false
}
