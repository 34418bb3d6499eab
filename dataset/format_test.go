package dataset

import (
	"bytes"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// TestDialectsReadOneTable reads one table in many dialects.
func TestDialectsReadOneTable(t *testing.T) {
	schema := Schema{Columns: []Column{
		{Name: "größe"},
		{
			Name:       "ort",
			Kind:       Category,
			Categories: []string{"Köln", "a,b", "x;y"},
		},
		{Name: "n"},
	}}
	want := [][]float64{
		{1.5, -1234.25, math.NaN()},
		{0, 1, 2},
		{7, 1, 0},
	}
	plain := "größe,ort,n\n1.5,Köln,7\n-1234.25,\"a,b\",True\n-999,x;y,<0\n"
	german := "größe;ort;n\n1,5;Köln;7\n-1.234,25;a,b;wahr\n-999;\"x;y\";0 %\n"
	latin, err := charmap.Windows1252.NewEncoder().String(german)
	if err != nil {
		t.Fatal(err)
	}
	wide := func(text string, big, mark bool) string {
		units := utf16.Encode([]rune(text))
		if mark {
			units = append([]uint16{0xfeff}, units...)
		}
		var out []byte
		for _, u := range units {
			if big {
				out = append(out, byte(u>>8), byte(u))
			} else {
				out = append(out, byte(u), byte(u>>8))
			}
		}
		return string(out)
	}
	comma := Format{
		Separator: ';',
		Decimal:   ',',
		Thousands: '.',
		Missing:   []float64{-999},
	}
	for name, c := range map[string]struct {
		data   string
		format Format
	}{
		"plain": {plain, Format{Missing: []float64{-999}}},
		"title before": {
			"Report\n\n\"of, 2024\n" + plain,
			Format{Skip: 3, Missing: []float64{-999}},
		},
		"single quotes": {
			strings.ReplaceAll(plain, `"`, `'`),
			Format{Quote: '\'', Missing: []float64{-999}},
		},
		"no quotes": {
			strings.ReplaceAll(
				strings.ReplaceAll(plain, ",", "|"),
				`"a|b"`, "a,b",
			),
			Format{
				Separator: '|',
				NoQuote:   true,
				Missing:   []float64{-999},
			},
		},
		"german":       {german, comma},
		"windows-1252": {latin, comma.withEncoding("windows-1252")},
		"utf-16": {
			wide(german, false, true),
			comma.withEncoding("UTF-16"),
		},
		"utf-16 big": {
			wide(german, true, true),
			comma.withEncoding("utf-16"),
		},
		"utf-16le": {wide(german, false, false), comma.withEncoding("utf16le")},
		"utf-16be, mark": {
			wide(german, true, true),
			comma.withEncoding("utf-16be"),
		},
	} {
		for ways, o := range waysOf(
			[]byte(c.data),
			schema,
			ReadOptions{Format: c.format},
		) {
			if o.err != "" {
				t.Errorf(
					"%s, %s: %s",
					name, ways, o.err,
				)
				continue
			}
			got := []float64{}
			for _, bits := range o.floats[0] {
				got = append(got, math.Float64frombits(bits))
			}
			equalFloats(t, name+", "+ways, got, want[0])
			n := want[2]
			if strings.Contains(c.data, "wahr") || c.format.isCoded() {
				n = []float64{7, math.NaN(), 0}
			}
			got = got[:0]
			for _, bits := range o.floats[2] {
				got = append(got, math.Float64frombits(bits))
			}
			equalFloats(t, name+", "+ways, got, n)
			if !slices.Equal(o.codes[1], []int32{0, 1, 2}) {
				t.Errorf(
					"%s, %s: %v",
					name, ways, o.codes[1],
				)
			}
		}
	}
}

func (f Format) withEncoding(encoding string) Format {
	f.Encoding = encoding
	return f
}

func TestFormatFaults(t *testing.T) {
	for name, f := range map[string]Format{
		"separator":   {Separator: 'a'},
		"decimal":     {Decimal: ';'},
		"thousands":   {Thousands: ';'},
		"both":        {Thousands: '.'},
		"both commas": {Thousands: ',', Decimal: ','},
		"quote":       {Quote: '`'},
		"two quotes":  {Quote: '"', NoQuote: true},
		"encoding":    {Encoding: "iso-2022-jp"},
		"skip":        {Skip: -1},
		"missing":     {Missing: []float64{math.Inf(1)}},
	} {
		_, _, err := ReadFrom(
			context.Background(),
			strings.NewReader("a\n1\n"),
			"stdin",
			Schema{Columns: []Column{{Name: "a"}}},
			ReadOptions{Format: f},
		)
		if !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range Encodings() {
		f := (Format{Encoding: name})
		if !f.Known() {
			t.Errorf("%s is listed and unknown", name)
		}
	}
	for _, name := range []string{"UTF8", "utf_8", "Latin-1", "cp1252", "CP850", "ISO8859-15",
		"ISO-8859-1", "windows-1251", "koi8-r"} {
		f := (Format{Encoding: name})
		if !f.Known() {
			t.Errorf("%s is unknown", name)
		}
	}
}

// TestSkippedTooMuch checks that a file that ends before its header is reported to have no header.
func TestSkippedTooMuch(t *testing.T) {
	_, _, err := ReadFrom(
		context.Background(),
		strings.NewReader("a\n1\n"),
		"stdin",
		Schema{},
		ReadOptions{Format: Format{Skip: 5}},
	)
	if !errors.Is(err, ErrNoHeader) {
		t.Error(err)
	}
}

// fuzzFormats are the formats of FuzzFormats.
var fuzzFormats = []Format{
	{
		Separator: ';',
		Decimal:   ',',
		Thousands: '.',
	},
	{Separator: '|', Quote: '\''},
	{
		Separator: '\t',
		NoQuote:   true,
		Strict:    true,
	},
	{Skip: 1, Missing: []float64{-9, 0}},
	{
		Separator: ';',
		Decimal:   ',',
		Missing:   []float64{1.5},
		Encoding:  "windows-1252",
	},
	{Encoding: "utf-16"},
	{
		Thousands: ' ',
		Quote:     '\'',
		Strict:    true,
	},
	{
		Decimal:  ',',
		Skip:     2,
		Encoding: "utf-16be",
	},
	{Escape: backslash},
	{
		Separator: '\t',
		NoQuote:   true,
		Escape:    backslash,
	},
	{Escape: '"', Quote: '\''},
	{
		Separator: ';',
		Quote:     '\'',
		Escape:    backslash,
	},
	{Escape: '"'},
	{Separator: '|'},
	{NoQuote: true},
	{
		Separator: ';',
		Escape:    backslash,
		Encoding:  "windows-1252",
	},
}

// FuzzFormats compares the fast readers with the slow one in other dialects.
func FuzzFormats(f *testing.F) {
	for _, s := range []string{
		"", "1,5;x;p\n", "\"1.234,5\";'y z';\"q\n-9;NA;\n", "1|'x|x'|p\n'2|y", "a\tb\t\"c\n",
		"€ 5;45 yrs;1'000\n<5;27,1 %;True\n", "-9,0,1\n\n0,-9,x\n", "\xff\xfe1\x00,\x00\n\x00",
		"1 234,'5','''\n",
		"\"say \\\"hi, you\\\"\",2\n\\N,1\\,2\n", "1\\\t2\t\\N\\\n", "'it\\'s','it''s' ,2\n",
		"1, \"x\" ,\"y\n",
		"1,5\xa0€;\x80;\x81\n", "\xd8\x00\x00\n\x00", "'\"',\"'\"\n",
		"1,x,2024-05-06,2,p\n1;x;\"6.5.2024 07:08\";2\n", "'", "\"", "\xff1,2\xff\xff\n",
	} {
		for kind := range byte(64) {
			f.Add([]byte(s), kind)
		}
	}
	schema := Schema{
		Unit: "u",
		Columns: []Column{
			{Name: "a"},
			{
				Name:       "c",
				Kind:       Category,
				Categories: []string{"x", "NA", "y z"},
			},
			{
				Name:       "n",
				HasMissing: true,
				Missing:    -1,
			},
			{
				Name:   "month",
				Part:   cell.MonthPart,
				Source: "rest",
				Date:   AutoDate,
			},
			{
				Name:       "days",
				Part:       cell.DayPart,
				Source:     "rest",
				Date:       AutoDate,
				HasMissing: true,
			},
		},
	}
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		format := fuzzFormats[kind&7+kind>>2&8]
		header := "skip\nskip\n"[:5*format.Skip]
		comma := ","
		if format.Separator != 0 {
			comma = string(format.Separator)
		}
		header += strings.Join(
			[]string{"a", "c", "rest", "n", "u"},
			comma,
		) + "\n"
		switch format.Encoding {
		case "utf-16":
			header = "\xff\xfe" + strings.Join(strings.Split(header, ""), "\x00") + "\x00"
		case "utf-16be":
			header = "\x00" + strings.Join(strings.Split(header, ""), "\x00")
		}
		format.MultilineQuotes = kind&8 != 0
		opts := ReadOptions{Format: format}
		if kind&16 != 0 {
			opts.line = 17
		}
		all := waysOf(append([]byte(header), data...), schema, opts)
		for name, o := range all {
			if !reflect.DeepEqual(o, all["slow"]) {
				t.Errorf(
					"%s gives %+v, slow %+v",
					name, o, all["slow"],
				)
			}
		}
	})
}

// BenchmarkReadFormats reads the same 20,000 × 20 numbers in several dialects.
func BenchmarkReadFormats(b *testing.B) {
	data := floatCSV(20_000, 20)
	european := bytes.ReplaceAll(
		bytes.ReplaceAll(data, []byte(","), []byte(";")),
		[]byte("."),
		[]byte(","),
	)
	var names []string
	for j := range 20 {
		names = append(names, "x"+strconv.Itoa(j))
	}
	for _, c := range []struct {
		name   string
		data   []byte
		format Format
	}{
		{"plain", data, Format{}},
		{"strict", data, Format{Strict: true}},
		{"missing", data, Format{Missing: []float64{-999}}},
		{"decimal-comma", european, Format{Separator: ';', Decimal: ','}},
		{"windows-1252", data, Format{Encoding: "windows-1252"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			for b.Loop() {
				_, _, err := ReadFrom(
					context.Background(),
					bytes.NewReader(c.data),
					"x.csv",
					numericSchema(names...),
					ReadOptions{Format: c.format, Workers: 1},
				)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
