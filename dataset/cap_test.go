package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// testLot is a fixed function of its arguments, like lots under one key.
func testLot(unit uint64, content [32]byte, copy int) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, unit))
	h.Write(content[:])
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(copy)))
	return h.Sum64()
}

// visit is a record of the tables below.
type visit struct {
	unit uint64
	x    float64
	k    int32
}

func visitsTable(t testing.TB, rows []visit) *Table {
	t.Helper()
	schema := Schema{
		Unit: "who",
		Columns: []Column{
			{Name: "x"},
			{
				Name:       "k",
				Kind:       Category,
				Categories: []string{"a", "b"},
			},
		},
	}
	cols := make([]ColumnData, 2)
	ids := make([]uint64, len(rows))
	for i, r := range rows {
		cols[0].Floats = append(cols[0].Floats, r.x)
		cols[1].Codes = append(cols[1].Codes, r.k)
		ids[i] = r.unit
	}
	table, err := NewTable(schema, cols, ids)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// keptOf returns the records that a cap keeps of each unit, in an order that depends only on their content.
func keptOf(t testing.TB, rows []visit, most int) map[uint64][]string {
	table := visitsTable(t, rows)
	v := table.View().Cap(most, testLot)
	out := map[uint64][]string{}
	for k := range v.Len() {
		i := int(v.tableRow(k))
		out[v.ID(k)] = append(
			out[v.ID(k)],
			fmt.Sprint(table.Float(0)[i], table.Codes(1)[i]),
		)
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

func drawVisits(t *rapid.T, units []uint64, label string) []visit {
	return rapid.SliceOfN(
		rapid.Custom(func(t *rapid.T) visit {
			return visit{
				rapid.SampledFrom(units).Draw(t, "unit"),
				rapid.SampledFrom([]float64{0, 1, math.NaN(), -2.5}).Draw(t, "x"),
				int32(rapid.IntRange(0, 2).Draw(t, "k")),
			}
		}),
		0,
		25,
	).Draw(t, label)
}

// TestCapIsTheUnitsOwn checks that the kept records of a unit depend only on the records of that unit: not on
// other records, and not on their positions in the table. No unit keeps more than the cap, a unit with fewer
// records keeps all, and records without a unit are left out.
func TestCapIsTheUnitsOwn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 4).Draw(rt, "most")
		rows := drawVisits(rt, []uint64{1, 2, 3, NoUnit}, "rows")
		others := drawVisits(rt, []uint64{8, 9, NoUnit}, "others")
		kept := keptOf(t, rows, most)
		count := map[uint64]int{}
		for _, r := range rows {
			count[r.unit]++
		}
		for unit, n := range count {
			want := min(n, most)
			if unit == NoUnit {
				want = 0
			}
			if len(kept[unit]) != want {
				rt.Fatalf(
					"unit %d keeps %d of %d records, want %d",
					unit,
					len(kept[unit]),
					n,
					want,
				)
			}
		}
		mixed := rapid.Permutation(append(slices.Clone(rows), others...)).Draw(rt, "mixed")
		gone := slices.DeleteFunc(slices.Clone(mixed), func(r visit) bool {
			return r.unit == 2
		})
		for name, again := range map[string]map[uint64][]string{
			"mixed":          keptOf(t, mixed, most),
			"without unit 2": keptOf(t, gone, most),
		} {
			for _, unit := range []uint64{1, 2, 3} {
				if unit == 2 && name != "mixed" {
					continue
				}
				if !slices.Equal(again[unit], kept[unit]) {
					rt.Fatalf(
						"%s: unit %d keeps %v, alone %v",
						name,
						unit,
						again[unit],
						kept[unit],
					)
				}
			}
		}
	})
}

// TestCapKeepsOrder checks that the kept records stay in table order, that a view of a view is capped too, and
// that the lot sees only the columns of the view.
func TestCapKeepsOrder(t *testing.T) {
	rows := []visit{
		{1, 1, 0},
		{2, 2, 0},
		{1, 3, 1},
		{1, 4, 0},
		{NoUnit, 5, 0},
		{1, 1, 0},
	}
	all := visitsTable(t, rows).View()
	v := all.Cap(2, func(_ uint64, _ [32]byte, copy int) uint64 {
		return uint64(5 - copy)
	})
	got := v.Block(0, v.Len()).Float(0, nil)
	if !slices.Equal(got, []float64{1, 2, 1}) {
		t.Errorf(
			"kept %v, want the first, the second and the copy of the first",
			got,
		)
	}
	seen := map[[32]byte]int{}
	all.Columns([]int{1}).Cap(1, func(_ uint64, content [32]byte, _ int) uint64 {
		seen[content]++
		return 0
	})
	if len(seen) != 2 {
		t.Errorf(
			"%d contents of a column with two values",
			len(seen),
		)
	}
	if got := all.Select([]int32{0, 3, 5}).Cap(1, testLot).Len(); got != 1 {
		t.Errorf("%d records of one unit", got)
	}
	if got := (View{}).Cap(1, testLot).Len(); got != 0 {
		t.Errorf("%d records of nothing", got)
	}
}
