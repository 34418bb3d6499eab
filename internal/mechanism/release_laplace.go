package mechanism

import (
	"fmt"

	"github.com/dptrain/dptrain/budget"
)

// Laplace releases one number by the Laplace mechanism: x + round(Lap(b)),
// b = ceil(sensitivity/epsilon) in grid units. x carries an absolute
// sensitivity. The result is in the statistic's own measure. It spends draw
// number draw of a leaf priced as Laplace. (Dwork, McSherry, Nissim and Smith
// 2006)
func Laplace(
	s *Session,
	name string,
	draw int,
	x Bounded[int64],
) (Public[float64], error) {
	x, err := perUnit(s, name, x, Absolute)
	if err != nil {
		return Public[float64]{}, err
	}
	t, err := s.takeDraw(name, draw, budget.Laplace, x.statistic)
	if err != nil {
		return Public[float64]{}, err
	}
	b, err := s.scaleUp(roundUp(x.sens / t.law.Epsilon))
	if err != nil {
		return Public[float64]{}, fmt.Errorf("%w: %q", err, t.path)
	}
	b = s.core.tap.laplaceScale(b, x.sens, t.law.Epsilon)
	out := Vector{addSaturating(x.value, t.random.Laplace(b))}
	out = s.core.tap.watchVector(t, Vector{x.value}, x.sens, out)
	s.noteRelease(t, x.Sensitivity(), float64(b)*x.unit)
	return Public[float64]{float64(out[0]) * x.unit}, nil
}
