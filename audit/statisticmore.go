package audit

import (
	"context"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/kendall"
	"github.com/dptrain/dptrain/mechanism"
)

// chooseKendall has a column that agrees with the target everywhere but at the
// record, which costs it 3/2 (2 under substitution), and one that is nearly
// constant but for it, which gains 1 (2).
func chooseKendall(ctx context.Context, s *mechanism.Session, law budget.Law, side int) (release, error) {
	width := 2.5
	if s.Relation() != budget.AddRemove {
		width = 4
	}
	n := 2 * lead(law, width)
	var target, agrees, constant []float64
	for i := range n {
		target, agrees, constant = append(target, float64(i)), append(agrees, float64(i)), append(constant, 0)
	}
	if s.Relation() != budget.AddRemove {
		constant[0] = -1 // |S| is n-1 without the record, so that it can fall to 0
	}
	switch sign(s.Relation(), side) {
	case 1: // above all targets: the first column lowest of all, the second highest
		target, agrees, constant = append(target, float64(n)), append(agrees, -1), append(constant, 1)
	case -1:
		target, agrees, constant = append(target, float64(n)), append(agrees, float64(n)), append(constant, -2)
	}
	columns := [][]float64{constant, agrees}
	k, err := s.NewKendallOnce(ctx, len(columns), func(j int, scratch *kendall.Scratch) *kendall.Ranks {
		return kendall.Rank(columns[j], scratch)
	}, kendall.Rank(target, nil))
	if err != nil {
		return nil, err
	}
	return choice(k.Scores([]int{0, 1}), 2), nil
}

// depth is a cloud of one dimension in which all points but a few coincide, so
// many of them that the check passes about half of the time. On side 1 one of
// them moves away.
func depth(_ context.Context, s *mechanism.Session, law budget.Law, side int) (release, error) {
	// The check compares h with ln(1/(2 delta))/e1, e1 = .4 epsilon. With m points
	// of which all but u on either side coincide, h is m/4 - 2 - u, unless the
	// weight of the points is too small: another m/4 of about ln(1/delta)/(.3
	// epsilon) steps of depth.
	h := math.Log(1/(2*law.Delta))/(.4*law.Epsilon) + 1
	steps := math.Ceil(math.Log(1/law.Delta)/(.3*law.Epsilon)) + 2
	quarter := int(math.Ceil(h+steps)) + 4
	u := quarter - 2 - int(math.Round(h))
	m := 4 * quarter
	p := s.NewPoints(m, 1)
	for i := range u {
		p.Set(i, []float64{-1})
		p.Set(u+i, []float64{1})
	}
	if side == 1 {
		p.Set(2*u, []float64{1})
	}
	x := p.Bound()
	return func(s *mechanism.Session, name string, _ int) ([]float64, error) {
		point, ok, err := mechanism.TukeyDepth(s, name, x)
		if !ok {
			return []float64{0, 0}, err
		}
		return []float64{1, point.Value()[0]}, err
	}, nil
}
