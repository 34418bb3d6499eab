package main

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/internal/recipe"
)

// A numberValue is the value of a flag that takes a plain decimal number, as recipes do: no other notation, and no number
// so small that it would become 0.
type numberValue float64

// numberVar declares a flag that takes a number.
func numberVar(set *pflag.FlagSet, p *float64, name string, value float64, help string) {
	*p = value
	set.Var((*numberValue)(p), name, help)
}

// Set implements [pflag.Value].
func (v *numberValue) Set(text string) error {
	x, err := recipe.ParseNumber(text)
	if err != nil {
		return err
	}
	*v = numberValue(x)
	return nil
}

// String implements [pflag.Value].
func (v *numberValue) String() string {
	return strconv.FormatFloat(float64(*v), 'g', -1, 64)
}

// Type implements [pflag.Value].
func (v *numberValue) Type() string {
	return "float64"
}
