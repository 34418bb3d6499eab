package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// Lexicon implements [mechanism.Capabilities.Lexicon]. The words are dealt to shares by a salted hash of their text, and the
// workers count those of one share after the other.
func (e *Engine) Lexicon(ctx context.Context, p mechanism.Part, columns []int) (mechanism.Lexicon, error) {
	return e.lexiconIn(ctx, int(e.words/mechanism.WordPart)+1, p, columns)
}

// lexiconIn is Lexicon in a number of shares.
func (e *Engine) lexiconIn(ctx context.Context, shares int, p mechanism.Part, columns []int) (mechanism.Lexicon, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return mechanism.Lexicon{}, err
	}
	return mechanism.LexiconIn(len(columns), shares, func(k int) ([]mechanism.WordCounts, error) {
		of := share{Index: uint64(k), Count: uint64(shares), Salt: [16]byte(key[:])}
		return e.countWords(ctx, order{Asks: asksWords, Pass: mechanism.Pass{Part: p}, Columns: columns, Share: of})
	}), nil
}

// countWords has the words of a share counted.
func (e *Engine) countWords(ctx context.Context, o order) ([]mechanism.WordCounts, error) {
	contents, err := e.ask(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	counts := emptyCounts(len(o.Columns))
	for _, content := range contents {
		var some []mechanism.WordCounts
		if unpackAnswer(content, &some) != nil || len(some) != len(counts) {
			return nil, failed(errAnswer)
		}
		for c, x := range some {
			if len(x.Words) != len(x.Counts) {
				return nil, failed(errAnswer)
			}
			for i, word := range x.Words {
				counts[c][word] += x.Counts[i]
			}
		}
	}
	return listed(counts), nil
}

// emptyCounts returns counts of the words of so many columns.
func emptyCounts(columns int) []map[string]int64 {
	out := make([]map[string]int64, columns)
	for k := range out {
		out[k] = map[string]int64{}
	}
	return out
}

// listed returns counts as lists, sorted by the words.
func listed(counts []map[string]int64) []mechanism.WordCounts {
	out := make([]mechanism.WordCounts, len(counts))
	for k := range out {
		out[k].Words = slices.Sorted(maps.Keys(counts[k]))
		for _, word := range out[k].Words {
			out[k].Counts = append(out[k].Counts, counts[k][word])
		}
	}
	return out
}

// Resolve implements [mechanism.Capabilities.Resolve]: workers read columns as before, and then as what was found out.
func (e *Engine) Resolve(_ context.Context, all []dataset.Column) (mechanism.Engine, error) {
	out := *e
	out.schema, out.resolved = dataset.Schema{Columns: all, Unit: e.schema.Unit}, all
	return &out, nil
}

// wordBytes returns the bytes that the different words of a batch take where they are counted.
func wordBytes(t *dataset.Table) int64 {
	total := 0
	for j, c := range t.Schema().Columns {
		if !c.Found {
			continue
		}
		words, counts := t.All().CountWords(j)
		for k, word := range words {
			if counts[k] > 0 {
				total += len(word) + mechanism.WordRoom
			}
		}
	}
	return int64(total)
}

// among reports whether a word is of the share.
func (s share) among(word string) bool {
	if s.Count == 1 {
		return true
	}
	sum := sha256.Sum256(append(s.Salt[:], word...))
	return binary.LittleEndian.Uint64(sum[:])%s.Count == s.Index
}

// words counts the words of a share in columns of a part.
func (s *split) words(ctx context.Context, o *order) (content []byte, rows int, err error) {
	counts := emptyCounts(len(o.Columns))
	rows, err = s.views(ctx, o, o.Pass.Part.ReadColumns(), func(v dataset.View, words func(j int) []string) error {
		v, err := o.Pass.Part.Select(ctx, v)
		if err != nil {
			return err
		}
		for k, j := range o.Columns {
			list := words(o.Pass.Part.Columns[j])
			for code, n := range codeCounts(v.Block(0, v.Len()), j, len(list)) {
				if n > 0 && o.Share.among(list[code]) {
					counts[k][list[code]] += n
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	content, err = packAnswer(listed(counts))
	return content, rows, err
}

// codeCounts counts the codes of the words in a column, of which there are so many. Place 0 is that of texts that are no
// words, and has no count.
func codeCounts(b dataset.Block, j, codes int) []int64 {
	out := make([]int64, codes)
	for _, code := range b.Codes(j, nil) {
		if code > 0 {
			out[code]++
		}
	}
	for _, x := range b.Float(j, nil) {
		if code, ok := dataset.WordCode(x); ok && code > 0 {
			out[code]++
		}
	}
	return out
}
