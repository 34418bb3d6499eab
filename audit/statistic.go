package audit

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/mechanism"
)

// A Statistic is a bounding function of package mechanism with the release that
// it feeds, on a pair of neighbouring inputs that is meant to be the worst. It
// is one of [Statistics].
type Statistic struct {
	// Name is that of the bounding function or, for releases with a form of
	// their own, of the release.
	Name string
	// Kind is the law that its release is priced as.
	Kind budget.Kind
	// Single tells a release that spends one draw of a leaf, always.
	Single bool
	// prepare makes the private statistic of one side of the pair and returns
	// what releases it. s knows the relation; the law is that of a draw.
	prepare func(ctx context.Context, s *mechanism.Session, law budget.Law, side int) (release, error)
	// relations that it supports; nil stands for add-remove and substitution.
	relations []budget.Relation
	slow      bool // takes a hundredth of the draws
}

// release spends a draw of the leaf name and returns what came out as numbers,
// always as many.
type release func(s *mechanism.Session, name string, draw int) ([]float64, error)

// Supports reports whether the statistic has a bound under a relation.
func (x Statistic) Supports(rel budget.Relation) bool {
	if x.relations == nil {
		return rel == budget.AddRemove || rel == budget.Substitute
	}
	for _, r := range x.relations {
		if r == rel {
			return true
		}
	}
	return false
}

// Statistics returns everything that the audit knows to release.
func Statistics() []Statistic {
	return []Statistic{
		{Name: "count", Kind: budget.Laplace, prepare: count1, relations: []budget.Relation{budget.AddRemove}},
		{Name: "agreement", Kind: budget.Laplace, prepare: agreement},
		{Name: "agreement sum", Kind: budget.Gaussian, prepare: agreementSum},
		{Name: "histogram", Kind: budget.Gaussian, prepare: histogram},
		{Name: "gram", Kind: budget.Gaussian, Single: true, prepare: gram},
		{Name: "eigenvalue", Kind: budget.Gaussian, prepare: eigenvalue},
		{Name: "cross", Kind: budget.Gaussian, prepare: cross},
		{Name: "bin sums", Kind: budget.Gaussian, prepare: binSums},
		{Name: "sums", Kind: budget.Gaussian, prepare: sums},
		{Name: "size counts", Kind: budget.Gaussian, Single: true, prepare: sizeCounts},
		{Name: "square sums", Kind: budget.Gaussian, Single: true, prepare: squareSums},
		{Name: "votes counted", Kind: budget.Gaussian, prepare: votesCounted},
		{Name: "tally", Kind: budget.Gaussian, Single: true, prepare: tally},
		{Name: "class statistics", Kind: budget.Gaussian, Single: true, prepare: classStatistics},
		{Name: "minimizer", Kind: budget.Gaussian, prepare: minimizer},
		{Name: "private blocks", Kind: budget.Gaussian, prepare: privateBlocks, relations: []budget.Relation{budget.SubstitutePrivateColumns}},
		{Name: "votes", Kind: budget.Exponential, prepare: chooseVotes},
		{Name: "products", Kind: budget.Exponential, prepare: chooseProducts},
		{Name: "kendall", Kind: budget.Exponential, prepare: chooseKendall},
		{Name: "one-shot", Kind: budget.Exponential, Single: true, prepare: topK(mechanism.OneShot)},
		{Name: "peeling", Kind: budget.Exponential, Single: true, prepare: topK(mechanism.Peeling)},
		{Name: "lipschitz", Kind: budget.Exponential, Single: true, prepare: topK(mechanism.Lipschitz)},
		{Name: "lipschitz-exponential", Kind: budget.Pure, Single: true, prepare: topK(mechanism.LipschitzExponential)},
		{Name: "tukey", Kind: budget.Approximate, Single: true, prepare: depth, slow: true},
	}
}

// statisticNamed returns one of Statistics.
func statisticNamed(name string) (Statistic, bool) {
	for _, x := range Statistics() {
		if x.Name == name {
			return x, true
		}
	}
	return Statistic{}, false
}

// The pairs. Side 0 and side 1 differ by one record: under add-remove it is
// there on side 1 only, under the other relations it is another one. sign
// returns what the record is on a side: -1, +1 or, for none, 0.
func sign(rel budget.Relation, side int) int {
	switch {
	case side == 1:
		return 1
	case rel == budget.AddRemove:
		return 0
	}
	return -1
}

// pick returns one of three by the sign of a record.
func pick[T any](sign int, minus, none, plus T) T {
	return [...]T{minus, none, plus}[sign+1]
}

func gaussian(x mechanism.Bounded[mechanism.Vector]) release {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		out, err := mechanism.GaussianDraw(s, name, draw, x)
		return out.Value(), err
	}
}

func laplace(x mechanism.Bounded[int64]) release {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		out, err := mechanism.Laplace(s, name, draw, x)
		return []float64{out.Value()}, err
	}
}

// choice releases which of d candidates was chosen, as one number a candidate.
func choice(x mechanism.Bounded[mechanism.Vector], d int) release {
	return func(s *mechanism.Session, name string, draw int) ([]float64, error) {
		j, err := mechanism.Choose(s, name, draw, x)
		out := make([]float64, d)
		if err == nil {
			out[j.Value()] = 1
		}
		return out, err
	}
}

func count1(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	return laplace(s.Count(10 + side)), nil
}

func agree(s *mechanism.Session, side int) mechanism.Bounded[int64] {
	a := s.NewAgreement(.5, 2)
	if v := sign(s.Relation(), side); v != 0 {
		a.Add([]float64{2}, []int8{int8(v)})
	}
	return a.Sum()
}

func agreement(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	return laplace(agree(s, side)), nil
}

func agreementSum(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	return gaussian(mechanism.Alone(agree(s, side))), nil
}

func histogram(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	h := s.NewHistogram([]int{1, 2}, 3)
	h.Add(pick(sign(s.Relation(), side), [][]uint16{{0}, {2}}, [][]uint16{{}, {}}, [][]uint16{{1}, {0}}))
	return gaussian(h.Bound()), nil
}

const one = mechanism.FixedOne

func gram(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	g := s.NewGram(2, 1)
	g.Add(pick(sign(s.Relation(), side), [][]int16{{0}, {one}}, [][]int16{{}, {}}, [][]int16{{one}, {0}}))
	x := g.Bound()
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, err := mechanism.SymmetricGaussian(s, name, x)
		return out.Value(), err
	}, nil
}

func eigenvalue(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	g := s.NewGram(1, 1)
	g.Add([][]int16{pick(sign(s.Relation(), side), []int16{0}, nil, []int16{one})})
	return gaussian(g.SmallestEigenvalue()), nil
}

func cross(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	c := s.NewCross(2, 1, 3)
	if v := sign(s.Relation(), side); v != 0 {
		c.Add([][]int16{{one}, {0}}, []float64{3 * float64(v)})
	}
	return gaussian(c.Bound()), nil
}

func binSums(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	b := s.NewBinSums(3, 2)
	if v := sign(s.Relation(), side); v != 0 {
		b.Add([]uint8{1}, []float64{2 * float64(v)})
	}
	return gaussian(b.Bound()), nil
}

func sums(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	b := s.NewSums([]float64{-1, 0}, []float64{1, 2})
	b.Add(pick(sign(s.Relation(), side), [][]float64{{-1}, {0}}, [][]float64{{}, {}}, [][]float64{{1}, {2}}))
	return gaussian(b.Bound()), nil
}

func sizeCounts(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	c := s.NewSizeCounts(2)
	if v := sign(s.Relation(), side); v != 0 {
		bin := pick[uint16](v, 0, 0, 1)
		c.Add([]uint16{bin}, []uint16{bin})
	}
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, err := c.Release(s, name)
		m := out.Value()
		return append(append(append([]float64(nil), m.First...), m.Second...), m.Missing), err
	}, nil
}

func squareSums(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	q := s.NewSquareSums()
	q.Add(pick(sign(s.Relation(), side), []float64{math.NaN()}, nil, []float64{1}), pick(sign(s.Relation(), side), []float64{0}, nil, []float64{1}))
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, err := q.Release(s, name)
		m := out.Value()
		return []float64{m.Count, m.Sum, m.Target, m.Residual, m.Missing}, err
	}, nil
}

// tally has a record in both joint tables, and under substitution one in other cells of
// both.
func tally(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	c := s.NewTally([]int{2, 2}, 1)
	if v := sign(s.Relation(), side); v != 0 {
		cell := pick[uint16](v, 0, 0, 1)
		c.Add([][]uint16{{cell}, {cell}}, []uint16{math.MaxUint16})
	}
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, _, err := mechanism.WeightedGaussian(s, name, c.Bound())
		return out.Value(), err
	}, nil
}

func votesCounted(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	v := s.NewVotes(4, 2)
	v.Add([][]int{{0, 1}, {2, 3}}[side])
	return gaussian(v.Counts()), nil
}

func classStatistics(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	c := s.NewClassStats(2, 2, 1, mechanism.ClassWeights{})
	v := sign(s.Relation(), side)
	c.Add(pick(v, [][]int16{{0}, {one}}, [][]int16{{}, {}}, [][]int16{{one}, {0}}), pick(v, []int32{1}, nil, []int32{0}))
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		out, err := c.Release(s, name)
		m := out.Value()
		all := append([]float64(nil), m.Counts...)
		for k := range m.Sums {
			all = append(append(all, m.Sums[k]...), m.Squares[k]...)
		}
		return append(all, m.Products...), err
	}, nil
}

// minimizer has R^2/lambda = 1/2, where the bound is attained.
func minimizer(ctx context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	m := s.NewMinimizer(1, 1, 0, 2, 2)
	v := sign(s.Relation(), side)
	m.Add([][]int16{pick(v, []int16{one}, nil, []int16{one})}, pick(v, []int32{0}, nil, []int32{1}))
	x, err := m.Bound(ctx)
	return gaussian(x), err
}

// privateBlocks has z and -z where the public part is long.
func privateBlocks(_ context.Context, s *mechanism.Session, _ budget.Law, side int) (release, error) {
	g := s.NewPartGram([]int{mechanism.CrossWeight(2)}, 1, 1)
	g.Add([][]int16{{one}}, [][]int16{{pick(sign(s.Relation(), side), int16(-one), 0, int16(one))}})
	x, err := g.Bound()
	return gaussian(x), err
}

// lead is by how many units of score, of which the sensitivity is width, the
// candidate that loses from a record leads the one that gains: then the one that
// gains is rare on side 0, and the ratio of its probabilities is near
// e^epsilon.
func lead(law budget.Law, width float64) int {
	return int(math.Ceil(width * (1 + 1.5/law.Epsilon)))
}

func twoSets(s *mechanism.Session, k, lead, side int) mechanism.Bounded[mechanism.Vector] {
	v := s.NewVotes(2*k, k)
	low, high := make([]int, k), make([]int, k)
	for i := range k {
		low[i], high[i] = i, k+i
	}
	for range lead {
		v.Add(high)
	}
	v.Add([][]int{high, low}[side])
	return v.Scores(append(low, high...))
}

func chooseVotes(_ context.Context, s *mechanism.Session, law budget.Law, side int) (release, error) {
	return choice(twoSets(s, 1, lead(law, 2)-1, side), 2), nil
}

func topK(form mechanism.TopKForm) func(context.Context, *mechanism.Session, budget.Law, int) (release, error) {
	return func(_ context.Context, s *mechanism.Session, law budget.Law, side int) (release, error) {
		k := 2
		if form == mechanism.OneShot || form == mechanism.Peeling {
			k = law.Draws
		}
		t := mechanism.TopK{Form: form, K: k}
		ahead := lead(law, 2) - 1
		switch {
		case k == 2 && k != law.Draws:
			// With gamma near 1 a set is as good as its worst member: five of the six
			// sets lose together against the best one, and by the whole width.
			t.Gamma, t.HasGamma = .99, true
			ahead += int(math.Ceil(2 * math.Log(5) / law.Epsilon))
		case k > 1:
			ahead = min(ahead, 2) // a set of k that lose would be too rare
		}
		x := twoSets(s, k, ahead, side)
		return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
			chosen, err := t.Release(s, name, x)
			out := make([]float64, 2*k)
			for _, j := range chosen.Value() {
				out[j] = 1
			}
			return out, err
		}, nil
	}
}

func chooseProducts(_ context.Context, s *mechanism.Session, law budget.Law, side int) (release, error) {
	p := s.NewProducts([]int{0, 0})
	width := 2.
	if s.Relation() != budget.AddRemove {
		width = 4
	}
	for i := range lead(law, width) + 4 {
		first := int16(0)
		if i < 4 { // both sums stay above 0 whatever the record does
			first = one
		}
		p.Add([][]int16{{first}, {one}}, nil, []int16{one})
	}
	if v := int16(sign(s.Relation(), side)); v != 0 {
		p.Add([][]int16{{v * one}, {-v * one}}, nil, []int16{one})
	}
	return choice(p.Scores([]int{0, 1}), 2), nil
}
