package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/internal/recipe"
)

// errTwice is the error for a repeated flag that accepts one value.
var errTwice = errors.New("given twice")

// strictFlags makes the flags of a command and its subcommands as strict as the keys of a recipe: numbers are plain
// decimal numbers ([recipe.IsPlainNumber]), and a flag with a single value may not be repeated.
func strictFlags(cmd *cobra.Command) {
	for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if _, done := f.Value.(*strictValue); done {
				return
			}
			if _, list := f.Value.(pflag.SliceValue); !list || numericList(f.Value) {
				f.Value = &strictValue{
					Value: f.Value,
					list:  list,
				}
			}
		})
	}
	for _, c := range cmd.Commands() {
		strictFlags(c)
	}
}

// numericList reports whether a flag takes a list of numbers.
func numericList(v pflag.Value) bool {
	return v.Type() == "intSlice" || v.Type() == "float64Slice"
}

// A strictValue is a flag value with the checks of strictFlags.
type strictValue struct {
	pflag.Value
	list  bool
	given bool
}

// Set implements [pflag.Value].
func (v *strictValue) Set(text string) error {
	switch v.Type() {
	case "bool":
		return v.Value.Set(text)
	case "int", "int64", "uint", "uint64", "float64":
		if !recipe.IsPlainNumber(text) {
			return strconv.ErrSyntax
		}
	case "intSlice", "float64Slice":
		for item := range strings.SplitSeq(text, ",") {
			if !recipe.IsPlainNumber(strings.TrimSpace(item)) {
				return strconv.ErrSyntax
			}
		}
	}
	if v.given && !v.list {
		return errTwice
	}
	v.given = true
	return v.Value.Set(text)
}
