package fault

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
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

// Readable formats x like Number, for messages: with a short exponent, such as 1e-6 and 1e9.
func Readable(x float64) string {
	mantissa, exponent, found := strings.Cut(Number(x), "e")
	if !found {
		return mantissa
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return mantissa + "e" + sign + strings.TrimLeft(exponent, "+-0")
}
