package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// wordSchema has a text column, a column that may be numeric or text, and a numeric column.
func wordSchema() Schema {
	return Schema{Columns: []Column{
		{
			Name:  "a",
			Kind:  Category,
			Other: true,
			Found: true,
		},
		{Name: "b", Found: true},
		{Name: "c"},
	}}
}

// wordCells are cells with blanks, quotes, other alphabets, markers of missing values, numbers, overlong texts
// and unprintable texts.
var wordCells = []string{
	"red", " red\t", "Red", "grün", "\"a, b\"", "\"say \"\"yes\"\"\"", "", "NA", "?", "7", "1e5",
	"007", "inf", "0x1p4", "45 yrs",
	strings.Repeat("x", longestWord), strings.Repeat("x", longestWord+1), "bell\a", "\xff",
	"zero\u200bwidth", "True", "می\u200cخواهم",
}

// TestWordRule checks which texts may be categories that are found: joiners are part of a word of Persian or of an
// emoji, and other characters without a width are not.
func TestWordRule(t *testing.T) {
	for text, want := range map[string]bool{
		"red":                                true,
		"grün":                               true,
		"می\u200cخواهم":                      true,
		"👨\u200d👩\u200d👧":                    true,
		"क्\u200dष":                          true,
		"bell\a":                             false,
		"\xff":                               false,
		"left\u200eright":                    false,
		"a\u00adb":                           false,
		strings.Repeat("я", longestWord/2):   true,
		strings.Repeat("я", longestWord/2+1): false,
	} {
		got := wordRule(text) != ""
		if got != want {
			t.Errorf(
				"%+q is a category: %v",
				text, got,
			)
		}
	}
}

// wordTexts returns, for each record, the text category in column j: "-" for a missing cell, "!" for a text
// that cannot be a category, "#" and the number for a number.
func wordTexts(t *Table, j int) []string {
	out := make([]string, t.Len())
	for i := range out {
		switch code := t.wordCode(j, i); {
		case code > noWord:
			out[i] = t.words[j][code]
		case code == noWord:
			out[i] = "!"
		case len(t.floats[j]) > 0 && !math.IsNaN(t.floats[j][i]):
			out[i] = fmt.Sprint("#", t.floats[j][i])
		default:
			out[i] = "-"
		}
	}
	return out
}

// TestReadersFindSameTextCategories checks that all readers find the same text categories, by the rule for a single
// cell.
func TestReadersFindSameTextCategories(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,c\n")
	for i := range 3000 {
		fmt.Fprintf(
			&text,
			"%s,%s,%d\n",
			wordCells[i%len(wordCells)],
			wordCells[(i/3)%len(wordCells)],
			i,
		)
	}
	dir := t.TempDir()
	plain := filepath.Join(dir, "t.csv")
	packed := filepath.Join(dir, "t.csv.gz")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(text.String()))
	_ = w.Close()
	for path, content := range map[string][]byte{
		plain:  []byte(text.String()),
		packed: zipped.Bytes(),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var want [2][]string
	for k, how := range []struct {
		path string
		opts ReadOptions
	}{
		{plain, ReadOptions{ForceSlow: true}},
		{plain, ReadOptions{Workers: 3, chunk: 512}},
		{plain, ReadOptions{Format: Format{MultilineQuotes: true}}},
		{packed, ReadOptions{Workers: 2, chunk: 512}},
	} {
		table, stats, err := Read(
			context.Background(), how.path, wordSchema(),
			how.opts,
		)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			got := wordTexts(table, j)
			if k == 0 {
				want[j] = got
			} else if !slices.Equal(got, want[j]) {
				t.Errorf("%+v: column %d differs", how, j)
			}
		}
		n := stats.Columns[0].Unlisted
		if n != 0 {
			t.Errorf("%d cells of found words count as not listed", n)
		}
	}
	long := strings.Repeat("x", longestWord)
	if got, want := want[0][:len(wordCells)], []string{
		"red", "red", "Red", "grün", "a, b", `say "yes"`, "-", "-", "-", "7", "1e5", "007", "inf",
		"0x1p4", "45 yrs", long, "!", "!", "!", "zerowidth", "True",
		"می\u200cخواهم",
	}; !slices.Equal(got, want) {
		t.Errorf("words: %q, want %q", got, want)
	}
	of := map[string]string{}
	for i := range wordCells {
		of[wordCells[i]] = want[1][3*i]
	}
	for cell, want := range map[string]string{
		"7":      "#7",
		"1e5":    "#100000",
		"007":    "#7",
		"inf":    "-",
		"0x1p4":  "0x1p4",
		"Red":    "Red",
		"True":   "True",
		"":       "-",
		" red\t": "red",
	} {
		if of[cell] != want {
			t.Errorf(
				"%q between numbers and words: %q, want %q",
				cell, of[cell], want,
			)
		}
	}
}

// TestFoldedAlike checks that all readers fold, cut and hash text categories and listed categories alike, by
// the rule for a single cell.
func TestFoldedAlike(t *testing.T) {
	cells := append(slices.Clone(wordCells), "RED", "r\"e\"d", "\"A,  B\"", "A01.5", "a01", "None",
		"none", "#3", " a  b ", "#1")
	for name, rule := range map[string]cell.Text{
		"case":   {Fold: "case"},
		"blanks": {Fold: "blanks"},
		"prefix": {Prefix: 3},
		"all":    {Fold: "case", Prefix: 2},
		"hash":   {Hash: 5},
	} {
		found := cell.Text{Fold: rule.Fold, Prefix: rule.Prefix}
		schema := Schema{Columns: []Column{
			{
				Name:     "a",
				Kind:     Category,
				Other:    true,
				Found:    true,
				TextRule: TextRule(found),
			},
			{
				Name:     "b",
				Found:    true,
				TextRule: TextRule(found),
			},
			{
				Name:     "c",
				Kind:     Category,
				Other:    true,
				TextRule: TextRule(rule),
			},
		}}
		if schema.Columns[2].Categories = rule.Buckets(); rule.Hash == 0 {
			for _, value := range []string{rule.Value("red"), rule.Value("a, b"), rule.Value("True"),
				rule.Value("A01")} {
				if !slices.Contains(schema.Columns[2].Categories, value) {
					schema.Columns[2].Categories = append(schema.Columns[2].Categories, value)
				}
			}
		}
		var text strings.Builder
		text.WriteString("a,b,c\n")
		for i := range 3000 {
			fmt.Fprintf(
				&text,
				"%s,%s,%s\n",
				cells[i%len(cells)],
				cells[(i/3)%len(cells)],
				cells[(i/2)%len(cells)],
			)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		err := os.WriteFile(path, []byte(text.String()), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		var want [2][]string
		var codes []int32
		for k, o := range []ReadOptions{
			{ForceSlow: true},
			{Workers: 3, chunk: 512},
			{Format: Format{MultilineQuotes: true}},
		} {
			table, _, err := Read(context.Background(), path, schema, o)
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				want = [2][]string{wordTexts(table, 0), wordTexts(table, 1)}
				codes = table.Codes(2)
			} else if !slices.Equal(wordTexts(table, 0), want[0]) ||
				!slices.Equal(wordTexts(table, 1), want[1]) ||
				!slices.Equal(table.Codes(2), codes) {
				t.Errorf("%s: %+v differs", name, o)
			}
		}
		of := func(i int) string {
			return strings.Trim(
				strings.ReplaceAll(
					strings.Trim(cells[i], `"`),
					`""`, `"`,
				),
				" \t",
			)
		}
		for i := range cells {
			value := found.Value(of(i))
			got := want[0][i]
			if got != "!" &&
				got != "-" &&
				!strings.Contains(cells[i], `"`) &&
				got != value {
				t.Errorf(
					"%s: %q is the word %q, not %q",
					name, cells[i], got, value,
				)
			}
			listed := slices.Index(schema.Columns[2].Categories, rule.Value(of(i)))
			if got := int(codes[2*i]); !strings.Contains(cells[i], `"`) &&
				got != listed &&
				!(listed < 0 && got == len(schema.Columns[2].Categories)) {
				t.Errorf(
					"%s: %q has the code %d, not %d",
					name, cells[i], got, listed,
				)
			}
		}
	}
}

// TestParquetStringsAreTextCategories checks that strings in Parquet yield the same text categories, and that numbers
// stay numbers.
func TestParquetStringsAreTextCategories(t *testing.T) {
	type row struct {
		A string  `parquet:"a"`
		B string  `parquet:"b"`
		C float64 `parquet:"c"`
	}
	var rows []row
	for i := range 200 {
		rows = append(
			rows,
			row{
				[]string{"red", " green ", "NA"}[i%3],
				[]string{"1.5", "one", ""}[i%3],
				float64(i),
			},
		)
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	table, _, err := Read(context.Background(), path, wordSchema(), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := wordTexts(table, 0)[:3],
		wordTexts(table, 1)[:3]; !slices.Equal(
		a,
		[]string{"red", "green", "-"},
	) ||
		!slices.Equal(
			b,
			[]string{"#1.5", "one", "-"},
		) {
		t.Errorf("%q, %q", a, b)
	}
}

// heldWordTable is a table in memory with text categories in both kinds of columns.
func heldWordTable(t *testing.T, words []string, codes []int32, ids []uint64) *Table {
	t.Helper()
	schema := Schema{Columns: wordSchema().Columns[:2]}
	if ids != nil {
		schema.Unit = "u"
	}
	numbers := make([]float64, len(codes))
	for i, k := range codes {
		if numbers[i] = math.NaN(); k < 0 {
			numbers[i] = float64(k)
		}
	}
	table, err := NewTable(
		schema,
		[]ColumnData{
			{Codes: codes, Words: words},
			{Floats: numbers, Codes: codes, Words: words},
		},
		ids,
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestResolve checks that found columns are read as declared, that unlisted texts are read as other, and that
// no other cell changes.
func TestResolve(t *testing.T) {
	table := heldWordTable(
		t,
		[]string{"x", "y", "z"},
		[]int32{0, 1, 2, -1, 1, 7},
		nil,
	)
	words, counts := table.Select([]int32{0, 1, 4}).CountWords(1)
	got := map[string]int64{}
	for k, word := range words {
		got[word] = counts[k]
	}
	if len(got) != 3 ||
		got["x"] != 1 ||
		got["y"] != 2 ||
		got["z"] != 0 {
		t.Errorf("counts %v", got)
	}
	listed := Column{
		Name:       "b",
		Kind:       Category,
		Categories: []string{"y", "x"},
		Other:      true,
	}
	v := table.View().Resolve([]Column{table.Schema().Columns[0], listed})
	codes := v.Block(0, 6).Codes(1, nil)
	if !slices.Equal(codes, []int32{1, 0, 2, 2, 0, 2}) {
		t.Errorf("codes %v", codes)
	}
	if v.Block(0, 6).Float(1, nil) != nil ||
		table.Float(1) == nil {
		t.Error("the column is of both kinds, or the table changed")
	}
	number := table.View().Resolve([]Column{
		table.Schema().Columns[0],
		{Name: "b"},
	}).Block(0, 6).Float(1, nil)
	if !math.IsNaN(number[0]) ||
		number[3] != -1 ||
		!IsText(number[0]) ||
		IsText(number[3]) ||
		IsText(math.NaN()) {
		t.Errorf("numbers %v", number)
	}
	again, err := NewTable(
		table.Schema(),
		[]ColumnData{table.Data(0), table.Data(1)},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		if !slices.Equal(wordTexts(again, j), wordTexts(table, j)) {
			t.Errorf(
				"column %d: %q after %q",
				j, wordTexts(again, j),
				wordTexts(table, j),
			)
		}
	}
}

// TestCapIgnoresCodes checks that the kept records of a unit depend on their texts, not on the codes that other
// records gave these.
func TestCapIgnoresCodes(t *testing.T) {
	kept := func(words []string, codes []int32) []string {
		table := heldWordTable(t, words, codes, []uint64{5, 5, 5, 9})
		v := table.View().Cap(2, func(_ uint64, content [32]byte, _ int) uint64 {
			return uint64(content[0])<<8 | uint64(content[1])
		})
		return wordTexts(v.Compact(), 0)
	}
	a := kept(
		[]string{"x", "y", "z", "w"},
		[]int32{0, 1, 2, 3},
	)
	b := kept(
		[]string{"other", "z", "x", "y"},
		[]int32{2, 3, 1, 0},
	)
	if len(a) != 3 ||
		!slices.Equal(a[:2], b[:2]) {
		t.Errorf("%q and %q", a, b)
	}
}
