package arrowfile

// Properties of a field's values that follow from its type; for a dictionary, those of its values.

// Text reports whether the values are text.
func (x Field) Text() bool {
	k := x.valueKind()
	return k == text || k == view
}

// Boolean reports whether the values are true and false.
func (x Field) Boolean() bool {
	return x.valueKind() == boolean
}

// Numeric reports whether the values are numbers.
func (x Field) Numeric() bool {
	switch x.valueKind() {
	case signed, unsigned, float, decimal:
		return true
	}
	return false
}

// Date reports whether the values are dates or timestamps.
func (x Field) Date() bool {
	k := x.valueKind()
	return k == date || k == timestamp
}

// Stored reports whether the column stores numbers or booleans, which [Rows.Read] reads without a
// text.
func (x Field) Stored() bool {
	switch x.kind {
	case signed, unsigned, float, boolean, truth:
		return true
	}
	return false
}

func (x Field) valueKind() kind {
	if x.kind == coded && x.values != nil {
		return x.values.kind
	}
	return x.kind
}
