package cell

// MissingWords lists the texts that mean a missing value. They are case-sensitive.
func MissingWords() []string {
	return []string{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}
}

// MissingWord reports whether a trimmed cell is one of [MissingWords].
func MissingWord(s string) bool {
	switch s {
	case "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?":
		return true
	}
	return false
}
