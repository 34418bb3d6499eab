package direction

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Source draws public random numbers: redraws reveal nothing about a record, since they depend only on a released
// histogram and public facts.
type Source interface {
	// Uint64 returns 64 uniform bits.
	Uint64() uint64
}

// Noise is the noise distribution of the counts of a histogram.
type Noise struct {
	// Scale is that of Laplace noise, or the standard deviation over the root of 2.
	Scale float64
	// Gaussian selects Gaussian noise instead of Laplace noise.
	Gaussian bool
}

// Sigma returns the standard deviation of the noise.
func (x Noise) Sigma() float64 {
	return math.Sqrt2 * x.Scale
}

// The numbers of redraws of [Stability] and of [Dependence].
const (
	Redraws     = 20
	FreeRedraws = 100
)

// Stability returns the share of redraws that prefer the same direction as the blend of scores of h, or 0 if the blend
// prefers neither. A redraw distributes as many records as h counts over the projected cells of h, and adds fresh
// noise of the same distribution, rounded to whole numbers.
func Stability(h Histogram, noise Noise, signed bool, src Source) float64 {
	kept := 0
	preferred := BlendScore(h, signed).Prefers()
	for range Redraws {
		if x := BlendScore(redrawHistogram(h, noise, src), signed).Prefers(); x != 0 &&
			x == preferred {
			kept++
		}
	}
	return float64(kept) / Redraws
}

// Dependence returns the share of redraws without any dependence of the columns that look
// less dependent than h does: near 1 where the columns depend on each other, and anything
// in [0, 1] where they do not. Without dependence the scores compare the entropies of the
// columns alone, and is as stable as it is meaningless.
func Dependence(h Histogram, noise Noise, src Source) float64 {
	seen := marginDependence(h)
	less := 0
	rows, columns := h.margins()
	total := math.Max(h.Total(), 1)
	rows, columns = projectSimplex(rows, total), projectSimplex(columns, total)
	free := Histogram{h.B, make([]float64, len(h.Counts))}
	for i, x := range rows {
		for j, y := range columns {
			free.Counts[i*h.B+j] = x * y / total
		}
	}
	for range FreeRedraws {
		if marginDependence(redrawHistogram(free, noise, src)) < seen {
			less++
		}
	}
	return float64(less) / FreeRedraws
}

// marginDependence is the sum of the squared distances of the counts from those of independent
// columns with the same sums. Noise in the counts moves it by the same amount whatever the
// columns are like.
func marginDependence(h Histogram) float64 {
	rows, columns := h.margins()
	total := math.Max(h.Total(), 1)
	d := 0.
	for i, x := range rows {
		for j, y := range columns {
			e := h.Counts[i*h.B+j] - x*y/total
			d += e * e
		}
	}
	return d
}

// maxRecords bounds the number of records that a redraw deals: whole numbers up to it are
// exact in float64.
const maxRecords = 1 << 52

// redrawHistogram returns a histogram like h with fresh noise.
func redrawHistogram(h Histogram, noise Noise, src Source) Histogram {
	p := normalizeAbove(h.Projected().Counts, 1e-9)
	out := Histogram{h.B, make([]float64, len(p))}
	left := math.Min(math.Max(math.Round(h.Total()), 1), maxRecords)
	rest := 1.
	for i, x := range p {
		out.Counts[i] = drawBinomial(left, math.Min(x/math.Max(rest, 1e-300), 1), src)
		left -= out.Counts[i]
		rest -= x
	}
	for i := range out.Counts {
		out.Counts[i] += math.Round(noise.drawNoise(src))
	}
	return out
}

// drawBinomial returns a draw of the binomial law.
func drawBinomial(n, p float64, src Source) float64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	}
	return math.Min(math.Max(distuv.Binomial{
		N:   n,
		P:   p,
		Src: src,
	}.Rand(), 0), n)
}

// drawNoise returns a draw of the noise.
func (x Noise) drawNoise(src Source) float64 {
	if x.Gaussian {
		return distuv.Normal{
			Sigma: x.Sigma(),
			Src:   src,
		}.Rand()
	}
	return distuv.Laplace{Scale: x.Scale, Src: src}.Rand()
}
