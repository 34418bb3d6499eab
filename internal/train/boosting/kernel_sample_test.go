package boosting

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
)

// TestSampleIsScaled checks that stages that learn from a third of the records see about that many and learn effects
// of the same size as stages that learn from all records.
func TestSampleIsScaled(t *testing.T) {
	const (
		n    = 9000
		most = 3000
	)
	x := surfaceSample(t, n)
	node, err := Kernel{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, 60, budget.AddRemove).Sub(kernelNode)
	k, err := newKernelBooster(t.Context(), s, x.trainingData(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	k.most = most
	if err := k.run(); err != nil {
		t.Fatal(err)
	}
	kept, err := k.records.Len(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(kept)-most) > 6*math.Sqrt(most) ||
		math.Abs(k.spend.sampled-most/float64(n)) > .02 {
		t.Fatalf(
			"%d records of %d, share %v",
			kept, n, k.spend.sampled,
		)
	}
	// Unscaled sums over a third of the records would have a ninth of the square.
	size := func(k *kernelBooster) (square float64) {
		for _, v := range k.stages[0].seen[0].sums {
			square += v * v
		}
		return square
	}
	ratio := size(k) / size(x.markedBooster(t, 60, mostLandmarks))
	if ratio < .6 || ratio > 1.6 {
		t.Errorf(
			"the first sums have %.3f of the square that they have over all records",
			ratio,
		)
	}
	got, err := k.model(x.ranges).Predict(nil, x.modelRows())
	if err != nil {
		t.Fatal(err)
	}
	r2 := rSquared(x.tab.Float(4), got)
	if r2 < .9 {
		t.Errorf("the model explains %.3f", r2)
	}
}

// TestFewRecordsAreNotSampled checks that a table no larger than the sample size is not sampled.
func TestFewRecordsAreNotSampled(t *testing.T) {
	k := surfaceSample(t, 4000).kernelBooster(t, 3)
	if k.spend.sampled != 1 {
		t.Errorf(
			"a share of %v was taken",
			k.spend.sampled,
		)
	}
}
