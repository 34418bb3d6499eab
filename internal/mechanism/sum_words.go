package mechanism

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// NewLexicon counts the words of columns; see [Maker.NewLexicon]. It is [ErrGather] for an engine that
// cannot.
func NewLexicon(ctx context.Context, s *Session, r Records, columns []int) (Bounded[Lexicon], error) {
	count := CapabilitiesOf(r.engine).Lexicon
	if count == nil {
		return Bounded[Lexicon]{}, ErrGather
	}
	x, err := count(ctx, r.part, columns)
	return s.Maker.lexicon(x), err
}

// Resolve replaces the columns of parts of one table, all with the same columns, by as; see
// [dataset.View.Resolve]. It is [ErrGather] for an engine that cannot.
func Resolve(ctx context.Context, as []dataset.Column, parts ...*Records) error {
	engines := map[Engine]Engine{}
	for _, r := range parts {
		e := r.engine
		resolve := CapabilitiesOf(e).Resolve
		if resolve == nil {
			return ErrGather
		}
		if engines[e] == nil {
			all := slices.Clone(e.Schema().Columns)
			for k, j := range r.part.Columns {
				all[j] = as[k]
			}
			var err error
			if engines[e], err = resolve(ctx, all); err != nil {
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
