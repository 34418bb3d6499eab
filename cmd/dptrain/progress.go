package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/pipeline"
)

// progress returns the function that is told of every stage as it begins. On a
// terminal it prints the stage and its share of the budget, which are public:
// both come from the plan.
func (a *app) progress(plan *pipeline.Plan, quiet bool) func(stage string) {
	shares := stageShares(plan.Leaves())
	return func(stage string) {
		if a.terminal && !quiet {
			line := stage
			if share, ok := shares[planName(stage)]; ok {
				line = fmt.Sprintf("%s (%s of the budget)", stage, percent(share))
				if planName(stage) == "r2" {
					line = fmt.Sprintf("%s (%s of the budget on other records)", stage, percent(share))
				}
			}
			fmt.Fprintln(a.stderr, "dptrain: "+line)
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
// records that it sees, because each part has the whole budget. A fixed law and
// an informer, which no calibration scaled, have none (-1).
func leafShares(leaves []budget.PricedLeaf) []float64 {
	total := map[string]float64{}
	for _, l := range leaves {
		if !l.Fixed && !l.Informer {
			total[l.Part] += l.Share
		}
	}
	out := make([]float64, len(leaves))
	for i, l := range leaves {
		out[i] = -1
		if !l.Fixed && !l.Informer && total[l.Part] > 0 {
			out[i] = l.Share / total[l.Part]
		}
	}
	return out
}

// stageShares adds the shares of the leaves of each stage, the third name of
// their paths.
func stageShares(leaves []budget.PricedLeaf) map[string]float64 {
	out := map[string]float64{}
	for i, share := range leafShares(leaves) {
		if names := strings.Split(leaves[i].Path, "/"); len(names) > 2 && share >= 0 {
			out[names[2]] += share
		}
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
