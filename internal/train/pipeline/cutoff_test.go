package pipeline

import (
	"context"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// TestCutoffBin checks that a cutoff at the upper end of a bin assigns exactly the records of the bins up to it to
// the first class.
func TestCutoffBin(t *testing.T) {
	for score, want := range map[float64]int{
		-5:     0,
		-1:     0,
		-.999:  0,
		0:      31,
		1e-9:   32,
		.03125: 32,
		.0313:  33,
		1:      63,
		7:      63,
	} {
		if got := cutoffBin(score); got != want {
			t.Errorf(
				"score %v lies in bin %d, want %d",
				score, got, want,
			)
		}
	}
}

// TestBestCutoff checks that without noise the cutoff is the best one, and that it is 0 if no cutoff improves on it
// or noise dominates.
func TestBestCutoff(t *testing.T) {
	counts := make([]float64, 2*cutoffBins)
	for b := range cutoffBins {
		counts[b] = 10
		counts[cutoffBins+b] = 1
		if b >= 25 { // scores above 25/32 - 1
			counts[b] = 1
			counts[cutoffBins+b] = 10
		}
	}
	got := bestCutoff(counts, 0)
	want := 25./32 - 1
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
	got = bestCutoff(counts, 1e4)
	if got != 0 {
		t.Errorf("%v from noise", got)
	}
	for b := range cutoffBins { // the mirror image: scores up to 39/32 - 1 are the first class's
		counts[b] = 10
		counts[cutoffBins+b] = 1
		if b >= 39 {
			counts[b] = 1
			counts[cutoffBins+b] = 10
		}
	}
	got = bestCutoff(counts, 0)
	want = 39./32 - 1
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
	got = bestCutoff(make([]float64, 2*cutoffBins), 1)
	if got != 0 {
		t.Errorf("%v from nothing", got)
	}
}

// TestCutoffHelps checks that the cutoff compensates for a shift of an otherwise exact score.
func TestCutoffHelps(t *testing.T) {
	const n = 4000
	tab, p := shiftedTable(t, n)
	s := cutoffSession(t, 1, budget.AddRemove)
	counts, err := releaseCutoff(
		context.Background(), s,
		memory.NewRecords(tab.View()), p,
	)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(counts.Cutoff-.4) > .1 {
		t.Errorf(
			"cutoff %v of scores that are .4 too high",
			counts.Cutoff,
		)
	}
}

// shiftedTable returns a table whose second class starts at x = 0, and the score x + .4.
func shiftedTable(t *testing.T, n int) (*dataset.Table, *regression.Linear) {
	t.Helper()
	x := make([]float64, n)
	codes := make([]int32, n)
	for i := range x {
		x[i] = math.Mod(float64(i)*.6180339887, 2) - 1
		if x[i] > 0 {
			codes[i] = 1
		}
		if i%100 == 0 {
			codes[i] = 2
		}
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{
			{Name: "x"},
			{
				Name:       "y",
				Kind:       dataset.Category,
				Categories: []string{"a", "b"},
			},
		}},
		[]dataset.ColumnData{{Floats: x}, {Codes: codes}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab, &regression.Linear{
		Target: "y",
		Columns: []regression.Column{{
			Name:  "x",
			Lower: -1,
			Upper: 1,
		}},
		Terms:     []regression.Term{{Coefficient: 1}},
		Intercept: .4,
		Lower:     -1,
		Upper:     1,
	}
}

func cutoffSession(t *testing.T, epsilon float64, rel budget.Relation) *mechanism.Session {
	t.Helper()
	priced, err := budget.Calibrate(
		budget.Sequence("two-classes", budget.GaussianLeaf(cutoffLeaf, 1, 1)),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-5,
			Relation: rel,
		})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCutoffSensitivity searches the change of the cells over records of every
// class and score, added and replaced. The cells are read from releases with
// hardly any noise.
func TestCutoffSensitivity(t *testing.T) {
	type record struct {
		code  int32
		score float64
	}
	var records []record
	for code := range int32(3) {
		for _, score := range []float64{-9, -.5, 0, .01, 9} {
			records = append(records, record{code, score})
		}
	}
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:  1,
		budget.Substitute: math.Sqrt2,
	} {
		cells := func(rows ...record) []float64 {
			s := cutoffSession(t, 1000, rel)
			codes := make([]int32, len(rows))
			scores := make([]float64, len(rows))
			for i, r := range rows {
				codes[i] = r.code
				scores[i] = r.score
			}
			tab, err := dataset.NewTable(
				dataset.Schema{Columns: []dataset.Column{
					{Name: "score"},
					{
						Name:       "y",
						Kind:       dataset.Category,
						Categories: []string{"a", "b"},
					},
				}},
				[]dataset.ColumnData{{Floats: scores}, {Codes: codes}},
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			same := &regression.Linear{
				Columns: []regression.Column{{
					Name:  "score",
					Lower: -10,
					Upper: 10,
				}},
				Terms: []regression.Term{{Coefficient: 1}},
				Lower: -regression.Unbounded,
				Upper: regression.Unbounded,
			}
			x := cellStatistic{
				method.NewPredictor(same, tab.Schema().Columns[:1]),
				2 * cutoffBins,
				cutoffCell{},
			}
			p, err := mechanism.Sum[*cellsPass](
				t.Context(),
				s,
				memory.NewRecords(tab.View()),
				x,
			)
			if err != nil {
				t.Fatal(err)
			}
			bound := p.cells.Bound()
			got := bound.Sensitivity()
			if got < want || got > want*(1+1e-9) {
				t.Fatalf(
					"%v: declared %v, want %v",
					rel, got, want,
				)
			}
			out, err := mechanism.Gaussian(s, cutoffLeaf, bound)
			if err != nil {
				t.Fatal(err)
			}
			return out.Value()
		}
		worst := 0.
		base := cells(records[0])
		for _, r := range records {
			for _, q := range records {
				before := cells(r)
				after := cells(q)
				if rel == budget.AddRemove {
					before = base
					after = cells(records[0], r)
				}
				sum := 0.
				for i := range before {
					d := math.Round(before[i]) - math.Round(after[i])
					sum += d * d
				}
				worst = max(worst, math.Sqrt(sum))
			}
		}
		if worst > want*(1+1e-9) || worst < .999*want {
			t.Errorf(
				"%v: largest change %v, declared %v",
				rel, worst, want,
			)
		}
	}
}
