package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// chainOf returns the entries of a ledger whose runs are alternately reserved and committed, n entries in all, and
// the head.
func chainOf(t testing.TB, n int) (list []*Entry, raw [][]byte, head string) {
	t.Helper()
	limit, err := testTotal(budget.ZCDP).Limit()
	if err != nil {
		t.Fatal(err)
	}
	d := &Dataset{
		Name:     "houses",
		Relation: "add-remove",
		Epsilon:  3,
		Delta:    1e-5,
		BlackBox: 5e-6,
		Currency: "zcdp",
		Limit:    limit,
	}
	plan := gaussianPlan(t, .01, budget.AddRemove)
	for i := 1; i <= n; i++ {
		e := &Entry{
			Sequence: int64(i),
			Previous: head,
			Date:     "2026-01-02T03:04:05Z",
		}
		switch {
		case i == 1:
			e.Kind = KindOpen
			e.Format = Format
		case i == 2:
			e.Kind = KindRegister
			e.Dataset = d
		case i%2 == 1:
			e.Kind = KindReserve
			e.Run = &Run{
				Dataset:  "houses",
				Method:   "joint-gram",
				Target:   "price",
				Epsilon:  20,
				Delta:    1e-6,
				Relation: "add-remove",
				Charge:   plan.Charge(budget.ZCDP),
				Plan:     stepOf(plan.Tree()),
				Nonce:    fmt.Sprintf("%032x", i),
			}
		default:
			e.Kind = KindCommit
			e.Of = int64(i - 1)
			e.Date = ""
			e.Release = aRelease
		}
		data, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
		raw = append(raw, data)
		head = hashOf(data)
	}
	return list, raw, head
}

// fileOf creates a ledger file of entries.
func fileOf(t testing.TB, list []*Entry) *Ledger {
	t.Helper()
	l := New(filepath.Join(t.TempDir(), "my.ledger"), Options{})
	if _, err := l.createFile(list); err != nil {
		t.Fatal(err)
	}
	return l
}

const thousand = 1000

// TestEveryEditedEntryIsDetected edits each entry of a ledger of 1,000 in turn: one of its bytes, its charge, its whole
// content, and its position.
func TestEveryEditedEntryIsDetected(t *testing.T) {
	_, raw, head := chainOf(t, thousand)
	if _, err := readBook(raw, head); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	found := func(what string, i int, edited [][]byte) {
		t.Helper()
		_, err := readBook(edited, head)
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
			t.Fatalf(
				"entry %d, %s: %v",
				i+1, what, err,
			)
		}
	}
	for i := range raw {
		edited := slices.Clone(raw)
		b := bytes.Clone(raw[i])
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		edited[i] = b
		found("a byte", i, edited)
		e, err := decodeEntry(raw[i])
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case KindReserve:
			e.Run.Charge.Cost--
		case KindCommit:
			e.Of -= 2
		case KindRegister:
			e.Dataset.Epsilon++
		default:
			e.Date = "2027-01-02T03:04:05Z"
		}
		if edited[i], err = e.Encode(); err != nil {
			t.Fatal(err)
		}
		found("its content", i, edited)
		if i%8 > 1 {
			continue // the other edits do not change content, and are slow
		}
		found("removed", i, slices.Delete(slices.Clone(raw), i, i+1))
		found(
			"twice", i,
			slices.Insert(slices.Clone(raw), i, raw[i]),
		)
		if i > 0 {
			edited = slices.Clone(raw)
			edited[i] = raw[i-1]
			edited[i-1] = raw[i]
			found("exchanged", i, edited)
		}
	}
}

// TestEveryTruncation truncates a ledger of 1,000 entries after each entry. If the store's own head is unchanged, it
// reveals the truncation; if the store was rolled back as a whole, every later head from outside does.
func TestEveryTruncation(t *testing.T) {
	_, raw, head := chainOf(t, thousand)
	all, err := checkChain(raw, head)
	if err != nil {
		t.Fatal(err)
	}
	for n := range thousand {
		if n%10 == 0 {
			_, err := checkChain(raw[:n], head)
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut after %d: %v", n, err)
			}
		}
		if n == 0 {
			continue
		}
		hashes, err := checkChain(raw[:n], all[n-1])
		if err != nil {
			t.Fatal(err)
		}
		b := &Book{hashes: hashes}
		for k := n + 1; k <= thousand; k++ {
			if b.Contains(Head{int64(k), all[k-1]}) {
				t.Fatalf(
					"put back to entry %d, head %d was found",
					n, k,
				)
			}
		}
		if !b.Contains(Head{int64(n), all[n-1]}) {
			t.Fatalf("entry %d lacks its own head", n)
		}
	}
}

// TestRewrittenChainMissesKnownHead recomputes every hash after an edit. If the plan was edited too, the file alone
// cannot reveal this, but every head from outside at or after the edit does.
func TestRewrittenChainMissesKnownHead(t *testing.T) {
	list, raw, head := chainOf(t, 12)
	old, err := checkChain(raw, head)
	if err != nil {
		t.Fatal(err)
	}
	for edit := 2; edit < len(list); edit += 2 { // the reservations
		var fresh []*Entry
		previous := ""
		for i, e := range list {
			c := *e
			if c.Previous = previous; i == edit {
				run := *e.Run
				run.Plan.Mu /= 2
				if run.Charge, err = run.recomputePrice(budget.ZCDP); err != nil {
					t.Fatal(err)
				}
				c.Run = &run
			}
			data, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			fresh = append(fresh, &c)
			previous = hashOf(data)
		}
		l := fileOf(t, fresh)
		if _, err := l.Verify(t.Context()); err != nil {
			t.Fatalf(
				"edited at %d: the test wants a consistent ledger: %v",
				edit+1, err,
			)
		}
		for k := range list {
			_, err := l.Verify(
				t.Context(),
				Head{int64(k + 1), old[k]},
			)
			if k < edit && err != nil ||
				k >= edit && !errors.Is(err, ErrHead) {
				t.Fatalf(
					"edited at %d, head %d: %v",
					edit+1, k+1, err,
				)
			}
		}
	}
}

// TestChargeBelowPlan checks that a charge other than the price of its plan is found even if all hashes were
// recomputed.
func TestChargeBelowPlan(t *testing.T) {
	list, _, _ := chainOf(t, 3)
	run := *list[2].Run
	run.Charge.Cost /= 2
	list[2].Run = &run
	l := fileOf(t, list)
	if _, err := l.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := l.Verify(t.Context())
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// TestImpossibleEntriesAreRejected checks chains that are intact but have entries that no run writes.
func TestImpossibleEntriesAreRejected(t *testing.T) {
	edits := map[string]func(list []*Entry){
		"a limit above the total": func(l []*Entry) {
			d := *l[1].Dataset
			d.Limit.Cost *= 2
			l[1].Dataset = &d
		},
		"an unknown data set": func(l []*Entry) {
			r := *l[2].Run
			r.Dataset = "x"
			l[2].Run = &r
		},
		"another relation": func(l []*Entry) {
			r := *l[2].Run
			r.Relation = "substitute"
			l[2].Run = &r
		},
		"a run past the total": func(l []*Entry) {
			r := *l[2].Run
			r.Charge.Cost = 1 << 50
			l[2].Run = &r
		},
		"a refund": func(l []*Entry) {
			r := *l[2].Run
			r.Charge.Cost = -5
			l[2].Run = &r
		},
		"a free run": func(l []*Entry) {
			r := *l[2].Run
			r.Charge.Cost = 0
			l[2].Run = &r
		},
		"a commit of nothing": func(l []*Entry) {
			l[3].Of = 2
		},
		"a commit of the future": func(l []*Entry) {
			l[3].Of = 5
		},
		"a second commit": func(l []*Entry) {
			l[5].Of = 3
		},
		"an unknown kind": func(l []*Entry) {
			l[3].Kind = "refund"
		},
		"keys of two kinds": func(l []*Entry) {
			l[3].Run = l[2].Run
		},
		"a second beginning": func(l []*Entry) {
			l[3].Kind = KindOpen
			l[3].Format = Format
		},
		"a data set twice": func(l []*Entry) {
			l[3] = &Entry{
				Kind:    KindRegister,
				Dataset: l[1].Dataset,
				Date:    l[0].Date,
			}
		},
		"records of no kind": func(l []*Entry) {
			r := *l[2].Run
			r.Records = "words"
			l[2].Run = &r
		},
		"records of two kinds": func(l []*Entry) {
			r := *l[2].Run
			q := *l[4].Run
			r.Records = RecordsLines
			q.Records = RecordsQuoted
			l[2].Run = &r
			l[4].Run = &q
		},
		"no date": func(l []*Entry) {
			l[2].Date = "yesterday"
		},
	}
	for name, edit := range edits {
		list, _, _ := chainOf(t, 8)
		edit(list)
		previous := ""
		for i, e := range list {
			e.Sequence = int64(i + 1)
			e.Previous = previous
			data, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			previous = hashOf(data)
		}
		l := fileOf(t, list)
		_, err := l.Read(t.Context())
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryByteOfTheFile flips bytes all over the file. The result must be the same entries or an error, and the
// process must not crash.
func TestEveryByteOfTheFile(t *testing.T) {
	list, _, _ := chainOf(t, 14)
	l := fileOf(t, list)
	want := mustRead(t, l).hashes
	image, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	refused := 0
	for at := 0; at < len(image); at += 1 + at%149 {
		edited := bytes.Clone(image)
		edited[at] ^= 1 << (at % 8)
		if err := os.WriteFile(l.path, edited, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := l.Read(t.Context())
		switch {
		case err != nil:
			refused++
		case !slices.Equal(b.hashes, want):
			t.Fatalf("byte %d: other entries, and no error", at)
		default:
			same++
		}
	}
	if same == 0 || refused == 0 {
		t.Errorf(
			"%d flips changed nothing, %d were refused",
			same, refused,
		)
	}
	for size := 0; size < len(image); size += 1021 {
		err := os.WriteFile(l.path, image[:size], 0o600)
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Read(t.Context())
		if err == nil && !slices.Equal(b.hashes, want) {
			t.Fatalf(
				"cut at %d: other entries, and no error",
				size,
			)
		}
	}
	t.Logf(
		"%d flips changed nothing, %d were refused",
		same, refused,
	)
}
