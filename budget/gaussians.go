package budget

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/internal/lanes"
)

// gaussians evaluates the curve of one Gaussian at many points. Mills' ratio, which takes longest, is computed for many arguments
// side by side.
type gaussians struct{ args, ratios, terms []float64 }

// deltas replaces every x by GaussianDelta(mu, |x|), bit by bit.
func (g *gaussians) deltas(mu float64, x []float64) {
	g.args = g.args[:0]
	for i := range x {
		if x[i] = math.Abs(x[i]); gaussianIsPlain(mu, x[i]) {
			g.args = gaussianArgs(g.args, mu, x[i])
		}
	}
	ratios := g.mills()
	for i, epsilon := range x {
		if !gaussianIsPlain(mu, epsilon) {
			x[i] = GaussianDelta(mu, epsilon)
			continue
		}
		x[i], ratios = gaussianOf(ratios, mu, epsilon)
	}
}

// mills returns mills of all args.
func (g *gaussians) mills() []float64 {
	g.ratios, g.terms = append(g.ratios[:0], g.args...), slices.Grow(g.terms[:0], len(g.args))
	for _, x := range g.args {
		n := 1.
		if x >= millsFar {
			n = float64(millsTerms(x))
		}
		g.terms = append(g.terms, n)
	}
	done := lanes.Fractions(g.ratios, g.terms)
	for i, x := range g.args[:done] {
		if x >= millsFar {
			g.ratios[i] = 1 / g.ratios[i]
		} else {
			g.ratios[i] = mills(x)
		}
	}
	others, ratios := g.args[done:], g.ratios[done:]
	for len(others) > 0 {
		if len(others) > 1 && others[0] <= others[1] {
			ratios[0], ratios[1] = mills2(others[0], others[1])
			others, ratios = others[2:], ratios[2:]
			continue
		}
		ratios[0] = mills(others[0])
		others, ratios = others[1:], ratios[1:]
	}
	return g.ratios
}
