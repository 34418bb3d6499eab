package boosting

import (
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// releases spends the budget of the epochs on noisy sums. sigma is the standard deviation of the
// noise. Sums of an epoch are so many parts of what it has for their kind.
type releases interface {
	sizes(epoch int, x mechanism.Bounded[mechanism.Vector]) ([]float64, error)
	linear(epoch, part, parts int, x *mechanism.Cross) (sums []float64, sigma float64, err error)
	shape(epoch, part, parts int, x *mechanism.BinSums) (sums []float64, sigma float64, err error)
}

// additiveReleases spends a draw an epoch of a leaf for each kind of sums.
type additiveReleases struct{ session *mechanism.Session }

func (r additiveReleases) sizes(epoch int, x mechanism.Bounded[mechanism.Vector]) ([]float64, error) {
	out, err := mechanism.GaussianDraw(r.session, residualsLeaf, epoch, x)
	return out.Value(), err
}

func (r additiveReleases) linear(epoch, part, parts int, x *mechanism.Cross) ([]float64, float64, error) {
	if parts == 1 { // the draw is spent as a whole
		out, err := mechanism.GaussianDraw(r.session, linearLeaf, epoch, x.Bound())
		return out.Value(), x.Bound().Sensitivity() / r.session.Mu(linearLeaf), err
	}
	return r.part(linearLeaf, epoch, part, parts, x.Bound())
}

func (r additiveReleases) shape(epoch, part, parts int, x *mechanism.BinSums) ([]float64, float64, error) {
	return r.part(shapesLeaf, epoch, part, parts, x.Bound())
}

// part spends a part of the epoch's draw.
func (r additiveReleases) part(leaf string, epoch, part, parts int, x mechanism.Bounded[mechanism.Vector]) ([]float64, float64, error) {
	out, err := mechanism.GaussianPart(r.session, leaf, epoch, part, parts, x)
	return out.Value(), x.Sensitivity() * rootOf(parts) / r.session.Mu(leaf), err
}

// epoch corrects the linear part and every shape in each of its rounds. It returns the clamp of the residuals, which
// follows from the released counts of the residuals of the last pass that counted them.
func (b *booster) epoch(epoch int) (clamp, error) {
	b.clamp = clamp{limit: classClip, slope: 1}
	if !b.classes {
		if b.inTurn && epoch > 0 {
			if err := b.correct(epoch, 0, pass{sumsStatistic: sumsStatistic{Of: b.state, Clip: b.clamp.limit, Counts: b.residualCounts}}); err != nil {
				return clamp{}, err
			}
		}
		counts, err := b.releases.sizes(epoch, b.residuals)
		if err != nil {
			return clamp{}, err
		}
		b.clamp = b.chooseClamp(counts)
	}
	for round := range b.rounds {
		for _, x := range b.passes(epoch, round) {
			if err := b.correct(epoch, round, x); err != nil {
				return clamp{}, err
			}
		}
	}
	return b.clamp, b.ctx.Err()
}

// keepCounts keeps the counts of residuals of a pass that made some, for the next epoch to release.
func (b *booster) keepCounts(s *residualHistogram) {
	if s != nil {
		b.residuals = s.hist.Bound()
	}
}

// pass is what is asked in one pass, with the shapes that its lists belong to. The first of them is number first of the
// shapes of the round.
type pass struct {
	sumsStatistic
	shapes []*shape
	first  int
}

// passes returns the passes of a round: one for all sums, or one for each. Shapes are in the order in which they move, forward
// and backward in turn.
func (b *booster) passes(epoch, round int) []pass {
	clip := b.clamp.limit
	all := pass{sumsStatistic: sumsStatistic{Of: b.state, Clip: clip, Line: true}, shapes: slices.Clone(b.shapes)}
	if round == b.rounds-1 {
		all.Counts = b.residualCounts
	}
	if (epoch*b.rounds+round)%2 == 1 {
		slices.Reverse(all.shapes)
	}
	each := []pass{{sumsStatistic: sumsStatistic{Of: b.state, Clip: clip, Line: true}}}
	for i, s := range all.shapes {
		list := []int{s.bins}
		steps := []int{len(s.values)}
		each = append(each, pass{sumsStatistic{Of: b.state, Clip: clip, Lists: list, Steps: steps}, []*shape{s}, i})
		all.Lists, all.Steps = append(all.Lists, list...), append(all.Steps, steps...)
	}
	if b.inTurn {
		return each
	}
	return []pass{all}
}

// correct releases the sums of a pass and moves the parts of the model: the line, then every shape. What those before it
// have added since the pass is taken from the sums of a shape, as far as the coupling tells.
func (b *booster) correct(epoch, round int, x pass) error {
	acc, err := mechanism.Sum[*sumsPass](b.ctx, b.session, b.records, x.sumsStatistic)
	if err != nil {
		return err
	}
	b.keepCounts(acc.residuals)
	c := newCoupling(b)
	if x.Line {
		sums, sigma, err := b.releases.linear(epoch, round, b.rounds, acc.cross)
		if err != nil {
			return err
		}
		sums, sigma = b.clamp.unbiased(sums, sigma)
		step := b.linear.learn(sums, sigma)
		b.state.Moves = append(b.state.Moves, move{Linear: step})
		c.moveLine(step)
	}
	for i, s := range x.shapes {
		if err := b.correctShape(epoch, round*len(b.shapes)+x.first+i, s, acc.steps[i], c); err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

// correctShape releases the sums of the clamped residuals by step of a shape and moves the shape.
func (b *booster) correctShape(epoch, part int, s *shape, x *mechanism.BinSums, c *coupling) error {
	sums, sigma, err := b.releases.shape(epoch, part, b.rounds*len(b.shapes), x)
	if err != nil {
		return err
	}
	sums, sigma = b.clamp.unbiased(sums, sigma)
	left := make([]float64, len(sums))
	for k, added := range c.on(s) {
		left[k] = sums[k] - added
	}
	step := s.learn(left, sigma, b.clamp.limit/b.clamp.slope)
	c.moveShape(s, step)
	table := make([]float64, fineBins)
	copy(table, step)
	b.state.Moves = append(b.state.Moves, move{Bins: s.bins, Table: table})
	return nil
}
