package mechanism

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// TestScoreDifference checks that replaced records move the difference by no more than the bound: any record if all
// records are protected, and otherwise any test record.
func TestScoreDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := &Session{Maker: NewMaker(budget.Substitute)}
	for _, c := range []struct {
		score string
		all   bool
		ridge direction.Ridge
	}{
		{direction.Spearman, false, direction.Ridge{Penalty: .002, Width: .25}},
		{direction.Kendall, false, direction.Ridge{
			Penalty: .002,
			Width:   .25,
		}},
		{direction.HSIC, false, direction.Ridge{Penalty: .002, Width: .25}},
		{direction.HSIC, true, direction.Ridge{Penalty: .5, Width: .5}},
		{direction.HSIC, true, direction.Ridge{Penalty: 3, Width: .5}},
		{direction.HSIC, true, direction.Ridge{Penalty: 1e-4, Width: .5}},
		{direction.HSIC, true, direction.Ridge{Penalty: 1e3, Width: .5}},
	} {
		for range 300 {
			const n = 14
			x := make([]float64, n)
			y := make([]float64, n)
			train := make([]bool, n)
			for i := range n {
				x[i] = 2*r.Float64() - 1
				y[i] = 2*r.Float64() - 1
				train[i] = i < n/2
			}
			a, err := s.ScoreDifference(
				x, y, train, c.score, c.ridge,
				c.all,
			)
			if err != nil {
				t.Fatal(err)
			}
			k := n/2 + r.IntN(n/2)
			if c.all {
				k = r.IntN(n)
			}
			x[k] = float64(r.IntN(2)*2-1) * (.9 + r.Float64()/10)
			y[k] = float64(r.IntN(2)*2-1) * (.9 + r.Float64()/10)
			b, err := s.ScoreDifference(
				x, y, train, c.score, c.ridge,
				c.all,
			)
			if err != nil {
				t.Fatal(err)
			}
			d := math.Abs(float64(a.value - b.value))
			if d > a.sens || a.sens != b.sens {
				t.Errorf(
					"%+v: moved by %v of %v",
					c, d*a.unit, a.Sensitivity(),
				)
			}
		}
	}
	open := &Session{Maker: NewMaker(budget.AddRemove)}
	_, err := open.ScoreDifference(
		nil,
		nil,
		nil,
		direction.HSIC,
		direction.Ridge{Penalty: 1, Width: 1},
		true,
	)
	if !errors.Is(err, ErrRelation) {
		t.Errorf("error %v", err)
	}
	if _, err := open.Quartile(nil, 1, .25); !errors.Is(err, ErrRelation) {
		t.Errorf("error %v", err)
	}
}

// TestQuartile searches all small lists: a replaced value moves the scores within a range of
// width 2, which is attained.
func TestQuartile(t *testing.T) {
	values := []float64{-2, -.4, 0, .4, 2}
	far := 0.
	for _, q := range []float64{.25, .75} {
		for a := range 5 {
			for b := range 5 {
				for c := range 5 {
					for d := range 5 {
						x := quartileOf(
							[]float64{values[a], values[b], values[c]},
							1, q,
						)
						y := quartileOf(
							[]float64{values[a], values[b], values[d]},
							1, q,
						)
						lo := math.Inf(1)
						hi := math.Inf(-1)
						for i := range x.value {
							v := float64(y.value[i] - x.value[i])
							lo = min(lo, v)
							hi = max(hi, v)
						}
						far = max(far, hi-lo)
						if hi-lo > x.sens || max(-lo, hi) > x.sens/2 {
							t.Fatalf(
								"scores move within [%v, %v]",
								lo, hi,
							)
						}
					}
				}
			}
		}
	}
	if far*.25 < 1 {
		t.Errorf("the widest range is %v", far*.25)
	}
	if QuartileAt(0, 2) != -2 ||
		QuartileAt(QuartilePoints-1, 2) != 2 ||
		QuartileAt(QuartilePoints/2, 2) != 0 {
		t.Error("the grid does not go from -2 to 2")
	}
}
