package selection

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestVotesIgnoreIndicators checks that a bucket votes for columns whose missing cells have an indicator as for any
// other. (It used to fail on buckets of two or more records, and the error revealed the number of records.)
func TestVotesIgnoreIndicators(t *testing.T) {
	columns := []dataset.Column{
		{Name: "a", Indicator: true},
		{Name: "b", Indicator: true},
	}
	schema := dataset.Schema{Columns: append(
		slices.Clone(columns),
		dataset.Column{Name: "y"},
	)}
	a := []float64{1, 2, 3, 4, 5, 6}
	b := []float64{1, -1, 1, 1, -1, -1}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: a}, {Floats: b}, {Floats: a}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newBucketVoter(columns, 1, .1).castVote(t.Context(), table.View())
	if err != nil || !slices.Equal(got, []int{0}) {
		t.Errorf("votes %v, %v", got, err)
	}
}
