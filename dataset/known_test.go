package dataset_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestKnown checks that records with an unreadable cell are left out at any position, and that the others keep
// their order and identities.
func TestKnown(t *testing.T) {
	const n = 3000 // more than two blocks
	nan := math.NaN()
	for name, missing := range map[string]func(i int) bool{
		"none": func(int) bool {
			return false
		},
		"all": func(int) bool {
			return true
		},
		"first": func(i int) bool {
			return i == 0
		},
		"last": func(i int) bool {
			return i == n-1
		},
		"middle": func(i int) bool {
			return i == 1024
		},
		"half": func(i int) bool {
			return i%2 == 1
		},
	} {
		number := make([]float64, n)
		class := make([]int32, n)
		ids := make([]uint64, n)
		var want []uint64
		for i := range n {
			number[i] = float64(i)
			class[i] = int32(i % 2)
			ids[i] = uint64(7 * i)
			if missing(i) {
				number[i] = nan
				class[i] = 2
			} else {
				want = append(want, ids[i])
			}
		}
		tab, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{
				{Name: "x"},
				{
					Name:       "c",
					Kind:       dataset.Category,
					Categories: []string{"a", "b"},
				},
			}},
			[]dataset.ColumnData{{Floats: number}, {Codes: class}},
			ids,
		)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			for _, v := range []dataset.View{
				tab.View(),
				tab.View().Columns([]int{0, 1}),
			} {
				got, err := v.Known(context.Background(), j)
				if err != nil {
					t.Fatal(err)
				}
				var ids []uint64
				for k := range got.Len() {
					ids = append(ids, got.ID(k))
				}
				if !slices.Equal(ids, want) {
					t.Errorf(
						"%s, column %d: %d records, want %d",
						name,
						j,
						len(ids),
						len(want),
					)
				}
			}
		}
		some := tab.Select([]int32{0, 5, 1024, n - 1})
		kept := 0
		for _, i := range []int{0, 5, 1024, n - 1} {
			if !missing(i) {
				kept++
			}
		}
		got, err := some.Known(context.Background(), 0)
		if err != nil || got.Len() != kept {
			t.Errorf(
				"%s: %d of four records, want %d, %v",
				name, got.Len(), kept, err,
			)
		}
	}
}

// TestKnownDeclared checks that a declared value for missing cells makes a cell readable, and that an infinite
// or absent value does not.
func TestKnownDeclared(t *testing.T) {
	cells := []float64{1, math.NaN(), math.Inf(1)}
	for _, declared := range []bool{false, true} {
		tab, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{{
				Name:       "x",
				HasMissing: declared,
				Missing:    4,
			}}},
			[]dataset.ColumnData{{Floats: cells}},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if declared {
			want = 3
		}
		got, err := tab.View().Known(context.Background(), 0)
		if err != nil || got.Len() != want {
			t.Errorf(
				"declared %v: %d records, want %d, %v",
				declared, got.Len(), want, err,
			)
		}
		got, err = tab.Select(nil).Known(context.Background(), 0)
		if err != nil || got.Len() != 0 {
			t.Errorf(
				"no records: %d, %v",
				got.Len(), err,
			)
		}
	}
}

// TestKnownCancelled checks that a cancelled context returns its own error.
func TestKnownCancelled(t *testing.T) {
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "x"}}},
		[]dataset.ColumnData{{Floats: []float64{1}}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tab.View().Known(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
