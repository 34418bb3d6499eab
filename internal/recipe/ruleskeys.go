package recipe

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/method"
)

// This file contains the rules for keys that belong to methods.

// A keyed is a section with keys of methods.
type keyed struct {
	section string
	method  string
	values  method.Values
}

// keys checks the keys of the methods of a section.
func (c *checker) keys(s keyed) {
	for _, k := range keysOf(s.section) {
		path := s.section + "." + k.Name
		own, has := k.keyOf(s.method)
		set := c.isSet(s, k.Name)
		needs := k.Needs
		if has {
			needs = own.Needs
		}
		switch {
		case !set && has && own.Required != "":
			c.required(path, s.method, own)
		case !set:
		case needs.Key != "" && len(needs.Words) == 0 && !c.isSet(s, needs.Key):
			c.add(
				path,
				path+" has no effect without "+needs.Named(s.section),
				needs.Hint,
			)
		case !has && needs.Key != "" && len(needs.Words) == 0: // reported for the required key
		case !has:
			c.add(path, path+" has no effect with method "+s.method, k.remedy())
		case !needs.Met(s.values):
			c.add(
				path,
				path+" has no effect without "+needs.Named(s.section),
				needs.Hint,
			)
		default:
			c.value(path, s, own)
		}
	}
}

// isSet reports whether a key of a section has a value, or the text sets it.
func (c *checker) isSet(s keyed, key string) bool {
	i := slices.IndexFunc(keysOf(s.section), func(k ownedKey) bool {
		return k.Name == key
	})
	if v := reflect.ValueOf(s.values[key]); v.IsValid() &&
		(!v.IsZero() || i >= 0 && keysOf(s.section)[i].HasZero) {
		return true
	}
	return !(i >= 0 && keysOf(s.section)[i].Kind == method.Word) && c.given(s.section+"."+key)
}

// remedy returns the remedy for a key without effect.
func (k ownedKey) remedy() string {
	if k.Remedy != "" {
		return k.Remedy
	}
	users := k.users()
	use := "use method " + joinedBy(users, "or")
	if len(users) > 2 {
		use = "use one of " + oneOf(users)
	}
	if k.Instead != "" {
		return use + ", or " + k.Instead
	}
	return use + ", or remove it"
}

func (c *checker) required(path, name string, k method.Key) {
	c.add(path, path+" is required with method "+name+": "+k.Required, "")
}

// value checks the value of a key of a method. The decoder has already checked its type.
func (c *checker) value(path string, s keyed, k method.Key) {
	switch k.Kind {
	case method.Word:
		c.word(path, k, s.values.Word(k.Name))
	case method.Whole:
		c.number(path, k, float64(s.values.Int(k.Name)))
	case method.Number:
		c.number(path, k, s.values.Number(k.Name))
	case method.Wholes:
		c.checkIntegers(path, s, k)
	case method.Names:
		if len(s.values.Names(k.Name)) == 0 {
			c.required(path, s.method, k)
		}
		c.columnNames(path, s.values.Names(k.Name))
	case method.Prices:
		c.prices(path, k, s.values.Prices(k.Name))
	case method.Flag: // checked by the decoder
	}
}

// prices checks the numbers of columns.
func (c *checker) prices(path string, k method.Key, prices map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(prices)) {
		c.columnName(child(path, name), name)
		if message, hint := k.Wrong(path+": "+quoted(name), prices[name]); message != "" {
			c.add(child(path, name), message, hint)
		}
	}
}

// word checks a value against the list of a key.
func (c *checker) word(path string, k method.Key, word string) {
	if !c.name(path, word, k.Words, k.Words) || k.Check == nil {
		return
	}
	relation, err := budget.ParseRelation(c.r.Privacy.Relation)
	if err != nil {
		return // reported elsewhere
	}
	if message, hint := k.Check(word, relation); message != "" {
		c.add(path, path+": "+message, hint)
	}
}

// number checks a number against the bounds of a key.
func (c *checker) number(path string, k method.Key, x float64) {
	if message, hint := k.Wrong(path, x); message != "" {
		c.add(path, message, hint)
	}
}

// checkIntegers checks a list of whole numbers.
func (c *checker) checkIntegers(path string, s keyed, k method.Key) {
	xs := s.values.Wholes(k.Name)
	switch {
	case k.Excludes.Key != "" && c.isSet(s, k.Excludes.Key):
		c.add(
			path,
			path+" cannot be combined with "+s.section+"."+k.Excludes.Key,
			k.Excludes.Hint,
		)
	case len(xs) < k.Least:
		c.add(path, path+" must list "+k.Few, k.FewHint)
	}
	for i, x := range xs {
		if float64(x) < k.Min || i > 0 && x <= xs[i-1] {
			c.add(item(path, i),
				fmt.Sprintf("%s must be increasing numbers of at least %s", path, k.Written(k.Min)),
				k.Hint)
			return
		}
	}
}
