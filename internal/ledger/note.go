package ledger

import (
	"context"
	"fmt"
	"strings"
)

// A Note is an entry without cost. It records an operation on a data set whose result only the data owner sees: no
// guarantee covers it and it spends no budget, but it belongs to the history of the data. It is entered before a row
// is read, and so depends on no record.
type Note struct {
	Dataset string `json:"dataset"`
	Table   string `json:"table,omitempty"` // path of the table, for the owner and for bench
	Method  string `json:"method"`          // method of the audited run
	What    string `json:"what"`            // NoteAudit or NoteLook
	// File identifies the table on this machine, as in [Run]. Since version 4.
	File string `json:"file,omitempty"`
}

// NoteAudit marks an audit of the owner's table, and NoteLook an inspection of the table, which has no method.
const (
	NoteAudit = "audit"
	NoteLook  = "look"
)

// NoteState is one note of an account.
type NoteState struct {
	*Note
	Sequence int64
	Date     string
}

// Note enters a note about a registered data set. The error wraps ErrUnknown if it is not registered.
func (l *Ledger) Note(ctx context.Context, n Note) (Head, error) {
	if n.Table != "" && sameFile(n.Table, l.path) {
		return Head{}, l.inFile(errIsTable)
	}
	n.Table, n.File = strings.ToValidUTF8(n.Table, "\uFFFD"), fileID(n.Table)
	return l.appendNext(ctx, pathsFor(0, n.Table, n.File), l.options.Wait,
		func(b *Book) (*Entry, error) {
			if _, err := b.Account(n.Dataset); err != nil {
				return nil, err
			}
			return &Entry{
				Kind: KindNote,
				Date: timestamp(),
				Note: &n,
			}, nil
		})
}

// applyNote checks that the data set exists and adds the note to it.
func (b *Book) applyNote(e *Entry) error {
	a, err := b.Account(e.Note.Dataset)
	if err != nil {
		return err
	}
	if e.Note.What != NoteAudit && e.Note.What != NoteLook {
		return fmt.Errorf("%w: a note about %.20q", ErrInvalid, e.Note.What)
	}
	a.Notes = append(a.Notes, NoteState{e.Note, e.Sequence, e.Date})
	return nil
}
