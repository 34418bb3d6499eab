package boosting

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/linear"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/method"
	"github.com/dptrain/dptrain/internal/scaling"
	"github.com/dptrain/dptrain/regression"
)

// The settings of the additive trainer. They are public constants, the same for
// every table: what depends on the data is read from released values.
// docs/methods/boosted-additive.md, "How the settings were chosen", has the figures.
const (
	// additiveEpochs is T: how often every part of the model is corrected.
	additiveEpochs = 8
	// fineBins is the number of equal bins of which the steps of a shape are
	// made.
	fineBins = 256

	// The shares of the model's mu^2; they sum to 1.
	momentsShare   = .14
	countsShare    = .06
	residualsShare = .02
	linearShare    = .18
	shapesShare    = .60
)

// Additive is the additive booster; see the package comment.
type Additive struct{}

// Name returns "boosted-additive".
func (Additive) Name() string { return "boosted-additive" }

// The names of the nodes of the plan.
const (
	additiveNode  = "boosted-additive"
	countsLeaf    = "counts"
	residualsLeaf = "residuals"
	linearLeaf    = "linear"
	shapesLeaf    = "shapes"
)

// Plan returns the leaves: the matrix of the start and the counts with one draw
// each; the residual scale, the linear correction and the shapes with one draw
// an epoch. A target that stands for classes says how large residuals are: there is
// no residual scale then. Its error is [linear.ErrTooWide].
func (Additive) Plan(f method.Facts) (budget.Node, error) {
	f.Columns = linear.MostEntries(f.Columns)
	if _, err := (adassp.JointGram{}).Plan(f); err != nil {
		return budget.Node{}, err
	}
	leaf := func(name string, share float64, draws int, of budget.Statistic) budget.Node {
		return budget.GaussianLeaf(name, linear.GramShare*share, draws).Of(of)
	}
	leaves := []budget.Node{
		leaf(gramLeaf, momentsShare, 1, mechanism.StatGram),
		leaf(countsLeaf, countsShare, 1, mechanism.StatHistogram),
	}
	shapes := shapesShare
	if f.Derived {
		shapes += residualsShare
	} else {
		leaves = append(leaves, leaf(residualsLeaf, residualsShare, additiveEpochs, mechanism.StatHistogram))
	}
	return budget.Seq(additiveNode, append(leaves,
		leaf(linearLeaf, linearShare, additiveEpochs, mechanism.StatCross),
		leaf(shapesLeaf, shapes, additiveEpochs, mechanism.StatBinSums))...), nil
}

// Fit trains; see [method.Trainer].
func (Additive) Fit(ctx context.Context, s *mechanism.Session, d method.Data) (*method.Fit, error) {
	s = s.Sub(additiveNode)
	b, err := newBooster(ctx, s, d)
	if err != nil {
		return nil, err
	}
	b.releases = additiveReleases{s}
	defer d.Records.Forget(b.state)
	if err := b.prepare(); err != nil {
		return nil, err
	}
	for epoch := range additiveEpochs {
		if _, err := b.epoch(epoch, clipOf); err != nil {
			return nil, err
		}
	}
	return b.fit(b.model(d.Ranges)), nil
}

// newBooster releases the matrix of the start and returns the run that starts from it.
func newBooster(ctx context.Context, s *mechanism.Session, d method.Data) (*booster, error) {
	b := &booster{ctx: ctx, session: s, records: d.Records, classes: d.Derived, columns: d.Columns}
	b.state = &state{Columns: d.Columns, Ranges: d.Ranges}
	if err := b.countValues(); err != nil {
		return nil, err
	}
	var err error
	if b.frame, err = linear.NewFrame(b.state.Columns, d.Ranges); err != nil {
		return nil, err
	}
	if b.moments, err = linear.ReleaseMoments(ctx, s, gramLeaf, b.state.Columns, d.Records, d.Ranges); err != nil {
		return nil, err
	}
	b.start, b.startCov = b.moments.Solve()
	b.state.Start = b.start
	return b, nil
}

// fit returns what was learned with a model of it.
func (b *booster) fit(m regression.Model) *method.Fit {
	return &method.Fit{Model: m, TargetMean: b.moments.TargetMean(), Spreads: [][]regression.Spread{b.spreads(indicators(b.state.Columns))}}
}

// releases spends the budget of the epochs on noisy sums. sigma is the standard deviation of the
// noise.
type releases interface {
	sizes(epoch int, x mechanism.Bounded[mechanism.Vector]) ([]float64, error)
	linear(epoch int, x *mechanism.Cross) (sums []float64, sigma float64, err error)
	shape(epoch, part, parts int, x *mechanism.BinSums) (sums []float64, sigma float64, err error)
}

// additiveReleases spends a draw an epoch of a leaf for each kind of sums.
type additiveReleases struct{ session *mechanism.Session }

func (r additiveReleases) sizes(epoch int, x mechanism.Bounded[mechanism.Vector]) ([]float64, error) {
	out, err := mechanism.GaussianDraw(r.session, residualsLeaf, epoch, x)
	return out.Value(), err
}

func (r additiveReleases) linear(epoch int, x *mechanism.Cross) ([]float64, float64, error) {
	out, err := mechanism.GaussianDraw(r.session, linearLeaf, epoch, x.Bound())
	return out.Value(), x.Bound().Sensitivity() / r.session.Mu(linearLeaf), err
}

// shape spends a part of the epoch's draw.
func (r additiveReleases) shape(epoch, part, parts int, x *mechanism.BinSums) ([]float64, float64, error) {
	out, err := mechanism.GaussianPart(r.session, shapesLeaf, epoch, part, parts, x.Bound())
	return out.Value(), x.Bound().Sensitivity() * rootOf(parts) / r.session.Mu(shapesLeaf), err
}

// booster is one run: what was released so far and, by record, the private
// state that is computed from it.
type booster struct {
	ctx     context.Context
	session *mechanism.Session
	records mechanism.Records
	frame   *linear.Frame
	moments *linear.Moments
	classes bool
	columns []dataset.Column // as they are declared; those of the state have entries for frequent values alone
	valued  []*shape         // of the columns of many values

	releases releases

	start    []float64 // coefficients of the start, by entry of x
	startCov covariance
	linear   *correction
	shapes   []*shape
	counted  []counted

	state *state
}

// prepare computes the state of the start, releases the counts and makes the
// shapes: one for the score, the prediction of the start, and one for every
// numeric feature with more than two values worth the name.
func (b *booster) prepare() error {
	b.linear = newCorrection(b.moments)
	numeric, slots := numericFeatures(b.state.Columns)
	n, err := b.records.Len(b.ctx)
	if err != nil {
		return err
	}
	b.state.Slots, b.state.Rows, b.state.RowsOnShelf = slots, n <= b.mostKept()/b.frame.Slots(), int64(n) <= shelfCells/int64(b.frame.Slots())
	counts, err := b.releaseCounts()
	if err != nil {
		return err
	}
	sigma := b.session.Scale(countsLeaf)
	records := max(b.moments.Records(), minRecords)
	for i, j := range numeric {
		b.counted = append(b.counted, counted{j, slots[i], counts[i]})
	}
	// The start knows nothing of values, so they come first.
	b.shapes = append(b.shapes, b.valued...)
	for i, j := range append(numeric, scoreColumn) {
		if j != scoreColumn && twoValued(counts[i], sigma, max(total(counts), minRecords)) {
			continue
		}
		g := group(counts[i], sigma, records)
		b.state.Moves = append(b.state.Moves, move{Bins: i, Of: g.of[:]})
		b.shapes = append(b.shapes, newShape(j, i, g))
	}
	return b.ctx.Err()
}

// mostKept is the number of cells of encoded rows up to which all are kept. The entries of a column of many values are
// most of a row, and made anew in little time: they are kept where they take little room.
func (b *booster) mostKept() int {
	if len(linear.ManyValues(b.columns[:len(b.columns)-1])) > 0 {
		return keptCells / 8
	}
	return keptCells
}

// numericFeatures lists the numeric features and their entries in x.
func numericFeatures(columns []dataset.Column) (features, slots []int) {
	for k, slot := range scaling.NewEncoder(columns[:len(columns)-1], nil).Slots() {
		if slot.Category == scaling.NumberSlot {
			features, slots = append(features, slot.Column), append(slots, k)
		}
	}
	return features, slots
}

// indicators lists the entries of x that belong to a numeric feature and are not its
// number: those of missing cells.
func indicators(columns []dataset.Column) []int {
	var out []int
	slots := scaling.NewEncoder(columns[:len(columns)-1], nil).Slots()
	for k, slot := range slots {
		if k > 0 && columns[slot.Column].Kind == dataset.Numeric && slots[k-1].Column == slot.Column {
			out = append(out, k)
		}
	}
	return out
}

// releaseCounts releases how many records lie in each fine bin of each numeric
// feature and of the score.
func (b *booster) releaseCounts() ([][]float64, error) {
	acc, err := mechanism.Sum[*countsPass](b.ctx, b.session, b.records, countsStatistic{b.state})
	if err != nil {
		return nil, err
	}
	release := mechanism.Gaussian
	if len(b.valued) > 0 {
		release = func(s *mechanism.Session, leaf string, x mechanism.Bounded[mechanism.Vector]) (mechanism.Public[[]float64], error) {
			return mechanism.GaussianShare(s, leaf, 0, 1, b.countParts(len(b.valued)), x)
		}
	}
	released, err := release(b.session, countsLeaf, acc.hist.Bound())
	if err != nil {
		return nil, err
	}
	counts := make([][]float64, len(b.state.Slots)+1)
	for i := range counts {
		counts[i] = released.Value()[i*fineBins : (i+1)*fineBins]
	}
	return counts, nil
}

// epoch corrects the linear part and then every shape once, forward and
// backward in turn. It returns C, where residuals are clamped; clipOf reads it from their
// released sizes.
func (b *booster) epoch(epoch int, clipOf func(sizes []float64) float64) (float64, error) {
	clip := classClip
	if !b.classes {
		sizes, err := b.residualSizes(epoch)
		if err != nil {
			return 0, err
		}
		clip = clipOf(sizes)
	}
	if err := b.correctLinear(epoch, clip); err != nil {
		return 0, err
	}
	for part := range b.shapes {
		i := part
		if epoch%2 == 1 {
			i = len(b.shapes) - 1 - part
		}
		if err := b.correctShape(epoch, part, b.shapes[i], clip); err != nil {
			return 0, err
		}
	}
	return clip, b.ctx.Err()
}

// residualSizes releases how many residuals there are of every size.
func (b *booster) residualSizes(epoch int) ([]float64, error) {
	acc, err := mechanism.Sum[*sizesPass](b.ctx, b.session, b.records, sizesStatistic{b.state})
	if err != nil {
		return nil, err
	}
	return b.releases.sizes(epoch, acc.hist.Bound())
}

// correctLinear releases the sum of x g over the records, x limited to norm B
// and g the residual clamped to [-clip, clip], and moves the linear part.
func (b *booster) correctLinear(epoch int, clip float64) error {
	acc, err := mechanism.Sum[*linearPass](b.ctx, b.session, b.records, linearStatistic{b.state, clip})
	if err != nil {
		return err
	}
	sums, sigma, err := b.releases.linear(epoch, acc.cross)
	if err != nil {
		return err
	}
	step := b.linear.learn(sums, sigma)
	b.state.Moves = append(b.state.Moves, move{Linear: step})
	return nil
}

// correctShape releases the sums of the clamped residuals by bin of a shape and
// moves the shape.
func (b *booster) correctShape(epoch, part int, s *shape, clip float64) error {
	acc, err := mechanism.Sum[*shapePass](b.ctx, b.session, b.records, shapeStatistic{b.state, s.bins, len(s.values), clip})
	if err != nil {
		return err
	}
	sums, sigma, err := b.releases.shape(epoch, part, len(b.shapes), acc.sums)
	if err != nil {
		return err
	}
	table := make([]float64, fineBins)
	copy(table, s.learn(sums, sigma, clip))
	b.state.Moves = append(b.state.Moves, move{Bins: s.bins, Table: table})
	return nil
}

// model states the parts in original units. Shapes are centred on the released
// counts; their means go to the intercept.
func (b *booster) model(ranges []scaling.Range) *regression.Additive {
	target := b.frame.Target()
	first := b.moments.Linear(b.start, b.startCov)
	m := &regression.Additive{Linear: *b.moments.Linear(b.linear.total(b.start), b.ownCurves(b.covariance()))}
	for _, s := range b.shapes {
		if s.levels != nil {
			continue
		}
		r := target // the score's
		if s.column != scoreColumn {
			r = ranges[s.column]
		}
		step, mean := s.step(r, target.Half())
		m.Intercept = saturated(m.Intercept + mean)
		m.InterceptStdError = saturated(math.Hypot(m.InterceptStdError, target.Half()*s.meanError(b.session.Scale(countsLeaf))))
		if len(step.Edges) == 0 {
			continue
		}
		if s.column != scoreColumn {
			m.Shapes = append(m.Shapes, regression.Shape{Column: s.column, Step: step})
			continue
		}
		m.Score = &regression.Score{Intercept: saturated(first.Intercept), Step: step}
		for _, term := range first.Terms {
			m.Score.Coefficients = append(m.Score.Coefficients, saturated(term.Coefficient))
		}
	}
	if len(b.valued) > 0 {
		b.addValues(m)
	}
	return m
}
