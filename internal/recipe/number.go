package recipe

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// plainNumber is the form of every number in user input: decimal digits with an optional point and exponent. Leading
// zeros, underscores, other bases and minutes mean different numbers to different programs: 010 is 8 in YAML and 10
// to a human reader.
var plainNumber = regexp.MustCompile(
	`^[+-]?(0|[1-9][0-9]*|0?\.[0-9]+|(0|[1-9][0-9]*)\.[0-9]*)([eE][+-]?[0-9]+)?$`)

// IsPlainNumber reports whether a text is a plain decimal number, such as 10, -0.5 or 1e-6.
func IsPlainNumber(text string) bool {
	return plainNumber.MatchString(text)
}

// ParseNumber reads a plain decimal number. The error is [strconv.ErrSyntax] for any other text, and
// [strconv.ErrRange] for a number that is too large for a float64, or so small that it would become 0.
func ParseNumber(text string) (float64, error) {
	if !IsPlainNumber(text) {
		return 0, strconv.ErrSyntax
	}
	x, err := strconv.ParseFloat(text, 64)
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	if err != nil || x == 0 && strings.ContainsAny(digits, "123456789") {
		return 0, strconv.ErrRange
	}
	return x, nil
}

// isOutOfRange reports whether a text is a plain decimal number that no float64 can hold.
func isOutOfRange(text string) bool {
	_, err := ParseNumber(text)
	return errors.Is(err, strconv.ErrRange)
}

// rangeHint is the remedy for such a number.
const rangeHint = "a number is 0, or its size is between 4.9e-324 and 1.8e308"

// ParseEpsilon parses a privacy loss written as a plain number ("1", "0.5", "1e-2") or as a natural logarithm
// ("ln(3)"). Spaces are allowed. It checks the form and that the value is finite; the recipe rules check that
// it is greater than 0.
func ParseEpsilon(text string) (float64, error) {
	s := strings.TrimSpace(text)
	inner, isLog := strings.CutPrefix(s, "ln")
	if !isLog {
		return parseFinite(s, text)
	}
	inner = strings.TrimSpace(inner)
	if !strings.HasPrefix(inner, "(") || !strings.HasSuffix(inner, ")") {
		return 0, badNumber(text)
	}
	x, err := parseFinite(strings.TrimSpace(inner[1:len(inner)-1]), text)
	if err != nil {
		return 0, err
	}
	if x <= 0 {
		return 0, fmt.Errorf("%s is undefined: ln needs a number above 0", quoted(text))
	}
	return math.Log(x), nil
}

// parseFinite parses s as a decimal number; errors quote text.
func parseFinite(s, text string) (float64, error) {
	x, err := ParseNumber(s)
	if err == nil {
		return x, nil
	}
	switch y, other := strconv.ParseFloat(s, 64); {
	case isOutOfRange(s):
		return 0, fmt.Errorf("%s is out of range: %s", quoted(text), rangeHint)
	case math.IsInf(y, 0) || math.IsNaN(y):
		return 0, fmt.Errorf("%s is not a finite number", quoted(text))
	case other == nil || otherNotation.MatchString(s):
		return 0, fmt.Errorf("%s is not a plain decimal number: %s", quoted(text), plainHint)
	}
	return 0, badNumber(text)
}

// otherNotation matches numbers of YAML and of programming languages that are not plain.
var otherNotation = regexp.MustCompile(
	`^[+-]?(0[0-9]+|[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?|0[xXbBoO][0-9a-fA-F_.]+([pP][+-]?[0-9]+)?|[0-9]+(:[0-9]+)+)$`)

// plainHint is the remedy for a number in another notation.
const plainHint = "write it with decimal digits, such as 10, 0.5 or 1e-6"

func badNumber(text string) error {
	return fmt.Errorf("%s is not a number or ln(number)", quoted(text))
}

func show(x float64) string {
	return fault.Number(x)
}
