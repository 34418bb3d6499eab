package audit

import (
	"context"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

func lawOf(x Statistic, epsilon, delta float64) budget.Law {
	law := budget.Law{Kind: x.Kind, Epsilon: epsilon, Draws: 1}
	switch x.Kind {
	case budget.Gaussian:
		law.Mu, law.Epsilon = budget.GaussianMu(epsilon, delta), 0
	case budget.Approximate:
		law.Delta = delta
	}
	return law
}

func TestLipX(t *testing.T) {
	for _, rel := range []budget.Relation{0, 1, 2} {
		for _, x := range Statistics() {
			if !x.Supports(rel) || !strings.HasPrefix(x.Name,"lip") {
				continue
			}
			for _, e := range []float64{.5, 1, 3} {
				law := lawOf(x, e, 1e-6)
				m, err := Step(context.Background(), x, law, rel, 1e-6, Options{Draws: 40000})
				if err != nil {
					t.Error(x.Name, err)
					continue
				}
				t.Logf("%-25s %v eps %v: measured %.3f (%.2f); mu %.4f of %.4f (%.2f)", x.Name, rel, e, m.Epsilon, m.Epsilon/e, m.Mu, law.Mu, m.Mu/law.Mu)
			}
		}
	}
}
