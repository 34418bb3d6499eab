package fault

import (
	"fmt"
	"regexp"
	"strconv"
)

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_<-]+$`)

// Child returns the path of the field named key in the object at path.
func Child(path, key string) string {
	if !plainKey.MatchString(key) {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Item returns the path of element i of the list at path.
func Item(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}

// Number formats x in its shortest exact decimal form; negative zero becomes "0".
func Number(x float64) string {
	if x == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
