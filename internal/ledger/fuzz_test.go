package ledger

import (
	"bytes"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// FuzzFile makes arbitrary edits to the file of a ledger: every four bytes of edits are a position and a value, cut
// is a size, and seal recomputes the checksums of the store's first pages, so that their pointers are followed. The
// ledger must be read, or rejected with one of its own errors; the process must not crash, and a readable ledger must
// accept new entries.
func FuzzFile(f *testing.F) {
	list, _, _ := chainOf(f, 6)
	l := fileOf(f, list)
	image, err := os.ReadFile(l.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, uint32(len(image)), false)
	f.Add([]byte{0, 0, 16, 9}, uint32(8192), false)
	f.Add(
		[]byte{16, 48, 0, 3, 0, 48, 0, 3},
		uint32(len(image)), true,
	)
	path := filepath.Join(f.TempDir(), "fuzz.ledger")
	request := newRequest(f, .01)
	f.Fuzz(func(t *testing.T, edits []byte, cut uint32, seal bool) {
		data := bytes.Clone(image)
		for ; len(edits) >= 4; edits = edits[4:] {
			at := int(edits[0])<<8 | int(edits[1])
			data[at%len(data)] = edits[3]
		}
		if seal {
			sealPages(data)
		}
		data = data[:min(uint32(len(data)), cut)]
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := New(path, Options{Wait: -1})
		b, err := l.Read(t.Context())
		if err != nil {
			var named *FileError
			if !errors.As(err, &named) || !knownError(err) {
				t.Fatalf("%v", err)
			}
			_, err := l.Reserve(t.Context(), request)
			if err == nil {
				t.Fatal("a file that cannot be read was written to")
			}
			return
		}
		if _, err := l.Reserve(t.Context(), request); err != nil {
			if !knownError(err) && !errors.Is(err, ErrSpent) {
				t.Fatalf("%v", err)
			}
			return
		}
		after, err := l.Read(t.Context())
		if err != nil ||
			len(after.hashes) != len(b.hashes)+1 ||
			!slices.Equal(after.hashes[:len(b.hashes)], b.hashes) {
			t.Fatalf("appending lost something: %v", err)
		}
	})
}

// sealPages recomputes the checksums of the first two pages.
func sealPages(data []byte) {
	for i := range 2 {
		b := data[i*pageSize+pageHeaderSize:]
		h := fnv.New64a()
		h.Write(b[:56])
		byteOrder().PutUint64(b[56:], h.Sum64())
	}
}

func knownError(err error) bool {
	return slices.ContainsFunc(
		[]error{ErrUnreadable, ErrUnwritable, ErrFormat, ErrVersion, ErrDamaged, ErrUnknown,
			ErrRelation},
		func(target error) bool {
			return errors.Is(err, target)
		})
}

// FuzzEntry decodes arbitrary entries: accepted ones must be in canonical form, and adding them to a ledger must not
// crash the process.
func FuzzEntry(f *testing.F) {
	_, raw, _ := chainOf(f, 4)
	for _, data := range raw {
		f.Add(data)
	}
	f.Add([]byte(
		`{"sequence":5,"previous":"","kind":"note","date":"2026-01-02T03:04:05Z","note":{"dataset":"houses","method":"joint-gram","what":"audit"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(data)
		if err != nil {
			return
		}
		if again, err := e.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf(
				"accepted %q, writes %q (%v)",
				data, again, err,
			)
		}
		if e.Run != nil {
			for _, c := range []budget.Currency{budget.ZCDP, budget.GDP} {
				price, err := e.Run.recomputePrice(c)
				if err == nil && !price.Valid() {
					t.Fatalf("a price of %+v", price)
				}
			}
		}
		_, b, head := chainOf(t, 4)
		book, err := readBook(b, head)
		if err != nil {
			t.Fatal(err)
		}
		e.Sequence = 5
		if book.applyEntry(e) == nil {
			for _, a := range book.Datasets {
				if !a.Spent().FitsIn(a.Limit) {
					t.Fatalf("past the total: %+v", a)
				}
			}
		}
	})
}
