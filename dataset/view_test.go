package dataset

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// countingTable holds the row number in column 0, its half in column 1, and its
// remainder by three in category column 2. Identities are 100 + row.
func countingTable(tb testing.TB, n int) *Table {
	tb.Helper()
	a := make([]float64, n)
	b := make([]float64, n)
	c := make([]int32, n)
	ids := make([]uint64, n)
	for i := range n {
		a[i] = float64(i)
		b[i] = float64(i) / 2
		c[i] = int32(i % 3)
		ids[i] = uint64(100 + i)
	}
	t, err := NewTable(
		Schema{Columns: []Column{
			{Name: "i"},
			{Name: "half"},
			{
				Name:       "mod",
				Kind:       Category,
				Categories: []string{"0", "1", "2"},
			},
		}},
		[]ColumnData{{Floats: a}, {Floats: b}, {Codes: c}},
		ids,
	)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// TestRecode checks that a category column can be read as numbers, record by record, for any rows and columns
// of the view, and that the table itself does not change.
func TestRecode(t *testing.T) {
	table := countingTable(t, 10)
	v := table.Select([]int32{1, 3, 4, 9}).Columns([]int{2, 0})
	w := v.Recode(
		0,
		Column{
			Name:   "mod",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		[]float64{-1, 1, 0, .5},
	)
	equalFloats(
		t, "recoded",
		w.Block(0, 4).Float(0, nil),
		[]float64{1, -1, 1, -1},
	)
	equalFloats(
		t, "beside it",
		w.Block(0, 4).Float(1, nil),
		[]float64{1, 3, 4, 9},
	)
	c := w.Schema().Columns[0]
	if c.Kind != Numeric ||
		!c.Ranged ||
		w.Block(0, 4).Codes(0, nil) != nil ||
		w.ID(2) != 104 {
		t.Errorf("the recoded column is %+v", c)
	}
	c = v.Schema().Columns[0]
	if c.Kind != Category ||
		v.Block(0, 1).Codes(0, nil) == nil ||
		table.Codes(2) == nil {
		t.Error("the table behind the view changed")
	}
	other, err := NewTable(
		Schema{Columns: []Column{{
			Name:       "c",
			Kind:       Category,
			Categories: []string{"a"},
		}}},
		[]ColumnData{{Codes: []int32{0, 1, 99, -5}}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	equalFloats(
		t,
		"outside the list",
		other.View().Recode(
			0, Column{Name: "c"},
			[]float64{2, math.Inf(1)},
		).Block(0, 4).Float(
			0,
			nil,
		),
		[]float64{2, math.NaN(), math.NaN(), math.NaN()},
	)
	mustPanic(t, "a number", func() {
		table.View().Recode(0, Column{Name: "i"}, []float64{1})
	})
	mustPanic(t, "too few values", func() {
		table.View().Recode(
			2, Column{Name: "mod"},
			[]float64{1, 2, 3},
		)
	})
}

func TestSelect(t *testing.T) {
	table := countingTable(t, 10)
	v := table.Select([]int32{1, 4, 5, 6, 9})
	if v.Len() != 5 ||
		v.ID(1) != 104 ||
		v.Table() != table {
		t.Fatal("view is wrong")
	}
	equalFloats(
		t, "gathered",
		v.Block(0, 5).Float(0, nil),
		[]float64{1, 4, 5, 6, 9},
	)
	w := v.Select([]int32{1, 2, 4})
	equalFloats(
		t, "nested",
		w.Block(0, 3).Float(0, nil),
		[]float64{4, 5, 9},
	)
	if table.Select(nil).Len() != 0 {
		t.Error("Select(nil) must be empty, not everything")
	}
	n := (View{}).Len()
	if n != 0 {
		t.Error("the zero View has rows")
	}
	mustPanic(t, "a row twice", func() {
		table.Select([]int32{1, 1})
	})
	mustPanic(t, "falling", func() {
		table.Select([]int32{2, 1})
	})
	mustPanic(t, "beyond", func() {
		table.Select([]int32{10})
	})
	mustPanic(t, "negative", func() {
		table.Select([]int32{-1})
	})
	mustPanic(t, "block", func() {
		table.View().Block(0, 11)
	})
}

// TestMarksRestoreView checks that the marks of a view restore the view with its cells.
func TestMarksRestoreView(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	var room []int32
	for n := range 100 {
		table := countingTable(t, n)
		for _, odds := range []int{1, 2, 20} {
			var rows []int32
			for k := range n {
				if r.IntN(odds) == 0 {
					rows = append(rows, int32(k))
				}
			}
			v := table.Select(rows)
			marks := make([]byte, (n+7)/8+3)
			v.Mark(marks)
			var got View
			got, room = table.View().Marked(marks, room)
			if got.Len() != v.Len() || !slices.Equal(room, rows) {
				t.Fatalf(
					"%d of %d rows, want %d",
					got.Len(), n, v.Len(),
				)
			}
			if len(rows) > 0 {
				equalFloats(
					t,
					"marked",
					got.Block(0, len(rows)).Float(0, nil),
					v.Block(0, len(rows)).Float(0, nil),
				)
			}
		}
	}
	mustPanic(t, "a part", func() {
		countingTable(t, 9).Select([]int32{1, 2}).Marked(make([]byte, 2), nil)
	})
}

func TestColumns(t *testing.T) {
	v := countingTable(t, 4).View().Columns([]int{2, 1}).Columns([]int{1, 0})
	got := v.Schema().Names()
	if !slices.Equal(got, []string{"half", "mod"}) {
		t.Fatal(got)
	}
	b := v.Select([]int32{1, 3}).Block(0, 2)
	equalFloats(
		t, "half",
		b.Float(0, nil),
		[]float64{.5, 1.5},
	)
	if got := b.Codes(1, nil); !slices.Equal(got, []int32{1, 0}) {
		t.Error(got)
	}
	if b.Float(1, nil) != nil ||
		b.Codes(0, nil) != nil {
		t.Error("cells of the wrong kind")
	}
}

func TestBlockSharesConsecutiveRows(t *testing.T) {
	table := countingTable(t, 10)
	buf := make([]float64, 4)
	for name, b := range map[string]Block{
		"all":    table.View().Block(2, 5),
		"select": table.Select([]int32{0, 2, 3, 4, 8}).Block(1, 4),
	} {
		got := b.Float(0, buf)
		if &got[0] != &table.Float(0)[2] ||
			len(got) != 3 ||
			cap(got) != 3 {
			t.Errorf(
				"%s: not the table's own rows 2 to 4",
				name,
			)
		}
		if b.ID(2) != 104 || b.Row(2) != 4 {
			t.Errorf("%s: identity or position is wrong", name)
		}
	}
	scattered := table.Select([]int32{0, 2, 8}).Block(0, 3)
	got := scattered.Float(0, buf)
	if &got[0] != &buf[0] {
		t.Error("the buffer is not used")
	}
	got = scattered.Float(0, buf[:0:1])
	if len(got) != 3 || got[2] != 8 {
		t.Error("a buffer without room is not replaced")
	}
}

func TestSplitIsAPartition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(rt, "rows")
		parts := rapid.IntRange(1, 5).Draw(rt, "parts")
		coins := rapid.SliceOfN(
			rapid.IntRange(0, parts-1), 60,
			60,
		).Draw(rt, "coins")
		table := countingTable(t, n)
		var asked []uint64
		views := table.View().Split(parts, func(id uint64) int {
			asked = append(asked, id)
			return coins[id-100]
		})
		var seen []uint64
		for p, v := range views {
			for k := range v.Len() {
				if coins[v.ID(k)-100] != p {
					rt.Fatalf("record in the wrong part")
				}
				seen = append(seen, v.ID(k))
			}
		}
		slices.Sort(seen)
		if len(seen) != n || !slices.Equal(seen, asked) {
			rt.Fatalf(
				"%d records dealt, %d coins asked, of %d",
				len(seen), len(asked), n,
			)
		}
	})
	mustPanic(
		t,
		"coin",
		func() {
			countingTable(t, 1).View().Split(2, func(uint64) int {
				return 2
			})
		},
	)
}

func TestPartIsASplit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := countingTable(
			t,
			rapid.IntRange(0, 60).Draw(rt, "rows"),
		).View()
		if rapid.Bool().Draw(rt, "selected") {
			v = v.Split(2, func(id uint64) int {
				return int(id) % 2
			})[0]
		}
		sides := rapid.SliceOfN(
			rapid.Uint8Range(0, 1),
			v.Len(), v.Len(),
		).Draw(rt, "sides")
		next := 0
		want := v.Split(2, func(uint64) int {
			next++
			return int(sides[next-1])
		})
		first, second := v.Part(sides)
		var marks, others [8]byte
		v.MarkSides(sides, marks[:], others[:])
		for p, got := range []View{first, second} {
			var mark [8]byte
			if got.Mark(mark[:]); mark != [2][8]byte{marks, others}[p] {
				rt.Fatalf(
					"part %d has the marks %v, and those by sides are %v and %v",
					p,
					mark,
					marks,
					others,
				)
			}
			if got.Len() != want[p].Len() ||
				!slices.Equal(got.mask, want[p].mask) {
				rt.Fatalf(
					"part %d has %d records and the mask %v, want %d and %v",
					p,
					got.Len(),
					got.mask,
					want[p].Len(),
					want[p].mask,
				)
			}
			for k := range got.Len() {
				if got.ID(k) != want[p].ID(k) {
					rt.Fatalf(
						"record %d of part %d is %d, want %d",
						k,
						p,
						got.ID(k),
						want[p].ID(k),
					)
				}
			}
		}
	})
	mustPanic(t, "side", func() {
		countingTable(t, 1).View().Part(nil)
	})
	mustPanic(t, "side", func() {
		countingTable(t, 1).View().MarkSides(
			nil, []byte{0},
			[]byte{0},
		)
	})
}

func TestCompactKeepsIdentities(t *testing.T) {
	c := countingTable(t, 9).Select([]int32{2, 5}).Columns([]int{2, 0}).Compact()
	if c.Len() != 2 ||
		c.ID(1) != 105 ||
		c.Codes(0)[1] != 2 ||
		c.Float(1)[0] != 2 ||
		c.Schema().Columns[0].Name != "mod" {
		t.Error("the copy differs from the view")
	}
}

func TestForEachCoversEveryRowOnce(t *testing.T) {
	v := countingTable(t, 1003).Select([]int32{1, 2, 3, 700, 702, 1002})
	out := make([]float64, v.Len())
	var blocks atomic.Int32
	err := ForEach(context.Background(), v, 4, func(b Block, start int) {
		blocks.Add(1)
		for k, x := range b.Float(1, nil) {
			out[start+k] += x
		}
	})
	if err != nil || blocks.Load() != 2 {
		t.Fatalf(
			"%v, %d blocks",
			err, blocks.Load(),
		)
	}
	equalFloats(
		t, "out", out,
		[]float64{.5, 1, 1.5, 350, 351, 501},
	)
}

func TestPassesHonourTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	v := countingTable(t, 10_000).View()
	err := ForEach(ctx, v, 1, func(Block, int) {
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ForEach: %v", err)
	}
}

func TestParallelReturnsTheLowestFailure(t *testing.T) {
	one := errors.New("one")
	two := errors.New("two")
	err := runTasks(context.Background(), 1, 5, func(_, task int) error {
		return []error{nil, one, two, two, two}[task]
	})
	if err != one {
		t.Errorf("%v", err)
	}
}

// TestParallelPanic checks that a panic of any worker reaches the caller, where it can be recovered.
func TestParallelPanic(t *testing.T) {
	for bad := range 20 {
		p := parallel.Catch(func() {
			_ = runTasks(t.Context(), 4, 20, func(_, task int) error {
				if task == bad {
					panic("cell 4711")
				}
				return nil
			})
		})
		if p == nil || p.Value != "cell 4711" {
			t.Fatalf("task %d: %+v", bad, p)
		}
	}
}
