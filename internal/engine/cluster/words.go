package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// Lexicon implements [mechanism.Capabilities.Lexicon]. The words are divided into shares by a salted hash of their text, and
// the workers count them share by share.
func (e *Engine) Lexicon(
	ctx context.Context,
	p mechanism.Part,
	columns []int,
) (mechanism.Lexicon, error) {
	return e.lexiconIn(ctx, int(e.words/mechanism.WordPart)+1, p, columns)
}

// lexiconIn is Lexicon in a number of shares.
func (e *Engine) lexiconIn(
	ctx context.Context,
	shares int,
	p mechanism.Part,
	columns []int,
) (mechanism.Lexicon, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return mechanism.Lexicon{}, err
	}
	return mechanism.LexiconIn(len(columns), shares, func(k int) ([]mechanism.WordCounts, error) {
		of := hashShare{
			Index: uint64(k),
			Count: uint64(shares),
			Salt:  [16]byte(key[:]),
		}
		return e.countWords(ctx, order{
			Asks:    asksWords,
			Pass:    mechanism.Pass{Part: p},
			Columns: columns,
			Share:   of,
		})
	}), nil
}

// countWords counts the words of a share on the workers.
func (e *Engine) countWords(
	ctx context.Context,
	o order,
) ([]mechanism.WordCounts, error) {
	contents, err := e.askAll(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	counts := emptyCounts(len(o.Columns))
	for _, content := range contents {
		var some []mechanism.WordCounts
		if unpackAnswer(content, &some) != nil || len(some) != len(counts) {
			return nil, passError(errAnswer)
		}
		for c, x := range some {
			if len(x.Words) != len(x.Counts) {
				return nil, passError(errAnswer)
			}
			for i, word := range x.Words {
				counts[c][word] += x.Counts[i]
			}
		}
	}
	return sortCounts(counts), nil
}

// emptyCounts returns empty counts for the words of a number of columns.
func emptyCounts(columns int) []map[string]int64 {
	out := make([]map[string]int64, columns)
	for k := range out {
		out[k] = map[string]int64{}
	}
	return out
}

// sortCounts converts counts to lists that are sorted by word.
func sortCounts(counts []map[string]int64) []mechanism.WordCounts {
	out := make([]mechanism.WordCounts, len(counts))
	for k := range out {
		out[k].Words = slices.Sorted(maps.Keys(counts[k]))
		for _, word := range out[k].Words {
			out[k].Counts = append(out[k].Counts, counts[k][word])
		}
	}
	return out
}

// Resolve implements [mechanism.Capabilities.Resolve]. Workers read the columns as before and then convert them.
func (e *Engine) Resolve(
	_ context.Context,
	all []dataset.Column,
) (mechanism.Engine, error) {
	out := *e
	out.schema = dataset.Schema{
		Columns: all,
		Unit:    e.schema.Unit,
	}
	out.resolved = all
	return &out, nil
}

// wordBytes returns the memory that the distinct words of a batch take while they are counted, in bytes.
func wordBytes(t *dataset.Table) int64 {
	total := 0
	for j, c := range t.Schema().Columns {
		if !c.Found {
			continue
		}
		words, counts := t.View().CountWords(j)
		for k, word := range words {
			if counts[k] > 0 {
				total += len(word) + mechanism.WordRoom
			}
		}
	}
	return int64(total)
}

// contains reports whether a word belongs to the share.
func (s hashShare) contains(word string) bool {
	if s.Count == 1 {
		return true
	}
	sum := sha256.Sum256(append(s.Salt[:], word...))
	return binary.LittleEndian.Uint64(sum[:])%s.Count == s.Index
}

// countWordShare counts the words of a share in columns of a part.
func (s *split) countWordShare(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	counts := emptyCounts(len(o.Columns))
	rows, err = s.forEachView(ctx, o, o.Pass.Part.ReadColumns(),
		func(v dataset.View, words func(j int) []string) error {
			v, err := o.Pass.Part.Select(ctx, v)
			if err != nil {
				return err
			}
			for k, j := range o.Columns {
				list := words(o.Pass.Part.Columns[j])
				for code, n := range codeCounts(v.Block(0, v.Len()), j, len(list)) {
					if n > 0 && o.Share.contains(list[code]) {
						counts[k][list[code]] += n
					}
				}
			}
			return nil
		})
	if err != nil {
		return nil, 0, err
	}
	content, err = packAnswer(sortCounts(counts))
	return content, rows, err
}

// codeCounts counts the codes of the words in a column, from 0 to codes-1. Code 0 is for texts that are not words, and is
// not counted.
func codeCounts(b dataset.Block, j, codes int) []int64 {
	out := make([]int64, codes)
	for _, code := range b.Codes(j, nil) {
		if code > 0 {
			out[code]++
		}
	}
	for _, x := range b.Float(j, nil) {
		if code, ok := colblock.NumberText(x); ok && code > 0 {
			out[code]++
		}
	}
	return out
}
