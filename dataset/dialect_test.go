package dataset

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDialect checks that lines of several writers are split into the fields that were written.
func TestDialect(t *testing.T) {
	either := dialect{comma: ',', quote: '"'}
	doubled := dialect{
		comma:  ',',
		quote:  '"',
		escape: '"',
	}
	backslashes := dialect{
		comma:  ',',
		quote:  '"',
		escape: backslash,
	}
	bare := dialect{comma: '\t', escape: backslash}
	for _, c := range []struct {
		name string
		d    dialect
		line string
		want []string
	}{
		{
			"a quote twice", either,
			`"say ""hi, you""",2`,
			[]string{`say "hi, you"`, "2"},
		},
		{
			"Spark, DuckDB", either,
			`"say \"hi, you\"",2`,
			[]string{`say "hi, you"`, "2"},
		},
		{
			"Spark: a quote at the end", either,
			`"6\"",9`,
			[]string{`6"`, "9"},
		},
		{
			"Spark: a backslash before a quote", either,
			`"a\\\"b",5`,
			[]string{`a\"b`, "5"},
		},
		{
			"Spark: two backslashes",
			either,
			`"he said \\\"x\\\", ok",16`,
			[]string{`he said \"x\", ok`, "16"},
		},
		{
			"a folder", either,
			`"C:\",3`,
			[]string{`C:\`, "3"},
		},
		{
			"a folder of Spark, not declared", either,
			`"C:\\,x",4`,
			[]string{`C:\\,x`, "4"},
		},
		{
			"a folder and a text", either,
			`"C:\","D:\"`,
			[]string{`C:\`, `D:\`},
		},
		{
			"a backslash without quotes", either,
			`C:\,3`,
			[]string{`C:\`, "3"},
		},
		{
			"a quote twice after a backslash", either,
			`"a\""b",5`,
			[]string{`a\"b`, "5"},
		},
		{
			"blanks before quotes", either,
			`"A", "X, Y", 30`,
			[]string{"A", "X, Y", " 30"},
		},
		{
			"blanks around quotes", either,
			` "A" , "X, Y" ,30`,
			[]string{"A", "X, Y", "30"},
		},
		{
			"a tab before a quote", either,
			"1,\t\"X, Y\"",
			[]string{"1", "X, Y"},
		},
		{
			"blanks and backslashes",
			either,
			`"A", "say \"hi, you\"", 30`,
			[]string{"A", `say "hi, you"`, " 30"},
		},
		{
			"inches", either,
			`6" pipe,2`,
			[]string{`6" pipe`, "2"},
		},
		{
			"inches and quotes",
			either,
			`6" pipe,"a, b",2`,
			[]string{`6" pipe`, "a, b", "2"},
		},
		{
			"quotes within quotes",
			either,
			`"say "hi" there",2`,
			[]string{`say "hi" there`, "2"},
		},
		{
			"a quote left open", either,
			`"a,2`,
			[]string{"a,2"},
		},
		{
			"a blank and a quote left open", either,
			`1, "a,2`,
			[]string{"1", ` "a`, "2"},
		},
		{
			"empty quotes", either,
			`"",2`,
			[]string{"", "2"},
		},
		{"nothing", either, "", []string{""}},
		{
			"no null", either,
			`\N,2`,
			[]string{`\N`, "2"},
		},
		{
			"doubled: a backslash is one",
			doubled,
			`"say \"hi, you\"",2`,
			[]string{`say \"hi, you\",2`},
		},
		{
			"doubled: blanks before quotes", doubled,
			`"A", "X, Y"`,
			[]string{"A", "X, Y"},
		},
		{
			"declared", backslashes,
			`"say \"hi, you\"",2`,
			[]string{`say "hi, you"`, "2"},
		},
		{
			"declared: a folder", backslashes,
			`"C:\\,x",4`,
			[]string{`C:\,x`, "4"},
		},
		{
			"declared: other characters",
			backslashes,
			`"a\nb\,c",4`,
			[]string{`a\nb\,c`, "4"},
		},
		{
			"declared: without quotes", backslashes,
			`C:\,3`,
			[]string{`C:\`, "3"},
		},
		{
			"declared: null", backslashes,
			`\N,"\N",3`,
			[]string{"", `\N`, "3"},
		},
		{
			"declared: left open", backslashes,
			`"a\"`,
			[]string{`a"`},
		},
		{
			"declared: quotes within quotes",
			backslashes,
			`"say "hi\", you" there",2`,
			[]string{`say "hi", you" there`, "2"},
		},
		{
			"MySQL",
			bare,
			"a\\\tb\t\\N\t\\\\\t\\\"\tx\\ny",
			[]string{
				"a\tb", "", `\`,
				`"`, "x\ny",
			},
		},
		{
			"PostgreSQL", bare,
			`a\tb` + "\t1",
			[]string{"a\tb", "1"},
		},
		{
			"a backslash at the end", bare,
			"a\t" + `b\`,
			[]string{"a", `b\`},
		},
		{
			"single quotes",
			dialect{comma: ';', quote: '\''},
			`'it\'s'; 'a;b';"c"`,
			[]string{"it's", "a;b", `"c"`},
		},
		{
			"tabs are no blanks here",
			dialect{comma: '\t', quote: '"'},
			"\t\"a\tb\"",
			[]string{"", "a\tb"},
		},
	} {
		cut := fieldCutter{d: &c.d}
		got := cut.firstFields([]byte(c.line), 100)
		if !slices.Equal(got, c.want) {
			t.Errorf(
				"%s: %s is %q, want %q",
				c.name, c.line, got, c.want,
			)
		}
		got = c.d.splitFields(c.line)
		if !slices.Equal(got, c.want) {
			t.Errorf(
				"%s: %s is %q by the definition, want %q",
				c.name, c.line, got, c.want,
			)
		}
	}
}

// drawDialect draws a random dialect.
func drawDialect(t *rapid.T) dialect {
	d := dialect{
		comma: rapid.SampledFrom([]byte(",;\t")).Draw(t, "comma"),
		quote: rapid.SampledFrom([]byte("\"'\x00")).Draw(t, "quote"),
	}
	d.escape = rapid.SampledFrom([]byte{0, backslash, d.quote}).Draw(t, "escape")
	return d
}

// TestCutterIsTheDefinition checks that the cutter finds the same fields as the reference, all or only the
// first ones, and counts the rest.
func TestCutterIsTheDefinition(t *testing.T) {
	text := rapid.StringOfN(
		rapid.RuneFrom([]rune("\"\"\"'\\\\,,;\t  ab\nN\x00\u00e9")),
		0,
		24,
		-1,
	)
	rapid.Check(t, func(t *rapid.T) {
		d := drawDialect(t)
		record := text.Draw(t, "record")
		want := d.splitFields(record)
		cut := fieldCutter{d: &d}
		got := cut.firstFields([]byte(record), len(record)+2)
		if !slices.Equal(got, want) {
			t.Fatalf(
				"%+v of %q: %q, want %q",
				d, record, got, want,
			)
		}
		cut.startRecord([]byte(record))
		n := cut.countFields()
		if n != len(want) {
			t.Fatalf(
				"%+v of %q: %d fields, want %d",
				d, record, n, len(want),
			)
		}
		if d.isPlain([]byte(record)) &&
			!slices.Equal(strings.Split(record, string(rune(d.comma))), want) {
			t.Fatalf(
				"%+v of %q: %q is not plain",
				d, record, want,
			)
		}
	})
}

// TestWrittenDialects checks that random cells written by each kind of writer are read back unchanged if the
// dialect is declared. If the writer doubles quotes, no declaration is needed.
func TestWrittenDialects(t *testing.T) {
	cell := rapid.StringOfN(
		rapid.RuneFrom([]rune("\"\\, ab")),
		0, 6, -1,
	)
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(cell, 1, 4).Draw(t, "cells")
		blanks := rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "blanks")
		write := func(quote func(string) string) string {
			var out []string
			for _, c := range cells {
				out = append(out, `"`+quote(c)+`"`)
			}
			return strings.Join(out, blanks+","+blanks)
		}
		doubled := write(strings.NewReplacer(`"`, `""`).Replace)
		escaped := write(strings.NewReplacer(
			`"`, `\"`, `\`,
			`\\`,
		).Replace)
		for _, c := range []struct {
			escape byte
			line   string
		}{
			{0, doubled},
			{'"', doubled},
			{backslash, escaped},
		} {
			d := dialect{
				comma:  ',',
				quote:  '"',
				escape: c.escape,
			}
			got := d.splitFields(c.line)
			if !slices.Equal(got, cells) {
				t.Fatalf(
					"%s with %q: %q, want %q",
					c.line, c.escape, got, cells,
				)
			}
		}
	})
}

// TestMultilineDialects checks that records over several lines end in the same places for the readers, for the
// reference and for their writers.
func TestMultilineDialects(t *testing.T) {
	schema := Schema{Columns: []Column{
		{
			Name:  "a",
			Kind:  Category,
			Found: true,
		},
		{Name: "n"},
	}}
	text := rapid.StringOfN(
		rapid.RuneFrom([]rune("\"\"\"'\\\\,,,  a1\n\n\r")),
		0, 40, -1,
	)
	rapid.Check(t, func(t *rapid.T) {
		format := Format{
			Escape:  rapid.SampledFrom([]byte{0, '"', backslash}).Draw(t, "escape"),
			NoQuote: rapid.Bool().Draw(t, "no quote"),
		}
		if rapid.Bool().Draw(t, "single") && !format.NoQuote {
			format.Quote = '\''
		}
		data := []byte("a,n\n" + text.Draw(t, "rows"))
		opts := withQuotes(format)
		all := waysOf(data, schema, opts)
		for name, o := range all {
			if o.err != all["slow"].err ||
				o.stats.Rows != all["slow"].stats.Rows ||
				!slices.EqualFunc(
					o.floats, all["slow"].floats,
					slices.Equal[[]uint64],
				) {
				t.Fatalf(
					"%q, %+v: %s gives %+v, slow %+v",
					data, format, name, o,
					all["slow"],
				)
			}
		}
	})
	for name, c := range map[string]struct {
		data   string
		format Format
		want   []float64
	}{
		"Spark": {
			"a,n\n\"x\ny\",1\n\"say \\\"hi\\\"\nyou\",2\n\"q\\\"\",3\n",
			Format{Escape: backslash},
			[]float64{1, 2, 3},
		},
		"Spark, alone": {
			"a,n\n\"x\ny\",1\n\"q\\\"\",3\nz,4\n",
			Format{},
			[]float64{1, 3, 4},
		},
		"MySQL": {
			"a\tn\nx\\\ny\t1\nz\t2\n",
			Format{
				Separator: '\t',
				NoQuote:   true,
				Escape:    backslash,
			},
			[]float64{1, 2},
		},
		"blanks": {
			"a, n\n\"x, y\", 1\n\"x\ny\" , 2\n",
			Format{},
			[]float64{1, 2},
		},
	} {
		for way, o := range waysOf(
			[]byte(c.data),
			numericSchema("n"),
			withQuotes(c.format),
		) {
			if o.err != "" ||
				len(o.floats[0]) != len(c.want) {
				t.Errorf(
					"%s, %s: %+v",
					name, way, o,
				)
			}
		}
		table, _, err := ReadFrom(
			context.Background(),
			bytes.NewReader([]byte(c.data)),
			"stdin",
			numericSchema("n"),
			withQuotes(c.format),
		)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		equalFloats(t, name, table.Float(0), c.want)
	}
}
