package boosting

import (
	"slices"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// releases spends the budget of the epochs on noisy sums. sigma is the standard deviation of the noise. Each
// sum takes part of parts equal parts of the epoch's budget for its kind.
type releases interface {
	sizes(epoch int, x mechanism.Bounded[mechanism.Vector]) (counts []float64, sigma float64, err error)
	linear(epoch, part, parts int, x *mechanism.Cross) (sums []float64, sigma float64, err error)
	shape(epoch, part, parts int, x *mechanism.BinSums) (sums []float64, sigma float64, err error)
}

// additiveReleases has a leaf with one draw per epoch for each kind of sums.
type additiveReleases struct{ session *mechanism.Session }

func (r additiveReleases) sizes(
	epoch int,
	x mechanism.Bounded[mechanism.Vector],
) ([]float64, float64, error) {
	out, err := mechanism.GaussianDraw(r.session, residualsLeaf, epoch, x)
	return out.Value(), x.Sensitivity() / r.session.Mu(residualsLeaf), err
}

func (r additiveReleases) linear(
	epoch, part, parts int,
	x *mechanism.Cross,
) ([]float64, float64, error) {
	if parts == 1 { // the draw is spent as a whole
		out, err := mechanism.GaussianDraw(r.session, linearLeaf, epoch, x.Bound())
		return out.Value(), x.Bound().Sensitivity() / r.session.Mu(linearLeaf), err
	}
	return r.part(linearLeaf, epoch, part, parts, x.Bound())
}

func (r additiveReleases) shape(
	epoch, part, parts int,
	x *mechanism.BinSums,
) ([]float64, float64, error) {
	return r.part(shapesLeaf, epoch, part, parts, x.Bound())
}

// part spends a part of the epoch's draw.
func (r additiveReleases) part(
	leaf string,
	epoch, part, parts int,
	x mechanism.Bounded[mechanism.Vector],
) ([]float64, float64, error) {
	out, err := mechanism.GaussianPart(r.session, leaf, epoch, part, parts, x)
	return out.Value(), x.Sensitivity() * sqrtParts(parts) / r.session.Mu(leaf), err
}

// epoch corrects the linear part and every shape in each of its rounds. It returns the clamp of the residuals,
// which is computed from the released counts of the residuals in the last pass that counted them.
func (b *booster) epoch(epoch int) (clamp, error) {
	b.clamp = clamp{limit: classClip, slope: 1}
	if !b.classes {
		if b.inTurn && epoch > 0 {
			if err := b.correct(epoch, 0,
				pass{sumsStatistic: sumsStatistic{
					Of:     b.state,
					Clip:   b.clamp.limit,
					Counts: b.residualCounts,
				}}); err != nil {
				return clamp{}, err
			}
		}
		counts, sigma, err := b.releases.sizes(epoch, b.residuals)
		if err != nil {
			return clamp{}, err
		}
		b.clamp = b.chooseClamp(counts)
		b.meanClip = meanClip(counts, sigma)
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

// keepCounts stores the counts of residuals if a pass has made them; the next epoch releases them.
func (b *booster) keepCounts(s *residualHistogram) {
	if s != nil {
		b.residuals = s.hist.Bound()
	}
}

// pass holds the sums of one pass and the shapes of its lists. The first shape has the index first among the
// shapes of the round.
type pass struct {
	sumsStatistic
	shapes []*shape
	first  int
}

// passes returns the passes of a round: one for all sums, or one for each. Shapes are in the order of their
// updates, alternately forward and backward.
func (b *booster) passes(epoch, round int) []pass {
	clip := b.clamp.limit
	all := pass{
		sumsStatistic: sumsStatistic{
			Of:   b.state,
			Clip: clip,
			Line: true,
		},
		shapes: slices.Clone(b.shapes),
	}
	if round == b.rounds-1 {
		all.Counts = b.residualCounts
	}
	if (epoch*b.rounds+round)%2 == 1 {
		slices.Reverse(all.shapes)
	}
	each := []pass{{sumsStatistic: sumsStatistic{
		Of:   b.state,
		Clip: clip,
		Line: true,
	}}}
	for i, s := range all.shapes {
		list := []int{s.bins}
		steps := []int{len(s.values)}
		each = append(each,
			pass{sumsStatistic{
				Of:    b.state,
				Clip:  clip,
				Lists: list,
				Steps: steps,
			}, []*shape{s}, i})
		all.Lists = append(all.Lists, list...)
		all.Steps = append(all.Steps, steps...)
	}
	if b.inTurn {
		return each
	}
	return []pass{all}
}

// correct releases the sums of a pass and updates the parts of the model: the linear part, then every shape.
// The effect of earlier updates since the pass, estimated by the coupling, is subtracted from the sums of a
// shape.
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
		if err := b.correctShape(epoch, round*len(b.shapes)+x.first+i, s, acc.steps[i],
			c); err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

// correctShape releases the sums of the clamped residuals by step of a shape and updates the shape.
func (b *booster) correctShape(
	epoch, part int,
	s *shape,
	x *mechanism.BinSums,
	c *coupling,
) error {
	sums, sigma, err := b.releases.shape(epoch, part, b.rounds*len(b.shapes), x)
	if err != nil {
		return err
	}
	sums, sigma = b.clamp.unbiased(sums, sigma)
	left := make([]float64, len(sums))
	for k, added := range c.shiftOf(s) {
		left[k] = sums[k] - added
	}
	step := s.learn(left, sigma, b.clamp.limit/b.clamp.slope)
	c.moveShape(s, step)
	table := make([]float64, fineBins)
	copy(table, step)
	b.state.Moves = append(b.state.Moves, move{
		Bins:  s.bins,
		Table: table,
	})
	return nil
}
