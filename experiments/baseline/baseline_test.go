package baseline

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/mechanism"
)

func TestPlanErrors(t *testing.T) {
	good := sampleColumns()
	open := sampleColumns()
	open[1].Private = false
	open[2].Private = false
	secret := sampleColumns()
	secret[3].Private = true
	three := sampleColumns()
	three[3].Categories = []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		x    planner
		want error
	}{
		"no private column": {People{Columns: open}, ErrColumns},
		"private target":    {PATE{Columns: secret, Buckets: 3, Queries: 3}, ErrColumns},
		"three classes":     {People{Columns: three}, ErrColumns},
		"numeric target":    {People{Columns: good[:2]}, ErrColumns},
		"target alone":      {People{Columns: good[3:]}, ErrColumns},
		"no bucket":         {PATE{Columns: good, Queries: 3}, ErrSetting},
		"no query":          {PATE{Columns: good, Buckets: 3}, ErrSetting},
		"rounds":            {People{Columns: good, Rounds: -1}, ErrSetting},
		"many rounds":       {People{Columns: good, Rounds: 1 << 20}, ErrSetting},
	} {
		_, err := c.x.Plan()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOtherRelationsAreRefused checks that other relations are refused, since the bounds are for private columns
// only.
func TestOtherRelationsAreRefused(t *testing.T) {
	tab := sampleTable(t, 20)
	for _, r := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		pate := PATE{
			Columns: sampleColumns(),
			Buckets: 3,
			Queries: 3,
		}
		people := People{Columns: sampleColumns()}
		s, err := mechanism.NewSession(pricePlan(t, pate, 1, r))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pate.Run(context.Background(), s, tab.View(), tab.View()); !errors.Is(err, mechanism.ErrRelation) {
			t.Errorf("pate, %v: %v", r, err)
		}
		if s, err = mechanism.NewSession(pricePlan(t, people, 1, r)); err != nil {
			t.Fatal(err)
		}
		_, err = people.Run(context.Background(), s, tab.View(), sampleRanges())
		if !errors.Is(err, mechanism.ErrRelation) {
			t.Errorf("people, %v: %v", r, err)
		}
	}
}

// TestBaselinesLearnHiddenColumn checks that with a large budget both methods learn from the hidden column, and that
// with a tiny budget they learn at most from the public one.
func TestBaselinesLearnHiddenColumn(t *testing.T) {
	train := sampleTable(t, 4000)
	test := sampleTable(t, 1001)
	ctx := context.Background()
	labels := Labels(test.View())
	open, err := FitOpen(ctx, nonprivate.NonprivateLogistic, train.View(), []int{0})
	if err != nil {
		t.Fatal(err)
	}
	few, err := open.Predict(test.View())
	if err != nil {
		t.Fatal(err)
	}
	got := correctShare(few, labels)
	if got < .57 || got > .67 { // Phi(.3) is .618
		t.Errorf("the public column alone: %v", got)
	}
	pate := PATE{
		Columns: sampleColumns(),
		Buckets: 60,
		Queries: 400,
	}
	answers, err := pate.Run(
		ctx, newSession(t, pate, 50),
		train.View(), test.View(),
	)
	if err != nil {
		t.Fatal(err)
	}
	got = correctShare(answers, labels)
	if len(answers) != 400 || got < .83 { // Phi(sqrt(1.44+.09)) is .892
		t.Errorf(
			"pate: %d answers, %v right",
			len(answers), got,
		)
	}
	people := People{Columns: sampleColumns()}
	m, err := people.Run(
		ctx, newSession(t, people, 20),
		train.View(), sampleRanges(),
	)
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.Predict(test.View())
	if err != nil {
		t.Fatal(err)
	}
	got = correctShare(said, labels)
	if len(said) != 1001 || got < .83 {
		t.Errorf("people: %v", got)
	}
}

// TestBaselinesAcceptAnyTable checks that unusual tables cause no error and no panic.
func TestBaselinesAcceptAnyTable(t *testing.T) {
	none := []dataset.ColumnData{
		{Floats: []float64{}},
		{Floats: []float64{}},
		{Codes: []int32{}},
		{Codes: []int32{}},
	}
	odd := cloneColumns(sampleTable(t, 12))
	for i := range odd[1].Floats {
		odd[0].Floats[i] = math.NaN()
		odd[1].Floats[i] = []float64{math.NaN(), math.Inf(1), -1e300}[i%3]
		odd[2].Codes[i] = 7
	}
	unlabelled := cloneColumns(sampleTable(t, 12))
	for i := range unlabelled[3].Codes {
		unlabelled[3].Codes[i] = 2
	}
	one := cloneColumns(sampleTable(t, 12))
	clear(one[3].Codes)
	for name, d := range map[string][]dataset.ColumnData{
		"no record": none,
		"no value":  odd,
		"no class":  unlabelled,
		"one class": one,
	} {
		tab := newTable(t, d)
		queries := sampleTable(t, 5)
		pate := PATE{
			Columns: sampleColumns(),
			Buckets: 4,
			Queries: 9,
		}
		if got, err := pate.Run(context.Background(), newSession(t, pate, 1), tab.View(),
			queries.View()); err != nil || len(got) != 5 {
			t.Errorf(
				"%s: pate: %v, %v",
				name, got, err,
			)
		}
		people := People{Columns: sampleColumns(), Rounds: 3}
		m, err := people.Run(
			context.Background(),
			newSession(t, people, 1),
			tab.View(),
			sampleRanges(),
		)
		if err != nil {
			t.Errorf("%s: people: %v", name, err)
			continue
		}
		if got, err := m.Predict(queries.View()); err != nil || len(got) != 5 {
			t.Errorf(
				"%s: people: %v, %v",
				name, got, err,
			)
		}
	}
}

func TestBaselinesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tab := sampleTable(t, 50)
	pate := PATE{
		Columns: sampleColumns(),
		Buckets: 4,
		Queries: 9,
	}
	people := People{Columns: sampleColumns()}
	_, err := pate.Run(
		ctx, newSession(t, pate, 1),
		tab.View(), tab.View(),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("pate: %v", err)
	}
	_, err = people.Run(
		ctx, newSession(t, people, 1),
		tab.View(), sampleRanges(),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("people: %v", err)
	}
}

// TestEvidence compares the evidence of a vote with the logarithm of a ratio of two mixtures, computed directly.
func TestEvidence(t *testing.T) {
	density := func(x, sigma, p float64) float64 {
		at := func(mean float64) float64 {
			return math.Exp(-(x - mean) * (x - mean) / (2 * sigma * sigma))
		}
		return p*at(1) + (1-p)*at(-1)
	}
	for _, x := range []float64{
		-1.5, -1, -.2, 0,
		.7, 2,
	} {
		for _, sigma := range []float64{.3, 1, 20} {
			p := [2]float64{.2, .7}
			want := math.Log(density(x, sigma, p[1]) / density(x, sigma, p[0]))
			got := evidence(x, sigma, p)
			if math.Abs(got-want) > 1e-9 {
				t.Errorf(
					"evidence(%v, %v) = %v, want %v",
					x, sigma, got, want,
				)
			}
		}
	}
	if got := evidence(3, .01, [2]float64{.3, .3}); got != 0 {
		t.Errorf("teachers that say nothing: %v", got)
	}
	got := evidence(900, 1e-3, [2]float64{.01, .99})
	if math.Abs(got-math.Log(99)) > 1e-9 {
		t.Errorf("far out: %v", got)
	}
}

// TestNearerMean checks the nearest-mean classifier with means (1, 0) and (0, .5), each of four records.
func TestNearerMean(t *testing.T) {
	const kappa = .5 // linear.Kappa
	h := nearerMean([]float64{0, 2, 4 * kappa, 4, 0, 4 * kappa})
	for x, want := range map[[2]float64]bool{
		{1, 0}:   true,
		{0, .5}:  false,
		{.9, .1}: true,
		{.1, .4}: false,
	} {
		got := h.constant + h.theta[0]*x[0] + h.theta[1]*x[1]
		if got > 0 != want {
			t.Errorf("%v: %v", x, got)
		}
	}
	if math.Abs(h.constant+h.theta[0]*.5+h.theta[1]*.25) > 1e-12 {
		t.Errorf(
			"the middle is not on the boundary: %+v",
			h,
		)
	}
}
