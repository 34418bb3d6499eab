package scratch

import (
	"errors"
	"slices"
)

// A Row locates consecutive places that were written at once. It takes less memory than the places, and one system
// call writes them all.
type Row struct {
	at    int64
	write uint64 // number of the first write; 0: empty
}

// Place returns the place with the given index in the row. before is the number of bytes in all places before it, and
// size its own.
func (r Row) Place(index, before, size int) Place {
	if r.write == 0 {
		return Place{}
	}
	return Place{r.at + int64(before+index*Overhead), size, r.write + uint64(index)}
}

// A RowWriter collects the bytes of a row and writes them, one row after the other.
type RowWriter struct {
	file   *File
	sealed []byte
	first  uint64 // number of the write of the first place
	done   int
	places int
}

// Start starts a row with the given number of places.
func (w *RowWriter) Start(f *File, places int) {
	w.file = f
	w.sealed = w.sealed[:0]
	w.done = 0
	w.places = places
	w.first = f.writes.Add(uint64(places)) - uint64(places) + 1
}

// Buffer returns memory for the bytes of the next place, with arbitrary contents. It is valid until [RowWriter.Seal].
func (w *RowWriter) Buffer(size int) []byte {
	if need := len(w.sealed) + size + Overhead; cap(w.sealed) < need {
		// This is enough for the whole row if its other places are as large as those so far.
		like := len(w.sealed) * w.places / max(w.done, 1)
		w.sealed = slices.Grow(w.sealed, max(need, like+like/16+size)-len(w.sealed))
	}
	return w.sealed[len(w.sealed):][:size]
}

// Seal completes a place with the first size bytes of the memory that [RowWriter.Buffer] returned. It panics if the
// row has no place left, since the next nonce belongs to another write.
func (w *RowWriter) Seal(size int) {
	if w.done == w.places {
		panic("scratch: more places than the row has")
	}
	data := w.sealed[len(w.sealed):][:size]
	w.sealed = w.file.aead.Seal(
		w.sealed,
		w.file.nonce(w.first+uint64(w.done)),
		data,
		nil,
	)
	w.done++
}

// Add adds a place with a copy of data.
func (w *RowWriter) Add(data []byte) {
	copy(w.Buffer(len(data)), data)
	w.Seal(len(data))
}

// Write writes the row and returns its location.
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
