package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	bolt "go.etcd.io/bbolt"
)

// releaseChecksum returns the checksum of the release with this number.
func releaseChecksum(k int) string {
	return fmt.Sprintf("%064x", k)
}

// runAndClaim reserves and commits a run and returns the claim of its release.
func runAndClaim(t *testing.T, l *Ledger, k int) Claim {
	t.Helper()
	r, err := l.Reserve(t.Context(), newRequest(t, .2))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), releaseChecksum(k)); err != nil {
		t.Fatal(err)
	}
	return Claim{
		r.Head, r.Nonce,
		releaseChecksum(k),
		fmt.Sprint("run ", k),
	}
}

// putBack restores a file to an earlier content. With inPlace, the file keeps its inode.
func putBack(t *testing.T, path string, data []byte, inPlace bool) {
	t.Helper()
	if !inPlace {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRolledBackRuns checks that of three equal runs, between which the file was rolled back, one is in the ledger,
// and that all three together are distinguished from runs that were counted. This does not depend on the clock: the
// nonces distinguish heads within one second too.
func TestRolledBackRuns(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		l := newLedger(t, budget.ZCDP)
		fresh := readFile(t, l.path)
		var claims []Claim
		for k := range 3 {
			putBack(t, l.path, fresh, inPlace)
			claims = append(claims, runAndClaim(t, l, k))
		}
		if claims[0].Head == claims[1].Head ||
			claims[1].Head == claims[2].Head ||
			claims[0].Head == claims[2].Head {
			t.Error("two of the runs have one head")
		}
		passed := 0
		for _, c := range claims {
			_, err := l.VerifyClaims(t.Context(), c)
			if err == nil {
				passed++
			} else if !errors.Is(err, ErrHead) {
				t.Errorf("%v", err)
			}
		}
		if passed != 1 {
			t.Errorf("%d of three releases pass", passed)
		}
		_, err := l.VerifyClaims(t.Context(), claims...)
		if !errors.Is(err, ErrReleases) {
			t.Fatalf("all three: %v", err)
		}
		for _, want := range []string{"entry 3 is claimed by 3 different releases",
			"run 0, run 1, run 2", "in this ledger it is run 2"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
		if _, err := l.VerifyClaims(t.Context(), claims[2], claims[2]); err != nil {
			t.Errorf("one release, given twice: %v", err)
		}
	}
}

// TestOneReservationTwice checks a process that is copied after its reservation (by a snapshot of a virtual machine),
// so that two releases have one nonce. The ledger holds the checksum of the committed one.
func TestOneReservationTwice(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	r, err := l.Reserve(t.Context(), newRequest(t, .2))
	if err != nil {
		t.Fatal(err)
	}
	reserved := readFile(t, l.path)
	first := Claim{r.Head, r.Nonce, releaseChecksum(1), "first"}
	second := Claim{r.Head, r.Nonce, releaseChecksum(2), "second"}
	if err := r.Commit(t.Context(), first.Release); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), second.Release); !errors.Is(err, ErrReleases) {
		t.Errorf("a second release for one run: %v", err)
	}
	if err := r.Commit(t.Context(), first.Release); !errors.Is(err, ErrCommitted) {
		t.Errorf("the same one again: %v", err)
	}
	putBack(t, l.path, reserved, true)
	if err := r.Commit(t.Context(), second.Release); err != nil {
		t.Fatal(err)
	}
	if _, err := l.VerifyClaims(t.Context(), second); err != nil {
		t.Error(err)
	}
	if _, err := l.VerifyClaims(t.Context(), first); !errors.Is(err, ErrReleases) {
		t.Errorf(
			"a release that the ledger did not end: %v",
			err,
		)
	}
	_, err = l.VerifyClaims(t.Context(), first, second)
	if !errors.Is(err, ErrReleases) {
		t.Errorf("both: %v", err)
	}
	forged := second
	forged.Nonce = strings.Repeat("0", 32)
	if _, err := l.VerifyClaims(t.Context(), forged); !errors.Is(err, ErrReleases) {
		t.Errorf("another nonce: %v", err)
	}
}

// TestCopyOnAnotherPath checks that a copy of the file is a separate ledger. This cannot be seen from one of the
// files alone, but the head of a run in the other one reveals it.
func TestCopyOnAnotherPath(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	copied := filepath.Join(t.TempDir(), "copy.ledger")
	err := os.WriteFile(copied, readFile(t, l.path), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	other := New(copied, Options{})
	here := runAndClaim(t, l, 1)
	there := runAndClaim(t, other, 2)
	for _, l := range []*Ledger{l, other} {
		_, err := l.VerifyClaims(t.Context(), here, there)
		if !errors.Is(err, ErrReleases) {
			t.Errorf("both in one: %v", err)
		}
	}
	later := runAndClaim(t, other, 3)
	_, err = l.VerifyClaims(t.Context(), here, later)
	if !errors.Is(err, ErrHead) {
		t.Errorf("a run of the copy only: %v", err)
	}
}

// TestPutBackBeforeCommit checks that a run whose reservation has disappeared cannot be committed, even if another
// run has its number by then.
func TestPutBackBeforeCommit(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	fresh := readFile(t, l.path)
	r, err := l.Reserve(t.Context(), newRequest(t, .2))
	if err != nil {
		t.Fatal(err)
	}
	putBack(t, l.path, fresh, true)
	if err := r.Commit(t.Context(), releaseChecksum(1)); !errors.Is(err, ErrHead) {
		t.Errorf("the reservation is gone: %v", err)
	}
	if _, err := l.Reserve(t.Context(), newRequest(t, .2)); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), releaseChecksum(1)); !errors.Is(err, ErrHead) {
		t.Errorf("another run has the number: %v", err)
	}
	if held, err := l.Holds(t.Context(), r.Head); held || err != nil {
		t.Errorf(
			"holds the head: %v, %v",
			held, err,
		)
	}
}

// TestTruncatedFileIsRejected checks that a file truncated at any page is rejected, unless only free pages were removed
// and every entry is present.
func TestTruncatedFileIsRejected(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	var claims []Claim
	for k := range 3 {
		claims = append(claims, runAndClaim(t, l, k))
	}
	whole := readFile(t, l.path)
	refused := 0
	for size := 0; size < len(whole); size += pageSize {
		putBack(t, l.path, whole[:size], true)
		b, err := l.VerifyClaims(t.Context(), claims...)
		switch {
		case err != nil:
			refused++
		case len(b.Entries) != 8:
			t.Errorf(
				"cut to %d of %d bytes: %d entries",
				size, len(whole), len(b.Entries),
			)
		}
	}
	if refused < 3 {
		t.Errorf("%d of the cut files were refused", refused)
	}
}

// TestEntriesOfEarlierVersions checks runs without a nonce, from ledgers of versions 1 to 3. Two releases for one of
// their entries are still distinguished, and a release of version 4 that names such an entry is rejected.
func TestEntriesOfEarlierVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden.ledger")
	err := os.WriteFile(path, readFile(t, "testdata/golden.ledger"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	run := readAccount(t, l, "houses").Runs[0]
	book := mustRead(t, l)
	head := Head{run.Sequence, book.hashes[run.Sequence-1]}
	one := Claim{head, "", releaseChecksum(1), "one"}
	two := Claim{head, "", releaseChecksum(2), "two"}
	for _, c := range []Claim{one, two} {
		_, err := l.VerifyClaims(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	_, err = l.VerifyClaims(t.Context(), one, two)
	if !errors.Is(err, ErrReleases) ||
		!strings.Contains(err.Error(), "does not record which") {
		t.Errorf("two releases: %v", err)
	}
	one.Nonce = strings.Repeat("1", 32)
	if _, err := l.VerifyClaims(t.Context(), one); !errors.Is(err, ErrReleases) {
		t.Errorf(
			"a nonce that the entry does not have: %v",
			err,
		)
	}
}

// TestReservationsHaveOwnNonce checks that every reservation has a nonce of its own, and that entries without a nonce,
// with the nonce of another run or with a malformed nonce are rejected.
func TestReservationsHaveOwnNonce(t *testing.T) {
	list, _, _ := chainOf(t, 6)
	for name, edit := range map[string]func(){
		"none": func() {
			list[4].Run.Nonce = ""
		},
		"the same": func() {
			list[4].Run.Nonce = list[2].Run.Nonce
		},
		"short": func() {
			list[4].Run.Nonce = "00ff"
		},
		"capital": func() {
			list[4].Run.Nonce = strings.Repeat("AB", 16)
		},
		"earlier": func() {
			list[0].Format = formatThree
		},
		"no release": func() {
			list[3].Release = ""
		},
		"no checksum": func() {
			list[3].Release = "ff"
		},
	} {
		list, _, _ = chainOf(t, 6)
		edit()
		var raw [][]byte
		head := ""
		for _, e := range list {
			e.Previous = head
			data, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			raw = append(raw, data)
			head = hashOf(data)
		}
		_, err := readBook(raw, head)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTableUnderAnotherName checks that a hard link to a table is recognised as that table, and that a file that
// reuses the inode of a deleted table is not.
func TestTableUnderAnotherName(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "a.csv")
	link := filepath.Join(dir, "b.csv")
	copied := filepath.Join(dir, "c.csv")
	for _, path := range []string{table, copied} {
		err := os.WriteFile(path, []byte("x\n1\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(table, link); err != nil {
		t.Skip(err)
	}
	l := newLedger(t, budget.ZCDP)
	_, err := l.Register(t.Context(), "gardens", testTotal(budget.ZCDP))
	if err != nil {
		t.Fatal(err)
	}
	reserve := func(dataset, path string) []string {
		t.Helper()
		r := newRequest(t, .01)
		r.Dataset = dataset
		r.Table = path
		out, err := l.Reserve(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return out.Others
	}
	others := reserve("houses", table)
	if len(others) != 0 {
		t.Errorf("the first run: %v", others)
	}
	others = reserve("gardens", copied)
	if len(others) != 0 {
		t.Errorf("a copy: %v", others)
	}
	for range 2 { // once by the sums, once after they were lost
		others := reserve("gardens", link)
		if len(others) != 1 || others[0] != "houses" {
			t.Errorf("a hard link: %v", others)
		}
		editStore(t, l, func(tx *bolt.Tx) error {
			return tx.DeleteBucket(tallyBucket())
		})
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	others = reserve("houses", link)
	if len(others) != 1 || others[0] != "gardens" {
		t.Errorf("the link after the name is gone: %v", others)
	}
	mustRead(t, l)
}
