package boosting

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// brcRun is one boosting run: a class against the others.
type brcRun struct {
	set     brcSettings
	session *mechanism.Session
	columns []dataset.Column
	enc     *scaling.Encoder
	records float64

	public  *publicSide // nil if there are no public columns
	private *privateSide

	start        *publicClassifier // optional
	labels       method.Data       // for the start from private labels, the target recoded as a number
	members      []regression.Member
	publicRounds int
}

// newRun prepares the run of a class, with labels +1 for it, -1 for another declared class and 0 for records in
// no class.
func newRun(
	ctx context.Context,
	s *mechanism.Session,
	set brcSettings,
	d method.Data,
	positive int32,
) (*brcRun, error) {
	private, public := splitFeatures(d.Facts)
	columns := d.Columns
	ranges := d.Ranges
	v, err := d.Records.View(ctx)
	if err != nil {
		return nil, err
	}
	labels := labelsOf(v, len(columns)-1, positive, int32(len(d.Target().Categories)))
	// The target is a category and has no range.
	b := &brcRun{
		set:     set,
		session: s,
		columns: columns,
		enc:     scaling.NewEncoder(columns[:len(columns)-1], ranges),
	}
	if len(public) > 0 {
		rows, err := encodeFeatures(
			ctx,
			v.Columns(public),
			selectItems(columns, public),
			selectItems(ranges, public),
		)
		if err != nil {
			return nil, err
		}
		b.public = newPublicSide(publicRows{rows, public}, labels)
	}
	b.private = &privateSide{
		labels: labels,
		names:  private,
		stream: s.PublicStream("classifiers"),
		all:    set.published,
		zero:   set.intercept != randomIntercept,
	}
	b.private.features, err = encodeFeatures(
		ctx,
		v.Columns(private),
		selectItems(columns, private),
		selectItems(ranges, private),
	)
	if err != nil {
		return nil, err
	}
	if set.startsFromLabels(d.Facts) {
		b.labels = labelData(d, positive)
	}
	b.private.weights = make([]float64, v.Len())
	for i := range b.private.weights {
		b.private.weights[i] = set.reference()
	}
	return b, nil
}

// labelData returns the data with the target as a number: +1 for the class, -1 for another declared one, 0 for no class.
func labelData(d method.Data, positive int32) method.Data {
	last := len(d.Columns) - 1
	values := make([]float64, len(d.Target().Categories)+1)
	for k := range d.Target().Categories {
		values[k] = -1
	}
	values[positive] = 1
	number := dataset.Column{
		Name:    d.Target().Name,
		Ranged:  true,
		Lower:   -1,
		Upper:   1,
		Private: d.Target().Private,
	}
	d.Records = d.Records.Recode(last, number, values)
	d.Columns = append(d.Columns[:last:last], number)
	d.Ranges = append(d.Ranges[:last:last], scaling.Range{
		Lower:    -1,
		Upper:    1,
		Declared: true,
	})
	return d
}

func labelsOf(v dataset.View, target int, positive, classes int32) []int8 {
	out := make([]int8, v.Len())
	for i, c := range v.Block(0, v.Len()).Codes(target, nil) {
		switch {
		case c == positive:
			out[i] = 1
		case c < classes:
			out[i] = -1
		}
	}
	return out
}

func selectItems[T any](list []T, indices []int) []T {
	out := make([]T, len(indices))
	for k, j := range indices {
		out[k] = list[j]
	}
	return out
}

// boost runs the rounds. In each round a random classifier is drawn independently of the data, and its
// agreement with the labels under the private weights is released. Of it and the public classifier, the one
// further from chance joins the model, and only its own side reweighs the records.
func (b *brcRun) boost(ctx context.Context) error {
	if b.public != nil && !b.set.published {
		if err := b.startFromPublic(ctx); err != nil {
			return err
		}
	}
	if b.labels.LabelOnly {
		if err := b.startFromLabels(ctx); err != nil {
			return err
		}
	}
	if len(b.private.features) == 0 {
		return ctx.Err() // no random classifier can be drawn
	}
	for round := range b.set.rounds {
		h, err := b.classifier(round)
		if err != nil {
			return err
		}
		votes := b.private.votes(h)
		alpha, err := b.agreement(ctx, round, votes)
		if err != nil {
			return err
		}
		if b.public != nil {
			f, err := b.public.best(ctx)
			if err != nil {
				return err
			}
			if math.Abs(f.edge) >= math.Abs(alpha) {
				b.members = append(b.members, f.member(b, f.edge))
				b.public.reweigh(f)
				b.publicRounds++
				continue
			}
		}
		b.members = append(b.members, h.member(b, alpha))
		b.private.reweigh(votes, alpha, b.set)
	}
	return ctx.Err()
}

// classifier returns the random classifier of a round. Its coefficients are independent of the records; its
// intercept depends on releases only.
func (b *brcRun) classifier(round int) (weighted, error) {
	h, span := b.private.draw()
	if b.set.intercept != chosenIntercept {
		return h, nil
	}
	acc := b.session.NewIntercepts(b.set.lower, b.set.upper, interceptCandidates)
	acc.Add(b.private.weights, b.private.labels, b.private.firstIntercepts(h, span))
	chosen, err := mechanism.Choose(b.session, interceptLeaf, round, acc.Scores())
	h.intercept = interceptAt(chosen.Value(), span)
	return h, err
}

// startFromPublic starts with the score of the public classifier, half its log odds: the private weights become
// those of a booster that started with this model.
func (b *brcRun) startFromPublic(ctx context.Context) error {
	f, err := b.public.best(ctx)
	if err != nil {
		return err
	}
	b.start = f
	margin := b.public.start(f)
	for i, m := range margin {
		y := float64(b.private.labels[i])
		b.private.weights[i] = b.set.clip(b.set.reference() * math.Exp(-y*m))
	}
	return nil
}

// startFromLabels is startFromPublic for a private target. It releases a logistic regression of the labels on the public
// features with noise; the weights of the records depend on their labels and on that release.
func (b *brcRun) startFromLabels(ctx context.Context) error {
	m, err := linear.ReleaseLabels(ctx, b.session, startLeaf, b.labels)
	if err != nil {
		return err
	}
	x, err := m.Logistic(ctx, b.session, b.labels)
	if err != nil {
		return err
	}
	theta := x.Theta[0]
	f := &publicClassifier{}
	for k := range b.private.features {
		w := b.private.features[k].width()
		f.columns = append(f.columns, b.private.names[k])
		f.levels = append(f.levels, theta[:w])
		theta = theta[w:]
	}
	f.intercept = linear.Kappa * theta[0]
	b.start = f
	for i, score := range b.private.scores(f.weighted) {
		margin := min(max(score/2, -8), 8)
		b.private.weights[i] = b.set.clip(b.set.reference() *
			math.Exp(-float64(b.private.labels[i])*margin))
	}
	return nil
}

// clip limits a weight to [l, u].
func (set brcSettings) clip(w float64) float64 {
	return min(max(w, set.lower), set.upper)
}

// agreement releases the agreement of the votes with the labels and returns alpha, in [-1, 1]: the noisy sum of
// w y h over sqrt(l u) times the number of records; in the published form, twice the noisy accuracy minus 1.
func (b *brcRun) agreement(
	ctx context.Context,
	round int,
	votes []int8,
) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	acc := b.session.NewAgreement(b.set.lower, b.set.upper)
	acc.Add(b.private.weights, votes)
	if b.set.published {
		ratio, err := acc.Ratio()
		if err != nil {
			return 0, err
		}
		rate, err := b.set.release(b.session, agreementLeaf, round, ratio)
		return 2*min(max(rate, 0), 1) - 1, err
	}
	sum, err := b.set.release(b.session, agreementLeaf, round, acc.Sum())
	return min(max(sum/(b.set.reference()*b.records), -1), 1), err
}

// model converts the members to original units.
func (b *brcRun) model() *regression.Votes {
	target := b.columns[len(b.columns)-1].Name
	m := &regression.Votes{
		Linear: regression.Linear{
			Target:  target,
			Columns: linear.Inputs(b.columns[:len(b.columns)-1], b.enc),
			Lower:   -regression.Unbounded,
			Upper:   regression.Unbounded,
		},
		Members: b.members,
	}
	if b.start != nil {
		// Half the log odds is the margin of a booster.
		half := b.start.member(b, 1)
		m.Intercept = saturate(half.Intercept / 2)
		for _, t := range half.Terms {
			t.Coefficient /= 2
			m.Terms = append(m.Terms, t)
		}
	}
	return m
}

// weighted is a linear classifier of some columns of a run in scaled units.
type weighted struct {
	intercept float64
	columns   []int       // as columns of the run
	levels    [][]float64 // one coefficient for a number, one a level for a category
}

// member converts a linear classifier to original units.
func (h weighted) member(b *brcRun, weight float64) regression.Member {
	m := regression.Member{
		Weight:    weight,
		Intercept: h.intercept,
	}
	for k, j := range h.columns {
		c := b.columns[j]
		if c.Kind == dataset.Numeric {
			r := b.enc.Range(j)
			slope := saturate(h.levels[k][0] / r.Half())
			m.Terms = append(m.Terms, regression.Term{
				Column:      j,
				Coefficient: slope,
			})
			m.Intercept = saturate(m.Intercept - slope*r.Center())
			continue
		}
		for level, v := range h.levels[k] {
			t := regression.Term{
				Column:      j,
				Coefficient: v,
				Other:       level == len(c.Categories),
			}
			if !t.Other {
				t.Category = c.Categories[level]
			}
			m.Terms = append(m.Terms, t)
		}
	}
	return m
}
