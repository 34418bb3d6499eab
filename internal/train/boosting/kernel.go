package boosting

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Kernel is the additive booster with kernel stages; see the package comment.
type Kernel struct {
	// Landmarks is the maximum number of landmarks of a stage. With 0 it is set by the budget and the noisy number of
	// records alone.
	Landmarks int

	most int // maximum number of records that the stages learn from; 0: mostLearned
}

// Name returns "boosted-kernel".
func (Kernel) Name() string {
	return kernelNode
}

// Node names of the plan.
const (
	kernelNode = "boosted-kernel"
	sumsLeaf   = "sums"
)

// A stagePlan holds the public settings of a kernel stage.
type stagePlan struct {
	epochs int
	share  float64 // of the budget of the kernel stages
	power  float64 // exponent of the eigenvalues of the metric
	full   bool    // the metric is a full matrix, not a diagonal one
	alone  bool    // the stage uses only the two inputs of pair
	pair   [2]int
}

// Settings of the kernel stages. They are public constants, identical for all tables.
// docs/proofs/boosted-kernel.md, "Algorithm", explains them.
const (
	// leadEpochs is the number of epochs before the first stage.
	leadEpochs = 2
	// kernelShare is the maximum share of the budget of linear parts and curves that the kernel stages get. The
	// share grows from 0, where the number of records times mu is fewRecords, to the maximum, where it is
	// [manyRecords], and likewise with that product per input.
	kernelShare  = .5
	fewRecords   = 540.
	fewPerInput  = 36.
	manyPerInput = 90.
	leastKernel  = .02
	// mostInputs is the largest number of coordinates of a feature map.
	mostInputs = 256
)

func kernelStages() []stagePlan {
	return []stagePlan{
		{epochs: 2, share: .25, power: .5},
		{epochs: 2, share: .30, power: .75, full: true},
		{epochs: 3, share: .45, power: 1, full: true},
	}
}

// Plan returns the leaves of [Additive], except that the sizes of the residuals and the sums of all epochs are
// one draw each, spent in parts. Its error is [linear.ErrTooWide].
func (Kernel) Plan(f method.Facts) (budget.Node, error) {
	f.Columns = linear.MostEntries(f.Columns)
	if _, err := (adassp.JointGram{}).Plan(f); err != nil {
		return budget.Node{}, err
	}
	leaf := func(name string, share float64, of budget.Statistic) budget.Node {
		return budget.GaussianLeaf(name, linear.GramShare*share, 1).WithStatistic(of)
	}
	leaves := []budget.Node{leaf(gramLeaf, momentsShare, mechanism.StatGram),
		leaf(countsLeaf, countsShare, mechanism.StatHistogram)}
	if !f.Derived {
		leaves = append(leaves, leaf(residualsLeaf, residualsShare, mechanism.StatHistogram))
	}
	leaves = append(leaves, leaf(sumsLeaf, linearShare+shapesShareOf(f.Derived), mechanism.StatCross))
	if !f.Derived {
		leaves = append(leaves, leaf(meanLeaf, meanShare, mechanism.StatBinSums))
	}
	return budget.Sequence(kernelNode, leaves...), nil
}

// Fit trains; see [method.Trainer].
func (t Kernel) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	k, err := newKernelBooster(ctx, s.Sub(kernelNode), d)
	if err != nil {
		return nil, err
	}
	if t.most > 0 {
		k.most = t.most
	}
	if t.Landmarks > 0 {
		k.mostMarks = t.Landmarks
	}
	defer d.Records.Forget(k.state)
	if err := k.run(); err != nil {
		return nil, err
	}
	if err := k.correctMean(k.spend.sampled); err != nil {
		return nil, err
	}
	if len(k.stages) == 0 {
		return k.fit(k.booster.model(d.Ranges), additiveExcess), nil
	}
	return k.fit(k.model(d.Ranges), kernelExcess), nil
}

// newKernelBooster returns a run that is ready for its first epoch.
func newKernelBooster(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*kernelBooster, error) {
	b, err := newBooster(ctx, s, d)
	if err != nil {
		return nil, err
	}
	k := &kernelBooster{
		booster:   b,
		most:      mostLearned,
		mostMarks: mostLandmarks,
		levels:    levelInputs(b.moments, b.state.Columns),
	}
	k.levels = slices.DeleteFunc(k.levels, func(l levels) bool {
		return b.state.Columns[l.column].Levels != nil
	})
	b.state.Inputs = k.inputs(b.state.Columns)
	return k, b.prepare()
}

// kernelBooster is a booster with kernel stages.
type kernelBooster struct {
	*booster
	levels []levels // category inputs

	most      int     // approximate number of records that the stages learn from
	share     float64 // of the stages; 0 if there are none
	marks     int     // number of landmarks, at most mostMarks
	mostMarks int
	gate      []bool // by numeric feature: the nonlinear part of its curve is a coordinate
	// ^gateValues reports, by column of many values, whether its effects are a coordinate.
	gateValues []bool
	spend      *schedule
	public     *syntheticRecords
	stages     []*kernelStage
}

// run carries out the epochs.
func (k *kernelBooster) run() error {
	k.divide()
	plan := []stagePlan{}
	if k.share > 0 {
		plan = kernelStages()
		if !k.classes {
			k.residualCounts = countsBySignAndSize
		}
		k.takeTurns()
	}
	k.spend = newSchedule(k.session, k.rounds, len(k.shapes), k.share, plan, k.classes)
	k.releases = k.spend
	next := leadEpochs
	at := 0
	last := 0
	for epoch := 0; epoch < k.spend.epochs; epoch++ {
		if at < len(plan) && epoch == next {
			if at == 0 {
				if err := k.sample(); err != nil {
					return err
				}
			}
			if at == 1 { // strong effects were found in the first stage
				plan = k.withPair(plan, epoch)
			}
			if err := k.begin(plan[at]); err != nil {
				return err
			}
			next += plan[at].epochs
			last = at
			at++
		}
		c, err := k.epoch(epoch)
		if err != nil {
			return err
		}
		if at == 0 {
			continue
		}
		if err := k.correctKernel(k.stages[last], c); err != nil {
			return err
		}
	}
	return nil
}

// turnRecords is the number of records times mu up to which every sum of an epoch with a kernel has a pass of
// its own, which is more accurate there. Above it, two rounds of one pass each are as accurate with a quarter
// of the passes.
const turnRecords = 100_000.

// takeTurns decides the number of passes of an epoch with a kernel.
func (k *kernelBooster) takeTurns() {
	if k.total*k.mu <= turnRecords {
		k.rounds = 1
		k.inTurn = true
	}
}

// divide computes the budget share of the kernel stages from the noisy number of records.
func (k *kernelBooster) divide() {
	k.requestFeatureCache(k.moments.Records())
	inputs := len(k.counted) + len(k.valued)
	for _, l := range k.levels {
		inputs += len(l.entries)
	}
	if inputs == 0 || inputs > mostInputs {
		return
	}
	strength := k.total * k.mu
	k.marks = min(int(min(max(landmarkRate*strength, leastLandmarks), mostLandmarks)), k.mostMarks)
	k.share = kernelShare * ramp(strength, fewRecords, manyRecords) *
		ramp(strength/float64(inputs), fewPerInput, manyPerInput)
	if k.share < leastKernel {
		k.share = 0
	}
}

// ramp grows linearly from 0 at a to 1 at b.
func ramp(x, a, b float64) float64 {
	return min(max((x-a)/(b-a), 0), 1)
}

// correctKernel releases the sum of phi g and updates the stage.
func (k *kernelBooster) correctKernel(s *kernelStage, c clamp) error {
	x := kernelStatistic{k.state, s.features.Features(), c.limit}
	acc, err := mechanism.Sum[*kernelPass](k.ctx, k.session, k.records, x)
	if err != nil {
		return err
	}
	sums, sigma, err := k.spend.release(acc.cross.Bound())
	if err != nil {
		return err
	}
	sums, sigma = c.unbiased(sums, sigma)
	k.state.Moves = append(k.state.Moves, move{Theta: s.learn(sums, sigma)})
	return k.ctx.Err()
}

// schedule spends the single draw of the sums in parts: in every round of an epoch the linear part and every
// curve, and, in a stage, the features of its map once.
type schedule struct {
	session *mechanism.Session
	epochs  int
	weights []int
	next    int
	sizing  []int // weights of the sizes, by epoch
	rounds  int   // per epoch
	shapes  int   // curves per round
	// curves is the share of the curves, all that of curves and linear parts together.
	curves  float64
	all     float64
	share   float64 // of the kernel stages
	sampled float64 // share of the records that sums cover
}

// scheduleUnit is the approximate sum of the weights, sizingUnit the weight of the sizes of an epoch.
const (
	scheduleUnit = 1 << 30
	sizingUnit   = 1 << 20
)

func newSchedule(
	session *mechanism.Session,
	rounds, shapes int,
	share float64,
	plan []stagePlan,
	classes bool,
) *schedule {
	s := &schedule{
		session: session,
		epochs:  additiveEpochs,
		rounds:  rounds,
		shapes:  shapes,
		share:   share,
		sampled: 1,
	}
	if len(plan) > 0 {
		s.epochs = leadEpochs
		for _, p := range plan {
			s.epochs += p.epochs
		}
	}
	curves := shapesShareOf(classes)
	all := linearShare + curves
	epochs := float64(s.epochs)
	s.curves = curves
	s.all = all
	s.sizing = slices.Repeat([]int{sizingUnit}, s.epochs)
	part := func(of float64) {
		s.weights = append(s.weights, max(int(of/all*scheduleUnit), 1))
	}
	stage := -1
	left := leadEpochs
	for range s.epochs {
		if left == 0 {
			stage++
			left = plan[stage].epochs
		}
		if stage < 0 && len(plan) == 0 {
			left = 2
		}
		left--
		for range rounds {
			part(linearShare * (1 - share) / epochs / float64(rounds))
			for range shapes {
				part(curves * (1 - share) / epochs / float64(rounds*shapes))
			}
		}
		if stage >= 0 {
			part(all * share * plan[stage].share / float64(plan[stage].epochs))
		}
	}
	return s
}

// extend redistributes the budget of the epochs from done on among the epochs of some stages. Stage shares are
// relative to all kernel stages.
func (s *schedule) extend(done int, stages []stagePlan) {
	old := s.epochs
	epochs := 0
	for _, p := range stages {
		epochs += p.epochs
	}
	s.epochs = done + epochs
	base := (1 - s.share) * float64(old-done) / float64(old*epochs) // per epoch
	left := 0
	for _, w := range s.weights[s.next:] {
		left += w
	}
	s.weights = slices.Clone(s.weights[:s.next])
	part := func(of float64) {
		w := max(int(of/s.all*scheduleUnit), 1)
		s.weights = append(s.weights, w)
		left -= w
	}
	for _, p := range stages {
		for range p.epochs {
			for range s.rounds {
				part(linearShare * base / float64(s.rounds))
				for range s.shapes {
					part(s.curves * base / float64(s.rounds*s.shapes))
				}
			}
			part(s.all * s.share * p.share / float64(p.epochs))
		}
	}
	s.weights[len(s.weights)-1] += left // rounding error, so that the sum is unchanged
	s.sizing = slices.Clone(s.sizing[:done])
	for i := range epochs {
		whole := (old - done) * sizingUnit
		s.sizing = append(s.sizing, whole*(i+1)/epochs-whole*i/epochs)
	}
}

// release spends the next part and scales the result to all records.
func (s *schedule) release(x mechanism.Bounded[mechanism.Vector]) ([]float64, float64, error) {
	part := s.next
	s.next++
	out, err := mechanism.GaussianShare(s.session, sumsLeaf, 0, part, s.weights, x)
	sigma := x.Sensitivity() * partNoise(s.weights, part) / s.session.Mu(sumsLeaf)
	values := out.Value()
	if s.sampled < 1 {
		values = slices.Clone(values)
		for i := range values {
			values[i] /= s.sampled
		}
	}
	return values, sigma / s.sampled, err
}

// partNoise returns the noise of a part of a draw, relative to that of the whole draw.
func partNoise(weights []int, part int) float64 {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	return math.Sqrt(float64(sum) / float64(weights[part]))
}

func (s *schedule) sizes(
	epoch int,
	x mechanism.Bounded[mechanism.Vector],
) ([]float64, float64, error) {
	out, err := mechanism.GaussianShare(s.session, residualsLeaf, 0, epoch, s.sizing, x)
	return out.Value(), x.Sensitivity() * partNoise(s.sizing, epoch) / s.session.Mu(residualsLeaf), err
}

func (s *schedule) linear(
	_, _, _ int,
	x *mechanism.Cross,
) ([]float64, float64, error) {
	return s.release(x.Bound())
}

func (s *schedule) shape(
	_, _, _ int,
	x *mechanism.BinSums,
) ([]float64, float64, error) {
	return s.release(x.CrossBound())
}
