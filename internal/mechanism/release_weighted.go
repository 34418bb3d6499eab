package mechanism

import "fmt"

// A Weighted is a list of statistics in different measures that are released together.
// Coordinate k has the weight Weights[k] in the norm that the sensitivity bounds, and
// one of its grid units is worth Units[k]. Weights and units are public.
type Weighted struct {
	Values  Vector
	Weights []float64
	Units   []float64
}

// WeightedGaussian releases statistics of different measures by one Gaussian
// mechanism. With D the sensitivity of x, |w * (v - v')| <= D for the values v
// and v' of neighbouring tables, coordinate k gets round(N(0, sigma_k^2)) in its
// own grid units, sigma_k = ceil(D/(mu w_k)). In coordinates w_k v_k the noise is
// at least N(0, (D/mu)^2) in each, so the step is mu-GDP. The results are in the
// measures of the statistics, with the standard deviation of the noise in each.
// It spends draw 0 of the leaf name.
func WeightedGaussian(
	s *Session,
	name string,
	x Bounded[Weighted],
) (values, deviations Public[[]float64], err error) {
	var none Public[[]float64]
	x, err = perUnit(s, name, x, L2)
	if err != nil {
		return none, none, err
	}
	t, _, err := s.takeGaussian(name, 0, x.statistic, x.sens, len(x.value.Values))
	if err != nil {
		return none, none, err
	}
	noise := x.sens / t.law.Mu
	out := make(Vector, len(x.value.Values))
	scales := make([]float64, len(x.value.Values))
	for k, v := range x.value.Values {
		sigma, err := s.scaleUp(roundUp(noise / x.value.Weights[k]))
		if err != nil {
			return none, none, fmt.Errorf("%w: %q", err, t.path)
		}
		out[k] = addSaturating(v, t.random.Normal(sigma))
		scales[k] = float64(sigma) * x.value.Units[k]
	}
	out = s.core.tap.watchWeighted(t, x.value, x.sens, out)
	s.noteRelease(t, x.Sensitivity(), noise*x.unit)
	released := make([]float64, len(out))
	for k, v := range out {
		released[k] = float64(v) * x.value.Units[k]
	}
	return Public[[]float64]{released}, Public[[]float64]{scales}, nil
}
