package adassp

import (
	"context"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// For classes, [JointGram] fits one score per class: the rows (x, e, kappa) hold the target as a block e of one
// 0/1 entry per class, and one noisy Gram matrix gives the least-squares fit of every class's entry. That takes
// one release, whereas one-versus-rest would take one per class.
//
// The bound is that of [mechanism.Gram]: a row limited to norm B moves the matrix by at most B^2 in Frobenius
// norm (sqrt 2 B^2 for a substituted row), whatever its entries mean. The block of the target contributes 1 to
// B^2, as every category block does. A record in no class has a block of zeros.
//
// If only private columns may change, the products of public entries with each other and with the classes are
// exact, as for a numeric target: the block of the target is public, and its length is at most that of a number
// in [-1, 1].

// fitClasses fits one score per class: near 1 for the records of the class and near 0 for the others.
func (t JointGram) fitClasses(
	ctx context.Context,
	s *mechanism.Session,
	data method.Data,
) (*method.Fit, error) {
	enc, d, fits, err := t.classFits(ctx, s, data)
	if err != nil {
		return nil, err
	}
	target := data.Target()
	model := &regression.Classifier{
		Target:  target.Name,
		Classes: target.Categories,
	}
	out := &method.Fit{Model: model, Scale: method.Shares}
	for _, fit := range fits {
		score := linear.Model(data.Columns, enc, fit, d, true)
		score.Lower = -method.ScoreLimit
		score.Upper = method.ScoreLimit
		model.Scores = append(model.Scores, score)
		out.Spreads = append(out.Spreads, linear.Spreads(data.Columns, enc, fit, d))
	}
	return out, nil
}

// classFits returns the fits in scaled units, the encoder that defines these units and the distribution of the
// features.
func (t JointGram) classFits(
	ctx context.Context,
	s *mechanism.Session,
	data method.Data,
) (*scaling.Encoder, linear.Distribution, []linear.Solution, error) {
	last := len(data.Columns) - 1
	enc := scaling.NewEncoder(data.Columns,
		append(data.Ranges[:last:last], scaling.Range{
			Lower:    -1,
			Upper:    1,
			Declared: true,
		}))
	if data.LabelOnly && !t.pure {
		return labelFits(ctx, s, data, enc)
	}
	if protectsFeaturesOnly(data.Columns, s.Relation()) {
		m, err := releasePartly(ctx, s, data.Columns, data.Records, data.Ranges)
		if err != nil {
			return nil, linear.Distribution{}, nil, err
		}
		return enc, m.distribution(), m.solve(), nil
	}
	m, err := linear.ReleaseMoments(
		ctx,
		s,
		"gram",
		data.Columns,
		data.Records,
		data.Ranges,
	)
	if err != nil {
		return nil, linear.Distribution{}, nil, err
	}
	first := m.Sums.P - 1 - len(data.Target().Categories)
	return enc, m.DistributionOf(first), m.SolveClasses(first), nil
}

// labelFits is classFits for a run that protects the target only: the moments of the features are exact, and one release
// holds the sum of the features of each class.
func labelFits(
	ctx context.Context,
	s *mechanism.Session,
	data method.Data,
	enc *scaling.Encoder,
) (*scaling.Encoder, linear.Distribution, []linear.Solution, error) {
	m, err := linear.ReleaseLabels(ctx, s, "gram", data)
	if err != nil {
		return nil, linear.Distribution{}, nil, err
	}
	fits := make([]linear.Solution, len(data.Target().Categories))
	for k := range fits {
		fits[k] = m.Solve(k, true)
	}
	return enc, m.Distribution(), fits, nil
}
