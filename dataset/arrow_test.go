package dataset

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// TestArrowIsLines checks that cells that are read directly from an Arrow file are those of the
// lines that the file is converted to, for columns of every type, in memory and in batches.
func TestArrowIsLines(t *testing.T) {
	path := filepath.Join(typesDir, "values.arrow")
	formats := []Format{
		{},
		{Decimal: ',', Thousands: '.'},
		{Thousands: ',', Strict: true},
		{Missing: []float64{1, -.1, 90, 0}},
	}
	read := 0
	for name, want := range typesOfArrow() {
		columns := []Column{
			{Name: name},
			{Name: name, HasMissing: true, Missing: 5},
			{Name: name, Found: true},
			{Name: name, Kind: Category, Found: true},
			{
				Name: name,
				Kind: Category,
				Categories: []string{
					"1", "true", "x",
					"1.5", "1,5",
				},
			},
			{
				Name:       name,
				Kind:       Category,
				Categories: []string{"1"},
				Labels:     true,
			},
			{
				Name:   "days",
				Source: name,
				Part:   "days",
				Date:   AutoDate,
			},
		}
		for k, c := range columns {
			schema := Schema{Columns: []Column{c}}
			if k == 0 {
				schema.Unit = "last"
			}
			if want.refused || schema.Validate() != nil || name == schema.Unit {
				continue
			}
			for _, f := range formats {
				slow, slowStats, err := Read(
					t.Context(),
					path,
					schema,
					ReadOptions{Format: f, ForceSlow: true},
				)
				if err != nil {
					t.Fatalf(
						"%s as %+v: %v",
						name, c, err,
					)
				}
				fast, stats, err := Read(t.Context(), path, schema, ReadOptions{Format: f})
				if err != nil {
					t.Fatalf(
						"%s as %+v: %v",
						name, c, err,
					)
				}
				if !reflect.DeepEqual(stats, slowStats) {
					t.Errorf(
						"%s as %+v with %+v: %+v, want %+v",
						name, c, f, stats, slowStats,
					)
				}
				sameCells(
					t,
					fmt.Sprintf("%s as %+v with %+v", name, c, f),
					fast, slow,
				)
				at := 0
				err = ReadOptions{
					Format:    f,
					BatchRows: 1,
				}.Batches(
					t.Context(),
					path,
					nil,
					schema,
					func(b *Batch) (any, error) {
						if !b.Lasts() || b.Table.Len() != 1 {
							return nil, fmt.Errorf("a batch of %d rows", b.Table.Len())
						}
						return b, nil
					},
					func(b any) error {
						batch := b.(*Batch)
						if batch.First != int64(at) {
							return fmt.Errorf(
								"a batch after %d rows, want %d",
								batch.First,
								at,
							)
						}
						part := slow.Select([]int32{int32(at)}).Compact()
						if schema.Unit == "" {
							part.ids = []uint64{0} // a batch knows no identity but that of a unit
						}
						sameCells(t, name+" in batches", batch.Table, part)
						at++
						return nil
					},
				)
				if err != nil || at != slow.Len() {
					t.Fatalf(
						"%s as %+v: %d rows of %d: %v",
						name, c, at, slow.Len(), err,
					)
				}
				read++
			}
		}
	}
	if read < 500 {
		t.Errorf("%d columns are read", read)
	}
}

// sameCells fails unless two tables with one column have the same cells and identities.
func sameCells(t *testing.T, what string, got, want *Table) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf(
			"%s: %d rows, want %d",
			what, got.Len(), want.Len(),
		)
	}
	shown := func(t *Table, i int) string {
		text := fmt.Sprint(t.ID(i), " ")
		list := t.Words(0)
		if list != nil {
			code := t.wordCode(0, i)
			if code != noText {
				return text + list[code]
			}
		}
		x := t.Float(0)
		if x != nil {
			return text + fmt.Sprintf("%x", math.Float64bits(x[i]))
		}
		return text + fmt.Sprint(t.Labels(0)[i])
	}
	var a, b []string
	for i := range got.Len() {
		a = append(a, shown(got, i))
		b = append(b, shown(want, i))
	}
	if !slices.Equal(a, b) {
		t.Errorf(
			"%s: %q, want %q",
			what, a, b,
		)
	}
}
