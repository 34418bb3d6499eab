package ledger

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

var audited = Note{
	Dataset: "houses",
	Table:   "/data/houses.csv",
	Method:  "joint-gram",
	What:    NoteAudit,
}

// TestNote checks that a note is in the chain and in the account, has no cost, and does not change the runs before
// and after it.
func TestNote(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	first, err := l.Reserve(t.Context(), newRequest(t, .1))
	if err != nil {
		t.Fatal(err)
	}
	before := readAccount(t, l, "houses")
	head, err := l.Note(t.Context(), audited)
	if err != nil || head.Sequence != 4 {
		t.Fatalf("%v, %v", head, err)
	}
	after := readAccount(t, l, "houses")
	if after.Spent() != before.Spent() ||
		len(after.Runs) != 1 ||
		len(after.Notes) != 1 ||
		*after.Notes[0].Note != audited ||
		after.Notes[0].Sequence != 4 ||
		after.Notes[0].Date == "" {
		t.Errorf("%+v", after)
	}
	if err := first.Commit(t.Context(), aRelease); err != nil {
		t.Error(err)
	}
	if _, err := l.Reserve(t.Context(), newRequest(t, .1)); err != nil {
		t.Error(err)
	}
	b, err := l.Verify(t.Context(), head, first.Head)
	if err != nil || len(b.Entries) != 6 {
		t.Errorf("%v", err)
	}
	other := audited
	other.Dataset = "gardens"
	if _, err := l.Note(t.Context(), other); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	other = audited
	other.What = "refund"
	if _, err := l.Note(t.Context(), other); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
	if b := mustRead(t, l); len(b.Entries) != 6 {
		t.Errorf("%d entries", len(b.Entries))
	}
}

// TestNoteEdited checks that verify finds every edit of a note, and notes that no program writes even if all hashes
// were recomputed.
func TestNoteEdited(t *testing.T) {
	list, _, _ := chainOf(t, 6)
	list = append(list, &Entry{
		Kind: KindNote,
		Date: list[0].Date,
		Note: &audited,
	})
	seal := func(list []*Entry) []string {
		previous := ""
		hashes := []string{}
		for i, e := range list {
			e.Sequence = int64(i + 1)
			e.Previous = previous
			data, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			previous = hashOf(data)
			hashes = append(hashes, previous)
		}
		return hashes
	}
	old := seal(list)
	l := fileOf(t, list)
	if _, err := l.Verify(t.Context(), Head{7, old[6]}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(
		string(data),
		`"what":"audit"`,
		`"what":"audiT"`, 1,
	)
	if edited == string(data) {
		t.Fatal("the note is not in the file")
	}
	if err := os.WriteFile(l.path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Verify(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	for name, edit := range map[string]func(e *Entry){
		"of another kind": func(e *Entry) {
			n := audited
			n.What = "refund"
			e.Note = &n
		},
		"of an unknown data set": func(e *Entry) {
			n := audited
			n.Dataset = "gardens"
			e.Note = &n
		},
		"with a run": func(e *Entry) {
			e.Run = list[2].Run
		},
		"of a reservation": func(e *Entry) {
			e.Of = 3
		},
		"without a date": func(e *Entry) {
			e.Date = ""
		},
		"without what": func(e *Entry) {
			e.Note = nil
		},
	} {
		e := *list[6]
		edit(&e)
		made := append(
			append([]*Entry{}, list[:6]...),
			&e,
		)
		seal(made)
		_, err := fileOf(t, made).Read(t.Context())
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("a note %s: %v", name, err)
		}
	}
	other := *list[6]
	n := audited
	n.Table = "/data/other.csv"
	other.Note = &n
	made := append(
		append([]*Entry{}, list[:6]...),
		&other,
	)
	seal(made)
	_, err = fileOf(t, made).Verify(
		t.Context(),
		Head{7, old[6]},
	)
	if !errors.Is(err, ErrHead) {
		t.Errorf("%v", err)
	}
}
