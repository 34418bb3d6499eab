package budget

import "math"

// solveTight finds the largest multiplier at which one of the accountants proves (epsilon, delta), and fills
// the laws. The cheap accountants go first; the PLD is searched only above the multiplier that they allow.
func (p *part) solveTight() error {
	if len(p.scalable) == 0 {
		switch {
		case p.hasJointCurve:
			p.hasUncheckedPart = true
		case newAccount(p.composer, p.node).deltaAt(p.epsilon) > p.target.Delta:
			return p.newOverspentError(p.path)
		}
		return nil
	}
	c := p.largestByLedger()
	if !p.target.Earlier || !p.node.hasOp(OpSelect) {
		c = p.largestByPLD(c)
	}
	if c == 0 {
		return p.newOverspentError(p.path)
	}
	p.multiplier = c
	p.separateMultiplier = c
	p.setTight(c)
	return nil
}

// Multipliers outside these bounds are not searched.
const (
	minMultiplier = 1e-12
	maxMultiplier = 1e12
)

// largestByLedger returns the largest multiplier proved by the Rényi ledger or by adding epsilons, or 0 if no
// multiplier is.
func (p *part) largestByLedger() float64 {
	holds := func(c float64) bool {
		p.setTight(c)
		if e, d := p.node.pureCost(); e <= p.epsilon && d <= p.target.Delta {
			return true
		}
		return newLedger(p.node).deltaAt(p.epsilon) <= p.target.Delta
	}
	lo, hi := doublingBracket(holds)
	lo, _ = bisect(lo, hi, 1e-10, holds)
	return lo
}

// doublingBracket returns a bracket of a factor of two: the condition holds at lo and fails at hi. lo is 0 if
// the condition fails for every multiplier of at least minMultiplier.
func doublingBracket(holds func(float64) bool) (lo, hi float64) {
	if holds(1) {
		for lo, hi = 1, 2; hi < maxMultiplier && holds(hi); hi *= 2 {
			lo = hi
		}
		return lo, hi
	}
	for lo, hi = 0.5, 1; !holds(lo); lo /= 2 {
		if hi = lo; lo < minMultiplier {
			return 0, 0
		}
	}
	return lo, hi
}

// trial is a multiplier with the delta that the PLD gives it.
type trial struct{ c, delta float64 }

// largestByPLD returns the largest multiplier proved by the PLD, not below floor. A search on a coarse grid,
// which errs to the safe side, gives the start of the fine one.
func (p *part) largestByPLD(floor float64) float64 {
	try := func(c float64) trial {
		p.setTight(c)
		worst := 0.0
		for _, pr := range p.node.flattenProducts() {
			worst = math.Max(worst, p.composer.buildCurve(pr).deltaAt(p.epsilon))
		}
		return trial{c, worst}
	}
	if floor == 0 {
		floor, _ = doublingBracket(func(c float64) bool {
			return try(c).delta <= p.target.Delta
		})
		if floor == 0 {
			return 0
		}
	}
	p.setTight(floor)
	if p.hasClosedForms() {
		return p.calibrator.searchMultiplier(floor, 1.03, try, true)
	}
	p.composer.coarsen = 5
	start := p.calibrator.searchMultiplier(floor, 1.03, try, false)
	p.composer.coarsen = 1
	if start > floor && try(start).delta <= p.target.Delta {
		return p.calibrator.searchMultiplier(start, 1.0003, try, false)
	}
	return p.calibrator.searchMultiplier(floor, 1.03, try, false)
}

// hasClosedForms reports whether no FFT is needed.
func (p *part) hasClosedForms() bool {
	for _, pr := range p.node.flattenProducts() {
		if _, ok := pr.asSingleDraw(); !ok {
			return false
		}
	}
	return true
}

// searchMultiplier returns the largest multiplier >= start whose delta is within the target, or start itself
// if its delta is not. The bracket grows by factor at first.
func (c *calibrator) searchMultiplier(
	start, factor float64,
	try func(float64) trial,
	exact bool,
) float64 {
	target := c.target.Delta
	lo := try(start)
	if lo.delta > target {
		return start
	}
	hi := lo
	for ; hi.delta <= target; factor = 1 + 2*(factor-1) {
		lo, hi = hi, try(hi.c*factor)
	}
	if exact {
		c, _ := bisect(
			lo.c,
			hi.c,
			1e-15,
			func(c float64) bool {
				return try(c).delta <= target
			},
		)
		return c
	}
	return refineMultiplier(lo, hi, target, try)
}

// refineMultiplier solves delta(c) = target by the Illinois variant of regula falsi in logarithms, starting
// from lo.delta <= target < hi.delta. It returns a multiplier whose delta is at most the target and, normally,
// at least (1-1e-6) times it.
func refineMultiplier(
	lo, hi trial,
	target float64,
	try func(float64) trial,
) float64 {
	const (
		aim       = 5e-7
		tolerance = 1e-6
	)
	gap := func(t trial) float64 {
		return math.Log(t.delta/target) + aim
	}
	a, b := math.Log(lo.c), math.Log(hi.c)
	fa := gap(lo)
	fb := gap(hi)
	best := lo.c
	side := 0
	for i := 0; i < 60 && fa < aim-tolerance && b-a > 1e-9; i++ {
		x := b - fb*(b-a)/(fb-fa)
		if !(x > a && x < b) {
			x = (a + b) / 2
		}
		t := try(math.Exp(x))
		if t.delta <= target {
			a = x
			fa = gap(t)
			best = t.c
			if side == -1 {
				fb /= 2
			}
			side = -1
		} else {
			b = x
			fb = gap(t)
			if side == 1 {
				fa /= 2
			}
			side = 1
		}
	}
	return best
}
