package linear

import (
	"context"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

const (
	// labelSteps is the largest number of steps of [LabelMoments.Logistic].
	labelSteps = 200
	// labelTolerance is the decrement per record of the last step.
	labelTolerance = 1e-9
)

// A LabelScores is the logistic regression of private labels on public features. With labels y of -1 and +1 its loss is
//
//	sum_i log(1 + exp(-y_i theta.x_i)) = sum_i log(2 cosh(theta.x_i/2)) - theta.T/2, T = sum_i y_i x_i,
//
// and the labels enter through T alone. So one noisy T gives the whole loss: every further pass reads public features
// only. The minimiser has the ridge penalties of [Penalties] for the noise in T, by the curvature at theta = 0.
type LabelScores struct {
	*LabelMoments
	Theta  [][]float64                    // of each score, one weight per entry of x, the constant last
	Spread func(score int, k int) float64 // standard deviation of the noise in coordinate k of a score
}

// Logistic minimises the loss of each score of the records that [ReleaseLabels] read: of two classes, or of labels that
// are numbers, there is one score; of more there is one per class against the others, where a record in no class counts
// with the others. A step is that of Böhning and Lindsay (1988): G/4 bounds the second derivative everywhere, so no step
// raises the loss.
func (m *LabelMoments) Logistic(
	ctx context.Context, s *mechanism.Session, d method.Data,
) (*LabelScores, error) {
	halves, noise := m.halfSums()
	e := make([]float64, len(m.Noise)) // of G/4
	for k, v := range m.Spectrum.Values {
		e[k] = v / 4
	}
	penalties := make([][]float64, len(halves))
	at := make([][]float64, len(halves)) // theta in coordinates
	for t, q := range halves {
		penalties[t] = Penalties(e, q, noise)
		at[t] = make([]float64, len(q))
	}
	stat := labelGradientStatistic{
		Columns: d.Columns,
		Ranges:  d.Ranges,
	}
	for range labelSteps {
		stat.Theta = make([][]float64, len(at)) // passes may still use the old one
		for t := range at {
			stat.Theta[t] = m.Entries(at[t])
		}
		acc, err := mechanism.Sum[*labelGradientPass](ctx, s, d.Records, stat)
		if err != nil {
			return nil, err
		}
		decrement := 0.
		for t, cross := range acc.cross {
			exact, err := cross.Exact()
			if err != nil {
				return nil, err
			}
			gradient := m.rotated(exact.Value())
			for k := range gradient {
				if e[k]+penalties[t][k] <= m.floor() {
					continue
				}
				g := gradient[k]/2 - halves[t][k] + penalties[t][k]*at[t][k]
				step := g / (e[k] + penalties[t][k])
				at[t][k] -= step
				decrement += g * step
			}
		}
		if !(decrement > labelTolerance*m.records()) {
			break
		}
	}
	out := &LabelScores{
		LabelMoments: m,
		Spread: func(t, k int) float64 {
			if e[k]+penalties[t][k] <= m.floor() {
				return 0
			}
			return noise[k] / (e[k] + penalties[t][k])
		},
	}
	for t := range at {
		out.Theta = append(out.Theta, m.Entries(at[t]))
	}
	return out, ctx.Err()
}

// halfSums returns T/2 for each score, in coordinates, and the standard deviations of the noise in it. With more than
// two classes T is twice the sum of x over the class less the exact sum over all records.
func (m *LabelMoments) halfSums() (halves [][]float64, noise []float64) {
	if len(m.Products) == 1 {
		half := slices.Clone(m.Products[0])
		noise = slices.Clone(m.Noise)
		for k := range half {
			half[k] /= 2
			noise[k] /= 2
		}
		return [][]float64{half}, noise
	}
	totals := m.Totals()
	for _, q := range m.Products {
		half := slices.Clone(q)
		for k := range half {
			half[k] -= totals[k] / 2
		}
		halves = append(halves, half)
	}
	return halves, m.Noise
}

// labelGradientStatistic is the sum of tanh(theta.x/2) x for each score, over the public features of all records.
type labelGradientStatistic struct {
	Columns []dataset.Column
	Ranges  []scaling.Range
	Theta   [][]float64
}

// New implements [mechanism.Statistic].
func (x labelGradientStatistic) New(m mechanism.Maker) mechanism.Accumulator {
	f := newLabelFrame(x.Columns, x.Ranges)
	p := &labelGradientPass{
		rows:  f.newRows(),
		theta: x.Theta,
	}
	for range x.Theta {
		p.cross = append(p.cross, m.NewPublicCross(f.entries()))
	}
	return p
}

type labelGradientPass struct {
	rows   labelRows
	cross  []*mechanism.PublicCross
	theta  [][]float64
	slopes []float64
}

func (p *labelGradientPass) Add(b mechanism.Block) {
	x := p.rows.encode(b.Block)
	p.slopes = slices.Grow(p.slopes[:0], b.Len())[:b.Len()]
	for t, cross := range p.cross {
		RowMargins(p.slopes, x, p.theta[t])
		for i, m := range p.slopes {
			p.slopes[i] = math.Tanh(m / 2)
		}
		cross.Add(x, p.slopes)
	}
}

func (p *labelGradientPass) Cells() mechanism.Cells {
	var all []mechanism.Cells
	for _, cross := range p.cross {
		all = append(all, cross.Cells())
	}
	return mechanism.Join(all...)
}

// RowMargins writes theta.x for fixed-point rows, which have one slice per entry.
func RowMargins(out []float64, x [][]int16, theta []float64) {
	clear(out)
	for k, column := range x {
		w := theta[k] / mechanism.FixedOne
		for i, v := range column {
			if v != 0 {
				out[i] += float64(w * float64(v)) // the conversion forbids fusing
			}
		}
	}
}
