package pipeline

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// TestPlanKnowsWhetherItHasMu compares HasMu with the mu of the guarantee, for steps that are Gaussian, pure, approximate, and
// chosen among alternatives.
func TestPlanKnowsWhetherItHasMu(t *testing.T) {
	finite := 0
	runs := 0
	for _, m := range []method.Trainer{
		adassp.JointGram{},
		boosting.Additive{},
		tukey.Tukey{},
		nil,
	} {
		for _, delta := range []float64{0, 1e-6} {
			for _, asking := range []bool{false, true} {
				p := pricePipeline(housesTable(t, 10))
				p.Budget = budget.Target{Epsilon: 2, Delta: delta}
				p.Model = m
				if asking {
					p.Schema.Columns[0].Found = true
				}
				plan, err := p.Plan()
				if err != nil {
					continue // refused for lack of a delta
				}
				runs++
				mu := plan.Guarantee().Mu
				if plan.HasMu() == math.IsInf(mu, 1) {
					t.Errorf(
						"%v, delta %v, asking %v: HasMu is %v, mu %v",
						m, delta, asking, plan.HasMu(), mu,
					)
				}
				if plan.HasMu() {
					finite++
				}
			}
		}
	}
	if finite == 0 || finite == runs {
		t.Errorf(
			"%d of %d plans have a mu",
			finite, runs,
		)
	}
}
