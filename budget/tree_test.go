package budget

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samplePlan returns a realistic plan: a training and a held-out part, where the training part has a scaling stage.
func samplePlan() Node {
	scaling := Sequence("scaling",
		GaussianLeaf("histogram", 0.08, 1),
		ExponentialLeaf("quantiles", 0.10, 12),
	)
	return Parallel("fit",
		Sequence(
			"train", scaling,
			Sequence("model", GaussianLeaf("gram", 0.82, 1)),
		),
		Sequence("holdout", GaussianLeaf("metric", 1, 1)),
	)
}

func TestPathsAndParts(t *testing.T) {
	root := samplePlan()
	before := root.clone()
	p, err := Calibrate(root, Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	d := cmp.Diff(before, root)
	if d != "" {
		t.Errorf("Calibrate changed its argument:\n%s", d)
	}
	var got [][2]string
	for _, l := range p.Leaves() {
		got = append(got, [2]string{l.Path, l.Part})
		law, ok := p.Law(l.Path)
		if !ok || law != l.Law || law.Validate() != nil {
			t.Errorf(
				"%s: law %v, %v",
				l.Path, law, ok,
			)
		}
	}
	want := [][2]string{
		{"fit/train/scaling/histogram", "train"},
		{"fit/train/scaling/quantiles", "train"},
		{"fit/train/model/gram", "train"},
		{"fit/holdout/metric", "holdout"},
	}
	d = cmp.Diff(want, got)
	if d != "" {
		t.Error(d)
	}
	if _, ok := p.Law("fit/train/scaling"); ok {
		t.Error("an inner node has no law")
	}
	tree := p.Tree()
	tree.Kids[1].Kids[0].Leaf.Law.Mu = 99
	l, _ := p.Law("fit/holdout/metric")
	if l.Mu == 99 ||
		p.Tree().Kids[1].Kids[0].Leaf.Law.Mu == 99 {
		t.Error("Tree must return a copy")
	}
	// The held-out part has the whole target to itself.
	metric, _ := p.Law("fit/holdout/metric")
	checkNear(t, "metric", metric.Mu, GaussianMu(1, 1e-6), 1e-12)
	// Shares are fractions of zCDP within a part.
	hist, _ := p.Law("fit/train/scaling/histogram")
	quant, _ := p.Law("fit/train/scaling/quantiles")
	rh, _ := hist.ZCDP()
	rq, _ := quant.ZCDP()
	checkNear(t, "quantiles to histogram", rq/rh, 0.10/0.08, 1e-12)
}

func TestScaled(t *testing.T) {
	tree := Sequence("s",
		GaussianLeaf("a", 2, 1),
		Branches(
			"o",
			PureLeaf("look", 0.03, 1),
			LaplaceLeaf("x", 1, 1),
		),
		FixedLeaf("f", gaussianLaw(1)),
	)
	half := tree.Scaled(0.5)
	if tree.Kids[0].Leaf.Share != 2 {
		t.Error("Scaled changed its receiver")
	}
	for _, v := range []struct{ got, want float64 }{
		{half.Kids[0].Leaf.Share, 1},
		{half.Kids[1].Kids[1].Leaf.Share, 0.5},
		{half.Kids[1].Kids[0].Leaf.Share, 0.03},
		{half.Kids[2].Leaf.Fixed.Mu, 1},
	} {
		if v.got != v.want {
			t.Errorf(
				"share %v, want %v",
				v.got, v.want,
			)
		}
	}
}

func TestTreeErrors(t *testing.T) {
	g := GaussianLeaf("g", 1, 1)
	approx := Law{
		Kind:    Approximate,
		Epsilon: 1,
		Delta:   1e-6,
		Draws:   1,
	}
	sel := Selection{Eta: 0, Gamma: 0.1}
	for name, v := range map[string]struct {
		tree Node
		want error
		path string
	}{
		"empty name": {
			Sequence("s", GaussianLeaf("", 1, 1), g),
			ErrTree, "s/",
		},
		"slash": {
			Sequence("s", GaussianLeaf("a/b", 1, 1), g),
			ErrTree, "s/a/b",
		},
		"twins": {
			Sequence("s", Sequence("t", g, g)),
			ErrTree, "s/t",
		},
		"zero draws": {GaussianLeaf("g", 1, 0), ErrTree, "g"},
		"zero share": {GaussianLeaf("g", 0, 1), ErrTree, "g"},
		"NaN share": {
			GaussianLeaf("g", math.NaN(), 1),
			ErrTree, "g",
		},
		"scalable approximate": {
			Node{
				Name: "a",
				Leaf: &Leaf{
					Kind:  Approximate,
					Share: 1,
					Draws: 1,
				},
			},
			ErrTree,
			"a",
		},
		"no leaf":   {Node{Name: "a"}, ErrTree, "a"},
		"empty par": {Parallel("p"), ErrTree, "p"},
		"no branch": {
			Branches("o", LaplaceLeaf("l", 0.1, 1)),
			ErrTree, "o",
		},
		"gaussian informer": {
			Branches("o", g, LaplaceLeaf("l", 1, 1)),
			ErrNotPure, "",
		},
		"par informer": {
			Branches(
				"o",
				Parallel("i", LaplaceLeaf("l", 0.1, 1)),
				g,
			),
			ErrTree,
			"o/i",
		},
		"approximate selected": {
			SelectBest("s", sel, FixedLeaf("a", approx)),
			ErrTree,
			"s/a",
		},
		"bad selection": {
			SelectBest("s", Selection{Eta: 0, Gamma: 1}, g),
			ErrTree,
			"s",
		},
		"selection on a seq": {
			Node{
				Op:     OpSequence,
				Name:   "s",
				Select: &sel,
			},
			ErrTree,
			"s",
		},
		"unknown op":    {Node{Op: 77, Name: "s"}, ErrTree, "s"},
		"bad fixed law": {FixedLeaf("f", gaussianLaw(-1)), ErrLaw, ""},
		"fixed without draws": {
			FixedLeaf("f", Law{Kind: Gaussian, Mu: 1}),
			ErrTree, "f",
		},
		"law of two kinds": {
			FixedLeaf(
				"f",
				Law{
					Kind:    Gaussian,
					Mu:      1,
					Epsilon: 1,
					Draws:   1,
				},
			),
			ErrLaw,
			"",
		},
		"overspent": {
			Sequence("s", FixedLeaf("f", gaussianLaw(3)), g),
			ErrOverspent,
			"",
		},
		"overspent, nothing scalable": {
			Sequence("s",
				FixedLeaf("f", gaussianLaw(3)),
				FixedLeaf("h", approx),
			),
			ErrOverspent,
			"",
		},
		"overspent informer": {
			Branches("o", LaplaceLeaf("l", 1.2, 1), g),
			ErrOverspent,
			"",
		},
	} {
		_, err := Calibrate(v.tree, Target{Epsilon: 1, Delta: 1e-6})
		if !errors.Is(err, v.want) {
			t.Errorf(
				"%s: error %v, want %v",
				name, err, v.want,
			)
			continue
		}
		var te *treeError
		if v.path != "" &&
			(!errors.As(err, &te) || te.Path != v.path) {
			t.Errorf(
				"%s: error %v, want path %q",
				name, err, v.path,
			)
		}
	}
}

func TestTargetErrors(t *testing.T) {
	for _, v := range []struct {
		t     Target
		field string
	}{
		{Target{Epsilon: 0, Delta: 1e-6}, "epsilon"},
		{Target{Epsilon: -1, Delta: 1e-6}, "epsilon"},
		{Target{Epsilon: math.NaN(), Delta: 1e-6}, "epsilon"},
		{Target{Epsilon: math.Inf(1), Delta: 1e-6}, "epsilon"},
		{Target{Epsilon: 1, Delta: 1}, "delta"},
		{Target{Epsilon: 1, Delta: -1e-6}, "delta"},
		{Target{Epsilon: 1, Delta: math.NaN()}, "delta"},
		{Target{Epsilon: 1, Delta: 9e-11}, "delta"},
		{Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: 9,
		}, "relation"},
		{Target{
			Epsilon:     1,
			Delta:       1e-6,
			Composition: 9,
		}, "composition"},
	} {
		_, err := Calibrate(GaussianLeaf("g", 1, 1), v.t)
		var te *TargetError
		if !errors.Is(err, ErrTarget) ||
			!errors.As(err, &te) ||
			te.Field != v.field {
			t.Errorf(
				"%+v: error %v, want one about %s",
				v.t, err, v.field,
			)
		}
	}
}

func TestNames(t *testing.T) {
	for r := AddRemove; r <= SubstitutePrivateColumns; r++ {
		got, err := ParseRelation(r.String())
		if err != nil || got != r {
			t.Errorf(
				"ParseRelation(%q) = %v, %v",
				r.String(), got, err,
			)
		}
	}
	for c := Tight; c <= Basic; c++ {
		got, err := ParseComposition(c.String())
		if err != nil || got != c {
			t.Errorf(
				"ParseComposition(%q) = %v, %v",
				c.String(), got, err,
			)
		}
	}
	_, err := ParseRelation("replace")
	if !errors.Is(err, ErrTarget) {
		t.Errorf("unknown relation: %v", err)
	}
	_, err = ParseComposition("")
	if !errors.Is(err, ErrTarget) {
		t.Errorf("unknown composition: %v", err)
	}
	var zero Relation
	if zero.String() != "add-remove" ||
		SubstitutePrivateColumns.String() != "substitute-private-columns" ||
		Exponential.String() != "exponential" ||
		OpBranches.String() != "one-of" ||
		Kind(9).String() != "kind(9)" {
		t.Error("names changed")
	}
}

func TestConversions(t *testing.T) {
	e, d, err := convertToSubstitute(AddRemove, 0.5, 1e-6)
	if err != nil || e != 1 {
		t.Errorf("epsilon %v, %v", e, err)
	}
	checkNear(
		t, "delta", d,
		(1+math.Exp(0.5))*1e-6,
		1e-15,
	)
	// The converted guarantee of a Gaussian covers the Gaussian with twice the mu.
	mu, _ := convertMuToSubstitute(AddRemove, 0.2)
	for eps := 0.1; eps < 2; eps += 0.1 {
		e, d, _ := convertToSubstitute(AddRemove, eps, gaussianDelta(0.2, eps))
		if gaussianDelta(mu, e) > d {
			t.Errorf(
				"at epsilon %v the conversion promises less than a doubled shift costs",
				e,
			)
		}
	}
	rho, err := convertRhoToSubstitute(AddRemove, 0.1)
	if err != nil || rho != 0.4 || mu != 0.4 {
		t.Errorf(
			"rho %v, mu %v, %v",
			rho, mu, err,
		)
	}
	if _, d, _ := convertToSubstitute(AddRemove, 800, 0); d != 0 {
		t.Errorf("pure privacy stays pure, got delta %v", d)
	}
	e, d, err = convertToSubstitute(Substitute, 1, 1e-6)
	if e != 1 || d != 1e-6 || err != nil {
		t.Error("same relation must not change anything")
	}
	_, _, e1 := convertToSubstitute(SubstitutePrivateColumns, 1, 0)
	_, e2 := convertMuToSubstitute(SubstitutePrivateColumns, 1)
	_, _, e3 := ConvertToAddRemove(Substitute, 1, 0)
	_, _, e4 := ConvertToAddRemove(SubstitutePrivateColumns, 1, 0)
	for i, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, ErrNoConversion) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, _, err := ConvertToAddRemove(AddRemove, 1, 0); err != nil {
		t.Error(err)
	}
}
