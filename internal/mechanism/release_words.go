package mechanism

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/noise"
)

// A Lexicon contains the words that occur in several columns, with the number of records of each word. It may be
// computed in parts; every word is in one part.
type Lexicon struct {
	columns []WordCounts
	parts   int                               // 0 if columns contains all words
	part    func(k int) ([]WordCounts, error) // returns the words of a part
}

// LexiconIn returns a lexicon of the given number of columns whose parts are computed by part. It is for engines.
func LexiconIn(
	columns, parts int,
	part func(k int) ([]WordCounts, error),
) Lexicon {
	return Lexicon{
		columns: make([]WordCounts, columns),
		parts:   parts,
		part:    part,
	}
}

// forEachPart calls do for all parts.
func (x Lexicon) forEachPart(do func([]WordCounts)) error {
	if x.parts == 0 {
		do(x.columns)
	}
	for k := range x.parts {
		columns, err := x.part(k)
		if err != nil {
			return err
		}
		do(columns)
	}
	return nil
}

// WordCounts contains distinct words of one column and the number of records of each.
type WordCounts struct {
	Words  []string
	Counts []int64
}

// NewLexicon counts the words of columns of a view; see [dataset.View.CountWords]. Two views
// that differ in one record differ, in each column, by at most 1 in the count of one word, and
// under substitution by at most 1 in the counts of two.
func (m Maker) NewLexicon(v dataset.View, columns []int) Bounded[Lexicon] {
	return m.boundLexicon(CountWords(v, columns))
}

// CountWords returns the counts of the words of columns of a view, which have [dataset.Column.Found].
func CountWords(v dataset.View, columns []int) Lexicon {
	out := make([]WordCounts, len(columns))
	for i, j := range columns {
		out[i].Words, out[i].Counts = v.CountWords(j)
	}
	return Lexicon{columns: out}
}

// boundLexicon returns counts with their sensitivity.
//
// The counts of d columns are a vector with an entry for every possible text, almost all of them
// 0. The vector changes
//
//   - when a record is added or removed: in each column at most one entry, by 1; at most sqrt(d);
//   - under substitution: in each column at most one entry falls by 1 and one rises by 1; at most
//     sqrt(2d).
//
// Both are attained. The sensitivity does not cover that a word of one record alone appears or
// disappears: the release charges a delta for it.
func (m Maker) boundLexicon(x Lexicon) Bounded[Lexicon] {
	squares := float64(len(x.columns))
	if m.Relation() != budget.AddRemove {
		squares *= 2
	}
	return Bounded[Lexicon]{x, L2, roundUp(math.Sqrt(squares)) / countUnit, countUnit, StatWords}
}

// StatWords is the statistic of the counts of words. StatNewWords is the event that words appear
// which occur in only one of two neighbouring tables.
const (
	StatWords    budget.Statistic = "words"
	StatNewWords budget.Statistic = "new-words"
)

// A Word is a released word with its noisy count.
type Word struct {
	Text  string
	Count float64
}

// Words releases the frequent words of several columns. It adds N(0, sigma²) to the count of every
// word that occurs and publishes the words whose noisy count reaches a threshold, with that count
// (docs/proofs/vocabulary.md, "Theorem"). The words of each column are sorted by decreasing count.
//
// Words spends draw 0 of two leaves. The leaf counts is priced as Gaussian with mu, sigma =
// sensitivity/mu. The leaf words is priced as Approximate with epsilon 0 and a delta q: the
// threshold is so high that a word which occurs in only one of two neighbouring tables appears
// with probability at most q.
//
// Given the earlier releases, the sensitivity and the number of columns are constants, so the two
// leaves have the planned price for any number of columns.
func Words(
	s *Session,
	counts, words string,
	x Bounded[Lexicon],
) (Public[[][]Word], error) {
	var none Public[[][]Word]
	law, ok := s.core.priced.Law(s.childPath(words))
	if !ok {
		return none, fmt.Errorf("%w: %q", ErrUnknownLeaf, s.childPath(words))
	}
	x, err := perUnit(s, counts, x, L2)
	if err != nil {
		return none, err
	}
	t, sigma, err := s.takeGaussian(
		counts,
		0,
		x.statistic,
		x.sens,
		len(x.value.columns),
	)
	if err != nil {
		return none, err
	}
	appear, err := s.takeDraw(words, 0, budget.Approximate, StatNewWords)
	if err != nil {
		return none, err
	}
	least, err := s.leastCount(law.Delta, sigma, len(x.value.columns))
	if err != nil {
		return none, fmt.Errorf("%w: %q", err, appear.path)
	}
	passed, err := x.value.releaseWords(s.core.key, t.path, sigma, least)
	if err != nil {
		return none, err
	}
	out := s.core.tap.watchWords(t, x.value, x.sens, passed)
	s.noteRelease(t, x.Sensitivity(), float64(sigma)*x.unit)
	s.noteRelease(appear, float64(s.unitRecords()), float64(sigma)*x.unit)
	s.noteThreshold(appear, float64(least)*countUnit, len(x.value.columns))
	return Public[[][]Word]{out}, nil
}

// LeastCount returns the noisy count from which [Words] publishes a word of one of d columns, for
// noise of standard deviation sigma. It is a public fact, known before the release.
func LeastCount(s *Session, words string, sigma float64, d int) float64 {
	law, _ := s.core.priced.Law(s.childPath(words))
	least, err := s.leastCount(law.Delta, uint64(math.Ceil(sigma/countUnit)), d)
	if err != nil {
		return math.Inf(1)
	}
	return float64(least) * countUnit
}

// leastCount returns the threshold in grid units for noise of standard deviation sigma, such that
// words that only one of two neighbouring tables has appear with probability at most q.
//
// One record, d columns. Say D has the record and D' does not. At most one word of each column is
// in D only, and its count is 1. Its noise is a rounded normal number, so with T the threshold and
// u grid units in a count it passes with probability
//
//	P(u + round(N) >= T) <= P(N >= T - u - 1/2) = 1 - Phi((T - u - 1/2)/sigma) <= p,
//
// independently of all others. The probability that any word passes is at most 1-(1-p)^d = q, which
// defines p. Under substitution each of the two tables has at most one word per column that the
// other lacks, and the same bound holds for each side; see the theorem.
//
// A unit of m records. In a column the words that only its records have occur c_1, c_2, .. times, with
// sum at most m; each passes with probability at most P(c) = 1 - Phi((T - c u - 1/2)/sigma).
// Then sum P(c_i) = sum c_i (P(c_i)/c_i) <= m max_c P(c)/c, and all d columns have at most d m times
// the largest P(c)/c, which is at most q where P(c) <= q c/(d m) for every c from 1 to m.
func (s *Session) leastCount(q float64, sigma uint64, d int) (int64, error) {
	return leastCount(
		q,
		float64(sigma),
		d,
		s.unitRecords(),
		s.core.tap.thresholdQuantile,
	)
}

// CategoryThreshold returns the noisy count from which [Words] publishes a text category, for the probability q that a
// new category appears, the standard deviation sigma of the noise, the number of columns, and the number of records of
// a unit. Verification of a report recomputes it. The error is [ErrScale] for a threshold that no count reaches.
func CategoryThreshold(
	q, sigma float64,
	columns, records int,
) (float64, error) {
	least, err := leastCount(q, math.Floor(sigma/countUnit*(1+1e-12)), columns, records,
		func(z float64) float64 {
			return z
		})
	return float64(least) * countUnit, err
}

// leastCount is [Session.leastCount] for units of m records. adjust changes a quantile in tests.
func leastCount(
	q, sigma float64,
	d, m int,
	adjust func(float64) float64,
) (int64, error) {
	most := 0.
	for c := 1; c <= m; c++ {
		p := q * float64(c) / (float64(d) * float64(m))
		if m == 1 {
			p = -math.Expm1(math.Log1p(-q) / float64(d))
		}
		most = max(most, float64(c)/countUnit+roundUp(sigma*adjust(upperQuantile(p))))
	}
	least := math.Ceil(most + .5)
	if !(least < noise.MaxScale*16) {
		return 0, ErrScale
	}
	return int64(least) + 1, nil
}

// upperQuantile returns a z with 1-Phi(z) <= p, hardly larger than needed: p is a probability
// above 0, and z at least 0.
func upperQuantile(p float64) float64 {
	if p >= .5 {
		return 0
	}
	z := -mathext.NormalQuantile(p)
	for math.Erfc(z/math.Sqrt2)/2*(1+1e-12) > p {
		z = math.Nextafter(z*(1+1e-13), math.Inf(1))
	}
	return z
}

// releaseWords adds noise to every count and returns the words that reach the threshold. The noise
// of a word comes from a stream keyed by the column and the word, so it does not depend on
// other words.
func (x Lexicon) releaseWords(
	key noise.Key,
	path string,
	sigma uint64,
	least int64,
) ([][]Word, error) {
	out := make([][]Word, len(x.columns))
	err := x.forEachPart(func(columns []WordCounts) {
		for i, c := range columns {
			name := binary.BigEndian.AppendUint32([]byte(path), uint32(i))
			for k, word := range c.Words {
				if c.Counts[k] <= 0 { // it is a word of records of another part
					continue
				}
				random := noise.NewStream(key.Derive("word", string(name)+word, uint64(len(path))))
				if n := addSaturating(c.Counts[k]<<20, random.Normal(sigma)); n >= least {
					out[i] = append(out[i], Word{word, float64(n) * countUnit})
				}
			}
		}
	})
	for _, words := range out {
		slices.SortFunc(words, func(a, b Word) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
		})
	}
	return out, err
}

// NewLexicon counts the words of columns; see [Maker.NewLexicon]. It returns [ErrGather] if the engine cannot
// count words.
func NewLexicon(
	ctx context.Context,
	s *Session,
	r Records,
	columns []int,
) (Bounded[Lexicon], error) {
	count := CapabilitiesOf(r.engine).Lexicon
	if count == nil {
		return Bounded[Lexicon]{}, ErrGather
	}
	x, err := count(ctx, r.part, columns)
	return s.Maker.boundLexicon(x), err
}

// Resolve replaces the columns of parts of one table, which all have the same columns, by as; see
// [dataset.View.Resolve]. It returns [ErrGather] if the engine cannot resolve words.
func Resolve(
	ctx context.Context,
	as []dataset.Column,
	parts ...*Records,
) error {
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
