package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// Cap returns the view of the records that remain if every unit keeps at most the given number of records,
// which must be at least 1. Records without a unit ([NoUnit]) are dropped. A unit with more records keeps those
// with the smallest lots; among equal lots, those that come first.
//
// lot is called only for records of units with too many. Its arguments are the unit's identity, the content of
// the record (a digest of all its cells in the columns of v) and the number of earlier records of this unit
// with the same content. Hence the records that a unit keeps depend only on lot and on the records of that
// unit.
func (v View) Cap(
	most int,
	lot func(unit uint64, content [32]byte, nth int) uint64,
) View {
	if most < 1 {
		panic("dataset: Cap: a unit keeps at least one record")
	}
	counts := map[uint64]int{}
	for k := range v.Len() {
		counts[v.ID(k)]++
	}
	large := map[uint64][]int32{} // positions in v
	kept := make([]bool, v.Len())
	for k := range v.Len() {
		switch id := v.ID(k); {
		case id == NoUnit:
		case counts[id] > most:
			large[id] = append(large[id], int32(k))
		default:
			kept[k] = true
		}
	}
	draw := newDrawer(v)
	for id, rows := range large {
		for _, k := range draw.smallestLots(id, rows, most, lot) {
			kept[k] = true
		}
	}
	var rows []int32
	for k, keep := range kept {
		if keep {
			rows = append(rows, int32(k))
		}
	}
	return v.Select(rows)
}

// lotDrawer draws the lots of the records of one unit after the other.
type lotDrawer struct {
	floats [][]float64
	codes  [][]int32
	words  [][]string // as in Table
	cells  []byte
}

func newDrawer(v View) *lotDrawer {
	d := &lotDrawer{}
	for j := range v.Schema().Columns {
		all := v.Block(0, v.Len())
		d.floats, d.codes = append(d.floats, all.Float(j, nil)), append(d.codes, all.Labels(j, nil))
		d.words = append(d.words, v.table.words[v.tableColumn(j)])
	}
	return d
}

// Content returns a function that computes the content of a record of the view; see [View.Cap]. words holds the
// lists of text categories that the codes of each table column index; nil if the table has them.
func (v View) Content(words [][]string) func(k int32) [32]byte {
	d := newDrawer(v)
	if words != nil {
		for j := range d.words {
			d.words[j] = words[v.tableColumn(j)]
		}
	}
	return d.recordDigest
}

// recordDigest returns the SHA-256 of the cells of a record of the view, in an encoding
// that depends on the schema alone.
func (d *lotDrawer) recordDigest(k int32) [32]byte {
	b := d.cells[:0]
	for j, x := range d.floats {
		if words := d.words[j]; words != nil { // codes of text categories depend on other records, so the texts are hashed
			var code int32
			if x == nil {
				code = d.codes[j][k]
			} else {
				code = unboxWord(x[k])
			}
			if code != noText {
				b = binary.LittleEndian.AppendUint32(b, uint32(len(words[code])+1))
				b = append(b, words[code]...)
				continue
			}
			b = binary.LittleEndian.AppendUint32(b, 0)
		}
		if x == nil {
			b = binary.LittleEndian.AppendUint32(b, uint32(d.codes[j][k]))
			continue
		}
		v := x[k]
		if v != v {
			v = math.NaN() // the canonical NaN
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	d.cells = b
	return sha256.Sum256(b)
}

// smallestLots returns the given number of rows of a unit, those with the smallest lots.
func (d *lotDrawer) smallestLots(
	unit uint64,
	rows []int32,
	most int,
	lot func(uint64, [32]byte, int) uint64,
) []int32 {
	type ticket struct {
		lot uint64
		row int32
	}
	tickets := make([]ticket, len(rows))
	copies := map[[32]byte]int{}
	for i, k := range rows {
		content := d.recordDigest(k)
		tickets[i] = ticket{lot(unit, content, copies[content]), k}
		copies[content]++
	}
	slices.SortStableFunc(tickets, func(a, b ticket) int {
		return cmp.Compare(a.lot, b.lot)
	})
	for i, t := range tickets[:most] {
		rows[i] = t.row
	}
	return rows[:most]
}
