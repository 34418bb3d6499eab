package mechanism

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// NewLexicon counts the words of columns; see [Maker.NewLexicon]. It returns [ErrGather] if the engine cannot
// count words.
func NewLexicon(ctx context.Context, s *Session, r Records, columns []int) (Bounded[Lexicon], error) {
	count := CapabilitiesOf(r.engine).Lexicon
	if count == nil {
		return Bounded[Lexicon]{}, ErrGather
	}
	x, err := count(ctx, r.part, columns)
	return s.Maker.boundLexicon(x), err
}

// Resolve replaces the columns of parts of one table, which all have the same columns, by as; see
// [dataset.View.Resolve]. It returns [ErrGather] if the engine cannot resolve words.
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

// WordPart is the number of bytes of the words that are counted at a time. WordRoom is the number of bytes that a
// word takes in addition to its text.
const (
	WordPart = 1 << 27
	WordRoom = 96
)
