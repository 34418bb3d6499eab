package report

import (
	"reflect"
	"strings"
)

// A use says what a version of a format makes of a key.
type use int

const (
	unknown  use = iota // refused, and not written
	optional            // may be absent; not written if its value is zero
	required
)

// version returns the number at the end of a format's name.
func version(format string) string {
	_, number, _ := strings.Cut(format, "/")
	return number
}

// keyOf returns the key of a field and its use in a version. The tag format lists the
// versions that know the key, as in "1,3?", where a question mark makes it optional.
// Without the tag, every version knows it, and the option omitempty makes it optional.
func keyOf(f reflect.StructField, version string) (string, use) {
	key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	versions, limited := f.Tag.Lookup("format")
	switch {
	case !limited && option == "omitempty":
		return key, optional
	case !limited:
		return key, required
	}
	for _, known := range strings.Split(versions, ",") {
		switch known {
		case version:
			return key, required
		case version + "?":
			return key, optional
		}
	}
	return key, unknown
}
