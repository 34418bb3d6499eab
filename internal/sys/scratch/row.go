package scratch

import (
	"errors"
	"slices"
)

// A Row is where some places are, one behind the other, that were written at once: less to keep than the places, and one call of the
// system for all.
type Row struct {
	at    int64
	write uint64 // of the first; 0: none
}

// Place returns a place of a row, by its number from 0, the bytes of all places before it, and its own bytes.
func (r Row) Place(number, before, size int) Place {
	if r.write == 0 {
		return Place{}
	}
	return Place{r.at + int64(before+number*Overhead), size, r.write + uint64(number)}
}

// A RowWriter puts the bytes of rows together, one row after the other.
type RowWriter struct {
	file   *File
	sealed []byte
	first  uint64 // number of the write of the first place
	done   int
	places int
}

// Begin begins a row of so many places.
func (w *RowWriter) Begin(f *File, places int) {
	w.file, w.sealed, w.done, w.places = f, w.sealed[:0], 0, places
	w.first = f.writes.Add(uint64(places)) - uint64(places) + 1
}

// Room returns memory for the bytes of the next place, which may be any. It is valid until [RowWriter.Seal].
func (w *RowWriter) Room(size int) []byte {
	if need := len(w.sealed) + size + Overhead; cap(w.sealed) < need {
		// As large as the row will be if its other places are like those so far.
		like := len(w.sealed) * w.places / max(w.done, 1)
		w.sealed = slices.Grow(w.sealed, max(need, like+like/16+size)-len(w.sealed))
	}
	return w.sealed[len(w.sealed):][:size]
}

// Seal ends a place, whose bytes are the first in what [RowWriter.Room] returned. It panics if the row has no place left: the
// nonce that follows is that of another write.
func (w *RowWriter) Seal(size int) {
	if w.done == w.places {
		panic("scratch: more places than the row has")
	}
	data := w.sealed[len(w.sealed):][:size]
	w.sealed = w.file.aead.Seal(w.sealed, w.file.nonce(w.first+uint64(w.done)), data, nil)
	w.done++
}

// Add adds a place with a copy of some bytes.
func (w *RowWriter) Add(data []byte) {
	copy(w.Room(len(data)), data)
	w.Seal(len(data))
}

// Write writes the row, and returns where it is.
func (w *RowWriter) Write() (Row, error) {
	if w.done != w.places {
		return Row{}, errors.Join(errSize, errors.New("a row without all of its places"))
	}
	f := w.file
	f.mu.Lock()
	r := Row{f.end, w.first}
	f.end += int64(len(w.sealed))
	f.mu.Unlock()
	return r, f.writeAt(w.sealed, r.at)
}
