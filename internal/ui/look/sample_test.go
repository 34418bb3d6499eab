package look_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ui/look"
)

// writeTable writes a table and returns its path.
func writeTable(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	err := os.WriteFile(path, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFirst checks that a sample contains the first records of a table, at most 1,000.
func TestFirst(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 2500 {
		fmt.Fprintf(&text, "%d, v%d \n", i, i)
	}
	text.WriteString("x\n")
	for _, rows := range []int{0, 1, 999, 1000, 1001, 2501} {
		lines := strings.SplitAfter(text.String(), "\n")
		got, err := look.First(
			t.Context(),
			writeTable(
				t, "t.csv",
				strings.Join(lines[:rows+1], ""),
			),
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Names, []string{"a", "b"}) ||
			len(got.Rows) != min(rows, 1000) {
			t.Errorf(
				"%d rows: %q and %d",
				rows, got.Names, len(got.Rows),
			)
		}
		for i, row := range got.Rows {
			want := []string{fmt.Sprint(i), fmt.Sprint("v", i)}
			if !slices.Equal(row, want) {
				t.Fatalf("row %d: %q", i, row)
			}
		}
	}
	_, err := look.First(
		t.Context(),
		writeTable(t, "t.csv", ""),
		dataset.ReadOptions{},
	)
	if err == nil {
		t.Error("a table without a header has a sample")
	}
}

// TestFirstOfParquet checks the same for a Parquet file with several row groups.
func TestFirstOfParquet(t *testing.T) {
	type record struct {
		Name string   `parquet:"name"`
		Size *float64 `parquet:"size,optional"`
	}
	records := make([]record, 3000)
	for i := range records {
		records[i].Name = fmt.Sprint("n", i)
		if i%2 == 1 {
			records[i].Size = new(float64(i) / 2)
		}
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, records, parquet.MaxRowsPerRowGroup(700)); err != nil {
		t.Fatal(err)
	}
	got, err := look.First(t.Context(), path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != 1000 ||
		!slices.Equal(got.Rows[0], []string{"n0", ""}) ||
		!slices.Equal(
			got.Rows[999],
			[]string{"n999", "499.5"},
		) {
		t.Errorf(
			"%d rows, %q",
			len(got.Rows), got.Rows,
		)
	}
}

// previewTable returns the preview of a table.
func previewTable(t *testing.T, text string, r look.Reading) *look.Preview {
	t.Helper()
	s, err := look.First(
		t.Context(),
		writeTable(t, "t.csv", text),
		dataset.ReadOptions{Format: r.Format},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s.Preview(r)
}

// TestFormatProposals checks which settings are proposed for the format of a table, and that there are no further
// proposals once these are applied.
func TestFormatProposals(t *testing.T) {
	rows := func(header string, row func(i int) string) string {
		out := header + "\n"
		for i := range 40 {
			out += row(i) + "\n"
		}
		return out
	}
	for name, x := range map[string]struct {
		text   string
		given  look.Reading
		want   string
		marked look.Reading
	}{
		"a decimal comma": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d,5;%d", i, i)
			}),
			look.Reading{},
			"decimal=,",
			look.Reading{Format: dataset.Format{Decimal: ','}},
		},
		"a decimal comma and points between thousands": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("1.%03d,5;2.%03d", i, i)
			}),
			look.Reading{},
			"decimal=, thousands=.",
			look.Reading{Format: dataset.Format{Decimal: ',', Thousands: '.'}},
		},
		"a decimal point that was declared a comma": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d.25;%d", i, i)
			}),
			look.Reading{Format: dataset.Format{Decimal: ','}},
			"decimal=.",
			look.Reading{},
		},
		"commas between thousands": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("1,%03d;%d.5", i, i)
			}),
			look.Reading{},
			"thousands=,",
			look.Reading{Format: dataset.Format{Thousands: ','}},
		},
		"letters of Windows-1252": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("gr\xfcn;%d", i)
			}),
			look.Reading{},
			"encoding=windows-1252",
			look.Reading{Format: dataset.Format{Encoding: "windows-1252"}},
		},
		"dates": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d.12.2023;%d", i%28+1, i)
			}),
			look.Reading{},
			"date=auto@a",
			look.Reading{Dates: map[string]string{"a": "auto"}},
		},
		"dates with the day first": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%02d/12/2023;%d", i%28+1, i)
			}),
			look.Reading{},
			"date=02/01/2006@a",
			look.Reading{Dates: map[string]string{"a": "02/01/2006"}},
		},
		"a target of text": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d;class %d", i, i%2)
			}),
			look.Reading{Target: "b"},
			"task=classification@b",
			look.Reading{Text: map[string]bool{"b": true}},
		},
		"a code for missing values": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf(
					"%d;%s", i,
					[]string{"-999", "12", "0"}[i%3],
				)
			}),
			look.Reading{},
			"missing=-999",
			look.Reading{Format: dataset.Format{Missing: []float64{-999}}},
		},
		"negative numbers": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d;%d", i-20, -9*(i%3))
			}),
			look.Reading{},
			"",
			look.Reading{},
		},
		"categories in two spellings": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf(
					"%s;%d",
					[]string{"Chirurgie", "chirurgie", "Innere"}[i%3],
					i,
				)
			}),
			look.Reading{},
			"fold=case@a",
			look.Reading{Fold: "case"},
		},
		"names in two spellings": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf(
					"%s %d;%d",
					[]string{"Maria", "maria"}[i%2],
					i/2, i,
				)
			}),
			look.Reading{},
			"",
			look.Reading{},
		},
		"numbers and text": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d.5;word", i)
			}),
			look.Reading{},
			"",
			look.Reading{},
		},
		"codes with a bar": {
			rows("a;b", func(i int) string {
				return fmt.Sprintf("%d/%d;1", 120+i, 80+i)
			}),
			look.Reading{},
			"",
			look.Reading{},
		},
	} {
		join := func(list []look.Proposal) string {
			var out []string
			for _, p := range list {
				text := p.Key + "=" + p.Value
				if p.Column != "" {
					text += "@" + p.Column
				}
				out = append(out, text)
			}
			return strings.Join(out, " ")
		}
		got := join(previewTable(t, x.text, x.given).Proposals)
		if got != x.want {
			t.Errorf(
				"%s: proposed %q, want %q",
				name, got, x.want,
			)
		}
		got = join(previewTable(t, x.text, x.marked).Proposals)
		if got != "" {
			t.Errorf(
				"%s: proposed %q after the proposals were used",
				name, got,
			)
		}
	}
}

// TestPreviewCells checks the kinds of columns and cells.
func TestPreviewCells(t *testing.T) {
	text := "n;w;d;e\n1;ä;2024-02-30;\n" + "2 kg;;2024-01-02;\n" + "x;z;;NA\n" + "3;" +
		strings.Repeat("é", 70) + ";2024-01-03;\n-999;a;2024-01-04;\n"
	got := previewTable(
		t,
		text,
		look.Reading{
			Format: dataset.Format{Missing: []float64{-999}},
			Dates:  map[string]string{"d": "2006-01-02"},
		},
	)
	kinds := ""
	for _, c := range got.Columns {
		kinds += fmt.Sprintf(
			"%s %s %d %d %d;",
			c.Name,
			c.Kind,
			c.Missing,
			c.Unread,
			c.Distinct,
		)
	}
	want := "n number 1 1 4;w text 1 0 4;d date 1 1 4;e missing 5 0 0;"
	if kinds != want {
		t.Errorf("%s, want %s", kinds, want)
	}
	for at, want := range map[[2]int]look.PreviewCell{
		{0, 0}: {Kind: "number", Text: "1"},
		{1, 0}: {
			Kind:  "number",
			Text:  "2 kg",
			Value: "2",
		},
		{2, 0}: {Kind: "unread", Text: "x"},
		{4, 0}: {Kind: "missing", Text: "-999"},
		{3, 1}: {
			Kind: "text",
			Text: strings.Repeat("é", 60) + "…",
		},
		{0, 2}: {Kind: "unread", Text: "2024-02-30"},
		{2, 2}: {Kind: "missing"},
	} {
		cell := got.Rows[at[0]][at[1]]
		if cell != want {
			t.Errorf(
				"%v: %+v, want %+v",
				at, cell, want,
			)
		}
	}
}
