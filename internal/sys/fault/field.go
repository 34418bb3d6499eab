package fault

import (
	"fmt"
	"regexp"
	"strconv"
)

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_<-]+$`)

// Child is the field named key of the field at path.
func Child(path, key string) string {
	if !plainKey.MatchString(key) {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Item is element i of the list at path.
func Item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Number writes a number as a person would have.
func Number(x float64) string {
	if x == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
