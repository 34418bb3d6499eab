package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// FuzzFile gives the ledger any file. It reads it or refuses it with one of its
// own errors, never ends the process, and what it reads it can append to.
func FuzzFile(f *testing.F) {
	list, _, _ := chainOf(f, 6)
	l := fileOf(f, list)
	image, err := os.ReadFile(l.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(image)
	f.Add(image[:8192])
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "fuzz.ledger")
	request := request(f, .01)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l := At(path, Options{Wait: -1})
		b, err := l.Read(t.Context())
		if err != nil {
			var named *FileError
			if !errors.As(err, &named) || !knownError(err) {
				t.Fatalf("%v", err)
			}
			if _, err := l.Reserve(t.Context(), request); err == nil {
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
		if err != nil || len(after.hashes) != len(b.hashes)+1 || !slices.Equal(after.hashes[:len(b.hashes)], b.hashes) {
			t.Fatalf("appending lost something: %v", err)
		}
	})
}

func knownError(err error) bool {
	return slices.ContainsFunc([]error{ErrUnreadable, ErrUnwritable, ErrFormat, ErrVersion, ErrDamaged, ErrUnknown, ErrRelation},
		func(target error) bool { return errors.Is(err, target) })
}

// FuzzEntry gives the decoder any entry: what it accepts is in canonical form, and
// adding it to a ledger never ends the process.
func FuzzEntry(f *testing.F) {
	_, raw, _ := chainOf(f, 4)
	for _, data := range raw {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(data)
		if err != nil {
			return
		}
		if again, err := e.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted %q, writes %q (%v)", data, again, err)
		}
		if e.Run != nil {
			for _, c := range []budget.Currency{budget.ZCDP, budget.GDP} {
				if price, err := e.Run.price(c); err == nil && !price.Valid() {
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
		if book.add(e) == nil {
			for _, a := range book.Datasets {
				if !a.Spent().Within(a.Limit) {
					t.Fatalf("past the total: %+v", a)
				}
			}
		}
	})
}
