package budget

import "testing"

// TestPlace checks that a leaf is located by the innermost node of each role and names its statistic, and that
// scaling and pricing preserve both.
func TestPlace(t *testing.T) {
	inner := Sequence("train",
		Sequence("model", GaussianLeaf("gram", 1, 1).WithStatistic("gram")).
			WithRole(RoleStage),
	).WithRole(RolePart)
	tree := Parallel("fit",
		Sequence("train",
			Sequence("a", inner, LaplaceLeaf("count", 1, 1).WithStatistic("count").
				WithRole(RoleStage)).WithRole(RoleCandidate),
		).Scaled(
			.5).WithRole(RolePart),
		GaussianLeaf("left", 1, 1),
	)
	priced, err := Calibrate(tree, Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	want := []PricedLeaf{
		{
			Path: "fit/train/a/train/model/gram",
			Place: Place{
				Part:      "train",
				Candidate: "a",
				Stage:     "model",
			},
			Statistic: "gram",
		},
		{
			Path: "fit/train/a/count",
			Place: Place{
				Part:      "train",
				Candidate: "a",
				Stage:     "count",
			},
			Statistic: "count",
		},
		{Path: "fit/left"},
	}
	for i, l := range priced.Leaves() {
		if l.Path != want[i].Path ||
			l.Place != want[i].Place ||
			l.Statistic != want[i].Statistic {
			t.Errorf(
				"%+v, want %+v",
				l, want[i],
			)
		}
	}
	if inner.Kids[0].Kids[0].
		WithStatistic("other"); inner.Kids[0].Kids[0].Leaf.Statistic != "gram" {
		t.Error("naming a leaf changes the one that it was made of")
	}
}
