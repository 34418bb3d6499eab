package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// progress returns the function that is called when a stage starts. With --progress it prints the stage, its number and its
// share of the budget, which are public: all come from the plan. It prints no time, which depends on the records.
func (a *app) progress(plan *pipeline.Plan, how fitHow) func(stage string) {
	shares := stageShares(plan.Leaves())
	begun, total := 0, len(plan.Stages())+2 // those of the run, read and write
	return func(stage string) {
		if a.onStep != nil {
			a.onStep(begun, total, stage)
		}
		begun++
		if how.progress && !how.quiet {
			line := stage
			if share, ok := shares[planName(stage)]; ok {
				line = fmt.Sprintf("%s (%s of the budget)", stage, percent(share))
				if planName(stage) == "r2" {
					line = fmt.Sprintf("%s (%s of the budget on other records)", stage, percent(share))
				}
			}
			fmt.Fprintf(a.stderr, "dptrain: %d of %d: %s\n", begun, total, line)
		}
		if a.onStage != nil {
			a.onStage(stage)
		}
	}
}

// planName returns the name that a stage has in the plan.
func planName(stage string) string {
	if stage == "held-out metric" {
		return "r2"
	}
	return stage
}

// leafShares returns the share of the budget of every leaf: of the part of the
// records that it sees, because each part has a budget of its own, of its branch,
// because one branch only is taken, and of its candidate, because a try is of one.
// A fixed law and an informer, which no calibration scaled, have none (-1).
func leafShares(leaves []budget.PricedLeaf) []float64 {
	own := map[budget.Place]float64{}
	for _, l := range leaves {
		if !l.Fixed && !l.Informer {
			own[within(l)] += l.Share
		}
	}
	whole := map[budget.Place]float64{} // with the dearest of what may follow, and what comes before that
	for at := range own {
		sum := 0.
		for before, share := range own {
			if before == at || before.Branch != at.Branch && leadsTo(before, at) {
				sum += share
			}
		}
		for before := range own {
			if leadsTo(before, at) {
				whole[before] = max(whole[before], sum)
			}
		}
	}
	out := make([]float64, len(leaves))
	for i, l := range leaves {
		out[i] = -1
		if whole := whole[within(l)]; !l.Fixed && !l.Informer && whole > 0 {
			out[i] = l.Share / whole
		}
	}
	return out
}

// leadsTo reports whether the steps at one place come before those at another, or are the same.
func leadsTo(before, at budget.Place) bool {
	branch := before.Branch
	before.Branch = at.Branch
	return before == at && (branch == "" || branch == at.Branch || strings.HasPrefix(at.Branch, branch+"/"))
}

// within returns the part, candidate and branch of a leaf.
func within(l budget.PricedLeaf) budget.Place {
	at := l.Place
	at.Stage = ""
	return at
}

// stageShares adds the shares of the leaves of each stage; the largest of the
// branches counts. Stages of a search are not announced.
func stageShares(leaves []budget.PricedLeaf) map[string]float64 {
	places := map[budget.Place]float64{}
	for i, share := range leafShares(leaves) {
		if at := leaves[i].Place; share >= 0 && at.Candidate == "" {
			places[at] += share
		}
	}
	out := map[string]float64{}
	for at, share := range places {
		out[at.Stage] = max(out[at.Stage], share)
	}
	return out
}

// percent prints a share.
func percent(share float64) string {
	if share < 0 {
		return "fixed"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}
