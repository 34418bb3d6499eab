package boosting

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	settings "github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// Settings of the additive trainer. They are public constants, identical for all tables; values that depend on
// the data come from released statistics. See docs/proofs/boosted-additive.md, "How the settings were chosen".
const (
	// additiveEpochs is T, the number of corrections of each part of the model.
	additiveEpochs = 8
	// fineBins is the number of equal bins of a feature. The steps of a shape are unions of fine bins.
	fineBins = 256

	// Shares of the model's mu^2; they sum to 1.
	momentsShare   = .14
	countsShare    = .06
	residualsShare = .02
	linearShare    = .18
	shapesShare    = .59
	meanShare      = .01

	// If the number of records times mu exceeds manyRecords, one pass computes all sums of a round, and an
	// epoch has manyRounds rounds. Otherwise the noise is too large to predict how an update of one part
	// changes the sums of the others, and every sum has a pass of its own.
	manyRecords = 1090.
	manyRounds  = 2
)

// Additive is the additive booster; see the package comment.
type Additive settings.Additive

// Name returns "boosted-additive".
func (Additive) Name() string {
	return "boosted-additive"
}

// Node names of the plan.
const (
	additiveNode  = "boosted-additive"
	countsLeaf    = "counts"
	residualsLeaf = "residuals"
	linearLeaf    = "linear"
	shapesLeaf    = "shapes"
	meanLeaf      = "mean"
)

// Plan returns the leaves: the initial matrix and the counts with one draw each; the residual scale, the linear
// correction and the shapes with one draw per epoch, the last two spent in parts; and the mean residual of the trained
// model. A target that encodes classes needs no residual scale, because its residuals have a known size, and no mean. The
// error is [linear.ErrTooWide].
func (Additive) Plan(f method.Facts) (budget.Node, error) {
	f.Columns = linear.MostEntries(f.Columns)
	if _, err := (adassp.JointGram{}).Plan(f); err != nil {
		return budget.Node{}, err
	}
	leaf := func(name string, share float64, draws int, of budget.Statistic) budget.Node {
		return budget.GaussianLeaf(name, linear.GramShare*share, draws).WithStatistic(of)
	}
	leaves := []budget.Node{
		leaf(gramLeaf, momentsShare, 1, mechanism.StatGram),
		leaf(countsLeaf, countsShare, 1, mechanism.StatHistogram),
	}
	if !f.Derived {
		leaves = append(leaves,
			leaf(residualsLeaf, residualsShare, additiveEpochs, mechanism.StatHistogram))
	}
	leaves = append(leaves,
		leaf(linearLeaf, linearShare, additiveEpochs, mechanism.StatCross),
		leaf(shapesLeaf, shapesShareOf(f.Derived), additiveEpochs, mechanism.StatBinSums))
	if !f.Derived {
		leaves = append(leaves, leaf(meanLeaf, meanShare, 1, mechanism.StatBinSums))
	}
	return budget.Sequence(additiveNode, leaves...), nil
}

// shapesShareOf returns the share of the shapes. A target that encodes classes leaves them the shares of the residual scale
// and the mean.
func shapesShareOf(classes bool) float64 {
	if classes {
		return shapesShare + residualsShare + meanShare
	}
	return shapesShare
}

// Fit trains; see [method.Trainer].
func (Additive) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
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
		if _, err := b.epoch(epoch); err != nil {
			return nil, err
		}
	}
	if err := b.correctMean(1); err != nil {
		return nil, err
	}
	return b.fit(b.model(d.Ranges), additiveExcess), nil
}

// newBooster releases the initial matrix and returns a run that starts from it.
func newBooster(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*booster, error) {
	b := &booster{
		ctx:     ctx,
		session: s,
		records: d.Records,
		classes: d.Derived,
		columns: d.Columns,
	}
	if !b.classes {
		b.residualCounts = countsBySize
	}
	b.state = &state{Columns: d.Columns, Ranges: d.Ranges}
	if err := b.countValues(); err != nil {
		return nil, err
	}
	var err error
	if b.frame, err = linear.NewFrame(b.state.Columns, d.Ranges); err != nil {
		return nil, err
	}
	if b.moments, err = linear.ReleaseMoments(ctx, s, gramLeaf, b.state.Columns, d.Records,
		d.Ranges); err != nil {
		return nil, err
	}
	b.start, b.startCov = b.moments.Solve()
	b.state.Start = b.start
	b.second = b.moments.Distribution().Second
	var score mat.VecDense
	score.MulVec(b.second, mat.NewVecDense(len(b.start), b.start))
	b.score = score.RawVector().Data
	return b, nil
}

// fit returns the fit with model m, whose importances have intervals that are wider by the factor excess.
func (b *booster) fit(m regression.Model, excess float64) *method.Fit {
	return &method.Fit{
		Model:      m,
		TargetMean: b.moments.TargetMean(),
		Spreads:    [][]regression.Spread{b.spreads(indicators(b.state.Columns), excess)},
	}
}

// booster is one run: the released values and, by record, the private state computed from them.
type booster struct {
	ctx     context.Context
	session *mechanism.Session
	records mechanism.Records
	frame   *linear.Frame
	moments *linear.Moments
	classes bool
	columns []dataset.Column // as declared; columns of the state have entries for frequent values only
	valued  []*shape         // shapes of columns with many values

	releases releases

	start    []float64 // initial coefficients, by entry of x
	startCov covariance
	second   *mat.SymDense // the released sums of products of the entries of x
	score    []float64     // second times start
	linear   *correction
	shapes   []*shape
	counted  []counted

	total     float64                             // noisy number of records
	mu        float64                             // of a release of sensitivity 1 with the whole budget, relative to sums over all records
	rounds    int                                 // per epoch
	inTurn    bool                                // every sum has a pass of its own
	residuals mechanism.Bounded[mechanism.Vector] // residual sizes from the last pass that counted them

	residualCounts residualCounts // that epochs release
	clamp          clamp          // of the residuals, in this epoch

	meanClip          float64 // of the sum of the residuals at the end
	shift, shiftError float64 // of the constant, by the mean residual, in half widths of the target's range

	state *state
}

// prepare computes the initial state, releases the counts and makes the shapes: one for the score, the initial
// prediction, and one for every numeric feature with clearly more than two values.
func (b *booster) prepare() error {
	b.linear = newCorrection(b.moments)
	numeric, slots := numericFeatures(b.state.Columns)
	n, err := b.records.Len(b.ctx)
	if err != nil {
		return err
	}
	b.state.Slots, b.state.rowless, b.state.rowlessStore = slots, n > b.mostKept()/b.frame.Slots(),
		int64(n) > maxStoredCells/int64(b.frame.Slots())
	counts, err := b.releaseCounts()
	if err != nil {
		return err
	}
	sigma := b.session.Scale(countsLeaf)
	records := max(b.moments.Records(), minRecords)
	for i, j := range numeric {
		b.counted = append(b.counted, counted{j, slots[i], counts[i]})
	}
	// The initial model ignores these values, so their shapes come first.
	b.shapes = append(b.shapes, b.valued...)
	b.estimateStrength(counts[:len(numeric)])
	for i, j := range append(numeric, scoreColumn) {
		if j != scoreColumn && twoValued(counts[i], sigma, max(recordCount(counts), minRecords)) {
			continue
		}
		g := groupBins(counts[i], sigma, records)
		b.state.Moves = append(b.state.Moves, move{
			Bins: i,
			Of:   g.stepOf[:],
		})
		b.shapes = append(b.shapes, newShape(j, i, g))
	}
	return b.ctx.Err()
}

// estimateStrength derives the number of records, and thereby the precision of sums, from released counts.
func (b *booster) estimateStrength(counts [][]float64) {
	b.total = max(b.moments.Records(), minRecords)
	if len(counts) > 0 {
		b.total = max(recordCount(counts), minRecords)
	}
	b.mu = b.session.Mu(countsLeaf) / math.Sqrt(countsShare)
	if b.session.Relation() != budget.AddRemove {
		b.mu /= 2 // replacing a record moves sums by twice as much
	}
	// The initial matrix does not show correlations between the values of such a column and other columns.
	b.rounds = manyRounds
	b.inTurn = false
	if len(b.valued) > 0 || b.total*b.mu <= manyRecords {
		b.rounds = 1
		b.inTurn = true
	}
}

// mostKept returns the maximum number of cells of encoded rows that are kept in memory.
func (b *booster) mostKept() int {
	if len(linear.ManyValues(b.columns[:len(b.columns)-1])) > 0 {
		return keptValues
	}
	return keptRows
}

// numericFeatures lists the numeric features and their entries in x.
func numericFeatures(columns []dataset.Column) (features, slots []int) {
	for k, slot := range scaling.NewEncoder(columns[:len(columns)-1], nil).Slots() {
		if slot.Category == scaling.NumberSlot {
			features = append(features, slot.Column)
			slots = append(slots, k)
		}
	}
	return features, slots
}

// indicators lists the entries of x that are missing-cell indicators of numeric features.
func indicators(columns []dataset.Column) []int {
	var out []int
	slots := scaling.NewEncoder(columns[:len(columns)-1], nil).Slots()
	for k, slot := range slots {
		if k > 0 && columns[slot.Column].Kind == dataset.Numeric &&
			slots[k-1].Column == slot.Column {
			out = append(out, k)
		}
	}
	return out
}

// releaseCounts releases the number of records in each fine bin of each numeric feature and of the score.
func (b *booster) releaseCounts() ([][]float64, error) {
	acc, err := mechanism.Sum[*countsPass](
		b.ctx,
		b.session,
		b.records,
		countsStatistic{b.state, b.residualCounts},
	)
	if err != nil {
		return nil, err
	}
	b.keepCounts(acc.residuals)
	release := mechanism.Gaussian
	if len(b.valued) > 0 {
		release = func(
			s *mechanism.Session, leaf string, x mechanism.Bounded[mechanism.Vector],
		) (mechanism.Public[[]float64], error) {
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

// model converts the parts to original units. Shapes are centred on the released counts; their means go to the
// intercept.
func (b *booster) model(ranges []scaling.Range) *regression.Additive {
	target := b.frame.Target()
	first := b.moments.Linear(b.start, b.startCov)
	m := &regression.Additive{Linear: *b.moments.Linear(b.linear.total(b.start),
		b.ownCurves(b.covariance()))}
	for _, s := range b.shapes {
		if s.levels != nil {
			continue
		}
		r := target // range of the score
		if s.column != scoreColumn {
			r = ranges[s.column]
		}
		step, mean := s.step(r, target.Half())
		m.Intercept = saturate(m.Intercept + mean)
		m.InterceptStdError = saturate(
			math.Hypot(m.InterceptStdError, target.Half()*s.meanError(b.session.Scale(countsLeaf))))
		if len(step.Edges) == 0 {
			continue
		}
		if s.column != scoreColumn {
			m.Shapes = append(m.Shapes, regression.Shape{
				Column: s.column,
				Step:   step,
			})
			continue
		}
		m.Score = &regression.Score{
			Intercept: saturate(first.Intercept),
			Step:      step,
		}
		for _, term := range first.Terms {
			m.Score.Coefficients = append(m.Score.Coefficients, saturate(term.Coefficient))
		}
	}
	if len(b.valued) > 0 {
		b.addValues(m)
	}
	m.Intercept, m.InterceptStdError = b.shiftConstant(m.Intercept, m.InterceptStdError, target.Half())
	return m
}
