package boosting

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// skewedSample returns n records whose target is e^(a + 2b), at most 20, in the range 0 to 20. Column b is not in the
// table, so the longest residuals are all above 0.
func skewedSample(t testing.TB, n int) sample {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  0,
			Upper:  20,
		},
	}
	data := make([]dataset.ColumnData, 2)
	p := testrows.Points(5)
	for range n {
		a := p.Next()
		data[0].Floats = append(data[0].Floats, a)
		data[1].Floats = append(data[1].Floats, min(math.Exp(a+2*p.Next()), 20))
	}
	return newSample(t, columns, data)
}

// TestMeanOfSkewedTarget checks that the mean prediction is that of the target, where the clamp cuts long residuals on one
// side only. Without the release of the mean, predictions were too low by 12.4% (boosted-additive) and 7.3% (boosted-kernel).
//
// Over 20 fits with fresh noise the mean was off by .41% at most, standard deviation .2%: false alarm below 1e-9.
func TestMeanOfSkewedTarget(t *testing.T) {
	x := skewedSample(t, 60000)
	target := x.tab.Float(1)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		additive, s := x.trainAdditive(t, 10, rel)
		kernel, _ := x.trainKernel(t, 10, rel)
		for name, fit := range map[string]*method.Fit{additiveNode: additive, kernelNode: kernel} {
			got, err := fit.Model.Predict(nil, x.modelRows())
			if err != nil {
				t.Fatal(err)
			}
			off := mean(got)/mean(target) - 1
			t.Logf("%v, %s: the mean prediction is off by %.4f", rel, name, off)
			if math.Abs(off) > .02 {
				t.Errorf("%v, %s: the mean prediction is off by %.4f", rel, name, off)
			}
		}
		stated := additive.Model.(*regression.Additive).InterceptStdError
		if least := s.Scale(meanLeaf) * 10 / 60000 / 2; stated < least {
			t.Errorf("%v: the intercept has the standard error %v, the noise of the mean alone is %v", rel, stated, 2*least)
		}
	}
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TestShiftedMean checks a run whose predictions are all too high by a tenth of the target's half width.
func TestShiftedMean(t *testing.T) {
	x := linearSample(t, 20000, .1)
	b := x.readyBooster(t, 20)
	b.meanClip = usualMeanClip
	step := make([]float64, len(b.start))
	step[len(step)-1] = .1 / linear.Kappa
	b.state.Moves = append(b.state.Moves, move{Linear: step})
	if err := b.correctMean(1); err != nil {
		t.Fatal(err)
	}
	if math.Abs(b.shift+.1) > .01 {
		t.Errorf("the constant moves by %v, want -.1", b.shift)
	}
	intercept, stdError := b.shiftConstant(3, 4*b.shiftError, 10)
	if math.Abs(intercept-2) > .1 || math.Abs(stdError-math.Hypot(4, 10)*b.shiftError) > 1e-12 {
		t.Errorf("an intercept of 3 becomes %v with the standard error %v", intercept, stdError)
	}
}

// TestMeanClip checks that the sum of the residuals has the wider clamp if records beyond the usual one exceed the noise.
func TestMeanClip(t *testing.T) {
	for _, bins := range []int{sizeBins, signedBins} {
		counts := make([]float64, bins)
		counts[sizeBins-5] = 1e6 // up to 1
		if got := meanClip(counts, 10); got != usualMeanClip {
			t.Errorf("%d bins: without residuals beyond 1 the clamp is %v", bins, got)
		}
		counts[bins-1] = 10
		if got := meanClip(counts, 10); got != usualMeanClip {
			t.Errorf("%d bins: with as many residuals beyond 1 as a count has noise the clamp is %v", bins, got)
		}
		counts[bins-1] = 100
		if got := meanClip(counts, 10); got != widerMeanClip {
			t.Errorf("%d bins: with 100 residuals beyond 1 the clamp is %v", bins, got)
		}
	}
}

// TestSeenShare checks how much of a released mean is kept.
func TestSeenShare(t *testing.T) {
	for _, c := range []struct{ mean, noise, want float64 }{
		{.02, .01, .75},
		{-.02, .01, .75},
		{.01, .01, 0},
		{.005, .01, 0},
		{0, .01, 0},
		{0, 0, 0},
		{1, 0, 1},
		{1, .02, 0},
	} {
		if got := seenShare(c.mean, c.noise); got != c.want {
			t.Errorf("of the mean %v with noise %v the share %v is kept, want %v", c.mean, c.noise, got, c.want)
		}
	}
}
