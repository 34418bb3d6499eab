package audit

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// doubleWidth returns the width of the change of scores under the relation of a session: width under add-remove, and
// twice that under substitution.
func doubleWidth(s *mechanism.Session, width float64) float64 {
	if s.Relation() == budget.AddRemove {
		return width
	}
	return 2 * width
}

// interceptsPair has two candidates with sums above 0, and a record that agrees with the second one and disagrees with
// the first. The candidate that it agrees with is so far behind that it is rarely chosen.
func interceptsPair() WorstPair {
	return choicePair(mechanism.StatIntercepts,
		func(
			_ context.Context, s *mechanism.Session, law budget.Law, record int,
		) (boundedVector, error) {
			a := s.NewIntercepts(1, 1, 2)
			// The records with label -1 that vote -1 with both candidates add 2 ahead to both sums. The others vote +1
			// with candidate 1, so the sums are 3 ahead and ahead.
			ahead := max(1, lead(law, doubleWidth(s, 2))/2)
			for range ahead {
				a.Add([]float64{1, 1, 1}, []int8{-1, -1, -1}, []int{1, 2, 2})
			}
			// With label +1 the record disagrees with candidate 0 and agrees with candidate 1.
			a.Add([]float64{1}, []int8{int8(record)}, []int{1})
			return a.Scores(), nil
		})
}

// productsPair has a record that raises the score of the column that is behind and lowers the other one.
func productsPair() WorstPair {
	const one = mechanism.FixedOne
	return choicePair(mechanism.StatProducts,
		func(
			_ context.Context, s *mechanism.Session, law budget.Law, record int,
		) (boundedVector, error) {
			p := s.NewProducts([]int{0, 0})
			for i := range lead(law, doubleWidth(s, 2)) + 4 {
				first := int16(0)
				if i < 4 { // both sums stay above 0 with any record
					first = one
				}
				p.Add([][]int16{{first}, {one}}, nil, []int16{one})
			}
			if v := int16(record); v != 0 {
				p.Add([][]int16{{v * one}, {-v * one}}, nil, []int16{one})
			}
			return p.Scores([]int{0, 1}), nil
		})
}

// kendallPair has two columns. One agrees with the target everywhere except at the record, which costs it 3/2 (2 under
// substitution). The other is nearly constant apart from the record, from which it gains 1 (2).
func kendallPair() WorstPair {
	return choicePair(mechanism.StatKendall,
		func(
			ctx context.Context, s *mechanism.Session, law budget.Law, record int,
		) (boundedVector, error) {
			width := 2.5
			if s.Relation() != budget.AddRemove {
				width = 4
			}
			n := 2 * lead(law, width)
			target := make([]float64, n)
			for i := range target {
				target[i] = float64(i)
			}
			agrees := slices.Clone(target)
			constant := make([]float64, n)
			if s.Relation() != budget.AddRemove {
				constant[0] = -1 // |S| is n-1 without the record, so that it can fall to 0
			}
			if record != 0 { // the record is above all targets
				target = append(target, float64(n))
				agrees = append(agrees, byRecord(record, float64(n), 0, -1))
				constant = append(constant, byRecord[float64](record, -2, 0, 1))
			}
			columns := [][]float64{constant, agrees}
			k, err := s.NewKendallOnce(ctx, len(columns),
				func(j int, scratch *kendall.Scratch) *kendall.Ranks {
					return kendall.Rank(columns[j], scratch)
				}, kendall.Rank(target, nil).Kept)
			if err != nil {
				return boundedVector{}, err
			}
			return k.Scores([]int{0, 1}), nil
		})
}

// mediansPair has two points, the lower one nearer to the median, and a record above both. The record moves the median
// from the lower point to the upper one.
func mediansPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatMedians,
		Kind:      budget.Exponential,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			ahead := lead(law, doubleWidth(s, 1))
			values := slices.Repeat([]float64{0}, ahead)
			values = append(values, slices.Repeat([]float64{1}, 2*ahead)...)
			values = append(values,
				byRecord(RecordOn(s.Relation(), side), []float64{0}, nil, []float64{2})...)
			m := s.NewMedians(1, []float64{0, 1})
			m.Add([][]float64{values}, [][]float64{slices.Repeat([]float64{1}, len(values))})
			x := m.Bound()
			return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
				out := make([]float64, 2)
				chosen, err := mechanism.ChooseEach(s, name, draw, x)
				if err == nil {
					out[chosen.Value()[0]] = 1
				}
				return out, err
			}, nil
		},
	}
}

// quartilePair replaces a value, which takes a count away from one side of the quartile.
func quartilePair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatQuartile,
		Kind:      budget.Exponential,
		Relations: []budget.Relation{budget.Substitute},
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			values := make([]float64, 4*lead(law, 2))
			for i := range values {
				values[i] = -.5 + float64(i)/float64(len(values))
			}
			if side == 1 {
				values[0] = 1
			}
			x, err := s.Quartile(values, 1, .25)
			return releaseChoice(x, mechanism.QuartilePoints), err
		},
	}
}

// scoreDifferencePair has a test record that agrees with the order of the others, or has the largest x and the smallest
// y. All training records are equal, with y = 0, so y is predicted as 0 from any x, and x from y by a function that
// grows from a negative number. Residuals of x therefore fall as y grows, and the replaced record moves the score of
// the direction from x to y only.
func scoreDifferencePair() WorstPair {
	relations := []budget.Relation{budget.Substitute}
	return numberPair(mechanism.StatScoreDifference, relations,
		func(s *mechanism.Session, side int) (boundedNumber, error) {
			const m = 12
			x := slices.Repeat([]float64{-1}, m)
			y := make([]float64, m)
			train := slices.Repeat([]bool{true}, m)
			for i := range m {
				x = append(x, 1e-4*float64(i))
				y = append(y, float64(i)/m)
				train = append(train, false)
			}
			if side == 1 {
				x[m] = 1
			}
			return s.ScoreDifference(x, y, train, direction.Kendall, direction.Ridge{
				Penalty: 1,
				Width:   1,
			}, false)
		})
}

func countedVotesPair() WorstPair {
	return vectorPair(mechanism.StatVotesCounted, recordRelations(),
		func(s *mechanism.Session, side int) (boundedVector, error) {
			v := s.NewVotes(4, 2)
			v.Add([][]int{{0, 1}, {2, 3}}[side])
			return v.Counts(), nil
		})
}

// scoreSets returns the votes for 2k candidates. The last k candidates lead by the given number of buckets; one bucket
// more votes for the last k on side 0 and for the first k on side 1.
func scoreSets(s *mechanism.Session, k, lead, side int) boundedVector {
	v := s.NewVotes(2*k, k)
	low := make([]int, k)
	high := make([]int, k)
	for i := range k {
		low[i] = i
		high[i] = k + i
	}
	for range lead {
		v.Add(high)
	}
	v.Add([][]int{high, low}[side])
	return v.Scores(append(low, high...))
}

func votesPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatVotes,
		Kind:      budget.Exponential,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			return releaseChoice(scoreSets(s, 1, lead(law, 2)-1, side), 2), nil
		},
	}
}

func topKPair(form mechanism.TopKForm) WorstPair {
	choice := mechanism.TopK{Form: form}
	kind := budget.Exponential
	if form == mechanism.LipschitzExponential {
		kind = budget.Pure
	}
	return WorstPair{
		Statistic: choice.Statistic(),
		Kind:      kind,
		Single:    true,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			return prepareTopK(s, choice, law, side), nil
		},
	}
}

// prepareTopK returns the release of k of 2k candidates on a side of the pair.
func prepareTopK(
	s *mechanism.Session,
	choice mechanism.TopK,
	law budget.Law,
	side int,
) WorstRelease {
	ahead := lead(law, 2) - 1
	choice.K = law.Draws
	switch {
	case choice.Form == mechanism.Lipschitz || choice.Form == mechanism.LipschitzExponential:
		// With gamma near 1 a set is as good as its worst member: five of the six sets lose together against the best
		// one, and by the whole width.
		choice.K = 2
		choice.Gamma = .99
		choice.HasGamma = true
		ahead += int(math.Ceil(2 * math.Log(5) / law.Epsilon))
	case choice.K > 1:
		ahead = min(ahead, 2) // a larger lead would make a set of k losers too rare
	}
	x := scoreSets(s, choice.K, ahead, side)
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		chosen, err := choice.Release(s, name, x)
		out := make([]float64, 2*choice.K)
		for _, j := range chosen.Value() {
			out[j] = 1
		}
		return out, err
	}
}

// tukeyDepthPair has a cloud of one dimension in which all points but a few coincide. Their number is such that the
// check passes about half of the time. On side 1 another point moves away.
func tukeyDepthPair() WorstPair {
	return WorstPair{
		Statistic: mechanism.StatTukey,
		Kind:      budget.Approximate,
		Single:    true,
		Slow:      true,
		Relations: recordRelations(),
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			x := boundCloud(s, law, side)
			return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
				point, ok, err := mechanism.TukeyDepth(s, name, x, mechanism.UsualSplit())
				if !ok {
					return []float64{0, 0}, err
				}
				return []float64{1, point.Value()[0]}, err
			}, nil
		},
	}
}

// boundCloud returns the cloud of [tukeyDepthPair]. The check compares h with ln(1/(2 delta))/e1, e1 = .4 epsilon. If
// all of m points coincide except u on either side, h is m/4 - 2 - u, unless the weight of the points is too small:
// another m/4 of about ln(1/delta)/(.3 epsilon) steps of depth.
func boundCloud(
	s *mechanism.Session,
	law budget.Law,
	side int,
) mechanism.Bounded[mechanism.Cloud] {
	h := math.Log(1/(2*law.Delta))/(.4*law.Epsilon) + 1
	steps := math.Ceil(math.Log(1/law.Delta)/(.3*law.Epsilon)) + 2
	quarter := int(math.Ceil(h+steps)) + 4
	u := quarter - 2 - int(math.Round(h))
	p := s.NewPoints(4*quarter, 1)
	for i := range u {
		p.Set(i, []float64{-1})
		p.Set(u+i, []float64{1})
	}
	if side == 1 {
		p.Set(2*u, []float64{1})
	}
	return p.Bound()
}

// pairWords are the words of the columns of the pairs of words.
var pairWords = []string{"a", "b"}

// countWords returns the lexicon of columns with the given codes of pairWords.
func countWords(
	s *mechanism.Session,
	columns ...[]int32,
) (mechanism.Bounded[mechanism.Lexicon], error) {
	var schema dataset.Schema
	var data []dataset.ColumnData
	var positions []int
	for j, codes := range columns {
		name := string(rune('x' + j))
		schema.Columns = append(schema.Columns, dataset.Column{
			Name:  name,
			Kind:  dataset.Category,
			Other: true,
			Found: true,
		})
		data = append(data, dataset.ColumnData{
			Codes: codes,
			Words: pairWords,
		})
		positions = append(positions, j)
	}
	table, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		return mechanism.Bounded[mechanism.Lexicon]{}, err
	}
	return s.NewLexicon(table.View(), positions), nil
}

// wordCountsPair has two words of many records each; one record more has the second word on side 1, and the first one
// on the other side of a substitution. The threshold, with a delta of one half, is so low that both counts pass it.
func wordCountsPair() WorstPair {
	threshold := Companion{"threshold", mechanism.StatNewWords, budget.Law{
		Kind:  budget.Approximate,
		Delta: .5,
		Draws: 1,
	}}
	return WorstPair{
		Statistic: mechanism.StatWords,
		Kind:      budget.Gaussian,
		Single:    true,
		Relations: recordRelations(),
		Companion: threshold,
		Prepare: func(
			_ context.Context, s *mechanism.Session, law budget.Law, side int,
		) (WorstRelease, error) {
			sigma := math.Sqrt2 / law.Mu
			n := 2 + int(math.Ceil(20*sigma))
			codes := append(slices.Repeat([]int32{0}, n), slices.Repeat([]int32{1}, n)...)
			codes = append(codes,
				byRecord(RecordOn(s.Relation(), side), []int32{0}, nil, []int32{1})...)
			x, err := countWords(s, codes)
			return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
				released, err := mechanism.Words(s, name, threshold.Name, x)
				out := make([]float64, len(pairWords))
				if err != nil {
					return out, err
				}
				for _, w := range released.Value()[0] {
					out[slices.Index(pairWords, w.Text)] = w.Count
				}
				return out, nil
			}, err
		},
	}
}

// newWordsPair has a word that one record alone has, in each of two columns.
func newWordsPair() WorstPair {
	counts := Companion{"counts", mechanism.StatWords, budget.Law{
		Kind:  budget.Gaussian,
		Mu:    .25,
		Draws: 1,
	}}
	return WorstPair{
		Statistic: mechanism.StatNewWords,
		Kind:      budget.Approximate,
		Single:    true,
		Relations: recordRelations(),
		Companion: counts,
		Prepare: func(
			_ context.Context, s *mechanism.Session, _ budget.Law, side int,
		) (WorstRelease, error) {
			codes := byRecord(
				RecordOn(s.Relation(), side),
				[]int32{0},
				[]int32{},
				[]int32{1},
			)
			x, err := countWords(s, codes, codes)
			return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
				released, err := mechanism.Words(s, counts.Name, name, x)
				out := make([]float64, len(pairWords))
				for _, words := range released.Value() {
					for _, w := range words {
						out[slices.Index(pairWords, w.Text)] = 1
					}
				}
				return out, err
			}, err
		},
	}
}
