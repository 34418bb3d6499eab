package suite

import (
	"context"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/bench/published"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// rangesDelta is the delta of the methods that release ranges, whose subsequent releases are Gaussian.
const rangesDelta = 1e-5

// rangesShare is the share of the budget that pays for ranges.
const rangesShare = .5

// A screeningMethod chooses k columns of a table with a budget.
type screeningMethod struct {
	name    string
	says    string  // description for the page
	delta   float64 // 0 for pure privacy
	quality bool    // its choice is compared with the order of |tau|, also at qualityK
	only    string  // the only table that it applies to; empty for all
	ranged  bool    // releases the ranges of all columns, which is slow, so there are fewer k, budgets and trials
	choose  func(ctx context.Context, t *screened, s Setting, g *generator) ([]int, error)
}

// applies reports whether the method chooses k columns of a table.
func (m screeningMethod) applies(data string, k int) bool {
	return (m.only == "" || m.only == data) && (!m.ranged || k == screeningK)
}

// epsilons lists the budgets of the method in increasing order.
func (m screeningMethod) epsilons() []float64 {
	if m.ranged {
		return []float64{1, 5, 20}
	}
	return screeningEpsilons[:]
}

// Figures 6 and 7 show the difference between these two methods.
const (
	methodSIS      = "sis-tau"
	methodTwoStage = "two-stage"
)

// screeningMethods lists the private methods, and the published DP-SIS.
func screeningMethods() []screeningMethod {
	lipschitz := func(_ *screened, k int) selection.Selector {
		return selection.SIS{
			K:     k,
			Score: selection.ScoreTau,
			TopK:  mechanism.Lipschitz,
		}
	}
	peeling := func(_ *screened, k int) selection.Selector {
		return selection.SIS{
			K:     k,
			Score: selection.ScoreTau,
			TopK:  mechanism.Peeling,
		}
	}
	twoStage := func(t *screened, k int) selection.Selector {
		return selection.SubLasso{
			K:       k,
			Buckets: rootOf(len(t.y)),
			Lambda:  referenceLambda,
		}
	}
	return []screeningMethod{
		{
			name:    methodSIS,
			quality: true,
			choose:  pureChoice(lipschitz),
			says:    "DP-SIS with scores n/2 |tau|, canonical Lipschitz choice (Gumbel form, gamma = 1/2)",
		},
		{
			name:   methodTwoStage,
			choose: pureChoice(twoStage),
			says:   "SubLasso with √n buckets (as if n were public) and lambda = 0.1: the paper's two-stage baseline, made sound",
		},
		{
			name:    "sis-tau-peeling",
			quality: true,
			choose:  pureChoice(peeling),
			says:    "the scores of sis-tau, k rounds of the exponential mechanism",
		},
		{
			name:   published.NameSIS,
			choose: publishedChoice,
			says:   "DP-SIS as the paper has it; no guarantee holds for it",
		},
		{
			name:   "sis-product",
			delta:  rangesDelta,
			ranged: true,
			choose: rangedChoice(selection.ScoreProduct),
			says:   "DP-SIS with scores |sum x y| of scaled and clamped columns; delta is 1e-5, and half of the budget pays for the ranges",
		},
		{name: "sis-correlation", delta: rangesDelta, ranged: true,
			choose: rangedChoice(selection.ScoreCorrelation),
			says:   "the same with the target centred and the columns cut, so that the score is nearer to a correlation"},
		{name: "sis-product-declared", only: syntheticSet, choose: declaredChoice,
			says: "sis-product with the range -4 to 4 declared for every standard normal column; pure"},
	}
}

// pureChoice runs a selector that needs no ranges.
func pureChoice(
	of func(t *screened, k int) selection.Selector,
) func(context.Context, *screened, Setting, *generator) ([]int, error) {
	return func(ctx context.Context, t *screened, s Setting, _ *generator) ([]int, error) {
		return t.choose(ctx, of(t, s.K), pure(s.Epsilon))
	}
}

// rangedChoice first finds the ranges of all columns and of the target.
func rangedChoice(
	score selection.SISScore,
) func(context.Context, *screened, Setting, *generator) ([]int, error) {
	return func(ctx context.Context, t *screened, s Setting, _ *generator) ([]int, error) {
		x := selection.SIS{
			K:     s.K,
			Score: score,
			TopK:  mechanism.Lipschitz,
		}
		choice, _, err := x.Plan(t.facts)
		if err != nil {
			return nil, err
		}
		columns := append(slices.Clone(t.facts.Columns), t.facts.Target)
		private := scaling.Private{
			Columns: columns,
			Target:  len(columns) - 1,
		}
		ranges, _ := private.Plan()
		priced, err := budget.Calibrate(
			budget.Sequence("choose", ranges.Scaled(rangesShare), choice.Scaled(1-rangesShare)),
			budget.Target{
				Epsilon:  s.Epsilon,
				Delta:    s.Delta,
				Relation: budget.AddRemove,
			})
		if err != nil {
			return nil, err
		}
		session, err := mechanism.NewSession(priced)
		if err != nil {
			return nil, err
		}
		facts := t.facts
		if facts.Ranges, err = private.Run(ctx, session.Sub(ranges.Name),
			memory.NewRecords(t.table.View())); err != nil {
			return nil, err
		}
		return x.Select(ctx, session, facts, memory.NewRecords(t.table.View()))
	}
}

// declaredChoice uses public facts about the synthetic set: a column is standard normal, and the target is their sum
// with known weights, with a standard deviation of about 8.
func declaredChoice(
	ctx context.Context,
	t *screened,
	s Setting,
	_ *generator,
) ([]int, error) {
	p := t.problem
	p.facts.Ranges = make([]scaling.Range, len(p.facts.Columns)+1)
	for j := range p.facts.Columns {
		p.facts.Ranges[j] = scaling.Range{
			Lower: -4,
			Upper: 4,
		}
	}
	p.facts.Ranges[len(p.facts.Columns)] = scaling.Range{
		Lower: -32,
		Upper: 32,
	}
	return p.choose(ctx,
		selection.SIS{
			K:     s.K,
			Score: selection.ScoreProduct,
			TopK:  mechanism.Lipschitz,
		},
		pure(s.Epsilon))
}

// publishedChoice draws from a public seed, since the method has no valid guarantee.
func publishedChoice(
	ctx context.Context,
	t *screened,
	s Setting,
	g *generator,
) ([]int, error) {
	m, err := published.New(published.NameSIS, published.Options{K: s.K})
	if err != nil {
		return nil, err
	}
	fitted, err := m.Fit(
		ctx,
		source{g},
		t.table.View(),
		len(t.facts.Columns),
		s.Epsilon,
		0,
	)
	return fitted.Columns, err
}

// source adapts a generator to a source of bits.
type source struct{ g *generator }

func (s source) Uint64() uint64 {
	return s.g.next()
}
