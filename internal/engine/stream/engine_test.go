package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// spillTable writes a CSV file with numbers of few and of more digits, missing cells and categories of every width, and
// returns its table and engine.
func spillTable(t *testing.T, rows, chunk int) (*dataset.Table, *Engine) {
	t.Helper()
	var text strings.Builder
	text.WriteString("x,few,many,most,tenths\n")
	for i := range rows {
		cell := fmt.Sprint(float64(i) / 7)
		if i%11 == 3 {
			cell = ""
		}
		tenths := fmt.Sprintf("%.1f", float64(i*37%997)/10-30)
		switch {
		case i%13 == 5:
			tenths = ""
		case i%601 == 7:
			tenths = "-0"
		}
		fmt.Fprintf(
			&text,
			"%s,c%d,c%d,c%d,%s\n",
			cell, i%5, i%300,
			i*37%70000, tenths,
		)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	names := func(n int) (list []string) {
		for k := range n {
			list = append(list, fmt.Sprintf("c%d", k))
		}
		return list
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x"},
		{
			Name:       "few",
			Kind:       dataset.Category,
			Categories: names(4),
		},
		{
			Name:       "many",
			Kind:       dataset.Category,
			Categories: names(299),
		},
		{
			Name:       "most",
			Kind:       dataset.Category,
			Categories: names(66000),
		},
		{Name: "tenths"},
	}}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	e, stats, err := Open(
		t.Context(),
		Source{Path: path, Folder: folder, Chunk: chunk},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = e.Close()
		left, err := os.ReadDir(folder)
		if err != nil || len(left) > 0 {
			t.Errorf(
				"%d files are left: %v",
				len(left), err,
			)
		}
	})
	if stats.Rows != rows ||
		e.Rows() != rows ||
		stats.Columns[0].Missing != table.Len()-countNumbers(table.Float(0)) {
		t.Errorf(
			"%+v, %d rows",
			stats, e.Rows(),
		)
	}
	return table, e
}

// testCoins returns coins under a fixed key.
func testCoins(seed byte) mechanism.Coins {
	var coins mechanism.Coins
	err := coins.UnmarshalBinary(append([]byte{seed}, make([]byte, 31)...))
	if err != nil {
		panic(err)
	}
	return coins
}

// countNumbers returns the number of values that are not NaN.
func countNumbers(x []float64) int {
	n := 0
	for _, v := range x {
		if v == v {
			n++
		}
	}
	return n
}

// TestStreamKeepsCells checks that the cells, identities and coins of records are those of a table in memory,
// regardless of the chunks.
func TestStreamKeepsCells(t *testing.T) {
	coins := testCoins(5)
	parts := []mechanism.Part{
		{Columns: []int{0, 1, 2, 3, 4}},
		{
			Columns: []int{3, 0, 4},
			Cuts: []mechanism.Cut{
				{Known: 0},
				{
					Coin:  &coins,
					Share: .3,
					Heads: true,
				},
			},
		},
		{
			Columns: []int{1},
			Cuts: []mechanism.Cut{
				{Coin: &coins, Share: .3},
				{Known: 1},
			},
		},
		{Columns: []int{0}, Cuts: []mechanism.Cut{{None: true}}},
		{
			Columns: []int{0, 1},
			Recoded: []mechanism.Recoding{{
				Column: 1,
				As:     dataset.Column{Name: "few"},
				Values: []float64{1, 2, 3, 4, math.NaN()},
			}},
		},
	}
	for _, tt := range []struct{ rows, chunk int }{
		{0, 10},
		{1, 10},
		{100, 10},
		{1234, 100},
		{1234, 0},
	} {
		table, e := spillTable(t, tt.rows, tt.chunk)
		for k, p := range append(parts, parts...) { // which records belong to a part is known the second time
			want, err := p.Select(t.Context(), table.View())
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Gather(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != want.Len() {
				t.Fatalf(
					"%+v, part %d: %d records, want %d",
					tt, k, got.Len(),
					want.Len(),
				)
			}
			for j := range p.Columns {
				a := got.Block(0, got.Len())
				b := want.Block(0, want.Len())
				if !slices.EqualFunc(a.Float(j, nil), b.Float(j, nil), func(x, y float64) bool {
					return math.Float64bits(x) == math.Float64bits(y)
				}) ||
					!slices.Equal(a.Codes(j, nil), b.Codes(j, nil)) {
					t.Errorf(
						"%+v, part %d: other cells in column %d",
						tt, k, j,
					)
				}
			}
			for i := range got.Len() {
				if got.ID(i) != want.ID(i) {
					t.Fatalf(
						"%+v, part %d: record %d is %d, want %d",
						tt,
						k,
						i,
						got.ID(i),
						want.ID(i),
					)
				}
			}
			n, err := e.Sum(
				t.Context(),
				mechanism.Pass{
					Part:      p,
					Statistic: mechanism.Number{},
					Relation:  budget.AddRemove,
				},
			)
			if err != nil || n[0] != int64(want.Len()) {
				t.Errorf(
					"%+v, part %d: %v records, want %d: %v",
					tt, k, n, want.Len(), err,
				)
			}
		}
	}
}

// TestStreamPacks checks that numbers with few digits take few bytes of the scratch file, and that the length of a
// chunk does not depend on its contents.
func TestStreamPacks(t *testing.T) {
	_, e := spillTable(t, 1100, 200)
	sizes := map[int]bool{}
	for _, c := range e.chunks {
		x := c.encodings[0]
		tenths := c.encodings[4]
		if x != colblock.Raw || tenths == x {
			t.Errorf(
				"numbers of many digits have the encoding %v, those of few %v",
				x, tenths,
			)
		}
		if c.rows == 200 {
			sizes[c.encodings[4].Size(200)] = true
		}
	}
	if len(e.chunks) != 6 || len(sizes) > 2 {
		t.Errorf(
			"%d chunks of %d sizes",
			len(e.chunks), len(sizes),
		)
	}
	size := e.file.Size()
	most := int64(6 * (200*(8+1+2+4+2+1) + 5*scratch.Overhead))
	if size > most {
		t.Errorf(
			"the scratch file has %d bytes, want %d at most",
			size, most,
		)
	}
}

// TestStreamFails checks that a pass returns no number if it is cancelled or its scratch file is damaged.
func TestStreamFails(t *testing.T) {
	_, e := spillTable(t, 1000, 100)
	pass := mechanism.Pass{
		Part: mechanism.Part{
			Columns: []int{0},
			Cuts:    []mechanism.Cut{{Known: 0}},
		},
		Statistic: mechanism.Number{},
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	values, err := e.Sum(ended, pass)
	if values != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", values, err)
	}
	folder := t.TempDir()
	_, _, err = Open(
		ended,
		Source{Path: "table.csv", Folder: folder},
		e.Schema(),
	)
	if err == nil {
		t.Error("a cancelled reader")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf(
			"%d files are left: %v",
			len(left), err,
		)
	}
	e.chunks[3].rewritten = []scratch.Place{e.file.Reserve(800)} // not yet written
	if values, err := e.Sum(t.Context(), pass); values != nil || err == nil {
		t.Errorf("damaged: %v, %v", values, err)
	}
}

// addCounts adds the positive counts of the text categories of a column.
func addCounts(to map[string]int64, column int, words []string, counts []int64) {
	for i, word := range words {
		if counts[i] > 0 {
			to[fmt.Sprint(column, word)] += counts[i]
		}
	}
}

// TestStreamCountsWords checks that the text categories of a part are those of a table in memory, in one or several
// parts, and that a column read with the categories found has the same cells.
func TestStreamCountsWords(t *testing.T) {
	var text strings.Builder
	text.WriteString("kind,note,y\n")
	for i := range 3000 {
		fmt.Fprintf(
			&text,
			"%s,%s,%d\n",
			[]string{
				"red", "Grün",
				"", "blue sea",
			}[i*i%4],
			[]string{
				fmt.Sprint("id ", i),
				"7", "same",
				"x\x01",
			}[i%4],
			i,
		)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{
			Name:  "kind",
			Kind:  dataset.Category,
			Found: true,
		},
		{Name: "note", Found: true},
		{Name: "y"},
	}}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := Open(
		t.Context(),
		Source{
			Path:   path,
			Folder: t.TempDir(),
			Chunk:  257,
		},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	coins := testCoins(5)
	p := mechanism.Part{
		Columns: []int{2, 1, 0},
		Cuts:    []mechanism.Cut{{Coin: &coins, Share: .3}},
	}
	part, err := p.Select(t.Context(), table.View())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for k, j := range []int{1, 2} {
		words, counts := part.CountWords(j)
		addCounts(want, k, words, counts)
	}
	for _, parts := range []int64{1, 7} {
		e.wordBytes = (parts - 1) * mechanism.WordPart
		n, countPart := e.wordCounter(t.Context(), p, []int{1, 2})
		if int64(n) != parts {
			t.Errorf("%d parts, want %d", n, parts)
		}
		got := map[string]int64{}
		for k := range n {
			columns, err := countPart(k)
			if err != nil {
				t.Fatal(err)
			}
			for c, x := range columns {
				addCounts(got, c, x.Words, x.Counts)
			}
		}
		if len(got) < 500 || !maps.Equal(got, want) {
			t.Errorf(
				"%d parts: %d words, want %d",
				parts, len(got), len(want),
			)
		}
	}
	inMemory := memory.New(table.View())
	found := []dataset.Column{
		{
			Name:       "kind",
			Kind:       dataset.Category,
			Categories: []string{"blue sea", "red"},
			Other:      true,
			Found:      true,
		},
		{
			Name:       "note",
			Kind:       dataset.Category,
			Categories: []string{"id 4", "same"},
			Other:      true,
			Found:      true,
		},
		{Name: "y"},
	}
	as, err := mechanism.CapabilitiesOf(inMemory).Resolve(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	in, err := mechanism.CapabilitiesOf(as).Gather(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if as, err = e.Resolve(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	v, err := mechanism.CapabilitiesOf(as).Gather(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for j := 1; j < 3; j++ {
		if !slices.Equal(v.Block(0, v.Len()).Codes(j, nil), in.Block(0, in.Len()).Codes(j, nil)) {
			t.Errorf("other codes in column %d", j)
		}
	}
}
