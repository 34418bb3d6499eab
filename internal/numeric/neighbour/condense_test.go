package neighbour

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
)

// blobPoints returns n vectors around nine points of a grid, in three classes that no line can separate.
func blobPoints(n int) Points {
	p := Points{Dim: 2}
	noise := sineTable(n, 2)
	for i := range n {
		row := i % 3
		column := i / 3 % 3
		p.X = append(
			p.X,
			3*float64(row)+1.2*noise[2*i],
			3*float64(column)+1.2*noise[2*i+1],
		)
		p.Class = append(p.Class, int32((row+column)%3))
	}
	return p
}

func errorsOf(refs, p Points) int {
	n := 0
	for i, c := range Search(refs).Classes(p, Vote{K: 1}) {
		if c != p.Class[i] {
			n++
		}
	}
	return n
}

// TestCondense checks that the selected records classify every record correctly and are fewer than all records.
func TestCondense(t *testing.T) {
	p := blobPoints(900)
	backwards := allIndices(p.Len())
	slices.Reverse(backwards)
	for name, condense := range map[string]func() ([]int, error){
		"cnn": func() ([]int, error) {
			return Condense(t.Context(), p, allIndices(p.Len()))
		},
		"cnn backwards": func() ([]int, error) {
			return Condense(t.Context(), p, backwards)
		},
		"fcnn": func() ([]int, error) {
			return FastCondense(t.Context(), p)
		},
	} {
		rows, err := condense()
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(rows)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(rows) ||
			len(rows) < 9 ||
			len(rows) > 300 {
			t.Errorf(
				"%s keeps %d rows, %d different",
				name,
				len(rows),
				len(slices.Compact(sorted)),
			)
		}
		n := errorsOf(p.Subset(rows), p)
		if n > 0 {
			t.Errorf(
				"%s: %d records in another class",
				name, n,
			)
		}
	}
}

// TestCondenseTwins checks that the search ends for records with the same numbers and different classes.
func TestCondenseTwins(t *testing.T) {
	p := Points{
		Dim:   1,
		X:     []float64{0, 0, 0, 1, 1, 2},
		Class: []int32{0, 1, 0, 1, 0, 2},
	}
	for name, condense := range map[string]func() ([]int, error){
		"cnn": func() ([]int, error) {
			return Condense(t.Context(), p, allIndices(6))
		},
		"fcnn": func() ([]int, error) {
			return FastCondense(t.Context(), p)
		},
	} {
		rows, err := condense()
		if err != nil ||
			len(rows) > 6 ||
			errorsOf(p.Subset(rows), p) != 2 {
			t.Errorf(
				"%s: %v, %v",
				name, rows, err,
			)
		}
	}
}

func TestCondenseCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := blobPoints(90)
	if _, err := Condense(ctx, p, allIndices(90)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := FastCondense(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_, err := Compress(
		ctx, p, allIndices(9),
		Options{Passes: 5, Gamma2: 1},
	)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func allIndices(n int) []int {
	return evenlySpaced(n, n)
}

// TestStratified checks that shares are rounded by largest remainder, and that every class gets at least one record
// and no more than it has.
func TestStratified(t *testing.T) {
	p := Points{Dim: 1}
	for c, n := range []int{70, 0, 25, 4, 1} {
		for range n {
			p.X = append(p.X, 0)
			p.Class = append(p.Class, int32(c))
		}
	}
	order := allIndices(100)
	slices.Reverse(order)
	for m, want := range map[int][5]int{
		0:   {1, 0, 1, 1, 1},
		10:  {7, 0, 2, 1, 1},
		20:  {14, 0, 5, 1, 1},
		40:  {28, 0, 10, 1, 1},
		50:  {35, 0, 12, 2, 1},
		55:  {38, 0, 14, 2, 1},
		100: {70, 0, 25, 4, 1},
		500: {70, 0, 25, 4, 1},
	} {
		var got [5]int
		rows := Stratified(p, m, order)
		for _, i := range rows {
			got[p.Class[i]]++
		}
		if got != want {
			t.Errorf(
				"%d of 100: %v, want %v",
				m, got, want,
			)
		}
		if rows[0] != 69 {
			t.Errorf(
				"%d of 100: the first row is %d, not the first in the order",
				m, rows[0],
			)
		}
	}
}

// TestMetricGradient compares the derivatives of the loss with a metric with finite differences, and the loss for A =
// γI with that for γ².
func TestMetricGradient(t *testing.T) {
	p, start := threeClasses()
	z := p.Subset(start)
	l := lossOf(p, z.Class, 3)
	a := []float64{
		1.1, .2, -.3, .1,
		.8, .25, -.2, .15,
		1.3,
	}
	at := append(slices.Clone(z.X), a...)
	f := func(x []float64) (float64, []float64) {
		value, g, err := l.metricLoss(
			t.Context(), x[:18],
			x[18:],
		)
		if err != nil {
			t.Fatal(err)
		}
		return value, g
	}
	_, g := f(at)
	const h = 1e-5
	for k := range at {
		x := slices.Clone(at)
		x[k] += h
		above, _ := f(x)
		x[k] -= 2 * h
		below, _ := f(x)
		slope := (above - below) / (2 * h)
		if math.Abs(slope-g[k]) > 1e-6*(1+math.Abs(slope)) {
			t.Errorf(
				"∂L/∂x[%d] = %v, by differences %v",
				k, g[k], slope,
			)
		}
	}
	plain, err := l.sumLoss(t.Context(), z.X, .7)
	if err != nil {
		t.Fatal(err)
	}
	root := math.Sqrt(.7)
	scaled, _ := f(append(
		slices.Clone(z.X), root, 0,
		0, 0, root, 0, 0, 0, root,
	))
	checkNear(t, "L at A = γI", scaled, plain.value)
}

// TestCompress checks that the result has fewer errors than the rows it starts from, with and without a metric.
func TestCompress(t *testing.T) {
	p := blobPoints(900)
	start := Stratified(p, 12, allIndices(900))
	before := errorsOf(p.Subset(start), p)
	for _, metric := range []bool{false, true} {
		c, err := Compress(
			t.Context(), p, start,
			Options{Passes: 60, Metric: metric},
		)
		if err != nil {
			t.Fatal(err)
		}
		q := p
		if metric {
			q.X = applyMap(p.X, c.Metric, p.Dim)
		}
		after := errorsOf(c.References, q)
		if after > before/4 ||
			c.References.Len() != 12 ||
			!slices.IsSorted(c.References.Class) {
			t.Errorf(
				"metric %t: %d errors, %d before; %+v",
				metric, after, before, c,
			)
		}
	}
}

// TestCompressRepeats checks that the result depends on the seed but not on the number of workers.
func TestCompressRepeats(t *testing.T) {
	p := blobPoints(2000)
	start := Stratified(p, 30, allIndices(2000))
	run := func(seed uint64, workers int) Compressed {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		c, err := Compress(
			t.Context(), p, start,
			Options{Passes: 20, Seed: seed},
		)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := run(1, 1)
	four := run(1, 4)
	if !slices.Equal(one.References.X, four.References.X) ||
		one.Loss != four.Loss {
		t.Error("four workers have another result than one")
	}
	other := run(2, 1)
	if slices.Equal(one.References.X, other.References.X) {
		t.Error("the seed is not read")
	}
}

// TestCompressLosesClass checks that a class without a starting row is refused.
func TestCompressLosesClass(t *testing.T) {
	_, err := Compress(
		t.Context(), blobPoints(90),
		[]int{0, 1},
		Options{Passes: 1},
	)
	if !errors.Is(err, ErrClass) {
		t.Error(err)
	}
}

// TestFarVectorsUnderflowNothing checks that vectors far from every record underflow no probability.
func TestFarVectorsUnderflowNothing(t *testing.T) {
	p := Points{
		Dim:   1,
		X:     []float64{0, 1, 2, 3},
		Class: []int32{0, 0, 1, 1},
	}
	s, err := lossOf(p, []int32{0, 1}, 2).sumLoss(t.Context(), []float64{1e4, 2}, 1)
	if err != nil ||
		!(s.value > 1e8) ||
		math.IsInf(s.value, 0) {
		t.Errorf(
			"L = %v, %v",
			s.value, err,
		)
	}
	for k, g := range s.gradient([]float64{1e4, 2}, 1, 1) {
		if math.IsNaN(g) || math.IsInf(g, 0) || g == 0 {
			t.Errorf("G[%d] = %v", k, g)
		}
	}
}
