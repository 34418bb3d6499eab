//go:build replay

package audit

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/svm"
)

// Each test of this file plants a fault and checks that the audit finds it, and that the audit has no findings
// without the fault. docs/proofs/audit.md has the list; the faults that demonstrate errors in published variants have
// their tests in internal/bench/published.

// measuredWith measures a step in sessions with a fault.
func measuredWith(
	t *testing.T,
	name budget.Statistic,
	law budget.Law,
	draws int,
	f mechanism.Fault,
) Measure {
	t.Helper()
	x, ok := WorstPairOf(name)
	if !ok {
		t.Fatal(name)
	}
	open := func(p *budget.Priced) (*mechanism.Session, error) {
		return mechanism.NewFaultySession(p, f)
	}
	m, err := step(
		context.Background(),
		x,
		law,
		budget.AddRemove,
		1e-6,
		Options{Draws: draws, Confidence: 1 - 1e-6},
		open,
	)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// caughtByMeasure checks that the audit measures more than the claim with the fault, and not without it (false alarm
// 1e-6). The numbers of draws put the claim at least 6 standard deviations below the mean of the measure with the
// fault (16 to 25 repetitions of each; least for the rounds, 1.66 and .11 compared with 1), so that under normality a
// fault is missed with odds below 1e-8.
func caughtByMeasure(
	t *testing.T,
	name budget.Statistic,
	law budget.Law,
	draws int,
	f mechanism.Fault,
) {
	t.Helper()
	curve, err := budget.Compose(law)
	if err != nil {
		t.Fatal(err)
	}
	claim := curve.Epsilon(1e-6)
	if m := measuredWith(t, name, law, draws, 0); m.Epsilon > claim {
		t.Errorf(
			"without the fault: %v of %v",
			m.Epsilon, claim,
		)
	}
	m := measuredWith(t, name, law, draws, f)
	t.Logf(
		"measured %.3f of %.3f",
		m.Epsilon, claim,
	)
	if m.Epsilon <= claim {
		t.Errorf(
			"the fault is not caught: measured %v of %v",
			m.Epsilon, claim,
		)
	}
}

func TestFaultLaplaceInverted(t *testing.T) {
	caughtByMeasure(
		t,
		"count",
		budget.Law{
			Kind:    budget.Laplace,
			Epsilon: .5,
			Draws:   1,
		},
		6000,
		mechanism.LaplaceInverted,
	)
}

func TestFaultRoundsNotComposed(t *testing.T) {
	caughtByMeasure(
		t,
		"peeling",
		budget.Law{
			Kind:    budget.Exponential,
			Epsilon: .2,
			Draws:   6,
		},
		6000,
		mechanism.RoundsNotComposed,
	)
}

func TestFaultEmptyWithoutNoise(t *testing.T) {
	caughtByMeasure(
		t,
		"histogram",
		budget.Law{
			Kind:  budget.Gaussian,
			Mu:    .5,
			Draws: 1,
		},
		6000,
		mechanism.EmptyWithoutNoise,
	)
}

func TestFaultClipNotChargedMeasured(t *testing.T) {
	caughtByMeasure(
		t,
		"gram",
		budget.Law{
			Kind:  budget.Gaussian,
			Mu:    .7,
			Draws: 1,
		},
		24_000,
		mechanism.ClipNotCharged,
	)
}

func TestFaultWeightsAlone(t *testing.T) {
	caughtByMeasure(
		t,
		"outer",
		budget.Law{
			Kind:  budget.Gaussian,
			Mu:    .7,
			Draws: 1,
		},
		24_000,
		mechanism.WeightsAlone,
	)
}

func TestFaultThresholdWithoutDelta(t *testing.T) {
	caughtByMeasure(
		t,
		mechanism.StatNewWords,
		budget.Law{
			Kind:  budget.Approximate,
			Delta: 1e-7,
			Draws: 1,
		},
		6000,
		mechanism.ThresholdWithoutDelta,
	)
}

// caughtByReplay replays a pipeline on the neighbours of a table with a fault and without. It expects a matching
// finding with the fault, and no finding without it.
func caughtByReplay(
	t *testing.T,
	p *pipeline.Pipeline,
	tab *dataset.Table,
	f mechanism.Fault,
	what string,
) {
	t.Helper()
	if found := replayFault(t, p, tab, 0); len(found) > 0 {
		t.Errorf("without the fault: %v", found)
	}
	found := replayFault(t, p, tab, f)
	for _, s := range found {
		if strings.Contains(s, what) {
			t.Log(s)
			return
		}
	}
	t.Errorf("the fault is not caught: %v", found)
}

func replayFault(
	t *testing.T,
	p *pipeline.Pipeline,
	tab *dataset.Table,
	f mechanism.Fault,
) []string {
	t.Helper()
	plan := planPipeline(t, p)
	neighbours, err := Neighbours(tab, p.Budget.Relation)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for seed := range byte(2) {
		first := mechanism.NewRecorder(seed).Plant(f).KeepColumns()
		_, err := p.FitRecorded(
			context.Background(),
			plan,
			tab,
			pipeline.Options{},
			first,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range neighbours {
			second := first.Replay()
			_, err := p.FitRecorded(
				context.Background(),
				plan,
				n.Table,
				pipeline.Options{},
				second,
			)
			if err != nil {
				t.Fatal(err)
			}
			faults, _ := mechanism.Compare(first, second)
			for _, x := range faults {
				out = append(out, n.Name+": "+x)
			}
		}
	}
	return out
}

// smallExample returns an example's pipeline with the first rows of its table.
func smallExample(
	t *testing.T,
	name string,
	rows int,
) (*pipeline.Pipeline, *dataset.Table) {
	t.Helper()
	_, p, tab := loadExample(
		t,
		"../../examples/"+name+".yaml",
	)
	index := make([]int32, rows)
	for i := range index {
		index[i] = int32(i)
	}
	return p, tab.Select(index).Compact()
}

func TestFaultClipNotCharged(t *testing.T) {
	p, tab := smallExample(t, "kendall", 60)
	caughtByReplay(t, p, tab, mechanism.ClipNotCharged, "gram#0.0: inputs differ by")
}

func TestFaultRelationMixed(t *testing.T) {
	p, tab := smallExample(t, "kendall-substitute", 60)
	caughtByReplay(t, p, tab, mechanism.RelationMixed, "times the declared sensitivity")
}

func TestFaultHeldOutInTraining(t *testing.T) {
	p, tab := smallExample(t, "kendall", 60)
	p.Holdout = .5
	caughtByReplay(
		t,
		p,
		tab,
		mechanism.HeldOutInTraining,
		"priced as disjoint, both see the record",
	)
}

func TestFaultCoinsByIndex(t *testing.T) {
	p, tab := smallExample(t, "kendall", 60)
	p.Holdout = .5
	caughtByReplay(t, p, tab, mechanism.CoinsByIndex, "inputs differ by")
}

// TestFaultExactCount plants a penalty of the support vector machine, and therefore a sensitivity, that follows the
// exact number of records.
func TestFaultExactCount(t *testing.T) {
	p, tab := smallExample(t, "classes", 400)
	p.Model = svm.SVM{}
	caughtByReplay(
		t,
		p,
		tab,
		mechanism.ExactCount,
		"the declared sensitivity depends on the data",
	)
}

// TestFaultFloatSums plants sums that depend on the order of the records, as integer sums do not.
func TestFaultFloatSums(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]int16, n)
	y := make([]int16, n)
	for i := range n {
		x[i] = int16(rng.IntN(2*mechanism.FixedOne) - mechanism.FixedOne)
		y[i] = int16(mechanism.FixedOne - rng.IntN(mechanism.FixedOne/4))
	}
	order := rng.Perm(n)
	priced, err := budget.Calibrate(
		budget.Sequence("audit", budget.ExponentialLeaf("step", 1, 1)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func(rec *mechanism.Recorder, at func(i int) int) {
		s := mechanism.NewRecordedSession(priced, rec)
		p := s.NewProducts([]int{0, 0})
		for i := range n {
			k := at(i)
			p.Add(
				[][]int16{{x[k]}, {y[k]}},
				nil, []int16{mechanism.FixedOne},
			)
		}
		_, err := mechanism.Choose(
			s, "step", 0,
			p.Scores([]int{0, 1}),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	for f, same := range map[mechanism.Fault]bool{0: true, mechanism.FloatSums: false} {
		first := mechanism.NewRecorder(1).Plant(f).KeepColumns()
		run(first, func(i int) int {
			return i
		})
		second := first.Replay()
		run(second, func(i int) int {
			return order[i]
		})
		_, moved := mechanism.Compare(first, second)
		if moved == 0 != same {
			t.Errorf(
				"fault %v: another order moves the scores by %v of their sensitivity",
				f,
				moved,
			)
		}
	}
}
