package describe

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestFarValuesAreNamed checks that a warning names the columns with more than ManyBeyond of their values beyond the range, and
// no others, whichever end the values are beyond.
func TestFarValuesAreNamed(t *testing.T) {
	const n = 4000
	even := make([]float64, n)
	high := make([]float64, n)
	low := make([]float64, n)
	for i := range n {
		even[i] = float64(i % 100)
		high[i] = even[i]
		low[i] = even[i] - 100
		if i%25 == 0 {
			high[i] = 1e9
			low[i] = -1e9
		}
	}
	s := studyOf(3)
	s.Budget.Epsilon = 20
	for j := range s.Schema.Columns {
		c := &s.Schema.Columns[j]
		c.Found = false
		c.Lower, c.Upper, c.Ranged = -100, 100, true
	}
	table, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{{Floats: even}, {Floats: high}, {Floats: low}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, w := range resultOf(t, s, table).Warnings {
		if w.Code == stage.CodeFarValues {
			text += w.Text
		}
	}
	for j, far := range []bool{false, true, true} {
		if name := s.Schema.Columns[j].Name; strings.Contains(text, `"`+name+`"`) != far {
			t.Errorf("column %q: warning %q", name, text)
		}
	}
}
