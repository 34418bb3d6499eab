package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// ErrSearch is returned for a search that cannot be priced or carried out.
var ErrSearch = errors.New("the search cannot be carried out")

// Limits of a search.
const (
	MaxCandidates = 64
	MaxRuns       = 1000
)

// SearchMethod is the method name of a plan with a search: the method of the model is known only after the run.
const SearchMethod = "search"

// scoreNode is the part of a candidate that scores it.
const scoreNode = "score"

// lowestScore is the score of a try without a score, the lower limit of R².
const lowestScore = -1

// A Search tries several ways to select and train, a secret number of times, and keeps the try with the best
// private score: private selection from private candidates (N. Papernot and T. Steinke, "Hyperparameter tuning
// with Rényi differential privacy", 2022).
//
// Before the first try the training records are split once, each by its coin, into training and scoring
// records. A try draws one of the candidates at random, trains it on the former and releases R² or the accuracy
// of its model on the latter. The number of tries is drawn from a fixed distribution, so a candidate may be
// tried several times or never. All tries together have one price in the plan. Neither the result nor any other
// output of a run reveals the number of tries; the running time does.
//
// A search needs tight composition and a positive delta, and candidates whose steps all have a Rényi curve,
// which excludes every [method.Abstainer].
type Search struct {
	// Candidates are 2 to MaxCandidates distinct combinations of selector and model.
	Candidates []Candidate
	// Runs is the mean number of tries, above 1 and at most MaxRuns.
	Runs float64
	// Holdout is the share of the training records that scores the tries, in (0, .5].
	Holdout float64
}

// A Candidate is one way to select and train; its fields mean what those of a
// [Pipeline] do.
type Candidate struct {
	Selector       selection.Selector
	SelectionShare float64
	Model          method.Trainer
}

// SelectionName returns the name of the selector, or [Auto].
func (c Candidate) SelectionName() string {
	if c.Selector == nil {
		return Auto
	}
	return c.Selector.Name()
}

// K returns the number of features that the selector must choose, or 0 if it is not set.
func (c Candidate) K() int {
	if x, ok := c.Selector.(featureChooser); ok {
		return x.FeatureCount()
	}
	return 0
}

// ModelName returns the name of the model method, or [Auto].
func (c Candidate) ModelName() string {
	return nameOf(c.Model)
}

// Form returns the name of the form of the model method, or "" if it is not set.
func (c Candidate) Form() string {
	return method.FormOf(c.Model)
}

// Searched is the result of a search. All of it is public.
type Searched struct {
	Search     Search
	Eta, Gamma float64 // parameters of the distribution of the number of tries
	Chosen     int     // the candidate that won, from 0; -1 for a run that ended before the search
	// Score is the released R² or accuracy of the winning try on the scoring
	// records. It is the largest of several noisy numbers, so it is biased upwards;
	// the held-out metric is not.
	Score float64
}

const candidatePrefix = "candidate-"

// IsCandidate reports whether a name in a report belongs to a candidate of a search. Candidates that did not
// win show no release, whether they were tried or not.
func IsCandidate(name string) bool {
	return strings.HasPrefix(name, candidatePrefix)
}

// CandidateName is the name of the node of candidate i, from 0, in a plan.
func CandidateName(i int) string {
	return fmt.Sprintf(candidatePrefix+"%d", i+1)
}

// candidate returns the run that candidate i would be.
func (p *Pipeline) candidate(i int) *Pipeline {
	q := *p
	c := p.Search.Candidates[i]
	q.Search = nil
	q.Selector = c.Selector
	q.SelectionShare = c.SelectionShare
	q.Model = c.Model
	q.tried = true
	return &q
}

// searchTree plans a search:
//
//	train (select): candidate-1 (par): train, score
//	                candidate-2 (par): train, score
//	                ...
//
// The children of a candidate use disjoint records, by coins whose secrecy does not enter the price, so each
// may spend the whole budget of a try. Shares of all candidates add up to about 1, so their prices are similar:
// the price of the search is that of the most expensive.
func (p *Pipeline) searchTree(
	ctx context.Context,
	plan *Plan,
) (budget.Node, error) {
	law, err := budget.SelectionForMean(0, p.Search.Runs)
	if err != nil {
		return budget.Node{}, err
	}
	metric, err := p.metricNode(plan.facts.Target, false)
	if err != nil {
		return budget.Node{}, err
	}
	kids := make([]budget.Node, len(p.Search.Candidates))
	for i := range kids {
		name := CandidateName(i)
		t := &Plan{
			of:      plan.of,
			facts:   plan.facts,
			columns: plan.columns,
		}
		train, err := p.candidate(i).trainingPart(ctx, t, plan.root+"/"+name+"/"+trainNode)
		if err != nil {
			return budget.Node{}, fmt.Errorf("candidate %d: %w", i+1, err)
		}
		kids[i] = budget.Parallel(name, train,
			budget.Sequence(scoreNode, metric).WithRole(budget.RolePart)).
			WithRole(budget.RoleCandidate)
		plan.tries = append(plan.tries, t)
	}
	return budget.SelectBest(trainNode, law, kids...).WithRole(budget.RolePart), nil
}

// addUntried describes the search and the choice of sizes that a run was planned with but ended before. Their
// parameters are a part of its price.
func (res *Result) addUntried(plan *Plan) {
	if x := plan.of.Search; x != nil {
		law, _, _ := plan.Selection(plan.SearchPath())
		res.Search = &Searched{
			Search: *x,
			Eta:    law.Eta,
			Gamma:  law.Gamma,
			Chosen: -1,
		}
	}
	if law, _, ok := plan.Selection(plan.SizesPath()); ok {
		res.Sizes = &SizeSearch{
			Sizes: sizesOf(plan.of.Selector),
			Runs:  plan.of.sizeRuns(),
			Eta:   law.Eta,
			Gamma: law.Gamma,
		}
	}
}

// trainOrSearch runs the training part. s is the session of the root.
func (r *runner) trainOrSearch(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
) (*trained, error) {
	if r.pipeline.Search == nil {
		return r.trainModels(ctx, s.Sub(trainNode), v)
	}
	return r.runSearch(ctx, s, v)
}

// searchTry is the result of one try of a search. A try that lost is not kept.
type searchTry struct {
	out     *trained
	seconds map[string]float64
}

// runSearch runs the tries. It announces one stage for all tries and keeps the times of the best try only, so that
// neither reveals the number of tries.
func (r *runner) runSearch(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
) (*trained, error) {
	r.announceStage("search")
	fitting, scoring := dealRecords(s, v, scoreNode, r.pipeline.Search.Holdout)
	best, err := mechanism.Best(s, trainNode,
		func(i int, s *mechanism.Session) (searchTry, float64, error) {
			c := newRunner(r.pipeline.candidate(i), r.plan.tries[i], r.Facts, Options{})
			out, err := c.trainModels(ctx, s.Sub(trainNode), fitting)
			if err != nil {
				return searchTry{}, 0, err
			}
			t := searchTry{out, c.seconds}
			score, err := c.scoreModel(ctx, s.Sub(scoreNode), scoring, out.fit)
			return t, score, err
		})
	if err != nil {
		return nil, err
	}
	out := best.Result.out
	for stage, seconds := range best.Result.seconds {
		r.seconds[stage] += seconds
	}
	law, _, _ := r.plan.Selection(r.plan.root)
	if out.scoreRows, err = scoring.Len(ctx); err != nil {
		return nil, err
	}
	out.search = &Searched{
		Search: *r.pipeline.Search,
		Eta:    law.Eta,
		Gamma:  law.Gamma,
		Chosen: best.Candidate,
		Score:  max(best.Score, lowestScore),
	}
	return out, nil
}

// scoreModel releases R² or the accuracy of a model on the scoring records.
func (r *runner) scoreModel(
	ctx context.Context,
	s *mechanism.Session,
	v mechanism.Records,
	fit *method.Fit,
) (float64, error) {
	metric := &Result{}
	if fit == nil {
		return lowestScore, nil
	}
	if err := r.evaluateModel(ctx, s, v, fit, evaluate.Bins{}, evaluate.Groups{},
		metric); err != nil { // accuracy only
		return 0, fmt.Errorf("score: %w", err)
	}
	delete(r.seconds, heldOutStage)
	if metric.Confusion != nil {
		return metric.Confusion.Accuracy.Value, nil
	}
	return metric.R2.Value, nil
}
