package scratch

import (
	"bytes"
	"errors"
	"testing"
)

// TestRowPlacesRoundTrip checks that each place of a row holds the stored data, for any sizes, next to separate places,
// and that no data can be read in the file.
func TestRowPlacesRoundTrip(t *testing.T) {
	f := createScratch(t, t.TempDir())
	var w RowWriter
	type kept struct {
		row   Row
		sizes []int
	}
	var rows []kept
	fill := func(k, j int) byte {
		return byte(31*k + 7*j + 1)
	}
	for k, sizes := range [][]int{
		{100}, {0, 5000, 3},
		{70, 70, 70, 70},
		{3, 0, 20000}, {1},
	} {
		p := f.Reserve(50)
		writeData(t, f, &p, bytes.Repeat([]byte{9}, 50))
		w.Start(f, len(sizes))
		for j, size := range sizes {
			if j%2 == 0 {
				w.Add(bytes.Repeat([]byte{fill(k, j)}, size))
				continue
			}
			room := w.Buffer(size + 10) // more than needed
			for i := range room {
				room[i] = fill(k, j)
			}
			w.Seal(size)
		}
		row, err := w.Write()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, kept{row, sizes})
	}
	for k, x := range rows {
		before := 0
		for j, size := range x.sizes {
			got := readData(t, f, x.row.Place(j, before, size))
			if !bytes.Equal(got, bytes.Repeat([]byte{fill(k, j)}, size)) {
				t.Errorf(
					"place %d of row %d has other bytes than were written",
					j, k,
				)
			}
			before += size
		}
	}
	raw := make([]byte, f.Size())
	if _, err := f.file.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, bytes.Repeat([]byte{fill(1, 1)}, 8)) {
		t.Error("cells can be read in the file")
	}
	second := rows[2]
	_, err := f.Read(second.row.Place(0, 70, 70), nil)
	if !errors.Is(err, ErrRead) {
		t.Errorf("the bytes of another place: %v", err)
	}
	_, err = f.Read(Row{}.Place(0, 0, 1), nil)
	if err == nil {
		t.Error("a row that was never written")
	}
}

// TestRowWithoutAPlace checks that a row with a missing place is not written.
func TestRowWithoutAPlace(t *testing.T) {
	f := createScratch(t, t.TempDir())
	var w RowWriter
	w.Start(f, 2)
	w.Add([]byte("one"))
	_, err := w.Write()
	if err == nil || f.Size() != 0 {
		t.Errorf(
			"%d bytes: %v",
			f.Size(), err,
		)
	}
}

// TestRowWithAPlaceTooMany checks that a place is never encrypted under the nonce of another write.
func TestRowWithAPlaceTooMany(t *testing.T) {
	f := createScratch(t, t.TempDir())
	var w RowWriter
	w.Start(f, 1)
	w.Add([]byte("one"))
	defer func() {
		if recover() == nil {
			t.Error("a second place of one")
		}
	}()
	w.Add([]byte("two"))
}
