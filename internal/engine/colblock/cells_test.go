package colblock

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// records is a table whose lists of texts belong to it alone.
type records struct {
	ids    []uint64
	floats [][]float64
	codes  [][]int32
	words  [][]string
}

func (r *records) Len() int {
	return len(r.ids)
}

func (r *records) ID(i int) uint64 {
	return r.ids[i]
}

func (r *records) Float(j int) []float64 {
	return r.floats[j]
}

func (r *records) Labels(j int) []int32 {
	return r.codes[j]
}

func (r *records) Words(j int) []string {
	return r.words[j]
}

// allColumns has a column of every kind.
var allColumns = []Column{
	NewColumn(true, false, 0),
	NewColumn(true, true, 0),
	NewColumn(false, false, 254),
	NewColumn(false, false, 70_000),
	NewColumn(false, true, 0),
	{Kind: Identities},
}

// someRecords returns a table of n records. Every table has its own order of texts.
func someRecords(r *rand.Rand, n int) *records {
	out := &records{
		ids:    make([]uint64, n),
		floats: make([][]float64, 5),
		codes:  make([][]int32, 5),
		words:  make([][]string, 5),
	}
	list := []string{
		"red", "green",
		"deep blue",
		strings.Repeat("long ", 12),
	}
	for range r.IntN(300) {
		list = append(list, fmt.Sprint("id ", r.IntN(1000)))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	r.Shuffle(len(list), func(i, j int) {
		list[i], list[j] = list[j], list[i]
	})
	list = append([]string{""}, list...)
	out.words[1] = list
	out.words[4] = list
	for i := range n {
		out.ids[i] = r.Uint64()
		out.floats[0] = append(
			out.floats[0],
			math.Round(r.NormFloat64()*1e3)/10,
		)
		x := float64(r.IntN(100))
		if r.IntN(3) == 0 {
			x = TextNumber(int32(r.IntN(len(list))))
		}
		out.floats[1] = append(out.floats[1], x)
		out.codes[2] = append(out.codes[2], int32(r.IntN(255)))
		out.codes[3] = append(out.codes[3], int32(r.IntN(70_001)))
		out.codes[4] = append(
			out.codes[4],
			int32(r.IntN(len(list)+1)-1),
		)
	}
	return out
}

// textOf returns the text of cell i of column j, or the number or code of a cell without a text.
func (v Values) textOf(i int) string {
	switch {
	case v.IDs != nil:
		return fmt.Sprint(v.IDs[i])
	case v.Codes != nil && v.Texts != nil && v.Codes[i] > 0:
		return v.Texts[v.Codes[i]]
	case v.Codes != nil:
		return fmt.Sprint(v.Codes[i])
	}
	k, ok := NumberText(v.Floats[i])
	if ok && k > 0 {
		return v.Texts[k]
	}
	return fmt.Sprintf("%x", math.Float64bits(v.Floats[i]))
}

// TestCellsMatchBlockFields checks that the cells of tables are those of the fields of a block, that the fields do
// not depend on how the records are divided into tables, and that damaged fields are errors.
func TestCellsMatchBlockFields(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, n := range []int{0, 1, 7, 900} {
		table := someRecords(r, n)
		batch := NewTableCells(allColumns)
		batch.SetTable(table, true)
		whole := NewBlock(allColumns, n)
		parts := NewBlock(allColumns, 0)
		for range 2 { // memory is reused
			whole.Clear()
			whole.Append(batch, 0, n)
		}
		for from := 0; from < n; {
			to := min(from+1+r.IntN(100), n)
			batch.SetTable(table, false)
			parts.Append(batch, from, to)
			from = to
		}
		if whole.Rows() != n || parts.Rows() != n {
			t.Fatalf(
				"%d and %d records, want %d",
				whole.Rows(), parts.Rows(), n,
			)
		}
		for j, c := range allColumns {
			field := whole.AppendField(nil, j, &Encoder{})
			if !slices.Equal(field, parts.AppendField(nil, j, &Encoder{})) {
				t.Errorf(
					"column %d of %d records depends on their division",
					j, n,
				)
			}
			got, err := c.ReadField(field, n)
			if err != nil {
				t.Fatalf(
					"column %d of %d records: %v",
					j, n, err,
				)
			}
			want := Values{IDs: table.ids}
			if c.Kind != Identities {
				want = Values{
					table.Float(j),
					table.Labels(j), nil,
					table.Words(j),
				}
			}
			for i := range n {
				if got.textOf(i) != want.textOf(i) {
					t.Fatalf(
						"cell %d of column %d is %q, want %q",
						i,
						j,
						got.textOf(i),
						want.textOf(i),
					)
				}
			}
			for _, damaged := range [][]byte{
				nil,
				field[:min(2, len(field))],
				field[:len(field)-1],
				append(slices.Clone(field), 0),
				append([]byte{3}, field[1:]...),
				append([]byte{field[0], 77}, field[2:]...),
			} {
				_, err := c.ReadField(damaged, n)
				if !errors.Is(err, ErrDamaged) {
					t.Errorf(
						"column %d: a damaged field is read: %v",
						j, err,
					)
				}
			}
			if _, err := c.ReadField(field, n+1); n > 0 && !errors.Is(err, ErrDamaged) {
				t.Errorf(
					"column %d: one record more is read: %v",
					j, err,
				)
			}
		}
	}
}

// TestEncode checks that a column is padded to the given number of records, and that its size does
// not depend on their number.
func TestEncode(t *testing.T) {
	const rows = 500
	r := rand.New(rand.NewPCG(8, 2))
	for _, n := range []int{1, 200, rows} {
		table := someRecords(r, n)
		batch := NewTableCells(allColumns)
		batch.SetTable(table, true)
		for j, c := range allColumns {
			to := []byte(strings.Repeat("x", MaxSize(rows)))
			e := batch.Encode(to, j, rows, &Encoder{})
			if !c.Numeric() && e != c.Encoding() ||
				e.Size(rows) > len(to) {
				t.Fatalf("column %d has the encoding %v", j, e)
			}
			used := e.Size(n)
			for _, b := range to[used:e.Size(rows)] {
				if b != 0 {
					t.Fatalf(
						"column %d, %d records: not padded by zeros",
						j, n,
					)
				}
			}
			if strings.Trim(string(to[e.Size(rows):]), "x") != "" {
				t.Fatalf("column %d: bytes after the column are modified", j)
			}
			switch {
			case c.Numeric():
				x := make([]float64, n)
				e.DecodeNumbers(x, to)
				if !slices.EqualFunc(x, table.Float(j), equalBits) {
					t.Errorf("column %d has other numbers", j)
				}
			case c.Kind != Identities:
				codes := make([]int32, n)
				e.DecodeCodes(codes, to)
				if !slices.Equal(codes, table.Labels(j)) {
					t.Errorf("column %d has other codes", j)
				}
			}
		}
	}
}

// TestCodes checks that codes are read back, in the fewest bytes that hold the largest.
func TestCodes(t *testing.T) {
	for _, tt := range []struct{ largest, width int }{
		{0, 1},
		{254, 1},
		{255, 2},
		{65_534, 2},
		{65_535, 4},
		{math.MaxInt32, 4},
	} {
		e := CodeEncoding(tt.largest)
		codes := []int32{
			-1, 0, int32(tt.largest),
			int32(tt.largest / 2),
		}
		data := e.AppendCodes(nil, codes)
		if len(data) != len(codes)*tt.width ||
			len(data) != e.Size(len(codes)) {
			t.Errorf(
				"codes up to %d take %d bytes",
				tt.largest, len(data),
			)
		}
		got := make([]int32, len(codes))
		e.DecodeCodes(got, data)
		if !slices.Equal(got, codes) {
			t.Errorf("%d became %d", codes, got)
		}
	}
}

// TestTextNumber checks that numbers that represent texts are NaN and that other numbers are not
// texts.
func TestTextNumber(t *testing.T) {
	for _, k := range []int32{0, 1, math.MaxInt32} {
		x := TextNumber(k)
		got, ok := NumberText(x)
		if !math.IsNaN(x) || got != k || !ok {
			t.Errorf(
				"%d became %d, %v",
				k, got, ok,
			)
		}
	}
	for _, x := range []float64{
		0, math.NaN(),
		math.Inf(1), 7,
	} {
		k, ok := NumberText(x)
		if k != -1 || ok {
			t.Errorf("%v is text %d", x, k)
		}
	}
}

// TestSameBytes checks that the bytes of a list are those of every other machine: the test runs
// with and without vector instructions.
func TestSameBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	hash := fnv.New64a()
	var encoder Encoder
	for range 200 {
		x := make([]float64, r.IntN(500))
		digits := r.IntN(6)
		for i := range x {
			x[i] = math.Round(r.NormFloat64()*300) / powers[digits]
			switch r.IntN(60) {
			case 0:
				x[i] = r.NormFloat64()
			case 1:
				x[i] = math.NaN()
			case 2:
				x[i] = TextNumber(int32(i))
			}
			if digits == 5 {
				x[i] = float64(float32(x[i]))
			}
		}
		_, data := encoder.EncodeNumbers(
			make([]byte, MaxSize(len(x))),
			x, Encoding{},
		)
		_, _ = hash.Write(data)
	}
	if got := hash.Sum64(); got != 0x8b47f3305ae64517 {
		t.Errorf("the bytes have the hash %#x", got)
	}
}

// TestSinglesWithMissing checks that missing cells of numbers of single precision take four bytes.
func TestSinglesWithMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	x := make([]float64, 1000)
	for i := range x {
		if x[i] = float64(r.Float32()); i%3 == 0 {
			x[i] = math.NaN()
		}
	}
	_, bytes := checkRoundTrip(t, &Encoder{}, x, Encoding{})
	if bytes != 4 {
		t.Errorf("%v bytes a number", bytes)
	}
}

// FuzzField checks that damaged fields do not panic.
func FuzzField(f *testing.F) {
	batch := NewTableCells(allColumns)
	block := NewBlock(allColumns, 9)
	batch.SetTable(someRecords(rand.New(rand.NewPCG(2, 2)), 9), true)
	block.Append(batch, 0, 9)
	for j := range allColumns {
		f.Add(block.AppendField(nil, j, &Encoder{}), j, 9)
	}
	f.Fuzz(func(t *testing.T, data []byte, j, rows int) {
		if j < 0 ||
			j >= len(allColumns) ||
			rows < 0 ||
			rows > 1<<16 {
			return
		}
		out, err := allColumns[j].ReadField(data, rows)
		if err == nil &&
			max(
				len(out.Floats), len(out.Codes),
				len(out.IDs),
			) != rows {
			t.Errorf("%+v for %d records", out, rows)
		}
	})
}
