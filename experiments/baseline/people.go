package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	peopleNode = "people"
	meansLeaf  = "means"
	// PeopleRounds is the default number of rounds, the same as in the boosting that it is compared with.
	PeopleRounds = 25
	maxRounds    = 1 << 10
	// The weights are clipped as in that boosting.
	lowerWeight, upperWeight = .5, 2.
)

// People is boosting that fits a classifier to the private columns under the current weights, as in "Boosting and
// Differential Privacy" (Dwork, Rothblum and Vadhan, 2010). Noise is needed for the weights and rows that the learner
// uses, and again for the accuracy that determines the next weights.
//
// The model starts from logistic regression on the public columns, without noise: half its log odds m is the first part
// of the score, and w = clip(exp(-y m), l, u). In each round the weighted sums of the rows of either class are released;
// h is the nearest-mean classifier; the sum N of w y h is released; alpha = clip(N/n, -1, 1) and
// w <- clip(w exp(-alpha y h), l, u). The two releases of a round get equal parts of mu^2.
//
// # Privacy
//
// Given the releases so far, the weights of all records but the changed one are equal in both tables. The weight of the
// changed record stays in [l, u], since it depends only on that record and on released values. Its row z = (x, kappa),
// limited to norm B, is added to the entries of its class, which is public and does not change. So the sums of w z move
// by |w z - w' z'| <= 2 u B ([mechanism.Cross]) and N by 2u ([mechanism.Agreement]).
//
// A learner with access to the weights themselves would need noise on each. One of n weights changes, by at most u - l,
// which requires noise of (u - l)/mu per round on numbers that differ by u - l: at epsilon 1 over 25 rounds, with a
// third of mu^2, the noise is thirty times as large as the difference. The weighted sums need noise of that size only
// once, for all records together.
type People struct {
	// Columns are the features in order and then the target, of two classes.
	Columns []dataset.Column
	// Rounds is the number of rounds; 0 selects PeopleRounds.
	Rounds int
}

func (t People) rounds() int {
	if t.Rounds == 0 {
		return PeopleRounds
	}
	return t.Rounds
}

// Plan returns the leaves of the class means and of the agreement, or [ErrColumns] or [ErrSetting].
func (t People) Plan() (budget.Node, error) {
	if err := check(t.Columns); err != nil {
		return budget.Node{}, err
	}
	if n := t.rounds(); n < 1 || n > maxRounds {
		return budget.Node{}, fmt.Errorf("%w: %d rounds; choose 1 to %d", ErrSetting, n, maxRounds)
	}
	return budget.Sequence(peopleNode,
		budget.GaussianLeaf(meansLeaf, linear.GramShare/2, t.rounds()),
		budget.GaussianLeaf(agreementLeaf, linear.GramShare/2, t.rounds())), nil
}

// A PeopleModel is the model that People learns. All of it is public.
type PeopleModel struct {
	start   *Open
	private []int
	enc     *scaling.Encoder
	members []member
}

// member is a linear classifier of encoded rows.
type member struct {
	alpha    float64
	constant float64
	theta    []float64 // of the slots
}

// Run trains on the records of v, whose columns are t.Columns. The list ranges has one entry per column. The session
// s is that of the parent of the node that Plan returned.
func (t People) Run(
	ctx context.Context,
	s *mechanism.Session,
	v dataset.View,
	ranges []scaling.Range,
) (*PeopleModel, error) {
	if err := checkRelation(s); err != nil {
		return nil, err
	}
	s = s.Sub(peopleNode)
	private, public := splitFeatures(t.Columns)
	start, err := FitOpen(ctx, nonprivate.NonprivateLogistic, v, public)
	if err != nil {
		return nil, err
	}
	m := &PeopleModel{
		start:   start,
		private: private,
		enc:     scaling.NewEncoder(elementsAt(t.Columns, private), elementsAt(ranges, private)),
	}
	margins, err := m.margins(v)
	if err != nil {
		return nil, err
	}
	p := peopleRun{
		model:   m,
		session: s,
		labels:  Labels(v),
		rows:    m.encode(v),
		weights: make([]float64, v.Len()),
	}
	for i, label := range p.labels {
		p.weights[i] = clip(math.Exp(-sign(label) * margins[i]))
	}
	for round := range t.rounds() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.round(round); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Predict returns the class of every record of a view with the same columns as the training view.
func (m *PeopleModel) Predict(v dataset.View) ([]int32, error) {
	scores, err := m.margins(v)
	if err != nil {
		return nil, err
	}
	rows := m.encode(v)
	for _, h := range m.members {
		for i, x := range h.scores(rows, v.Len()) {
			scores[i] += math.Copysign(h.alpha, h.alpha*x)
		}
	}
	return signs(scores), nil
}

// margins returns the contribution of public columns to the score, clamped to [-8, 8].
func (m *PeopleModel) margins(v dataset.View) ([]float64, error) {
	scores, err := m.start.Scores(v)
	for i, x := range scores {
		scores[i] = min(max(x/2, -8), 8)
	}
	return scores, err
}

// encode returns the fixed-point private columns, one slice per slot.
func (m *PeopleModel) encode(v dataset.View) [][]int16 {
	rows := make([][]int16, len(m.enc.Slots()))
	for k := range rows {
		rows[k] = make([]int16, v.Len())
	}
	seen := v.Columns(m.private)
	m.enc.Encode(seen.Block(0, seen.Len()), rows, &scaling.Scratch{})
	return rows
}

func (h member) scores(rows [][]int16, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = h.constant
	}
	for k, column := range rows {
		w := h.theta[k] / mechanism.FixedOne
		for i, x := range column {
			if x != 0 {
				out[i] += float64(w * float64(x)) // the conversion prevents fused multiply-add
			}
		}
	}
	return out
}

func sign(label int32) float64 {
	switch label {
	case 0:
		return -1
	case 1:
		return 1
	}
	return 0
}

func clip(w float64) float64 {
	return min(max(w, lowerWeight), upperWeight)
}

// A peopleRun is the state of one run.
type peopleRun struct {
	model   *PeopleModel
	session *mechanism.Session
	labels  []int32
	rows    [][]int16
	weights []float64
}

func (p *peopleRun) round(round int) error {
	sums := p.sums()
	noisy, err := mechanism.GaussianDraw(p.session, meansLeaf, round, sums.Bound())
	if err != nil {
		return err
	}
	h := nearerMean(noisy.Value())
	votes := make([]int8, len(p.labels))
	for i, x := range h.scores(p.rows, len(votes)) {
		votes[i] = int8(sign(p.labels[i]))
		if x < 0 {
			votes[i] = -votes[i]
		}
	}
	agreement := p.session.NewAgreement(lowerWeight, upperWeight)
	agreement.Add(p.weights, votes)
	released, err := mechanism.GaussianDraw(
		p.session,
		agreementLeaf,
		round,
		mechanism.Alone(agreement.Sum()),
	)
	if err != nil {
		return err
	}
	h.alpha = min(max(released.Value()[0]/float64(max(len(votes), 1)), -1), 1)
	for i, v := range votes {
		p.weights[i] = clip(p.weights[i] * math.Exp(-h.alpha*float64(v)))
	}
	p.model.members = append(p.model.members, h)
	return nil
}

// sums returns the weighted sums of the rows of either class: the entries of class 0 with their constant, and then
// those of class 1.
func (p *peopleRun) sums() *mechanism.Cross {
	size := len(p.rows) + 1
	out := p.session.NewCross(2*size, p.model.enc.NormLimit(linear.Kappa), upperWeight)
	const block = dataset.DefaultBlockRows
	for lo := 0; lo < len(p.labels); lo += block {
		hi := min(lo+block, len(p.labels))
		entries := make([][]int16, 2*size)
		for k := range entries {
			entries[k] = make([]int16, hi-lo)
		}
		for i := lo; i < hi; i++ {
			c := int(p.labels[i])
			if c > 1 {
				continue
			}
			for k, column := range p.rows {
				entries[c*size+k][i-lo] = column[i]
			}
			entries[c*size+size-1][i-lo] = scaling.FixedPoint(linear.Kappa)
		}
		out.Add(entries, p.weights[lo:hi])
	}
	return out
}

// nearerMean returns the nearest-mean classifier for the sums of either class.
func nearerMean(sums []float64) member {
	size := len(sums) / 2
	h := member{theta: make([]float64, size-1)}
	mean := func(c, k int) float64 {
		weight := max(sums[c*size+size-1]/linear.Kappa, 1) // at least one record's
		return min(max(sums[c*size+k]/weight, -1), 1)
	}
	for k := range h.theta {
		low, high := mean(0, k), mean(1, k)
		h.theta[k] = high - low
		h.constant -= (high - low) * (high + low) / 2
	}
	return h
}
