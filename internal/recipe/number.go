package recipe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/fault"
)

// ParseEpsilon reads a privacy loss written as a plain number ("1", "0.5",
// "1e-2") or as a natural logarithm of one ("ln(3)"). Space around the words
// is allowed. It checks the form and that the value is finite; that it is
// greater than 0 is checked where the recipe is.
func ParseEpsilon(text string) (float64, error) {
	s := strings.TrimSpace(text)
	inner, isLog := strings.CutPrefix(s, "ln")
	if !isLog {
		return finite(s, text)
	}
	inner = strings.TrimSpace(inner)
	if !strings.HasPrefix(inner, "(") || !strings.HasSuffix(inner, ")") {
		return 0, badNumber(text)
	}
	x, err := finite(strings.TrimSpace(inner[1:len(inner)-1]), text)
	if err != nil {
		return 0, err
	}
	if x <= 0 {
		return 0, fmt.Errorf("%s has no value: ln takes a number greater than 0", quoted(text))
	}
	return math.Log(x), nil
}

// finite reads s as a decimal number; text is what an error repeats.
func finite(s, text string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && math.IsInf(x, 0), err == nil && (math.IsInf(x, 0) || math.IsNaN(x)):
		return 0, fmt.Errorf("%s is not a finite number", quoted(text))
	case err != nil:
		return 0, badNumber(text)
	}
	return x, nil
}

func badNumber(text string) error {
	return fmt.Errorf("%s is not a number or ln(number)", quoted(text))
}

func show(x float64) string { return fault.Number(x) }
