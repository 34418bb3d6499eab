package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestBatchesHoldTextCategories checks that batches hold the text categories of the whole table, however often their
// lists are replaced, for text and for dictionaries, and that no list grows with the file.
func TestBatchesHoldTextCategories(t *testing.T) {
	type record struct {
		A string `parquet:"a,dict"`
		B string `parquet:"b"`
		C int64  `parquet:"c"`
	}
	var text strings.Builder
	text.WriteString("a,b,c\n")
	rows := make([]record, 6*mostSeen)
	for i := range rows {
		rows[i] = record{
			fmt.Sprint("w", i%70),
			fmt.Sprint("id ", i),
			int64(i),
		}
		if i%9 == 0 {
			rows[i].B = wordCells[2+i%2]
		}
		fmt.Fprintf(
			&text,
			"%s,%s,%d\n",
			rows[i].A, rows[i].B,
			rows[i].C,
		)
	}
	plain := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(plain, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	packed := writeParquet(t, rows, parquet.MaxRowsPerRowGroup(40_000))
	whole, _, err := Read(t.Context(), plain, wordSchema(), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]struct {
		path string
		opts ReadOptions
	}{
		"csv":     {plain, ReadOptions{}},
		"slow":    {plain, ReadOptions{ForceSlow: true}},
		"parquet": {packed, ReadOptions{}},
	} {
		var words [2][]string
		longest := 0
		err := source.opts.Batches(
			t.Context(),
			source.path,
			nil,
			wordSchema(),
			func(b *Batch) (any, error) {
				longer := max(
					len(b.Table.Words(0)),
					len(b.Table.Words(1)),
				)
				return [3]any{
					wordTexts(b.Table, 0),
					wordTexts(b.Table, 1), longer,
				}, nil
			},
			func(x any) error {
				of := x.([3]any)
				words[0] = append(words[0], of[0].([]string)...)
				words[1] = append(words[1], of[1].([]string)...)
				longest = max(longest, of[2].(int))
				return nil
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		for j := range words {
			if !slices.Equal(words[j], wordTexts(whole, j)) {
				t.Errorf(
					"%s: other words in column %d",
					name, j,
				)
			}
		}
		if longest > 2*mostSeen+mostRows+100 {
			t.Errorf(
				"%s: a list of %d words",
				name, longest,
			)
		}
	}
}
