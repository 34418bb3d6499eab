package audit

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit"
)

// lawOf returns the law of a step that spends all of epsilon and delta.
func lawOf(x WorstPair, epsilon, delta float64) budget.Law {
	law := budget.Law{
		Kind:    x.Kind,
		Epsilon: epsilon,
		Draws:   1,
	}
	switch x.Kind {
	case budget.Gaussian:
		law.Mu = budget.GaussianMu(epsilon, delta)
		law.Epsilon = 0
	case budget.Approximate:
		law.Delta = delta
	}
	return law
}

// leafOf measures a single statistic.
func leafOf(
	t *testing.T,
	x WorstPair,
	rel budget.Relation,
	epsilon float64,
	o Options,
) Leaf {
	t.Helper()
	const delta = 1e-6
	law := lawOf(x, epsilon, delta)
	m, err := Step(context.Background(), x, law, rel, delta, o)
	if err != nil {
		t.Fatal(x.Statistic, err)
	}
	return Leaf{
		Path:    string(x.Statistic),
		Law:     law,
		Epsilon: epsilon,
		Mu:      law.Mu,
		Measure: m,
	}
}

var full = flag.Bool(
	"full",
	testkit.Full(),
	"measure every step at all epsilons, replay every run on every neighbour under every seed, and stream every example "+
		"in every way",
)

// inSubstitution reports whether TestStepSubstitution, and not TestStepsComeClose, measures the pair with the given index
// in [WorstPairs]: without -full, half of the pairs that substitution has.
func inSubstitution(i int, x WorstPair) bool {
	return i%2 == 0 && !*full && !x.Slow && slices.Contains(x.Relations, budget.Substitute)
}

// TestStepsComeClose checks that every statistic at epsilon 3, except those of [inSubstitution], and with -full one of each
// mechanism at .5 and 1 as well, is measured at no more than the claim and at a third of it or more, except the Tukey mechanism, which is slow, and
// new text categories, which spend only a delta. A measure above the claim has the odds 1e-6 each, by its confidence.
// The numbers of draws put a third of the claim at least 6.5 standard deviations below the mean of the measure (mean
// and deviation of ten repetitions of each of the harder cases; least for the histogram at .5: .317 and .023 compared
// with .167), so that under normality a case misses it with odds below 1e-10.
func TestStepsComeClose(t *testing.T) {
	most := map[budget.Statistic]int{
		mechanism.StatAgreement: 80_000,
		mechanism.StatHistogram: 200_000,
		mechanism.StatVotes:     80_000,
	} // at epsilon .5
	epsilons := []float64{3}
	if *full {
		epsilons = append(epsilons, 1, .5) // they take four fifths of the draws
	}
	for i, x := range WorstPairs() {
		if inSubstitution(i, x) {
			continue
		}
		rel := budget.AddRemove
		for rel < budget.SubstitutePrivateColumns && !slices.Contains(x.Relations, rel) {
			rel++
		}
		for _, epsilon := range epsilons {
			draws := int(float64(most[x.Statistic]) / (4 * epsilon * epsilon))
			if epsilon == 3 {
				draws = drawsAt3(x)
			}
			if draws == 0 {
				continue
			}
			l := leafOf(
				t, x, rel, epsilon,
				Options{Draws: draws, Confidence: 1 - 1e-6},
			)
			t.Logf(
				"%s, %v: %.3f of %v",
				x.Statistic, rel, l.Measured(), epsilon,
			)
			if l.Violation() {
				t.Errorf(
					"%s: measured %+v of %+v",
					x.Statistic, l.Measure, l.Law,
				)
			}
			if x.Kind != budget.Approximate && l.Measured() < epsilon/3 {
				t.Errorf(
					"%s: measured %.3f of %v",
					x.Statistic, l.Measured(), epsilon,
				)
			}
		}
	}
}

// drawsAt3 is the number of draws at epsilon 3. The pairs of some statistics are harder to distinguish.
func drawsAt3(x WorstPair) int {
	switch x.Statistic {
	case mechanism.StatLipschitz:
		return 32_000
	case mechanism.StatLipschitzExponential:
		return 64_000
	}
	return 16_000
}

// TestStepSubstitution checks that the pairs under substitution, without -full those of [inSubstitution], are as far apart;
// the odds are those of TestStepsComeClose.
func TestStepSubstitution(t *testing.T) {
	for i, x := range WorstPairs() {
		if !inSubstitution(i, x) &&
			(!*full || !slices.Contains(x.Relations, budget.Substitute) || x.Slow) {
			continue
		}
		l := leafOf(
			t,
			x,
			budget.Substitute,
			3,
			Options{Draws: drawsAt3(x), Confidence: 1 - 1e-6},
		)
		if l.Violation() ||
			x.Kind != budget.Approximate && l.Measured() < 1 {
			t.Errorf(
				"%s: measured %.3f of 3",
				x.Statistic, l.Measured(),
			)
		}
	}
}

func TestStepMistakes(t *testing.T) {
	x, _ := WorstPairOf(mechanism.StatCount)
	blocks, _ := WorstPairOf(mechanism.StatPrivateBlocks)
	law := lawOf(x, 1, 0)
	_, err := Step(
		context.Background(),
		blocks,
		lawOf(blocks, 1, 1e-6),
		budget.Substitute,
		0,
		Options{},
	)
	if !errors.Is(err, ErrStatistic) {
		t.Error(err)
	}
	_, err = Step(
		context.Background(),
		x,
		law,
		budget.AddRemove,
		0,
		Options{Draws: 3},
	)
	if !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Step(ctx, x, law, budget.AddRemove, 0, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestClopperPearson checks the published ends of 4 of 20 at 2.5% a side, the closed forms for 0 and n, and the
// coverage, computed from the binomial distribution.
func TestClopperPearson(t *testing.T) {
	near := func(got, want, tol float64) {
		t.Helper()
		if math.Abs(got-want) > tol {
			t.Errorf("%v, want %v", got, want)
		}
	}
	near(atLeast(4, 20, .025), .0573, 5e-5)
	near(atMost(4, 20, .025), .4366, 5e-5)
	near(
		atLeast(20, 20, .01),
		math.Pow(.01, 1./20),
		1e-12,
	)
	near(
		atMost(0, 20, .01),
		1-math.Pow(.01, 1./20),
		1e-12,
	)
	near(atLeast(0, 20, .01), 0, 0)
	near(atMost(20, 20, .01), 1, 0)
	for _, p := range []float64{.01, .3, .5} {
		const (
			n     = 60
			alpha = .05
		)
		missed := 0.
		for k := 0; k <= n; k++ {
			a, _ := math.Lgamma(n + 1)
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			if atLeast(k, n, alpha) > p {
				missed += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
			}
		}
		if missed > alpha {
			t.Errorf(
				"p = %v: the lower end misses it with probability %v",
				p, missed,
			)
		}
	}
}

var tableDraws = flag.Int(
	"table", 0,
	"draws a step of the table of docs/proofs/audit.md",
)

// TestStepTable prints the table of docs/proofs/audit.md:
//
//	go test ./internal/audit -run TestStepTable -table 100000 -v
//
// A cell is the measured share of the claim, with the epsilon in brackets. For the Gaussian mechanism it is the share of
// mu, and the epsilon at delta 1e-6 of the Gaussian curve with the measured mu. The last column is the smallest share of
// epsilon from threshold events alone, without the assumption that the noise is Gaussian.
func TestStepTable(t *testing.T) {
	if *tableDraws == 0 {
		t.Skip("prints a table; give -table a number of draws")
	}
	for _, x := range WorstPairs() {
		t.Run(string(x.Statistic), func(t *testing.T) {
			for rel := range budget.SubstitutePrivateColumns + 1 {
				if !slices.Contains(x.Relations, rel) {
					continue
				}
				row := fmt.Sprintf(
					"| %s | %v | %v |",
					x.Statistic, x.Kind, rel,
				)
				events := math.Inf(1)
				for _, epsilon := range []float64{.5, 1, 3} {
					l := leafOf(t, x, rel, epsilon, Options{Draws: *tableDraws})
					share := l.Measured() / epsilon
					if x.Kind == budget.Gaussian {
						share = l.Measure.Mu / l.Mu
					}
					row += fmt.Sprintf(
						" %.2f (%.2f) |", share,
						l.Measured(),
					)
					events = min(events, l.Measure.Epsilon/epsilon)
					if l.Violation() ||
						x.Statistic != mechanism.StatTukey && l.Measured() < epsilon/3 {
						t.Errorf(
							"a violation, or less than a third: %+v",
							l,
						)
					}
				}
				t.Logf("%s %.2f |", row, events)
			}
		})
	}
}
