package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// newWorkbook writes a workbook of one sheet with the given rows, tables of shared texts and styles, and
// attributes of the book's properties.
func newWorkbook(tb testing.TB, sheet, texts, styles, properties string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const rel = `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`
	for _, part := range [][2]string{
		{
			"_rels/.rels",
			"<Relationships>" + fmt.Sprintf(
				rel, "r", "officeDocument",
				"xl/workbook.xml",
			) +
				"</Relationships>",
		},
		{
			"xl/workbook.xml",
			`<workbook xmlns:r="x"><workbookPr ` + properties +
				`/><sheets><sheet name="One" r:id="a"/><sheet name="Two" r:id="b"/></sheets></workbook>`,
		},
		{
			"xl/_rels/workbook.xml.rels",
			"<Relationships>" + fmt.Sprintf(
				rel, "a", "worksheet",
				"worksheets/one.xml",
			) +
				fmt.Sprintf(rel, "b", "worksheet", "/xl/two.xml") +
				fmt.Sprintf(rel, "t", "sharedStrings", "texts.xml") +
				fmt.Sprintf(
					rel, "s", "styles",
					"styles.xml",
				) + "</Relationships>",
		},
		{
			"xl/worksheets/one.xml",
			"<worksheet><sheetData>" + sheet + "</sheetData></worksheet>",
		},
		{"xl/two.xml",
			`<worksheet><sheetData><row><c t="inlineStr"><is><t>a</t></is></c><c t="str"><v>b</v></c></row><row><c><v>7</v></c><c><v>8</v></c></row></sheetData></worksheet>`},
		{"xl/texts.xml", "<sst>" + texts + "</sst>"},
		{"xl/styles.xml", "<styleSheet>" + styles + "</styleSheet>"},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = io.WriteString(w, part[1])
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func tableFile(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// packedText returns the text that a packed file is converted to.
func packedText(tb testing.TB, path string, opts ReadOptions) (string, error) {
	tb.Helper()
	fm, err := formatOf(path)
	if err != nil {
		tb.Fatal(err)
	}
	rd, err := newReader(path, fm, Schema{}, opts)
	if err != nil {
		tb.Fatal(err)
	}
	f, size, _, err := openFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r, err := rd.unpackLines(context.Background(), f, size, true)
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(r)
	return string(all), err
}

// TestSheetReadsEveryCellKind reads every kind of cell.
func TestSheetReadsEveryCellKind(t *testing.T) {
	const texts = `<si><t>name</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>not this</t></rPh></si><si><t xml:space="preserve">a, "b"
c</t></si>`
	const styles = `<numFmts><numFmt numFmtId="164" formatCode="[$-407]d. mmmm yyyy"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/><numFmt numFmtId="166" formatCode="h:mm"/></numFmts>
		<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs>`
	const sheet = `<row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>x</t></is></c></row>
		<row r="3" spans="1:9"/>
		<row r="4"><c r="A4" t="s"><v>1</v></c><c r="B4" s="1"><v>61</v></c><c r="C4" s="2"><v>45351.25</v></c><c r="D4" s="3"><v>1.5</v></c></row>
		<row r="6"><c t="s"><v>2</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c s="4"><v>0.5</v></c></row>
		<row r="7"><c r="B7" s="1"><v>60</v></c><c r="A7" s="1"><v>1</v></c><c r="C7" s="1"><v>-1</v></c></row>
		<row r="8"><c r="C8" t="d"><v>2024-02-29T12:00:00</v></c><c r="B8"><f>A1</f><v>1E-3</v></c></row>`
	data := newWorkbook(t, sheet, texts, styles, "")
	path := tableFile(t, "t.XLSX", data)
	const want = "\nname,,x\n\nrich,1900-03-01,2024-02-29 06:00:00,1.5\n\n" +
		`"a, ""b"" c",TRUE,,0.5` + "\n1900-01-01,1900-02-29,-1\n,1E-3,2024-02-29 12:00:00\n"
	got, err := packedText(t, path, ReadOptions{})
	if err != nil || got != want {
		t.Errorf(
			"%q, %v, want %q",
			got, err, want,
		)
	}
	commas := ReadOptions{Format: Format{Decimal: ','}}
	got, err = packedText(t, path, commas)
	if err != nil ||
		!strings.Contains(got, `,"1,5"`) ||
		!strings.Contains(got, `"0,5"`) {
		t.Errorf("%q, %v", got, err)
	}
	second := ReadOptions{Format: Format{Sheet: "Two"}}
	got, err = packedText(t, path, second)
	if err != nil || got != "a,b\n7,8\n" {
		t.Errorf("%q, %v", got, err)
	}
	header, err := Header(path, second)
	if err != nil ||
		!slices.Equal(header, []string{"a", "b"}) {
		t.Errorf("%q, %v", header, err)
	}
	skipping := ReadOptions{Format: Format{Skip: 3}}
	got, err = packedText(t, path, skipping)
	if err != nil ||
		!strings.HasSuffix(
			got,
			"\n,1E-3,2024-02-29 12:00:00,\n",
		) {
		t.Errorf(
			"%q, %v: lines are as wide as the first one after those that are skipped",
			got,
			err,
		)
	}
	_, err = packedText(t, path, ReadOptions{Format: Format{Sheet: "three"}})
	checkError(t, "sheet", err, ErrFormat)
	later := tableFile(
		t, "t.xlsx",
		newWorkbook(t, sheet, texts, styles, `date1904="1"`),
	)
	got, err = packedText(t, later, ReadOptions{})
	if err != nil ||
		!strings.Contains(
			got,
			"rich,1904-03-02,2028-03-01 06:00:00,1.5\n",
		) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSheetRefuses checks that malformed workbooks, and those that expand beyond the limits, are rejected.
func TestSheetRefuses(t *testing.T) {
	head := `<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>`
	schema := Schema{Columns: []Column{{Name: "a"}}}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"no zip": {[]byte("a,b\n1,2\n"), ErrFormat},
		"cut": {
			newWorkbook(t, head, "", "", "")[:900],
			ErrCorrupt,
		},
		"rows that go back": {
			newWorkbook(
				t,
				head+`<row r="1"><c><v>1</v></c></row>`,
				"", "", "",
			),
			ErrCorrupt,
		},
		"a column too many": {
			newWorkbook(
				t,
				head+`<row><c r="XFE2"><v>1</v></c></row>`,
				"", "", "",
			),
			ErrCorrupt,
		},
		"a row too many": {
			newWorkbook(
				t,
				head+`<row r="1048577"><c><v>1</v></c></row>`,
				"",
				"",
				"",
			),
			ErrCorrupt,
		},
		"no such text": {
			newWorkbook(
				t,
				head+`<row><c t="s"><v>5</v></c></row>`,
				"<si><t>x</t></si>",
				"",
				"",
			),
			ErrCorrupt,
		},
		"an entity": {
			newWorkbook(
				t,
				head+`<row><c t="str"><v>&lol;</v></c></row>`,
				"",
				"",
				"",
			),
			ErrCorrupt,
		},
		"a long token": {
			newWorkbook(
				t,
				head+`<row><c><v>`+strings.Repeat("1", 1<<21)+`</v></c></row>`,
				"",
				"",
				"",
			),
			ErrCorrupt,
		},
		"texts without end": {
			newWorkbook(
				t,
				head+`<row><c t="s"><v>9999</v></c></row>`,
				strings.Repeat(
					"<si><t>"+strings.Repeat("x", 1<<17)+"</t></si>",
					600,
				),
				"",
				"",
			),
			ErrTooLarge,
		},
		"sheet without rows": {
			newWorkbook(t, "", "", "", ""),
			ErrNoHeader,
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Read(
			context.Background(),
			tableFile(t, "t.xlsx", c.data),
			schema,
			ReadOptions{},
		)
		runtime.ReadMemStats(&after)
		checkError(t, name, err, c.want)
		if name != "texts without end" && after.TotalAlloc-before.TotalAlloc > 1<<26 {
			t.Errorf(
				"%s takes %d bytes",
				name, after.TotalAlloc-before.TotalAlloc,
			)
		}
	}
}

// housesIn returns the path of a table that other programs wrote in a format.
func housesIn(format string) string {
	return filepath.Join("..", "testdata", "formats", "houses."+format)
}

// TestFormatsAgree checks that a table is the same in every format, with any number of workers, as a whole and
// as a stream.
func TestFormatsAgree(t *testing.T) {
	names, err := Header(housesIn("csv"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var s Schema
	s.Unit = "price"
	for _, name := range names {
		c := (Column{
			Name:       name,
			HasMissing: true,
			Missing:    -1,
		})
		if name == "ocean" {
			s.Columns = append(
				s.Columns,
				Column{
					Name:       name,
					Kind:       Category,
					Categories: []string{"inland", "coast"},
				},
			)
		} else if name != s.Unit {
			s.Columns = append(s.Columns, c)
		}
	}
	want, _, err := Read(
		context.Background(), housesIn("csv"),
		s, ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{
		"xlsx", "feather", "arrow",
		"parquet",
	} {
		if got, err := Header(housesIn(format), ReadOptions{}); err != nil ||
			!slices.Equal(got, names) {
			t.Errorf(
				"%s: %q, %v",
				format, got, err,
			)
		}
		for _, o := range []ReadOptions{
			{},
			{Workers: 1, chunk: 100},
			{ForceSlow: true},
			{Format: Format{MultilineQuotes: true}},
		} {
			got, stats, err := Read(context.Background(), housesIn(format), s, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) || stats.Rows != want.rows {
				t.Errorf(
					"%s with %+v is another table",
					format, o,
				)
			}
		}
		rows := 0
		err := Stream(
			context.Background(),
			housesIn(format),
			s,
			ReadOptions{BatchRows: 7},
			Consumer[*Table]{
				Begin: func(Head) error {
					return nil
				},
				Work: func(b *Batch) (*Table, error) {
					return b.Table, nil
				},
				Emit: func(b *Table) error {
					rows += b.rows
					return nil
				},
			},
		)
		if err != nil || rows != want.rows {
			t.Errorf(
				"%s: %d rows, %v",
				format, rows, err,
			)
		}
	}
	two, _, err := Read(
		context.Background(),
		filepath.Join(
			"..", "testdata", "formats",
			"*.[afx]*",
		),
		s,
		ReadOptions{},
	)
	if err != nil || two.rows != 3*want.rows {
		t.Errorf("a pattern: %v", err)
	}
}

// TestDamagedPacked checks that a truncated file is rejected with one of our own messages, and that changed
// bytes never cause a panic.
func TestDamagedPacked(t *testing.T) {
	for _, name := range []string{"pandas.xlsx", "polars-typed.arrow", "pyarrow-typed.feather",
		"pyarrow-stream.arrows"} {
		data, err := os.ReadFile(filepath.Join(
			"..", "testdata", "dialects",
			name,
		))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 1 + n/97 {
			path := tableFile(t, name, data[:n])
			_, _, err := Read(
				context.Background(),
				path,
				Schema{Columns: []Column{
					{Name: "größe"},
					{
						Name:       "ort",
						Kind:       Category,
						Categories: []string{"x"},
					},
				}},
				ReadOptions{},
			)
			var known *FileError
			if !errors.As(err, &known) &&
				!(err == nil && name == "pyarrow-stream.arrows") {
				t.Errorf(
					"%s cut after %d bytes: %v",
					name, n, err,
				)
			}
		}
	}
}

// TestStoredDates checks that dates stored with a date type are read with any declared layout.
func TestStoredDates(t *testing.T) {
	for _, name := range []string{
		"pyarrow-typed.feather",
		"polars-typed.arrow",
	} {
		path := filepath.Join("..", "testdata", "dialects", name)
		got, _, err := Read(
			context.Background(),
			path,
			Schema{Columns: []Column{{
				Name:   "tag.days",
				Source: "tag",
				Part:   cell.DayPart,
				Date:   "02.01.2006",
			}}},
			ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		x := got.Float(0)
		if x[0] != 19782 || !math.IsNaN(x[3]) {
			t.Errorf("%s: %v", name, x)
		}
	}
}

// FuzzPacked reads workbooks and Arrow files of arbitrary bytes and checks that errors are ours and that all
// readers agree.
func FuzzPacked(f *testing.F) {
	for kind, names := range [][]string{
		{"pandas.xlsx", "xlsxwriter.xlsx", "libreoffice.xlsx"},
		{"polars.arrow", "polars-typed.arrow", "pyarrow.feather", "pyarrow-typed.feather",
			"pyarrow-stream.arrows", "pyarrow-v1.feather"},
	} {
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(
				"..", "testdata", "dialects",
				name,
			))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, byte(kind))
			for at := 40; at < len(data); at += 1 + len(data)/60 { // each with one byte changed
				other := bytes.Clone(data)
				other[at] ^= 0x41
				f.Add(other, byte(kind))
			}
		}
	}
	for _, sheet := range []string{`<row><c t="str"><v>ort</v></c></row><row><c><v>1</v></c></row>`,
		`<row r="3"><c r="B3" t="inlineStr"><is><t>größe</t></is></c></row>`} {
		f.Add([]byte(sheet), byte(2))
	}
	schema := Schema{
		Unit: "preis",
		Columns: []Column{
			{Name: "größe"},
			{
				Name:       "ort",
				Kind:       Category,
				Categories: []string{"Köln"},
			},
			{
				Name:   "tag.days",
				Source: "tag",
				Part:   cell.DayPart,
				Date:   AutoDate,
			},
		},
	}
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		name := []string{
			"t.xlsx", "t.arrow",
			"t.xlsx",
		}[kind%3]
		if kind%3 == 2 {
			data = newWorkbook(
				t,
				string(data),
				"<si><t>ort</t></si><si><t>größe</t></si>",
				"",
				"",
			)
		}
		path := tableFile(t, name, data)
		var first *Table
		for i, o := range []ReadOptions{
			{Workers: 2},
			{Workers: 1, chunk: 64},
			{ForceSlow: true},
		} {
			got, _, err := Read(context.Background(), path, schema, o)
			if err != nil {
				var known *FileError
				if !errors.As(err, &known) {
					t.Fatalf("%v", err)
				}
				if i > 0 && first != nil {
					t.Fatalf("%+v fails: %v", o, err)
				}
				continue
			}
			if i > 0 &&
				(first == nil ||
					!reflect.DeepEqual(got.ids, first.ids) ||
					!reflect.DeepEqual(got.codes, first.codes) ||
					got.rows != first.rows) {
				t.Fatalf("%+v reads another table", o)
			}
			first = got
		}
	})
}
