package mechanism

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// A WordEngine is an engine that can count the words of columns with [dataset.Column.Found], and read them
// as what was found out.
type WordEngine interface {
	Engine
	// Lexicon counts the words of columns of a part, which have [dataset.Column.Found].
	Lexicon(ctx context.Context, p Part, columns []int) (Lexicon, error)
	// Resolve returns an engine for the same records with all columns read as the given ones; see
	// [dataset.View.Resolve].
	Resolve(ctx context.Context, all []dataset.Column) (Engine, error)
}

// NewLexicon counts the words of columns; see [Maker.NewLexicon]. It is [ErrGather] for an engine that
// cannot.
func NewLexicon(ctx context.Context, s *Session, r Records, columns []int) (Bounded[Lexicon], error) {
	e, ok := r.engine.(WordEngine)
	if !ok {
		return Bounded[Lexicon]{}, ErrGather
	}
	x, err := e.Lexicon(ctx, r.part, columns)
	return s.Maker.lexicon(x), err
}

// Resolve replaces the columns of parts of one table, all with the same columns, by as; see
// [dataset.View.Resolve]. It is [ErrGather] for an engine that cannot.
func Resolve(ctx context.Context, as []dataset.Column, parts ...*Records) error {
	engines := map[Engine]Engine{}
	for _, r := range parts {
		e, ok := r.engine.(WordEngine)
		if !ok {
			return ErrGather
		}
		if engines[e] == nil {
			all := slices.Clone(e.Schema().Columns)
			for k, j := range r.part.Columns {
				all[j] = as[k]
			}
			var err error
			if engines[e], err = e.Resolve(ctx, all); err != nil {
				return err
			}
		}
		r.engine = engines[e]
	}
	return nil
}

// WordPart is how many bytes the words take that are counted at a time, and WordRoom what one of them takes
// beside its text.
const (
	WordPart = 1 << 27
	WordRoom = 96
)
