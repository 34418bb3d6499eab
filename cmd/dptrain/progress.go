package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// progress returns a function to call at the start of each stage. With --progress it prints the name and number of
// the stage and its share of the budget, which are public because they come from the plan. It prints no times, since
// they depend on the records.
func (a *app) progress(plan *pipeline.Plan, how fitHow) func(stage string) {
	shares := stageShares(plan.Leaves())
	begun, total := 0, len(plan.Stages())+2 // plus the stages read and write of the run itself
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
					line = fmt.Sprintf("%s (%s of the held-out budget)", stage,
						percent(share))
				}
			}
			fmt.Fprintf(a.stderr, "dptrain: %d of %d: %s\n", begun, total, line)
		}
		if a.onStage != nil {
			a.onStage(stage)
		}
	}
}

// planName returns the name of a stage in the plan.
func planName(stage string) string {
	if stage == "held-out metric" {
		return "r2"
	}
	return stage
}

// leafShares returns the share of the budget of every leaf. The share is relative to the part of the records that
// the leaf sees, because each part has its own budget; to its branch, because only one branch runs; and to its
// candidate, because each try uses one candidate. A fixed noise distribution and an informer, which are not
// calibrated, have the share -1.
func leafShares(leaves []budget.PricedLeaf) []float64 {
	own := map[budget.Place]float64{}
	for _, l := range leaves {
		if !l.Fixed && !l.Informer {
			own[branchPlace(l)] += l.Share
		}
	}
	whole := map[budget.Place]float64{} // including earlier steps and the most expensive of the possible later ones
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
		if whole := whole[branchPlace(l)]; !l.Fixed && !l.Informer && whole > 0 {
			out[i] = l.Share / whole
		}
	}
	return out
}

// leadsTo reports whether the steps at before precede the steps at at, or are the same.
func leadsTo(before, at budget.Place) bool {
	branch := before.Branch
	before.Branch = at.Branch
	return before == at &&
		(branch == "" || branch == at.Branch || strings.HasPrefix(at.Branch, branch+"/"))
}

// branchPlace returns the part, candidate and branch of a leaf.
func branchPlace(l budget.PricedLeaf) budget.Place {
	at := l.Place
	at.Stage = ""
	return at
}

// stageShares returns the sum of the shares of the leaves of each stage, or the maximum over branches. Stages of a
// search are not announced.
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

// percent formats a share as a percentage.
func percent(share float64) string {
	if share < 0 {
		return "fixed"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}
