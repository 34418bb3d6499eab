package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// billSearch is the price of a search.
type billSearch struct {
	Runs       float64            `json:"runs"` // mean number of tries
	Eta        float64            `json:"eta"`
	Gamma      float64            `json:"gamma"`
	Holdout    float64            `json:"holdout"` // share of the training records used for scoring
	Candidates []report.Candidate `json:"candidates"`
	// TryEpsilon is the epsilon of one try of the most expensive candidate at the delta of the run. All tries
	// together have the epsilon of the run.
	TryEpsilon float64 `json:"try_epsilon"`
}

// newBillSearch returns the price of the search of a run, or nil for a run without one.
func newBillSearch(p *pipeline.Pipeline, plan *pipeline.Plan) *billSearch {
	law, names, ok := plan.Selection(plan.SearchPath())
	if p.Search == nil || !ok {
		return nil
	}
	b := &billSearch{
		Runs:    p.Search.Runs,
		Eta:     law.Eta,
		Gamma:   law.Gamma,
		Holdout: p.Search.Holdout,
	}
	for i := range names {
		b.Candidates = append(b.Candidates, report.CandidateOf(i, p.Search.Candidates[i]))
	}
	for _, laws := range tries(plan) {
		if c, err := budget.Compose(laws...); err == nil {
			b.TryEpsilon = max(b.TryEpsilon, c.Epsilon(p.Budget.Delta))
		}
	}
	return b
}

// tries returns the noise distributions of the steps of each part of each candidate, with a separate list for each
// branch if the candidate chooses between branches.
func tries(plan *pipeline.Plan) map[budget.Place][]budget.Law {
	out := map[budget.Place][]budget.Law{}
	var common []budget.PricedLeaf
	for _, l := range plan.Leaves() {
		switch at := branchPlace(l); {
		case l.Candidate == "":
		case l.Informer:
			common = append(common, l)
		default:
			out[at] = append(out[at], l.Law)
		}
	}
	for at, laws := range out {
		for _, l := range common {
			if in := branchPlace(l); at.Branch != "" && in.Candidate == at.Candidate &&
				in.Part == at.Part {
				laws = append(laws, l.Law)
			}
		}
		out[at] = laws
	}
	return out
}

// text explains a search. It is empty for a run without one.
func (b *billSearch) text() string {
	if b == nil {
		return ""
	}
	var ways []string
	for _, c := range b.Candidates {
		ways = append(ways, c.ID+" uses "+c.Way())
	}
	return report.Paragraph("Search",
		fmt.Sprintf(
			"each try picks a random candidate, trains it on the train records and scores it on the score records (%s of the training part); the best score wins. "+
				"The number of tries is random and secret, %v on average (truncated negative binomial, eta %v, gamma %s). A single try costs at most epsilon %s; all tries together cost the total. %s",
			percent(b.Holdout), b.Runs, b.Eta, digits(b.Gamma), digits(b.TryEpsilon),
			strings.Join(ways, "; ")))
}
