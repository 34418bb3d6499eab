//go:build replay

package boosting

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// recordGradients returns the exact gradients of tables with one record each and, last, of an empty table, together
// with their common declared sensitivity. Both are in grid units.
func recordGradients(
	t *testing.T,
	columns []dataset.Column,
	records [][]float64,
	rel budget.Relation,
	theta []float64,
	clip float64,
) (gradients []mechanism.Vector, sensitivity float64) {
	t.Helper()
	node := budget.Sequence(rootNode,
		budget.GaussianLeaf(gradientsLeaf, 1, len(records)+1).WithStatistic(mechanism.StatCross),
	)
	priced, err := budget.Calibrate(
		node,
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	recorder := mechanism.NewRecorder(1)
	s := mechanism.NewRecordedSession(priced, recorder)
	for i := range len(records) + 1 {
		data := make([]dataset.ColumnData, len(columns))
		for j := range data {
			if i < len(records) {
				data[j].Floats = []float64{records[i][j]}
			}
		}
		x := newSample(t, columns, data)
		pass, err := mechanism.Sum[*gradientPass](
			context.Background(),
			s,
			memory.NewRecords(x.tab.View()),
			gradientStatistic{columns, x.ranges, theta, clip},
		)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mechanism.GaussianDraw(s, gradientsLeaf, i, pass.cross.Bound())
		if err != nil {
			t.Fatal(err)
		}
	}
	gradients = make([]mechanism.Vector, len(records)+1)
	for _, r := range recorder.Releases() {
		gradients[r.Draw] = r.Input
		sensitivity = r.Bound
	}
	return gradients, sensitivity
}

func vectorDistance(a, b mechanism.Vector) float64 {
	sum := 0.
	for i := range a {
		sum += math.Pow(float64(a[i]-b[i]), 2)
	}
	return math.Sqrt(sum)
}

// TestGradientSensitivity checks for every clip that no record moves the gradient by more than its declared
// sensitivity, and that some record moves it by almost as much.
func TestGradientSensitivity(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
	}
	values := []float64{
		-1e9, -.3, 0, 1,
		math.Inf(1),
		math.NaN(),
	}
	var records [][]float64
	for _, a := range values {
		for _, b := range values {
			for _, y := range values {
				records = append(records, []float64{a, b, y})
			}
		}
	}
	for _, clip := range []float64{minClip, .3, defaultClip, maxClip} {
		for _, theta := range [][]float64{
			{0, 0, 0},
			{5, -3, 20},
			{-900, 400, 1e5},
		} {
			reached := .99
			if theta[2] == 0 { // the residual is the target, which lies within [-1, 1]
				reached *= min(1, 1/clip)
			}
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				gradients, bound := recordGradients(t, columns, records, rel, theta, clip)
				empty := gradients[len(records)]
				largest := 0.
				for i, g := range gradients {
					if rel == budget.AddRemove {
						largest = max(largest, vectorDistance(g, empty))
						continue
					}
					for _, other := range gradients[:i] {
						largest = max(largest, vectorDistance(g, other))
					}
				}
				if theta[2] != 0 && rel == budget.Substitute { // all residuals have one sign, and the constants of two records cancel
					reached = .89
				}
				if largest > bound || largest < reached*bound {
					t.Errorf(
						"%v, clip %v, theta %v: the largest change is %.4f of the sensitivity",
						rel,
						clip,
						theta,
						largest/bound,
					)
				}
			}
		}
	}
}

// TestBoostedReplays replays the recorded releases on neighbouring tables and checks that no round moves further than
// declared and that the model is the same, for a given number of rounds and for one chosen from the released matrix.
func TestBoostedReplays(t *testing.T) {
	x := crossedSample(t, 400)
	for _, trainer := range []BoostedAdaSSP{
		{},
		{Rounds: 6},
		{
			Rounds:    4,
			Clip:      .2,
			Shrinkage: .5,
			GramShare: .3,
		},
	} {
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			run := func(tab *dataset.Table, recorder *mechanism.Recorder) []byte {
				node, err := trainer.Plan(x.runFacts(rel))
				if err != nil {
					t.Fatal(err)
				}
				priced, err := budget.Calibrate(
					budget.Sequence("run", node),
					budget.Target{
						Epsilon:  40,
						Delta:    1e-6,
						Relation: rel,
					},
				)
				if err != nil {
					t.Fatal(err)
				}
				fit, err := trainer.Fit(
					context.Background(),
					mechanism.NewRecordedSession(priced, recorder),
					method.Data{
						Facts:   x.runFacts(rel),
						Records: memory.NewRecords(tab.View()),
						Ranges:  x.ranges,
					},
				)
				if err != nil {
					t.Fatal(err)
				}
				return encodeModel(t, fit.Model)
			}
			first := mechanism.NewRecorder(9)
			want := run(x.tab, first)
			closest := 0.
			rounds := len(first.Releases()) - 1
			if rounds < 2 || trainer.Rounds != 0 && rounds != trainer.Rounds {
				t.Errorf(
					"%+v, %v: %d rounds",
					trainer, rel, rounds,
				)
			}
			for _, neighbour := range x.crossedNeighbours(t, rel) {
				second := first.Replay()
				got := run(neighbour, second)
				faults, ratio := mechanism.Compare(first, second)
				closest = max(closest, ratio)
				for _, f := range faults {
					t.Errorf(
						"%+v, %v: %s",
						trainer, rel, f,
					)
				}
				if !bytes.Equal(got, want) {
					t.Errorf(
						"%+v, %v: the model depends on the record",
						trainer, rel,
					)
				}
			}
			if closest < .5 || closest > 1 {
				t.Errorf(
					"%+v, %v: the closest release came within %.3f of its sensitivity",
					trainer,
					rel,
					closest,
				)
			}
		}
	}
}
