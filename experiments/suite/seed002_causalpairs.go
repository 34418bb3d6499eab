package suite

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// madePair returns a pair like those of SIM: the cause is a monotone random map of normal variates, and the effect is
// a random function of the cause and of another such column.
func madePair(g *generator, n int) causalPair {
	x := monotone(g, n)
	e := monotone(g, n)
	y := standardize(
		randomFunction(g, [][]float64{x, e}, []float64{gamma(g, 2, .5) + .5, gamma(g, 2, 2) + 1}))
	for i := range n {
		x[i] += .02 * g.normal()
		y[i] += .05 * g.normal()
	}
	return causalPair{x, y, true}
}

// monotone maps standard normal variates by the integral of the exponential of a random function.
func monotone(g *generator, n int) []float64 {
	z := g.normals(n)
	order := count(0, n)
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(z[i], z[j])
	})
	sorted := make([]float64, n)
	for k, i := range order {
		sorted[k] = z[i]
	}
	f := randomFunction(g, [][]float64{sorted}, []float64{gamma(g, 5, .1) + .3})
	out := make([]float64, n)
	sum := 0.
	for k, i := range order {
		if k > 0 {
			sum += (math.Exp(f[k]) + math.Exp(f[k-1])) / 2 * (sorted[k] - sorted[k-1])
		}
		out[i] = sum
	}
	return standardize(out)
}

// randomFunction returns the values of a random draw from a Gaussian process with one length scale per input,
// approximated by 100 random cosines.
func randomFunction(
	g *generator,
	inputs [][]float64,
	scales []float64,
) []float64 {
	const features = 100
	out := make([]float64, len(inputs[0]))
	for range features {
		w := make([]float64, len(inputs))
		for d := range w {
			w[d] = g.normal() / scales[d]
		}
		phase := 2 * math.Pi * g.uniform()
		height := g.normal() * math.Sqrt(2./features)
		for i := range out {
			at := phase
			for d, v := range inputs {
				at += w[d] * v[i]
			}
			out[i] += height * math.Cos(at)
		}
	}
	return out
}

// standardize maps a column to mean 0 and standard deviation 1.
func standardize(v []float64) []float64 {
	mean := 0.
	square := 0.
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		square += (x - mean) * (x - mean) / float64(len(v))
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = (x - mean) / math.Sqrt(square)
	}
	return out
}

// gamma returns a draw from the gamma distribution with an integer shape.
func gamma(g *generator, shape int, scale float64) float64 {
	sum := 0.
	for range shape {
		sum -= scale * math.Log(g.uniform())
	}
	return sum
}

// readCausalPairs reads a set of the archive: pairs of one column each.
func readCausalPairs(path, set string) (pairs []causalPair, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, file.Close())
	}()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if dir, name := filepath.Split(h.Name); filepath.Base(dir) == set {
			text, err := io.ReadAll(io.LimitReader(r, 1<<24))
			if err != nil {
				return nil, err
			}
			texts[name] = string(text)
		}
	}
	for line := range strings.Lines(texts["pairmeta.txt"]) {
		v := strings.Fields(line)
		if len(v) < 6 || v[1] != v[2] || v[3] != v[4] {
			continue
		}
		p := causalPair{forward: v[1] == "1"}
		for row := range strings.Lines(texts["pair"+v[0]+".txt"]) {
			cells := strings.Fields(row)
			if len(cells) != 2 {
				continue
			}
			a, err := strconv.ParseFloat(cells[0], 64)
			b, err2 := strconv.ParseFloat(cells[1], 64)
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			p.x = append(p.x, a)
			p.y = append(p.y, b)
		}
		if len(p.x) == 0 {
			return nil, fmt.Errorf("%w: pair %s of %s is empty", ErrData, v[0], set)
		}
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%w: %s has no pair of %s", ErrData, causalArchive, set)
	}
	return pairs, nil
}
