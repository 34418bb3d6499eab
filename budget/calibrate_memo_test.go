package budget

import "testing"

func TestCalibrateRemembers(t *testing.T) {
	tree := Sequence("run", GaussianLeaf("a", 1, 1), LaplaceLeaf("b", 1, 3))
	target := Target{Epsilon: 1.25, Delta: 1e-6}
	first, err := Calibrate(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := first.Law("run/b")
	if !first.Open() {
		t.Fatal("the run of a new price is claimed")
	}

	second, err := Calibrate(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := second.Law("run/b"); got != want {
		t.Errorf("law %v, want %v", got, want)
	}
	if !second.Open() {
		t.Error("the second price shares the run of the first")
	}

	tree.Kids[1].Leaf.Share = 2 // the caller's own tree
	third, err := Calibrate(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := third.Law("run/b"); got.Epsilon <= want.Epsilon {
		t.Errorf("epsilon %v at twice the share, want more than %v", got.Epsilon, want.Epsilon)
	}

	target.Epsilon = 2
	fourth, err := Calibrate(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	if got := fourth.Target(); got != target {
		t.Errorf("target %v, want %v", got, target)
	}
}

func TestMemoForgetsOldest(t *testing.T) {
	var m priceMemo
	target := Target{Epsilon: 1, Delta: 1e-6}
	node := func(draws int) Node {
		return GaussianLeaf("a", 1, draws)
	}
	for draws := range maxRemembered + 1 {
		m.remember(node(draws+1), &Priced{target: target})
		if draws > 0 && m.find(node(1), target) == nil {
			t.Fatalf("the tree used last is forgotten after %d others", draws)
		}
	}
	if m.find(node(2), target) != nil {
		t.Error("the tree that was not used for longest is remembered")
	}
	if len(m.latest) != maxRemembered {
		t.Errorf("%d trees remembered, want %d", len(m.latest), maxRemembered)
	}
}
