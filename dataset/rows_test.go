package dataset

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

// rowsOfWays returns the cells of the only column of a file, by reader.
func rowsOfWays(
	t *testing.T,
	name string,
	data []byte,
	opts ReadOptions,
) map[string][]float64 {
	t.Helper()
	column := "x"
	if opts.Names != nil {
		column = opts.Names[0]
	}
	schema := numericSchema(column)
	out := map[string][]float64{}
	read := func(way, name string, data []byte, o ReadOptions) {
		path := tableFile(t, name, data)
		table, stats, err := Read(context.Background(), path, schema, o)
		if err != nil {
			t.Errorf(
				"%s, %s: %v",
				name, way, err,
			)
			return
		}
		out[way] = table.Float(0)
		if stats.Rows != table.Len() {
			t.Errorf(
				"%s, %s: %d records counted of %d",
				name, way, stats.Rows, table.Len(),
			)
		}
		var streamed []float64
		err = Stream(context.Background(), path, schema, o, Consumer[[]float64]{
			Begin: func(Head) error {
				return nil
			},
			Work: func(b *Batch) ([]float64, error) {
				lines := 0
				err := b.Text(func(int, []string) error {
					lines++
					return nil
				})
				if err != nil || lines != b.Table.Len() {
					t.Errorf(
						"%s, %s: %d lines of text for %d records, %v",
						name,
						way,
						lines,
						b.Table.Len(),
						err,
					)
				}
				return append([]float64{}, b.Table.Float(0)...), nil
			},
			Emit: func(x []float64) error {
				streamed = append(streamed, x...)
				return nil
			},
		})
		if err != nil {
			t.Errorf(
				"%s, %s: %v",
				name, way, err,
			)
		}
		out[way+", stream"] = streamed
	}
	for _, chunk := range []int{1, 3, 0} {
		o := opts
		o.chunk = chunk
		o.Workers = 2
		o.BatchRows = chunk
		read(fmt.Sprintf("chunks of %d", chunk), name, data, o)
		if strings.HasSuffix(name, ".csv") ||
			strings.HasSuffix(name, ".jsonl") {
			read(
				fmt.Sprintf("compressed, chunks of %d", chunk),
				name+".gz",
				gzipBytes(data),
				o,
			)
		}
	}
	slow := opts
	lines := opts
	slow.ForceSlow = true
	lines.Format.MultilineQuotes = true
	read("slow", name, data, slow)
	read("multiline", name, data, lines)
	slow.Format.MultilineQuotes = true
	read("slow, multiline", name, data, slow)
	if strings.HasSuffix(name, ".csv") ||
		strings.HasSuffix(name, ".jsonl") {
		table, _, err := ReadFrom(
			context.Background(),
			bytes.NewReader(data),
			name,
			schema,
			opts,
		)
		if err != nil {
			t.Errorf("%s from a pipe: %v", name, err)
		} else {
			out["pipe"] = table.Float(0)
		}
	}
	return out
}

// TestOneColumn checks that every line after the header of a one-column file is a record, even an empty one.
func TestOneColumn(t *testing.T) {
	no := math.NaN()
	for _, c := range []struct {
		name, data string
		opts       ReadOptions
		want       []float64
	}{
		{
			"t.csv",
			"x\n1\n\n3\n\n",
			ReadOptions{},
			[]float64{1, no, 3, no},
		},
		{
			"t.csv",
			"x\n1\n\"\"\n3\n\"\"\n",
			ReadOptions{},
			[]float64{1, no, 3, no},
		},
		{
			"t.csv",
			"x\r\n1\r\n\r\n3\r\n\r\n",
			ReadOptions{},
			[]float64{1, no, 3, no},
		},
		{
			"t.csv",
			"x\n\n\n\n",
			ReadOptions{},
			[]float64{no, no, no},
		},
		{
			"t.csv",
			"x\n1\n \n\t\n,\n3",
			ReadOptions{},
			[]float64{1, no, no, no, 3},
		},
		{
			"t.csv",
			"x\n1\n\r",
			ReadOptions{},
			[]float64{1, no},
		},
		{
			"t.csv",
			"\n\nx\n\n1\n",
			ReadOptions{},
			[]float64{no, 1},
		},
		{
			"t.csv",
			"\uFEFFx\n\n1\n",
			ReadOptions{},
			[]float64{no, 1},
		},
		{
			"t.csv",
			"\"x\"\n\n1\n",
			ReadOptions{},
			[]float64{no, 1},
		},
		{"t.csv", "x", ReadOptions{}, nil},
		{"t.csv", "x\n", ReadOptions{}, nil},
		{
			"t.csv",
			"\n1\n\n3\n",
			ReadOptions{Names: []string{"x"}},
			[]float64{no, 1, no, 3},
		},
		{
			"t.csv",
			"a title\nx\n1\n\n",
			ReadOptions{Format: Format{Skip: 1}},
			[]float64{1, no},
		},
		{
			"t.csv",
			"x\n1\n\\N\n\n",
			ReadOptions{Format: Format{NoQuote: true, Escape: backslash}},
			[]float64{1, no, no},
		},
		{
			"t.tsv",
			"x\n1\n\n3\n",
			ReadOptions{},
			[]float64{1, no, 3},
		},
		// with two columns an empty line is not a record, and a line of separators is
		{
			"t.csv",
			"x,y\n1,2\n\n,\n\"\",\n3\n\n",
			ReadOptions{},
			[]float64{1, no, no, 3},
		},
		{
			"t.jsonl",
			"{\"x\":1}\n{\"x\":null}\nnull\n{}\n[]\n\"\"\n{\"x\":3}\n{\"x\":\"\"}",
			ReadOptions{Names: []string{"x"}},
			[]float64{1, no, no, no, no, no, 3, no},
		},
		{
			"t.jsonl",
			"{\"x\":1}\r{\"x\":2}\r\r{\"x\":\r3}\r",
			ReadOptions{Names: []string{"x"}},
			[]float64{1, 2, no, no},
		},
		{
			"t.jsonl",
			"{\"x\":1}\n\n  \r\n{\"x\":null}\n",
			ReadOptions{Names: []string{"x", "y"}},
			[]float64{1, no},
		},
	} {
		for way, got := range rowsOfWays(
			t, c.name,
			[]byte(c.data), c.opts,
		) {
			if len(got) != len(c.want) {
				t.Errorf(
					"%q, %s: %v, want %v",
					c.data, way, got, c.want,
				)
				continue
			}
			equalFloats(
				t,
				fmt.Sprintf("%q, %s", c.data, way),
				got, c.want,
			)
		}
	}
}

// TestSheetRows checks that a row of a workbook that has a typed cell, a value or a formula is a record, regardless of its
// content. Cells that are only formatted do not count. A row without others is a record if it is between two records and
// empty rows are requested.
func TestSheetRows(t *testing.T) {
	no := math.NaN()
	header := `<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="B1" t="inlineStr"><is><t>y</t></is></c></row>`
	narrow := `<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>`
	first := `<row r="2"><c r="A2"><v>1</v></c></row>`
	last := `<row r="5"><c r="A5"><v>3</v></c></row>`
	for name, c := range map[string]struct {
		rows  string
		want  []float64
		every []float64 // with a record for every row; nil if the same
	}{
		"errors": {
			first +
				`<row r="4"><c r="A4" t="e"><v>#N/A</v></c><c r="B4" t="e"><v>#DIV/0!</v></c></row>` +
				last,
			[]float64{1, no, 3},
			[]float64{1, no, no, 3},
		},
		"an error beside": {
			first + `<row r="4"><c r="B4" t="e"><v>#N/A</v></c></row>` + last,
			[]float64{1, no, 3},
			[]float64{1, no, no, 3},
		},
		"formatted cells": {
			first +
				`<row r="3"><c r="A3" s="1"/><c r="B3" s="1"/></row><row r="4"><c r="A4" s="1"/></row>` +
				last,
			[]float64{1, 3},
			[]float64{1, no, no, 3},
		},
		"texts of nothing": {
			first +
				`<row r="3"><c r="A3" t="inlineStr"/></row><row r="4"><c r="A4" t="str"><f>""</f><v></v></c></row>` +
				last,
			[]float64{1, no, no, 3},
			nil,
		},
		"texts of blanks": {
			first +
				`<row r="3"><c r="A3" t="inlineStr"><is><t xml:space="preserve">  </t></is></c></row>` +
				last,
			[]float64{1, no, 3},
			[]float64{1, no, no, 3},
		},
		"cells at the end": {
			first +
				`<row r="3"><c r="A3" t="e"><v>#N/A</v></c></row><row r="4"><c r="A4" t="e"/></row>` +
				`<row r="5"><c r="A5"/><c r="B5" s="1"/></row>`,
			[]float64{1, no, no},
			nil,
		},
		"rows without cells": {
			first + `<row r="3" ht="30"/><row r="4"></row>` + last,
			[]float64{1, 3},
			[]float64{1, no, no, 3},
		},
		"rows that are not": {
			first + last,
			[]float64{1, 3},
			[]float64{1, no, no, 3},
		},
		"rows without numbers": {
			strings.ReplaceAll(first, ` r="2"`, "") +
				`<row><c t="e"/></row><row/>` + last,
			[]float64{1, no, 3},
			[]float64{1, no, no, 3},
		},
		"rows at the end": {
			first + `<row r="3" ht="30"/><row r="9"/>`,
			[]float64{1}, nil,
		},
		"the first row": {
			`<row r="2"><c r="A2" t="e"><v>#N/A</v></c></row>` + last,
			[]float64{no, 3},
			[]float64{no, no, no, 3},
		},
		"a gap after the names": {
			last, []float64{3},
			[]float64{no, no, no, 3},
		},
	} {
		for width, head := range []string{narrow, header} {
			data := newWorkbook(t, head+c.rows, "", "", "")
			every := c.every
			if every == nil {
				every = c.want
			}
			for _, all := range []bool{false, true} {
				want := c.want
				if all {
					want = every
				}
				for way, got := range rowsOfWays(
					t,
					"t.xlsx",
					data,
					ReadOptions{EveryRow: all},
				) {
					equalFloats(
						t,
						fmt.Sprintf(
							"%s, %d columns, every row %v, %s",
							name,
							width+1,
							all,
							way,
						),
						got,
						want,
					)
				}
			}
		}
	}
	// rows above the header are never records, regardless of their cells
	above := `<row r="1"><c r="A1" s="1"/></row><row r="2"><c r="A2" t="e"><v>#N/A</v></c></row><row r="4"><c r="A4" t="inlineStr"><is><t>x</t></is></c></row>` +
		last
	for way, got := range rowsOfWays(
		t,
		"t.xlsx",
		newWorkbook(t, above, "", "", ""),
		ReadOptions{EveryRow: true},
	) {
		equalFloats(t, "above, "+way, got, []float64{3})
	}
	// without a header the first row that lists a cell is a record
	for way, got := range rowsOfWays(
		t,
		"t.xlsx",
		newWorkbook(
			t,
			`<row r="3"><c r="A3" t="e"/></row>`+last,
			"", "", "",
		),
		ReadOptions{EveryRow: true, Names: []string{"x", "y"}},
	) {
		equalFloats(t, "no header, "+way, got, []float64{no, no, 3})
	}
}
