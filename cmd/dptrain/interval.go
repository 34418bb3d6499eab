package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// highestLevel is the value of --interval given without a level.
const highestLevel = "highest"

// levelOf supports "--interval 0.9", where the level is a separate argument. It removes the level, or another number
// in its place, from args and stores it in the flags.
func (f *predictFlags) levelOf(args []string) []string {
	if f.interval == "" || len(args) != 3 {
		return args
	}
	for i, a := range slices.Backward(args) {
		if _, err := recipe.ParseNumber(a); err == nil &&
			(f.interval == highestLevel || f.interval == a) {
			f.interval = a
			return slices.Concat(args[:i], args[i+1:])
		}
	}
	return args
}

// addInterval adds the columns "lower" and "upper", the bounds of the prediction interval at a level. It returns an
// error if the model has no interval at this level.
func (s *scorer) addInterval(
	path string,
	m regression.Model,
	level string,
) error {
	w, err := halfWidth(path, m, level)
	if err != nil {
		return err
	}
	predict := s.values
	s.columns = append(s.columns, column{name: "lower"}, column{name: "upper"})
	s.values = func(rows regression.Rows) ([][]float64, error) {
		values, err := predict(rows)
		if err != nil {
			return nil, err
		}
		lower := make([]float64, rows.N)
		upper := make([]float64, rows.N)
		for i, p := range values[0] {
			lower[i] = max(p-w, -math.MaxFloat64)
			upper[i] = min(p+w, math.MaxFloat64)
		}
		return append(values, lower, upper), nil
	}
	return nil
}

// halfWidth returns the half width of the prediction interval at a level.
func halfWidth(path string, m regression.Model, level string) (float64, error) {
	list := regression.IntervalsOf(m)
	var known []string
	for _, v := range list {
		known = append(known, strconv.FormatFloat(v.Level, 'g', -1, 64))
	}
	refuse := func(what string) (float64, error) {
		return 0, fault.WithKind(fault.Data, &placeError{path, what})
	}
	switch {
	case len(m.Output().Classes) > 0:
		return refuse("--interval needs a model that predicts numbers; this one predicts classes")
	case len(list) == 0:
		return refuse(
			"this model has no prediction interval because too few records were held out to measure one")
	case level == highestLevel:
		return list[len(list)-1].HalfWidth, nil
	}
	x, err := recipe.ParseNumber(level)
	if err != nil || !(x > 0 && x < 1) {
		return 0, usagef("--interval needs a level above 0 and below 1, such as %s", known[0])
	}
	for _, v := range list {
		if v.Level == x {
			return v.HalfWidth, nil
		}
	}
	return refuse(
		fmt.Sprintf("this model has prediction intervals at %s, not at %s",
			strings.Join(known, " and "), level))
}
