package pipeline

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
)

// sharedRun is a run with a selection, on six columns that may declare their ranges.
func sharedRun(ranged bool, change func(p *Pipeline)) *Pipeline {
	p := &Pipeline{
		Target:   "y",
		Holdout:  .2,
		Selector: selection.Kendall{K: 2},
		Model:    adassp.AdaSSP{},
		Budget:   budget.Target{Epsilon: 2, Delta: 1e-5},
	}
	for _, name := range []string{
		"a", "b", "c", "d",
		"e", "y",
	} {
		c := dataset.Column{Name: name}
		if ranged {
			c.Ranged = true
			c.Lower = -1
			c.Upper = 1
		}
		p.Schema.Columns = append(p.Schema.Columns, c)
	}
	change(p)
	return p
}

// spentBy adds up the budgets of the stages of the training part: epsilon of fixed mechanisms, and the shares of
// calibrated ones.
func spentBy(plan *Plan) (fixed, calibrated map[string]float64) {
	fixed = map[string]float64{}
	calibrated = map[string]float64{}
	for _, l := range plan.Leaves() {
		if l.Place.Part != trainNode {
			continue
		}
		name := ShareName(l.Place.Stage)
		switch {
		case l.Fixed || l.Informer:
			fixed[name] += l.Law.Epsilon * float64(l.Law.Draws)
		case plan.Target().Composition == budget.Basic:
			calibrated[name] += l.Share
		case l.Law.Mu > 0:
			calibrated[name] += float64(l.Law.Draws) * l.Law.Mu * l.Law.Mu
		case l.Law.Kind == budget.Exponential: // rho = epsilon^2/8, that of a Gaussian release with mu = epsilon/2
			calibrated[name] += float64(l.Law.Draws) * l.Law.Epsilon * l.Law.Epsilon / 4
		default:
			calibrated[name] += float64(l.Law.Draws) * l.Law.Epsilon * l.Law.Epsilon
		}
	}
	return fixed, calibrated
}

// TestShares checks that the leaves of a plan cost the requested shares: mu squared of calibrated stages is
// proportional to their shares, and fixed mechanisms have their share of the epsilon of the training part.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		run  *Pipeline
		want map[string]float64 // of calibrated stages, relative to each other
		only map[string]float64 // shares of fixed mechanisms in the epsilon of the training part
	}{
		"selection and model": {
			sharedRun(true, func(p *Pipeline) {
				p.Shares = Shares{Selection: .4, Model: .6}
			}),
			map[string]float64{"selection": .4, "model": .6},
			nil,
		},
		"selection alone": {
			sharedRun(true, func(p *Pipeline) {
				p.Shares = Shares{Selection: .4}
			}),
			map[string]float64{"selection": .4, "model": .6},
			nil,
		},
		"private ranges": {
			sharedRun(false, func(p *Pipeline) {
				p.Shares = Shares{
					Selection: .2,
					Ranges:    .3,
					Model:     .5,
				}
			}),
			map[string]float64{
				"selection": .2,
				"ranges":    .3,
				"model":     .5,
			},
			nil,
		},
		"basic": {
			sharedRun(false, func(p *Pipeline) {
				p.Shares = Shares{
					Selection: .2,
					Ranges:    .3,
					Model:     .5,
				}
				p.Budget.Composition = budget.Basic
			}),
			map[string]float64{
				"selection": .2,
				"ranges":    .3,
				"model":     .5,
			},
			nil,
		},
		"transform": {
			sharedRun(true, func(p *Pipeline) {
				p.Schema.Columns[5].Lower = .5
				p.Transform = rescale.Log
				p.Shares = Shares{
					Transform: .2,
					Selection: .3,
					Model:     .5,
				}
			}),
			map[string]float64{
				"transform": .2,
				"selection": .3,
				"model":     .5,
			},
			nil,
		},
		"the paper's tukey": {
			sharedRun(true, func(p *Pipeline) {
				p.Model = tukey.Tukey{}
				p.Shares = Shares{
					Count:     .05,
					Selection: .05,
					Model:     .9,
				}
			}),
			map[string]float64{"selection": 1},
			map[string]float64{"count": .05, "model": .9},
		},
		"half of tukey": {
			sharedRun(true, func(p *Pipeline) {
				p.Model = tukey.Tukey{}
				p.Shares = Shares{Selection: .5}
			}),
			map[string]float64{"selection": 1},
			map[string]float64{"count": .03, "model": .47},
		},
		"tukey with private ranges": {
			sharedRun(false, func(p *Pipeline) {
				p.Model = tukey.Tukey{}
				p.Shares = Shares{Ranges: .2, Selection: .1}
			}),
			map[string]float64{"ranges": 2. / 3, "selection": 1. / 3},
			map[string]float64{"count": .03, "model": .67},
		},
		"tukey with a fallback": {
			sharedRun(true, func(p *Pipeline) {
				p.Model = tukey.Tukey{}
				p.Fallback = adassp.JointGram{}
				p.Shares = Shares{
					Count:     .1,
					Selection: .1,
					Model:     .5,
					Fallback:  .3,
				}
			}),
			map[string]float64{"selection": .25, "fallback": .75},
			map[string]float64{"count": .1, "model": .5},
		},
	} {
		plan, err := c.run.Plan()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fixed, calibrated := spentBy(plan)
		sum := 0.
		for _, x := range calibrated {
			sum += x
		}
		for stage, want := range c.want {
			got := calibrated[stage] / sum
			if math.Abs(got-want) > 1e-6 {
				t.Errorf(
					"%s: %s spends %.6f of what is calibrated, want %v",
					name,
					stage,
					got,
					want,
				)
			}
		}
		training := c.run.trainingEpsilon() * c.run.Budget.Epsilon
		for stage, want := range c.only {
			got := fixed[stage] / training
			if math.Abs(got-want) > 1e-9 {
				t.Errorf(
					"%s: %s spends %.6f of epsilon, want %v",
					name, stage, got, want,
				)
			}
		}
		if len(c.want) != len(calibrated) ||
			len(c.only) != len(fixed) {
			t.Errorf(
				"%s: spends %v and %v",
				name, calibrated, fixed,
			)
		}
	}
}

// TestSharesOfBranches checks that, where a noisy count chooses between two branches, each branch divides the whole
// budget.
func TestSharesOfBranches(t *testing.T) {
	p := sharedRun(false, func(p *Pipeline) {
		p.Selector = nil
		p.Model = nil
		for _, name := range []string{"f", "g"} {
			p.Schema.Columns = append([]dataset.Column{{Name: name}}, p.Schema.Columns...)
		}
		p.Shares = Shares{
			Count:     .1,
			Selection: .2,
			Ranges:    .2,
			Model:     .5,
		}
	})
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]map[string]float64{}
	for _, l := range plan.Leaves() {
		if l.Place.Part == trainNode && !l.Informer {
			if sums[l.Place.Branch] == nil {
				sums[l.Place.Branch] = map[string]float64{}
			}
			sums[l.Place.Branch][ShareName(l.Place.Stage)] += l.Share
		}
	}
	for branch, want := range map[string]map[string]float64{
		kendallBranch: {
			"selection": 2. / 9,
			"ranges":    2. / 9,
			"model":     5. / 9,
		},
		allBranch: {"ranges": 2. / 7, "model": 5. / 7}, // without a selection
	} {
		for stage, x := range want {
			got := sums[branch][stage]
			if math.Abs(got-x) > 1e-9 {
				t.Errorf(
					"%s: %s has the share %v, want %v",
					branch, stage, got, x,
				)
			}
		}
	}
	law, _ := plan.Law("fit/train/count")
	if math.Abs(law.Epsilon-.1*.97*2) > 1e-12 {
		t.Errorf("the count has %v", law.Epsilon)
	}
}

// TestSharesRefused checks that shares that do not fit the run are refused with the field and the reason.
func TestSharesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		shares Shares
		field  string
		reason string
	}{
		"above 1 together": {
			Shares{Selection: .5, Model: .6},
			"budget", "more than 1",
		},
		"below 1 together": {
			Shares{Selection: .5, Model: .4},
			"budget",
			"add up to 0.9, not 1",
		},
		"negative": {Shares{Selection: -.5}, "budget.selection", "above 0"},
		"no number": {
			Shares{Model: math.NaN()},
			"budget.model", "above 0",
		},
		"no count":     {Shares{Count: .1}, "budget.count", "no effect"},
		"no ranges":    {Shares{Ranges: .1}, "budget.ranges", "no effect"},
		"no words":     {Shares{Words: .1}, "budget.words", "no effect"},
		"no fallback":  {Shares{Fallback: .1}, "budget.fallback", "no effect"},
		"no transform": {Shares{Transform: .1}, "budget.transform", "no effect"},
		"a count in full": {
			Shares{
				Count:     .05,
				Selection: .05,
				Model:     .9,
			},
			"budget.count",
			"no effect",
		},
		"nothing for a model": {Shares{Selection: .9999999}, "budget", "nothing"},
	} {
		p := sharedRun(true, func(p *Pipeline) {
			p.Shares = c.shares
		})
		_, err := p.Plan()
		if !errors.Is(err, ErrShares) ||
			!strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", name, err)
		}
		field := fieldOf(err)
		if field != c.field {
			t.Errorf(
				"%s: the field is %q, want %q",
				name, field, c.field,
			)
		}
	}
}

// fieldOf returns the field of an error, or "" if it has no field.
func fieldOf(err error) string {
	var wrong *fault.Error
	if !errors.As(err, &wrong) {
		return ""
	}
	return wrong.Field
}

// TestCountFailure checks that the lower bound of the number of records exceeds it as often as the run allows, that
// the number of records that a method may need is adjusted, and that a run that releases no count refuses the
// setting.
func TestCountFailure(t *testing.T) {
	const (
		n    = 5000
		runs = 4000
	)
	records := map[float64]int{}
	for _, failure := range []float64{0, .001, .3, .5} {
		p := sharedRun(true, func(p *Pipeline) {
			p.Model = tukey.Tukey{}
			p.Selector = nil
			p.CountFailure = failure
		})
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		records[failure] = plan.Records()
		over := 0
		for range runs {
			s, err := mechanism.NewSession(plan.Again().Priced)
			if err != nil {
				t.Fatal(err)
			}
			low, err := p.releaseCount(s.Sub(trainNode), plan.facts, n)
			if err != nil {
				t.Fatal(err)
			}
			if low > n {
				over++
			}
		}
		want := max(failure, 0)
		if failure == 0 {
			want = DefaultCountFailure
		}
		// The bound is rounded down, so it exceeds n slightly less often: the scale is 1/(.03 x 2).
		sd := math.Sqrt(want * (1 - want) / runs)
		if float64(over)/runs > want+6*sd ||
			float64(over)/runs < want*math.Exp(-.06)-6*sd {
			t.Errorf(
				"failure %v: above the number of records with frequency %v",
				failure,
				float64(over)/runs,
			)
		}
	}
	if !(records[.001] > records[0] &&
		records[0] > records[.3] &&
		records[.3] > records[.5]) {
		t.Errorf("records that are needed, by failure: %v", records)
	}
	for name, c := range map[string]struct {
		change  func(p *Pipeline)
		message string
	}{
		"no count": {
			func(p *Pipeline) {
				p.CountFailure = .1
			},
			"count.failure has no effect: this run does not need a noisy number of records",
		},
		"large": {
			func(p *Pipeline) {
				p.CountFailure = .6
			},
			"count.failure must be above 0 and at most 0.5, not 0.6",
		},
		"negative": {
			func(p *Pipeline) {
				p.CountFailure = -1
			},
			"count.failure must be above 0 and at most 0.5, not -1",
		},
		"NaN": {
			func(p *Pipeline) {
				p.CountFailure = math.NaN()
			},
			"count.failure must be above 0 and at most 0.5, not NaN",
		},
	} {
		_, err := sharedRun(true, c.change).Plan()
		var wrong *fault.Error
		if !errors.Is(err, ErrCountFailure) ||
			!errors.As(err, &wrong) ||
			wrong.Field != "count.failure" ||
			!strings.Contains(wrong.Message, c.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
