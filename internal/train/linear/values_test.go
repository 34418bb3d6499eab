package linear

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// TestFrequent checks that the most frequent values become entries, in the order of the list, that every other cell
// is in the last entry, and that without a frequent value the list is empty.
func TestFrequent(t *testing.T) {
	c := dataset.Column{
		Name:  "k",
		Kind:  dataset.Category,
		Other: true,
	}
	counts := make([]float64, 100)
	for v := range counts {
		c.Categories = append(c.Categories, fmt.Sprint("v", v))
		counts[v] = float64(v * 37 % 100)
	}
	got := Frequent(c, append(counts, 1e6), 10)
	if len(got.Categories) != FewValues ||
		!got.Other ||
		len(got.Levels) != 101 ||
		len(c.Levels) != 0 {
		t.Fatalf(
			"%d categories, %d levels",
			len(got.Categories), len(got.Levels),
		)
	}
	for v, level := range got.Levels {
		switch {
		case v == 100 || counts[v] < 100-FewValues:
			if int(level) != FewValues {
				t.Errorf("value %d has entry %d", v, level)
			}
		case got.Categories[level] != c.Categories[v]:
			t.Errorf(
				"value %d has the entry of %q",
				v, got.Categories[level],
			)
		}
	}
	few := Frequent(c, append(counts, 1e6), 97.5)
	if !slices.Equal(few.Categories,
		[]string{c.Categories[54], c.Categories[27]}) &&
		!slices.Equal(
			few.Categories,
			[]string{c.Categories[27], c.Categories[54]},
		) {
		t.Errorf("above 97.5: %q", few.Categories)
	}
	none := Frequent(c, append(counts, 1e6), 200)
	enc := scaling.NewEncoder([]dataset.Column{none}, nil)
	if len(enc.Slots()) != 0 || enc.NormLimit(0) != 0 {
		t.Errorf(
			"%d entries, norm limit %v",
			len(enc.Slots()),
			enc.NormLimit(0),
		)
	}
	most := MostEntries([]dataset.Column{c, got})
	if len(most[0].Categories) != FewValues ||
		len(most[1].Categories) != FewValues ||
		len(c.Categories) != 100 {
		t.Error("the plan allows for another number of entries")
	}
	// Rows of the entries.
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{c}},
		[]dataset.ColumnData{{Codes: []int32{27, 0, 100}}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	rows := NewRows(scaling.NewEncoder([]dataset.Column{got}, nil))
	rows.Encode(tab.View().Block(0, 3))
	for r, entry := range []int{int(got.Levels[27]), FewValues, FewValues} {
		for k := range rows.X[:FewValues+1] {
			want := k == entry
			if (rows.X[k][r] == mechanism.FixedOne) != want {
				t.Errorf(
					"row %d, entry %d: %d",
					r, k, rows.X[k][r],
				)
			}
		}
	}
}
