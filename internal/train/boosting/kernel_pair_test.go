package boosting

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
)

// surfaceSample returns n records of numeric columns. The second and the last column interact.
func surfaceSample(t testing.TB, n int) sample {
	t.Helper()
	var columns []dataset.Column
	for _, name := range []string{
		"a", "b", "c", "d",
		"y",
	} {
		columns = append(
			columns,
			dataset.Column{
				Name:   name,
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
		)
	}
	data := make([]dataset.ColumnData, len(columns))
	p := testrows.Points(5)
	for range n {
		var x [4]float64
		for j := range x {
			x[j] = p.Next()
			data[j].Floats = append(data[j].Floats, x[j])
		}
		y := .2*x[0] + .1*x[0]*x[2] + .4*math.Sin(4*x[1])*math.Sin(4*x[3]) + .05*p.Next()
		data[4].Floats = append(data[4].Floats, y)
	}
	return newSample(t, columns, data)
}

// TestPairIsFound checks that the stage after the first selects the two interacting columns, uses only their ranks
// and values, and fits their surface.
func TestPairIsFound(t *testing.T) {
	x := surfaceSample(t, 9000)
	k := x.markedBooster(t, 6, mostLandmarks) // with fewer, another pair may be found
	if len(k.stages) != 4 || !k.stages[1].plan.alone {
		t.Fatalf(
			"%d stages, none of a pair",
			len(k.stages),
		)
	}
	s := k.stages[1]
	pair := slices.Sorted(slices.Values(s.plan.pair[:]))
	if !slices.Equal(pair, []int{1, 3}) {
		t.Fatalf("the pair is %v", pair)
	}
	for c, coordinate := range s.coords {
		row := s.features.Metric[c]
		sees := slices.Contains(pair, coordinate.input)
		moves := slices.Max(row) > 0
		if moves && !sees || c >= len(s.coords)-2 && !moves {
			t.Errorf(
				"coordinate %d of input %d has the metric %v",
				c, coordinate.input, row,
			)
		}
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

// TestPairNeedsRecords checks that the planned stages and parts are unchanged if there are few records for the
// budget.
func TestPairNeedsRecords(t *testing.T) {
	k := surfaceSample(t, 4000).kernelBooster(t, 3)
	if len(k.stages) != 3 || k.spend.epochs != 9 {
		t.Errorf(
			"%d stages, %d epochs",
			len(k.stages), k.spend.epochs,
		)
	}
}

// TestExtendedScheduleKeepsItsSum checks that added stages take their budget from later parts, that the budget
// already spent is unchanged, and that all weights keep their sums.
func TestExtendedScheduleKeepsItsSum(t *testing.T) {
	sum := func(weights []int) (all int) {
		for _, w := range weights {
			all += w
		}
		return all
	}
	for _, classes := range []bool{false, true} {
		for _, strength := range []float64{
			pairFew + (pairMany-pairFew)*leastPair/pairShare*1.01,
			pairMany,
		} {
			k := pairBooster(t, strength, classes)
			done := leadEpochs + 2
			parts := (leadEpochs+2)*(3+1) + 2
			before := slices.Clone(k.spend.weights)
			sizes := slices.Clone(k.spend.sizing)
			k.spend.next = parts
			plan := k.withPair(kernelStages(), done)
			s := k.spend
			if len(plan) != 4 ||
				s.epochs != 9+pairEpochs ||
				len(s.sizing) != s.epochs {
				t.Fatalf(
					"%d stages, %d epochs, %d sizes",
					len(plan), s.epochs,
					len(s.sizing),
				)
			}
			if !slices.Equal(s.weights[:parts], before[:parts]) ||
				sum(s.weights) != sum(before) ||
				slices.Min(s.weights) < 1 {
				t.Errorf(
					"strength %v: weights %v after %v",
					strength, s.weights, before,
				)
			}
			if !slices.Equal(s.sizing[:done], sizes[:done]) ||
				sum(s.sizing) != sum(sizes) ||
				slices.Min(s.sizing) < 1 {
				t.Errorf(
					"strength %v: sizes %v after %v",
					strength, s.sizing, sizes,
				)
			}
			shares := 0.
			for i, p := range plan {
				shares += p.share
				at := parts
				for _, earlier := range plan[1:max(i, 1)] {
					at += earlier.epochs * 5
				}
				if i == 0 {
					continue
				}
				want := p.share * k.share / float64(p.epochs)
				got := float64(s.weights[at+4]) / scheduleUnit
				if math.Abs(got/want-1) > 1e-4 {
					t.Errorf(
						"stage %d has %v of the sums an epoch, want %v",
						i, got, want,
					)
				}
			}
			if math.Abs(shares-1) > 1e-9 {
				t.Errorf("the stages have %v of their share", shares)
			}
		}
	}
}

// pairBooster returns a run of three curves and two numbers before its second stage, with the given n mu.
func pairBooster(t *testing.T, strength float64, classes bool) *kernelBooster {
	t.Helper()
	_, trained := trainedBooster(t)
	b := *trained.booster
	b.total = strength
	b.mu = 1
	k := &kernelBooster{
		booster: &b,
		share:   kernelShare,
		public:  trained.public,
		stages:  trained.stages[:1],
	}
	k.spend = newSchedule(nil, 1, 3, k.share, kernelStages(), classes)
	return k
}
