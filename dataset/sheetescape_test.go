package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestSheetDecodesEscapes reads headers and cells of every kind of text with the escapes of ECMA-376 ST_Xstring.
func TestSheetDecodesEscapes(t *testing.T) {
	const texts = `<si><t>net_x0020_income</t></si><si><r><t>a_x00</t></r><r><t>41_b</t></r></si>` +
		`<si><t>_x005F_x0041__x00e9_</t></si><si><t>one_x000D_&#10;two</t></si>`
	const sheet = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>b_x002C_c</t></is></c>` +
		`<c r="C1" t="str"><f>A1</f><v>d_x005F_x0020_e</v></c></row>` +
		`<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="s"><v>2</v></c><c r="C2" t="s"><v>3</v></c></row>` +
		`<row r="3"><c r="A3" t="str"><v>_xD83D__xDE00_ _xD83D_ _xDE00_</v></c>` +
		`<c r="B3" t="inlineStr"><is><t>_x0041_x0041_ _X0041_ _x004_ _x+041_ _x0041</t></is></c><c r="C3"><v>1</v></c></row>` +
		`<row r="4"><c r="A4" t="str"><v>_x0031__x0032_</v></c><c r="B4" t="str"><v>__x0041__</v></c></row>`
	path := tableFile(t, "t.xlsx", newWorkbook(t, sheet, texts, "", ""))
	const want = "net income,\"b,c\",d_x0020_e\n" +
		"a_x0041_b,_x0041_é,\"one two\"\n" +
		"😀 \uFFFD \uFFFD,Ax0041_ _X0041_ _x004_ _x+041_ _x0041,1\n" +
		"12,_A_,\n"
	got, err := packedText(t, path, ReadOptions{})
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	read := func(column string) (*Table, error) {
		table, _, err := Read(context.Background(), path, Schema{Columns: []Column{{Name: column}}}, ReadOptions{})
		return table, err
	}
	table, err := read("net income")
	if err != nil || table.Len() != 3 || table.Float(0)[2] != 12 {
		t.Errorf("a column with an escape in its name: %v, %v", table, err)
	}
	if _, err = read("net_x0020_income"); !errors.Is(err, ErrNoColumn) {
		t.Errorf("the stored form of a name is accepted: %v", err)
	}
}

// TestSheetNameWithEscape selects a sheet whose stored name has an escape.
func TestSheetNameWithEscape(t *testing.T) {
	data := newWorkbook(t, `<row r="1"><c r="A1" t="str"><v>x</v></c></row>`, "", "", "")
	path := tableFile(t, "t.xlsx", replacePart(t, data, "xl/workbook.xml", `name="One"`, `name="a_x005F_x0041_"`))
	got, err := packedText(t, path, ReadOptions{Format: Format{Sheet: "a_x0041_"}})
	if err != nil || got != "x\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// replacePart returns the workbook with one text of a part replaced.
func replacePart(tb testing.TB, data []byte, part, from, to string) []byte {
	tb.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			tb.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			tb.Fatal(err)
		}
		if f.Name == part {
			if !strings.Contains(string(text), from) {
				tb.Fatalf("%s does not contain %s", part, from)
			}
			text = []byte(strings.ReplaceAll(string(text), from, to))
		}
		w, err := z.Create(f.Name)
		if err == nil {
			_, err = w.Write(text)
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
