package look_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ui/look"
)

func TestCountCells(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id;when;size;price;word;empty\n")
	for i := range 12_000 {
		fmt.Fprintf(
			&b,
			"%d;%02d/25/2024;%d,5;%d kg;%s;\n",
			i,
			i%12+1,
			i%7,
			i%9,
			[]string{"red", "blue"}[i%2],
		)
	}
	b.WriteString("short\n")
	path := filepath.Join(dir, "t-1.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o := dataset.ReadOptions{Format: dataset.Format{Separator: ';'}}
	got, err := look.CountCells(
		context.Background(),
		filepath.Join(dir, "t-*.csv"),
		o,
	)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 12_001 {
		t.Errorf("%d rows", got.Rows)
	}
	by := map[string]look.Column{}
	for _, c := range got.Columns {
		by[c.Name] = c
		if c.Missing+c.Plain+c.Text != got.Rows {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	c := by["id"]
	if c.Plain != 12_000 ||
		c.Text != 1 ||
		!c.Many ||
		c.Values != look.MostValues {
		t.Errorf(
			"id: %d, %d, %v, %d",
			c.Plain, c.Text, c.Many,
			c.Values,
		)
	}
	if c := by["when"]; c.Text != 12_000 || c.Values != 12 {
		t.Errorf(
			"when: %d, %d",
			c.Text, c.Values,
		)
	} else {
		for k, layout := range look.Layouts() {
			want := int64(12_000)
			if layout == "01/02/2006" && c.Dates[k] != want ||
				layout == "02/01/2006" && c.Dates[k] != 0 {
				t.Errorf(
					"%s reads %d",
					layout, c.Dates[k],
				)
			}
		}
	}
	if c := by["size"]; c.Comma != 12_000 || c.Lenient != 0 || c.Thousands != 0 {
		t.Errorf("size: %+v", c.Comma)
	}
	if c := by["price"]; c.Lenient != 12_000 || c.Plain != 0 || c.Values != 9 {
		t.Errorf("price: %d", c.Lenient)
	}
	if c := by["word"]; c.Text != 12_000 || c.Values != 2 || c.Missing != 1 {
		t.Errorf("word: %d", c.Text)
	}
	if c := by["empty"]; c.Missing != 12_001 || c.Values != 0 {
		t.Errorf("empty: %d", c.Missing)
	}
	_, err = look.CountCells(
		context.Background(),
		path,
		dataset.ReadOptions{Format: dataset.Format{Separator: ','}},
	)
	if !errors.Is(err, dataset.ErrFormat) {
		t.Errorf("%v", err)
	}
}

// TestParquetLooksAlike checks that a table of the dialects has the same counts in CSV and in Parquet.
func TestParquetLooksAlike(t *testing.T) {
	var got []*look.Table
	for _, name := range []string{"pandas.csv", "pyarrow.parquet"} {
		x, err := look.CountCells(
			context.Background(),
			filepath.Join(
				"..", "..",
				"..", "testdata", "dialects",
				name,
			),
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	for j, a := range got[0].Columns {
		b := got[1].Columns[j]
		if a.Missing != b.Missing ||
			a.Plain != b.Plain ||
			a.Text != b.Text ||
			a.Values != b.Values ||
			got[0].Rows != got[1].Rows {
			t.Errorf(
				"%s: %+v and %+v",
				a.Name, a, b,
			)
		}
	}
}
