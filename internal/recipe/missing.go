package recipe

import "reflect"

// missingIndicator is the value of a column's key missing that selects an indicator.
const missingIndicator = "indicator"

// Missing is the treatment of a cell that is missing or not a finite number.
type Missing struct {
	Number float64 `json:"-"`
	// Indicator gives missing cells a term of their own in the model and leaves Number, which is 0, to the run.
	Indicator bool `json:"-"`
}

// number returns the declared number, or nil.
func (m *Missing) number() *float64 {
	if m == nil || m.Indicator {
		return nil
	}
	return &m.Number
}

// asIndicator reports whether missing cells have a term of their own.
func (m *Missing) asIndicator() bool {
	return m != nil && m.Indicator
}

// text is m as written in a recipe.
func (m Missing) text() string {
	if m.Indicator {
		return missingIndicator
	}
	return show(m.Number)
}

var missingType = reflect.TypeFor[Missing]()

// decodeMissing stores a number or the indicator and reports whether the value is valid.
func decodeMissing(n *node, v reflect.Value) bool {
	switch {
	case n.kind == number:
		v.Set(reflect.ValueOf(Missing{Number: n.num}))
	case n.kind == text && n.literal == missingIndicator:
		v.Set(reflect.ValueOf(Missing{Indicator: true}))
	default:
		return false
	}
	return true
}
