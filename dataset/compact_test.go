package dataset

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// compactRow has columns with every compact form.
type compactRow struct {
	Flag, Tenths, Money, Time, Any, Part float64
	Single                               float32
	Maybe                                *float64
	Long                                 int64
}

func someCompactRows(n int) []compactRow {
	r := rand.New(rand.NewPCG(21, 2))
	rows := make([]compactRow, n)
	for i := range rows {
		x := &rows[i]
		x.Flag = float64(r.IntN(2))
		x.Tenths = math.Round(r.NormFloat64()*100) / 10
		x.Money = math.Round(r.NormFloat64()*1e6) / 100
		x.Time = float64(1_700_000_000 + r.IntN(1<<25))
		x.Any = r.NormFloat64()
		x.Single = r.Float32()
		x.Long = r.Int64N(1 << 40)
		if x.Part = math.Round(r.NormFloat64() * 10); i%16384 > 9000 { // a piece in two forms
			x.Part = r.NormFloat64()
		}
		if r.IntN(3) > 0 {
			v := math.Round(r.NormFloat64()*1e3) / 1e3
			x.Maybe = &v
		}
		if r.IntN(500) == 0 {
			x.Tenths = math.Copysign(0, -1)
			x.Money = math.Inf(1)
		}
	}
	return rows
}

// TestCompact checks that a table with compact numeric columns returns the same cells through every accessor.
func TestCompact(t *testing.T) {
	const n = 40_000
	path := writeParquet(t, someCompactRows(n))
	schema := numericSchema("Flag", "Tenths", "Money", "Time", "Any", "Part", "Single", "Maybe",
		"Long")
	read := func(least int) *Table {
		table, _, err := Read(
			context.Background(),
			path,
			schema,
			ReadOptions{least: least},
		)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	plain := read(n + 1)
	small := read(n)
	bytes := 0
	for j := range schema.Columns {
		if small.compactColumn(j) == nil || plain.compactColumn(j) != nil {
			t.Fatal("the wrong table is compact")
		}
		bytes += small.compactColumn(j).Bytes()
	}
	if bytes > 45*n {
		t.Errorf("%d bytes for a record of 72", bytes/n)
	}
	same := func(what string, got, want []float64) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y)
		}) {
			t.Fatalf("%s: other numbers", what)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	for j := range schema.Columns {
		same("all", small.Float(j), plain.Float(j))
		same("data", small.Data(j).Floats, plain.Data(j).Floats)
		double := func(x float64) float64 {
			return 2 * x
		}
		mapped := small.Mapped(j, schema.Columns[j], double)
		same(
			"mapped",
			mapped.Float(j),
			plain.Mapped(j, schema.Columns[j], double).Float(j),
		)
		same(
			"mapped block",
			mapped.View().Block(5, 9000).Float(j, nil),
			plain.Mapped(j, schema.Columns[j], double).Float(j)[5:9000],
		)
		for _, odds := range []int{1, 2, 9, 50, 3000} { // with a mask, and without one
			var rows []int32
			for k := range int32(n) {
				if r.IntN(odds) == 0 {
					rows = append(rows, k)
				}
			}
			buf := make([]float64, 0, 700)
			for _, v := range []View{plain.View(), plain.Select(rows)} {
				w := small.View()
				if v.Len() < n {
					w = small.Select(rows)
				}
				for range 30 {
					lo := r.IntN(v.Len() + 1)
					hi := lo + r.IntN(min(v.Len()-lo, 20_000)+1)
					same(
						"block",
						w.Block(lo, hi).Float(j, buf),
						v.Block(lo, hi).Float(j, nil),
					)
				}
			}
			same(
				"compacted view",
				small.Select(rows).Compact().Float(j),
				plain.Select(rows).Compact().Float(j),
			)
		}
	}
}

// TestCompactJoined checks that joining files keeps the compact form of columns and the numbers in them.
func TestCompactJoined(t *testing.T) {
	a := writeParquet(t, someCompactRows(300))
	b := writeParquet(t, someCompactRows(200))
	schema := numericSchema("Money")
	table, _, err := readFiles(
		context.Background(),
		[]string{a, b},
		schema,
		ReadOptions{least: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := Read(context.Background(), a, schema, ReadOptions{least: 1})
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 500 ||
		table.compactColumn(0) != nil ||
		first.compactColumn(0) == nil {
		t.Fatalf(
			"%d records, compact: %v, %v",
			table.Len(),
			table.compactColumn(0) != nil,
			first.compactColumn(0) != nil,
		)
	}
	equalFloats(
		t, "the first file",
		table.Float(0)[:300],
		first.Float(0),
	)
}
