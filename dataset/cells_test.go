package dataset

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readText reads the text of a file with a suffix.
func readText(t *testing.T, suffix, text string, s Schema, o ReadOptions) *Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t"+suffix)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	table, _, err := Read(context.Background(), path, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestJSONValues checks that values of every JSON type become cells, regardless of the decimal mark of texts.
func TestJSONValues(t *testing.T) {
	values := []string{"1.5", "1e2", "3.0", "true", "false", "null", `"2"`, `"yes"`, "[1]",
		`{"a": 1}`, "1e999", "12345678901234567890", `" 1,5 "`, `"\u00a0NO"`}
	var text strings.Builder
	for _, v := range values {
		text.WriteString(`{"x": ` + v + `, "c": ` + v + "}\n")
	}
	text.WriteString("{}\n[]\n")
	s := Schema{Columns: []Column{
		{
			Name:       "x",
			HasMissing: true,
			Missing:    -777,
		},
		{
			Name: "c",
			Kind: Category,
			Categories: []string{
				"100", "3", "true", "yes",
				"NO", "12345678901234567890",
			},
		},
	}}
	codes := []int32{
		6, 0, 1, 2, 6, 6, 6, 3,
		6, 6, 6, 5, 6, 4, 6, 6,
	}
	for decimal, read := range map[byte]float64{0: -777, ',': 1.5} {
		table := readText(
			t,
			".jsonl",
			text.String(),
			s,
			ReadOptions{
				Names:  []string{"x", "c"},
				Format: Format{Decimal: decimal},
			},
		)
		want := []float64{1.5, 100, 3, 1, 0, -777, 2, -777, -777, -777, -777, 12345678901234567890,
			read, -777, -777, -777}
		equalFloats(t, "numbers", table.Float(0), want)
		if !slices.Equal(table.Codes(1), codes) {
			t.Errorf(
				"codes %v, want %v",
				table.Codes(1), codes,
			)
		}
	}
}

// TestNumbersOfSchema checks that the number settings of a schema apply if the format declares no such settings.
func TestNumbersOfSchema(t *testing.T) {
	s := Schema{
		Columns: []Column{{Name: "x"}},
		Numbers: Numbers{Decimal: ',', Thousands: '.'},
	}
	for _, c := range []struct {
		suffix, text string
		format       Format
		want         float64
	}{
		{
			".csv",
			"x\n\"1.234,5\"\n",
			Format{}, 1234.5,
		},
		{
			".csv",
			"x\n1.5\n",
			Format{Decimal: '.'},
			1.5,
		},
		{
			".csv",
			"x\n\"1,234.5\"\n",
			Format{Decimal: '.', Thousands: ','},
			1234.5,
		},
		{
			".jsonl",
			"{\"x\": 1.5}\n",
			Format{}, 1.5,
		},
		{
			".jsonl",
			"{\"x\": \"1,5\"}\n",
			Format{}, 1.5,
		},
	} {
		o := ReadOptions{Format: c.format}
		if c.suffix == ".jsonl" {
			o.Names = []string{"x"}
		}
		equalFloats(
			t,
			c.text,
			readText(t, c.suffix, c.text, s, o).Float(0),
			[]float64{c.want},
		)
	}
}

// TestUnitNames checks that spellings of a unit name by different programs denote the same privacy unit.
func TestUnitNames(t *testing.T) {
	s := Schema{Unit: "u", Columns: []Column{{Name: "x"}}}
	table := readText(
		t,
		".csv",
		"u,x\n17,1\n17.0,2\n17.00\u00a0,3\n017,4\n17.5,5\nZoe\u0308,6\nZoë ,7\nZoe,8\nNA,9\n",
		s,
		ReadOptions{},
	)
	same := func(i, j int) bool {
		return table.ID(i) == table.ID(j)
	}
	if !same(0, 1) ||
		!same(0, 2) ||
		same(0, 3) ||
		same(0, 4) ||
		!same(5, 6) ||
		same(5, 7) ||
		table.ID(8) != NoUnit {
		t.Errorf(
			"identities: %v",
			[]uint64{table.ID(0), table.ID(1), table.ID(2), table.ID(3), table.ID(4), table.ID(5),
				table.ID(6), table.ID(7), table.ID(8)},
		)
	}
}

// TestLabels checks that classes found privately may be markers of missing values. In other text columns such
// markers are missing values.
func TestLabels(t *testing.T) {
	text := "a,b\nNone,None\nMild,Mild\n,\nNA,NA\n?,?\n Mild\u00a0,x\n"
	for _, o := range []ReadOptions{
		{},
		{ForceSlow: true},
		{Format: Format{MultilineQuotes: true}},
	} {
		table := readText(
			t,
			".csv",
			text,
			Schema{Columns: []Column{
				{
					Name:   "a",
					Kind:   Category,
					Found:  true,
					Labels: true,
				},
				{
					Name:  "b",
					Kind:  Category,
					Found: true,
				},
			}},
			o,
		)
		got := wordTexts(table, 0)
		if !slices.Equal(got,
			[]string{
				"None", "Mild", "-", "NA",
				"?", "Mild",
			}) {
			t.Errorf("labels %q", got)
		}
		got = wordTexts(table, 1)
		if !slices.Equal(got, []string{"-", "Mild", "-", "-", "-", "x"}) {
			t.Errorf("words %q", got)
		}
	}
	held, err := NewTable(
		Schema{Columns: []Column{{
			Name:   "a",
			Kind:   Category,
			Found:  true,
			Labels: true,
		}}},
		[]ColumnData{{
			Codes: []int32{0, 1, 2},
			Words: []string{"None", "", "NA"},
		}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	got := wordTexts(held, 0)
	if !slices.Equal(got, []string{"None", "-", "NA"}) {
		t.Errorf("in memory: %q", got)
	}
}

// TestResolveSpellings checks that a text that was not found resolves to the category that it is another
// spelling of, as in a table of new records.
func TestResolveSpellings(t *testing.T) {
	table := heldWordTable(
		t,
		[]string{"1", "1.0", "true", "2.5"},
		[]int32{0, 1, 2, 3, -1},
		nil,
	)
	v := table.View().Resolve(
		[]Column{
			{
				Name:       "a",
				Kind:       Category,
				Categories: []string{"0", "1"},
				Other:      true,
			},
			{
				Name:       "b",
				Kind:       Category,
				Categories: []string{"1", "1.0"},
				Other:      true,
			},
		})
	if a, b := v.Block(0, 5).Codes(0, nil),
		v.Block(0, 5).Codes(1, nil); !slices.Equal(a, []int32{1, 1, 1, 2, 2}) ||
		!slices.Equal(b, []int32{0, 1, 2, 2, 2}) {
		t.Errorf("codes %v and %v", a, b)
	}
}
