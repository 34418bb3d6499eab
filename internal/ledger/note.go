package ledger

import (
	"context"
	"fmt"
	"strings"
)

// Note is an entry that costs nothing: something was done with a data set of which
// only its curator is told, so that no guarantee covers it and no budget is spent, but
// whoever asks later what was looked at should know. It is entered before a row is
// read, and so depends on no record.
type Note struct {
	Dataset string `json:"dataset"`
	Table   string `json:"table,omitempty"` // path of the table, for the owner and for bench
	Method  string `json:"method"`          // of the run that was looked at
	What    string `json:"what"`            // NoteAudit or NoteLook
	// File identifies the table on this machine, as in [Run]. Since version 4.
	File string `json:"file,omitempty"`
}

// NoteAudit is the What of an audit of the owner's table, and NoteLook that of a look at it, which has no method.
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

// Note enters a note about a registered data set. The error wraps ErrUnknown if it is
// not registered.
func (l *Ledger) Note(ctx context.Context, n Note) (Head, error) {
	if n.Table != "" && sameFile(n.Table, l.path) {
		return Head{}, l.named(errIsTable)
	}
	n.Table, n.File = strings.ToValidUTF8(n.Table, "\uFFFD"), fileID(n.Table)
	return l.append(ctx, waysFor(0, n.Table, n.File), l.options.Wait, func(b *Book) (*Entry, error) {
		if _, err := b.Account(n.Dataset); err != nil {
			return nil, err
		}
		return &Entry{Kind: KindNote, Date: now(), Note: &n}, nil
	})
}

// note applies the rules of a note: it is about a data set, and nothing else changes.
func (b *Book) note(e *Entry) error {
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
