package recipe

import "reflect"

// missingIndicator is the word for an indicator in the key missing of a column.
const missingIndicator = "indicator"

// Missing says what a cell that is missing or not a finite number becomes.
type Missing struct {
	Number float64 `json:"-"`
	// Indicator leaves Number to the run and gives such cells a term of their own in
	// the model. Number is 0 then.
	Indicator bool `json:"-"`
}

// number returns the declared number, nil where there is none.
func (m *Missing) number() *float64 {
	if m == nil || m.Indicator {
		return nil
	}
	return &m.Number
}

// asIndicator reports whether missing cells have a term of their own.
func (m *Missing) asIndicator() bool { return m != nil && m.Indicator }

// text is m as a recipe has it.
func (m Missing) text() string {
	if m.Indicator {
		return missingIndicator
	}
	return show(m.Number)
}

var missingType = reflect.TypeFor[Missing]()

// decodeMissing stores a number or the word for an indicator and reports whether it
// was one of them.
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
