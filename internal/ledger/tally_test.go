package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// longLedger returns a ledger of n entries with its tally.
func longLedger(t testing.TB, n int) *Ledger {
	t.Helper()
	limit, err := budget.Total{
		Epsilon:  1000,
		Delta:    1e-5,
		BlackBox: 5e-6,
	}.Limit()
	if err != nil {
		t.Fatal(err)
	}
	list, _, _ := chainOf(t, n)
	list[1].Dataset.Epsilon = 1000
	list[1].Dataset.Limit = limit
	previous := ""
	for _, e := range list {
		e.Previous = previous
		data, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		previous = hashOf(data)
	}
	l := fileOf(t, list)
	if _, err := l.Reserve(t.Context(), newRequest(t, .01)); err != nil { // sums up all entries
		t.Fatal(err)
	}
	return l
}

// editStore changes the store without using the ledger.
func editStore(t testing.TB, l *Ledger, change func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(l.path, 0o600, &bolt.Options{PageSize: pageSize})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTallyIsTheChain compares, after every entry of a mixed ledger, the running sums with those of the whole chain.
func TestTallyIsTheChain(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	same := func(after string) {
		t.Helper()
		book := mustRead(t, l) // compares the sums
		for _, want := range book.Datasets {
			got, err := l.Account(t.Context(), want.Name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Spent() != want.Spent() ||
				got.Reserved != want.Reserved ||
				got.Records != want.Records ||
				!cmp.Equal(got.Dataset, want.Dataset) ||
				got.Promise != want.Promise {
				t.Errorf(
					"after %s: %+v, want %+v",
					after, got, want,
				)
			}
		}
		s, err := l.openStore(t.Context(), false, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.db.Close()
		err = s.db.View(func(tx *bolt.Tx) error {
			if storedSums(tx) == nil {
				t.Errorf("after %s there are no running sums", after)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var open []*Reservation
	for k := range 12 {
		r, err := l.Reserve(
			t.Context(),
			newRequest(t, .01*float64(k+1)),
		)
		if err != nil {
			t.Fatal(err)
		}
		same(fmt.Sprint("reservation ", k))
		open = append(open, r)
		switch k % 4 {
		case 1:
			if err := open[k-1].Commit(t.Context(), aRelease); err != nil {
				t.Fatal(err)
			}
			err := l.Commit(t.Context(), open[k-1].Head, aRelease)
			if !errors.Is(err, ErrCommitted) {
				t.Errorf("a second commit: %v", err)
			}
			same("a commit")
		case 2:
			_, err := l.Register(
				t.Context(),
				fmt.Sprint("gardens ", k),
				testTotal(budget.GDP),
			)
			if err != nil {
				t.Fatal(err)
			}
			same("a registration")
		case 3:
			_, _, err := l.Spend(
				t.Context(),
				Spend{
					Dataset: "houses",
					Rho:     .001,
					Note:    "counts",
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			same("a spend")
		}
	}
	_, err := l.Note(
		t.Context(),
		Note{
			Dataset: "houses",
			Table:   "/data/houses.csv",
			Method:  "tukey",
			What:    NoteAudit,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	same("a note")
}

// TestStaleTally checks that entries written by a program without sums, and damaged sums, are detected, and that the
// sums are then recomputed.
func TestStaleTally(t *testing.T) {
	for name, change := range map[string]func(tx *bolt.Tx) error{
		"absent": func(tx *bolt.Tx) error {
			return tx.DeleteBucket(tallyBucket())
		},
		"damaged": func(tx *bolt.Tx) error {
			return tx.Bucket(tallyBucket()).Put(tallyKey(), []byte("x"))
		},
		"of another entry": func(tx *bolt.Tx) error {
			list := tx.Bucket(entriesBucket())
			_, last := list.Cursor().Last()
			e := &Entry{
				Sequence: 4,
				Previous: hashOf(last),
				Kind:     KindCommit,
				Of:       3,
				Release:  aRelease,
			}
			data, err := e.Encode()
			return errors.Join(err, putEntry(tx, 4, data))
		},
	} {
		l := newLedger(t, budget.ZCDP)
		if _, err := l.Reserve(t.Context(), newRequest(t, .1)); err != nil {
			t.Fatal(err)
		}
		editStore(t, l, change)
		if _, err := l.Account(t.Context(), "houses"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		second, err := l.Reserve(t.Context(), newRequest(t, .2))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := second.Charge.Plus(gaussianPlan(t, .1, budget.AddRemove).Charge(budget.ZCDP))
		a := readAccount(t, l, "houses")
		if a.Spent() != want {
			t.Errorf(
				"%s: spent %v, want %v",
				name, a.Spent(), want,
			)
		}
	}
}

// TestTallyEdited checks that a full read finds sums that were reduced and sealed again, and the removal of a
// committed run or of a table.
func TestTallyEdited(t *testing.T) {
	for name, change := range map[string]func(tx *bolt.Tx) error{
		"a smaller sum": func(tx *bolt.Tx) error {
			x := storedTally(tx)
			x.Datasets[0].Reserved.Cost--
			data, err := x.encode()
			return errors.Join(err, tx.Bucket(tallyBucket()).Put(tallyKey(), data))
		},
		"a larger total": func(tx *bolt.Tx) error {
			x := storedTally(tx)
			x.Datasets[0].Dataset.Limit.Cost *= 2
			data, err := x.encode()
			return errors.Join(err, tx.Bucket(tallyBucket()).Put(tallyKey(), data))
		},
		"an ended run": func(tx *bolt.Tx) error {
			return tx.Bucket(doneBucket()).Delete(entryKey(3))
		},
		"a running one": func(tx *bolt.Tx) error {
			return tx.Bucket(doneBucket()).Put(entryKey(5), []byte{1})
		},
		"another release": func(tx *bolt.Tx) error {
			return tx.Bucket(doneBucket()).Put(
				entryKey(3),
				[]byte(strings.Repeat("0", 64)),
			)
		},
		"a table": func(tx *bolt.Tx) error {
			return tx.Bucket(tablesBucket()).Delete(tableKey("/data/houses.csv"))
		},
	} {
		l := newLedger(t, budget.ZCDP)
		r, err := l.Reserve(t.Context(), newRequest(t, .1))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Commit(t.Context(), aRelease); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reserve(t.Context(), newRequest(t, .1)); err != nil {
			t.Fatal(err)
		}
		editStore(t, l, change)
		if _, err := l.Verify(t.Context()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongLedger checks that the amounts that an operation reads and allocates do not grow with the number of
// entries.
func TestLongLedger(t *testing.T) {
	cost := func(n int) (pages, bytes uint64) {
		l := longLedger(t, n)
		f, err := os.Open(l.path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 2*pageSize)
		if _, err := f.ReadAt(head, 0); err != nil {
			t.Fatal(err)
		}
		im := &image{
			head:  head,
			size:  info.Size(),
			order: byteOrder(),
			paths: pathsFor(int64(n/2), "/data/houses.csv", ""),
			load: func(at, n int64) ([]byte, error) {
				pages += uint64(n) / pageSize
				b := make([]byte, n)
				_, err := f.ReadAt(b, at)
				return b, err
			},
		}
		if err := im.checkPages(); err != nil {
			t.Fatal(err)
		}
		r := newRequest(t, .01)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := l.Reserve(t.Context(), r)
		if err == nil {
			err = x.Commit(t.Context(), aRelease)
		}
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return pages, after.TotalAlloc - before.TotalAlloc
	}
	smallPages, small := cost(100)
	largePages, large := cost(20000)
	t.Logf(
		"pages %d and %d, bytes %d and %d",
		smallPages, largePages, small, large,
	)
	if largePages > smallPages+10 || large > 2*small+(1<<20) {
		t.Errorf(
			"an operation on 20,000 entries looks at %d pages and allocates %d bytes, on 100 at %d and %d",
			largePages,
			large,
			smallPages,
			small,
		)
	}
}

func BenchmarkReserve(b *testing.B) {
	for _, n := range []int{100, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := longLedger(b, n)
			r := newRequest(b, .0001)
			b.ReportAllocs()
			for b.Loop() {
				_, err := l.Reserve(b.Context(), r)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestDamagedOldEntryIsFoundByFullRead checks that a damaged byte of an old entry does not stop a run, whose sums are
// intact, and is found by a full read.
func TestDamagedOldEntryIsFoundByFullRead(t *testing.T) {
	l := longLedger(t, 400)
	image, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(image, []byte(`{"sequence":51,`))
	if at < 0 {
		t.Fatal("entry 51 was not found")
	}
	image[at+len(`{"sequence":51,"previous":"`)] ^= 1
	other := New(filepath.Join(t.TempDir(), "my.ledger"), Options{})
	if err := os.WriteFile(other.path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Reserve(t.Context(), newRequest(t, .01)); err != nil {
		t.Error(err)
	}
	if _, err := other.Verify(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("verify: %v", err)
	}
	if _, err := other.Read(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("read: %v", err)
	}
}

// TestOtherNames checks that the use of a table under another name is reported, and that a name that resembles a
// registered one is refused.
func TestOtherNames(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	_, err := l.Register(t.Context(), "gardens", testTotal(budget.ZCDP))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]string{nil, {"houses"}, {"houses"}} {
		r := newRequest(t, .01)
		if k > 0 {
			r.Dataset = "gardens"
		}
		x, err := l.Reserve(t.Context(), r)
		if err != nil || !slices.Equal(x.Others, want) {
			t.Errorf(
				"run %d: others %v, want %v (%v)",
				k, x.Others, want, err,
			)
		}
	}
	for _, name := range []string{
		"Houses", "hous\u0435s", "ｈouses", "houses\u0301"[:6] + "\u200c", "h\u03bfuses",
		"hous\u0117s",
	} {
		_, err := l.Register(t.Context(), name, testTotal(budget.ZCDP))
		refused := errors.Is(err, ErrExists) || errors.Is(err, ErrInvalid)
		want := name != "hous\u0117s"
		if refused != want {
			t.Errorf("%+q: %v", name, err)
		}
	}
	for _, name := range []string{
		"caf\u00e9", "houses-2",
		"horses",
	} {
		_, err := l.Register(t.Context(), name, testTotal(budget.ZCDP))
		if err != nil {
			t.Errorf("%+q: %v", name, err)
		}
	}
	_, err = l.Register(
		t.Context(), "cafe\u0301",
		testTotal(budget.ZCDP),
	)
	if !errors.Is(err, ErrExists) {
		t.Errorf("decomposed: %v", err)
	}
}
