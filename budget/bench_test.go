package budget

import "testing"

func BenchmarkCalibrate(b *testing.B) {
	tree := Parallel("fit",
		Sequence("train",
			GaussianLeaf("histogram", 0.08, 1),
			ExponentialLeaf("quantiles", 0.10, 200),
			LaplaceLeaf("rounds", 0.1, 100),
			PureLeaf("other", 0.05, 60),
			ExponentialLeaf("kendall", 0.1, 39),
			GaussianLeaf("gram", 0.57, 1),
		),
		Sequence("holdout", GaussianLeaf("metric", 1, 1)),
	)
	for b.Loop() {
		_, err := Calibrate(tree, Target{Epsilon: 1, Delta: 1e-6})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGuarantee(b *testing.B) {
	p, err := Calibrate(samplePlan(), Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p.Guarantee()
	}
}
