package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSpreadOfCells computes the example of the specification.
func TestSpreadOfCells(t *testing.T) {
	s := Cells{
		Values: []float64{-.2, 0, .1, .3},
		Counts: []float64{10, 40, 30, 20},
		Noise:  []float64{5, 5, 5, 5},
	}.Spread()
	value, lower, upper := s.Root(1.96)
	for _, x := range [][2]float64{
		{s.Variance, .0201},
		{s.CountError, .003340},
		{value, .141774},
		{lower, math.Sqrt(.0201 - 1.96*.003340)},
		{upper, math.Sqrt(.0201 + 1.96*.003340)},
	} {
		if math.Abs(x[0]-x[1]) > 1e-5 {
			t.Errorf(
				"got %v, want %v",
				x[0], x[1],
			)
		}
	}
}

// TestExcessWidensIntervals checks that noise beyond the covariance counts as that many more standard deviations, and
// that a factor below 1 changes nothing.
func TestExcessWidensIntervals(t *testing.T) {
	s := Cells{
		Values: []float64{-.2, 0, .1, .3},
		Counts: []float64{10, 40, 30, 20},
		Noise:  []float64{5, 5, 5, 5},
		Cov:    mat.NewSymDense(4, []float64{.01, 0, 0, 0, 0, .01, 0, 0, 0, 0, .01, 0, 0, 0, 0, .01}),
	}.Spread()
	wide := s
	wide.Excess = 2.5
	narrow := s
	narrow.Excess = .5
	value, lower, upper := s.Root(2.5)
	if v, lo, hi := wide.Root(1); v != value || lo != lower || hi != upper {
		t.Errorf("%v, %v to %v; want %v, %v to %v", v, lo, hi, value, lower, upper)
	}
	value, lower, upper = s.Root(1)
	if v, lo, hi := narrow.Root(1); v != value || lo != lower || hi != upper {
		t.Errorf("%v, %v to %v; want %v, %v to %v", v, lo, hi, value, lower, upper)
	}
}

// TestSpreadWithoutRecords checks that, if the number of records cannot be distinguished from 0, the root is
// only bounded by half the range of the values.
func TestSpreadWithoutRecords(t *testing.T) {
	c := Cells{
		Values: []float64{-1, 3},
		Counts: []float64{4, 3},
		Noise:  []float64{5, 5},
	}
	value, lower, upper := c.Spread().Root(2)
	if value != 0 || lower != 0 || upper != 2 {
		t.Errorf(
			"%v, %v to %v",
			value, lower, upper,
		)
	}
	c.Cov = mat.NewSymDense(2, []float64{.25, 0, 0, .0625})
	if _, _, upper := c.Spread().Root(2); upper != 3 {
		t.Errorf("up to %v, want 3", upper)
	}
	huge := Spread{
		Variance: 1e200,
		Most:     1e300,
		Unit:     1e300,
	}
	if value, _, _ := huge.Root(2); value != 1e300 {
		t.Errorf("%v", value)
	}
}

// TestSpreadOfNoise checks that a category without effect has an interval that excludes 0 in about 5% of the
// runs, for any number of levels. With 4,000 runs and a chance of .055, more than 320 have probability below
// 1e-9.
func TestSpreadOfNoise(t *testing.T) {
	const (
		runs = 4000
		most = 320
	)
	for _, levels := range []int{2, 5, 12} {
		c := Cells{
			Values: make([]float64, levels),
			Counts: make([]float64, levels),
			Noise:  make([]float64, levels),
			Cov:    mat.NewSymDense(levels, nil),
		}
		for v := range levels {
			c.Counts[v] = 100 + 30*float64(v)
			c.Cov.SetSym(v, v, 1/c.Counts[v])
		}
		told := 0
		for range runs {
			for v := range levels {
				c.Values[v] = rand.NormFloat64() / math.Sqrt(c.Counts[v])
			}
			_, lower, _ := c.Spread().Root(1.96)
			if lower > 0 {
				told++
			}
		}
		if told > most {
			t.Errorf(
				"%d levels: told from 0 in %d of %d runs",
				levels, told, runs,
			)
		}
	}
}

// TestSpreadCovers checks that the interval covers the truth in about 95% of the runs, with noise in the counts
// and in the values. With 2,000 runs and a chance of .94 each, 1,790 or fewer have probability below 1e-9.
func TestSpreadCovers(t *testing.T) {
	const (
		runs  = 2000
		least = 1790
		cells = 32
	)
	for _, c := range []struct{ sigma, deviation float64 }{{5, 0}, {20, .05}, {60, .1}} {
		x := make([]float64, cells)
		truth := 0.
		total := 0.
		for b := range x {
			x[b] = (2*float64(b)+1)/cells - 1
			total += cellCount(b)
			truth += cellCount(b) * x[b] * x[b]
		}
		truth = math.Sqrt(truth / total)
		held := 0
		for range runs {
			slope := 1 + c.deviation*rand.NormFloat64()
			in := Cells{
				Basis: mat.NewDense(cells, 1, x),
				Cov:   mat.NewSymDense(1, []float64{c.deviation * c.deviation}),
			}
			for b := range x {
				in.Values = append(in.Values, slope*x[b])
				in.Noise = append(in.Noise, c.sigma)
				in.Counts = append(in.Counts, cellCount(b)+c.sigma*rand.NormFloat64())
			}
			_, lower, upper := in.Spread().Root(1.96)
			if lower <= truth && truth <= upper {
				held++
			}
		}
		if held <= least {
			t.Errorf(
				"noise %v and %v: held in %d of %d runs",
				c.sigma,
				c.deviation,
				held,
				runs,
			)
		}
	}
}

// cellCount returns the number of records in a cell of TestSpreadCovers, symmetric about 0.
func cellCount(b int) float64 {
	return 200 - 10*math.Abs(float64(b)-15.5)
}

// TestLineBeyondTheCounts checks that an independent estimate of a line narrows the interval, and is ignored if
// it contradicts the counts.
func TestLineBeyondTheCounts(t *testing.T) {
	const cells = 32
	c := Cells{
		Basis: mat.NewDense(cells, 1, nil),
		Cov:   mat.NewSymDense(1, nil),
	}
	variance := 0.
	total := 0.
	for b := range cells {
		x := (2*float64(b)+1)/cells - 1
		c.Basis.Set(b, 0, x)
		c.Values, c.Counts, c.Noise = append(c.Values, 2*x), append(c.Counts, cellCount(b)),
			append(c.Noise, 40)
		total += cellCount(b)
		variance += cellCount(b) * x * x
	}
	variance /= total
	_, lower, upper := c.Spread().Root(1.96)
	c.Line = &Line{
		Coefficient: 2,
		Variance:    variance,
		Noise:       .001,
	}
	value, nearer, below := c.Spread().Root(1.96)
	if math.Abs(value-2*math.Sqrt(variance)) > .01 ||
		!(below-nearer < (upper-lower)/5) {
		t.Errorf(
			"%v, %v to %v, by counts alone %v to %v",
			value, nearer, below, lower, upper,
		)
	}
	for b := range c.Noise {
		c.Noise[b] = .1
	}
	c.Line.Variance = variance / 2
	value, _, _ = c.Spread().Root(1.96)
	if math.Abs(value-2*math.Sqrt(variance)) > .01 {
		t.Errorf(
			"a line that contradicts the counts: %v, want %v",
			value,
			2*math.Sqrt(variance),
		)
	}
}

// TestSpreadPlus checks that the difference of two sums is added, and that equal sums add zero.
func TestSpreadPlus(t *testing.T) {
	s := Spread{
		Variance:   1,
		CountError: 3,
		NullError:  5,
		Slope:      1,
		Most:       2,
		MostError:  1,
		Unit:       1,
	}
	if got := s.Plus(s, s); got != s {
		t.Errorf("%+v", got)
	}
	got := s.Plus(
		Spread{
			Variance:   3,
			CountError: 5,
			NullError:  13,
			Slope:      2,
			Most:       5,
			MostError:  2,
			Unknown:    true,
			Excess:     2.5,
		},
		Spread{
			Variance:   1,
			CountError: 3,
			NullError:  5,
			Most:       1,
		},
	)
	want := (Spread{3, 5, 13, 2, 6, 3, true, 1, 2.5})
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestImportances checks that the largest importance comes first, that several scores are combined by the mean
// square, and that the result is empty if a score has no entries.
func TestImportances(t *testing.T) {
	columns := []Column{{Name: "a"}, {Name: "b"}}
	spread := func(root float64) Spread {
		return Spread{
			Variance: root * root,
			Most:     10,
			Unit:     1,
		}
	}
	got := Importances(
		columns,
		[][]Spread{{spread(1), spread(3)}},
		.95,
	)
	if len(got) != 2 ||
		got[0] != (Importance{"b", 3, 3, 3, .95}) ||
		got[1] != (Importance{"a", 1, 1, 1, .95}) {
		t.Errorf("%+v", got)
	}
	got = Importances(
		columns,
		[][]Spread{
			{spread(1), spread(3)},
			{spread(7), spread(3)},
		},
		.95,
	)
	if got[0].Column != "a" ||
		math.Abs(got[0].Value-5) > 1e-12 {
		t.Errorf("%+v", got)
	}
	got = Importances(
		columns,
		[][]Spread{{spread(1), spread(3)}, nil},
		.95,
	)
	if got != nil {
		t.Errorf("%+v", got)
	}
	one := Spread{
		Variance:   1,
		CountError: .1,
		Most:       10,
		Unit:       1,
	}
	alone := Importances(
		columns[:1],
		[][]Spread{{one}}, .95,
	)[0]
	both := Importances(
		columns[:1],
		[][]Spread{{one}, {one}},
		.95,
	)[0]
	if !(both.Upper > alone.Upper &&
		both.Lower < alone.Lower &&
		both.Value == alone.Value) {
		t.Errorf(
			"alone %+v, of two %+v",
			alone, both,
		)
	}
}
