package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

// TestDialects checks that a table written by different programs is read as the same table, or that the error names
// the key that fixes it.
func TestDialects(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "größe"},
		{Name: "preis"},
		{
			Name: "ort",
			Kind: dataset.Category,
			Categories: []string{
				"Köln", "Zürich",
				"a, b; c",
			},
		},
		{
			Name:   "tag.days",
			Source: "tag",
			Part:   "days",
			Date:   "2006-01-02",
		},
		{
			Name:   "tag.month",
			Source: "tag",
			Part:   "month",
			Date:   "2006-01-02",
		},
	}}
	want := [][]float64{
		{1.5, 2.25, math.NaN(), 1234.5, -7, .125},
		{1200, 7.5, 1250000.25, 3, math.NaN(), 12},
		{0, 1, 2, 0, 3, 1},
		{19782, 19722, 19723, math.NaN(), 10776, 19782},
		{2, 12, 1, math.NaN(), 7, 2},
	}
	names := []string{"größe", "ort", "preis", "tag"}
	seen := map[string]bool{"write.py": true, "README.md": true}
	for _, c := range []struct {
		file  string
		first string // the message without flags; empty if there is no problem
		flags string // the flags that fix it; "-" if it cannot be fixed
	}{
		{"pandas.csv", "", ""},
		{"pandas-semicolon.csv", "--decimal ,", "--decimal ,"},
		{
			"pandas-semicolon.csv",
			`read with --separator ";"`,
			"--separator ; --decimal ,",
		},
		{
			"pandas-latin1.csv",
			"--encoding windows-1252",
			"--encoding latin1 --decimal ,",
		},
		{
			"pandas-latin1.csv",
			"--decimal ,",
			"--encoding windows-1252 --decimal ,",
		},
		{"pandas-tab.tsv.gz", "", ""},
		{"pandas-quoted.csv", "read with --quote single", ""},
		{"pandas-quoted.csv", "--quote single", "--quote single"},
		{
			"pandas-bar.csv",
			"--encoding windows-1252",
			"--separator | --quote none --encoding cp850 --header größe,ort,preis,tag",
		},
		{
			"pandas-index.csv",
			"has no name",
			"--skip 1 --header index,größe,ort,preis,tag",
		},
		{"pandas-sentinel.csv", "", "--missing -999"},
		{
			"pandas.jsonl", "--header",
			"--header größe,ort,preis,tag",
		},
		{"pandas.json", "JSON Lines", "-"},
		{"pandas.xlsx", "", ""},
		{"pyarrow.csv", "", ""},
		{"pyarrow.parquet", "", ""},
		{"pyarrow.feather", "", ""},
		{"pyarrow-typed.feather", "", ""},
		{"pyarrow-stream.arrows", "", ""},
		{"pyarrow-v1.feather", "version 2", "-"},
		{"polars.csv", "", ""},
		{"polars.arrow", "", ""},
		{"polars-lz4.arrow", "", ""},
		{"polars-typed.arrow", "", ""},
		{"polars.parquet", "", ""},
		{"duckdb.csv", "", ""},
		{"duckdb-semicolon.csv", "--decimal .", "--decimal ."},
		{
			"duckdb.jsonl", "--header",
			"--header größe,ort,preis,tag",
		},
		{"sqlite.csv", "", ""},
		{"sqlite.tsv", "", ""},
		{"sqlite-list.csv", `--separator "|"`, ""},
		{"postgres.csv", "", ""},
		{"postgres-text.tsv", "", ""},
		{"psql.csv", `--separator ";"`, ""},
		{"mawk.csv", `--separator "^"`, ""},
		{
			"node.jsonl", "--header",
			"--header größe,ort,preis,tag",
		},
		{"libreoffice.xlsx", "", ""},
		{
			"libreoffice-latin.csv",
			"--encoding windows-1252",
			"--encoding windows-1252",
		},
		{
			"libreoffice-unicode.csv",
			"--encoding utf-16",
			"--encoding utf-16",
		},
		{"libreoffice.ods", "as .xlsx", "-"},
		{"libreoffice.xls", "as .xlsx", "-"},
		{"gnumeric.xlsx", "", ""},
		{"gnumeric.csv", "", ""},
		{"xlsxwriter.xlsx", "--sheet", "--sheet Daten --skip 2"},
		{
			"excel-unicode.txt.csv",
			"--encoding utf-16",
			"--encoding utf-16 --separator tab",
		},
		{
			"excel-german.csv",
			"as its first line declares",
			"--decimal , --thousands .",
		},
		{
			"excel-german.csv", "declares",
			"--skip 1 --separator ; --decimal , --thousands .",
		},
		{
			"libreoffice-french.csv",
			"--decimal ,",
			"--encoding windows-1252 --decimal , --thousands blank",
		},
		{"r.csv", "", ""},
		{"r-csv2.csv", "--decimal ,", "--decimal ,"},
		{
			"r-rownames.csv",
			"--skip 1 --header",
			"--skip 1 --header row,größe,ort,preis,tag",
		},
		{"r-table.csv", "write.csv", "-"},
		{"report.csv", "--skip", "--skip 2"},
		{"mac.csv", "line endings", "-"},
	} {
		path := filepath.Join(
			"..", "..", "testdata",
			"dialects", c.file,
		)
		seen[c.file] = true
		schema := schema
		if c.file == "gnumeric.csv" {
			schema.Columns = slices.Clone(schema.Columns)
			schema.Columns[3].Date = dataset.AutoDate
			schema.Columns[4].Date = dataset.AutoDate
		}
		told := ""
		given := []string(nil)
		if c.flags != "-" {
			given = strings.Fields(c.flags)
		}
		for k := 0; k <= len(given); k += 2 { // add one flag after another, as the messages name them
			told += dptrain(t, append([]string{"init", path}, given[:k]...)...).stderr
		}
		if c.first == "" && told != "" ||
			!strings.Contains(told, c.first) {
			t.Errorf(
				"%s: %q is said, not %q",
				c.file, told, c.first,
			)
		}
		if c.flags == "-" {
			continue
		}
		var f keyValues
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.declare("init", set)
		if err := set.Parse(strings.Fields(c.flags)); err != nil {
			t.Fatal(err)
		}
		o, err := f.reading(recipe.Data{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		header, err := dataset.Header(path, o)
		if err != nil ||
			!slices.Equal(header[len(header)-4:], names) {
			t.Errorf(
				"%s: header %q, %v",
				c.file, header, err,
			)
		}
		table, _, err := dataset.Read(t.Context(), path, schema, o)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for j := range schema.Columns {
			for i, x := range want[j] {
				var got float64
				if j == 2 {
					got = float64(table.Codes(j)[i])
				} else {
					got = table.Float(j)[i]
				}
				if got != x && !(math.IsNaN(got) && math.IsNaN(x)) {
					t.Errorf(
						"%s: row %d of %s is %v, want %v",
						c.file,
						i+1,
						schema.Columns[j].Name,
						got,
						x,
					)
				}
			}
		}
	}
	files, err := os.ReadDir(filepath.Join(
		"..", "..", "testdata",
		"dialects",
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("%s is read by nobody", f.Name())
		}
	}
}
