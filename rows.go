package dptrain

import (
	"fmt"
	"math"
	"reflect"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile/structrow"
)

// HoldRows returns a table of structs, one per record; T is a struct or a pointer to one. The exported fields are the
// columns: numbers, strings for categories, booleans for the categories "false" and "true", and pointers to these,
// where nil is a missing cell, as are NaN and the empty string.
//
//	type House struct {
//		Area  float64 `dptrain:"area"`
//		Ocean string  `dptrain:"ocean"`
//		Owner string  `dptrain:"owner,unit"` // identifies the privacy unit; see Run.Unit
//		Note  string  `dptrain:"-"`          // no column
//		Price float64 `dptrain:"price"`
//	}
//
// A field without a tag has its own name. Declare ranges and categories in [Run].Columns and the classes of a target
// in [Run].Classes; the categories of a string column that is not declared there are found privately, and a target of
// strings makes the run a classification. The rows are copied. The error wraps [ErrSchema] for a type that has no
// columns, or a field of another type; it does not depend on the rows.
func HoldRows[T any](rows []T) (*Table, error) {
	fields, err := structrow.Fields(reflect.TypeFor[T]())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	all := reflect.ValueOf(rows)
	var schema dataset.Schema
	var data []dataset.ColumnData
	var ids []uint64
	for _, f := range fields {
		if f.Unit {
			schema.Unit = f.Name
			ids = unitsOf(all, f)
			continue
		}
		column := dataset.Column{Name: f.Name}
		cells := dataset.ColumnData{}
		switch f.Kind {
		case structrow.Number:
			cells.Floats = numbersOf(all, f)
		case structrow.Text:
			column.Kind = dataset.Category
			column.Found = true
			cells.Codes, cells.Words = textsOf(all, f)
		case structrow.Truth:
			column.Kind = dataset.Category
			column.Categories = []string{"false", "true"}
			column.Other = true // of missing cells
			cells.Codes = truthsOf(all, f)
		}
		schema.Columns = append(schema.Columns, column)
		data = append(data, cells)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: %v has no column", ErrSchema, reflect.TypeFor[T]())
	}
	records, err := dataset.NewTable(schema, data, ids)
	if err != nil {
		return nil, err
	}
	return Hold(records), nil
}

// numbersOf returns the numbers of a field; NaN for missing ones.
func numbersOf(rows reflect.Value, f structrow.Field) []float64 {
	out := make([]float64, rows.Len())
	for i := range out {
		v, ok := f.Value(rows.Index(i))
		switch {
		case !ok:
			out[i] = math.NaN()
		case v.CanInt():
			out[i] = float64(v.Int())
		case v.CanUint():
			out[i] = float64(v.Uint())
		default:
			out[i] = v.Float()
		}
	}
	return out
}

// textsOf returns the distinct texts of a field in the order in which they occur, and for each row the position of its
// text among them; -1 for a missing one.
func textsOf(
	rows reflect.Value,
	f structrow.Field,
) (codes []int32, words []string) {
	codes = make([]int32, rows.Len())
	of := map[string]int32{}
	for i := range codes {
		v, ok := f.Value(rows.Index(i))
		if !ok || v.String() == "" {
			codes[i] = -1
			continue
		}
		code, known := of[v.String()]
		if !known {
			code = int32(len(words))
			of[v.String()] = code
			words = append(words, v.String())
		}
		codes[i] = code
	}
	return codes, words
}

// truthsOf returns 0 for false, 1 for true and 2 for a missing value.
func truthsOf(rows reflect.Value, f structrow.Field) []int32 {
	out := make([]int32, rows.Len())
	for i := range out {
		v, ok := f.Value(rows.Index(i))
		switch {
		case !ok:
			out[i] = 2
		case v.Bool():
			out[i] = 1
		}
	}
	return out
}

// unitsOf returns the identity of the privacy unit of each row. Rows without a value belong to no unit.
func unitsOf(rows reflect.Value, f structrow.Field) []uint64 {
	out := make([]uint64, rows.Len())
	of := map[any]uint64{}
	for i := range out {
		v, ok := f.Value(rows.Index(i))
		missing := !ok || f.Kind == structrow.Text && v.String() == "" ||
			v.CanFloat() && math.IsNaN(v.Float())
		if missing {
			out[i] = dataset.NoUnit
			continue
		}
		id, known := of[v.Interface()]
		if !known {
			id = uint64(len(of))
			of[v.Interface()] = id
		}
		out[i] = id
	}
	return out
}
