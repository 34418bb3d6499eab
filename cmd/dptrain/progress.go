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
// records that it sees, because each part has the whole budget, and of its
// branch, because one branch only is taken. A fixed law and an informer, which
// no calibration scaled, have none (-1).
func leafShares(leaves []budget.PricedLeaf) []float64 {
	total := map[string]float64{}
	for _, l := range leaves {
		if !l.Fixed && !l.Informer {
			total[l.Part+"/"+branchOf(l.Path)] += l.Share
		}
	}
	out := make([]float64, len(leaves))
	for i, l := range leaves {
		out[i] = -1
		if whole := total[l.Part+"/"+branchOf(l.Path)]; !l.Fixed && !l.Informer && whole > 0 {
			out[i] = l.Share / whole
		}
	}
	return out
}

// branchOf returns the branch of a path root/part/branch/…, or "".
func branchOf(path string) string {
	if names := strings.Split(path, "/"); len(names) > 3 && pipeline.IsBranch(names[2]) {
		return names[2]
	}
	return ""
}

// stageShares adds the shares of the leaves of each stage, the third name of
// their paths, or the fourth in a branch; the largest of the branches counts.
func stageShares(leaves []budget.PricedLeaf) map[string]float64 {
	branches := map[string]map[string]float64{}
	for i, share := range leafShares(leaves) {
		names, branch := strings.Split(leaves[i].Path, "/"), branchOf(leaves[i].Path)
		at := 2
		if branch != "" {
			at = 3
		}
		if len(names) <= at || share < 0 {
			continue
		}
		if branches[branch] == nil {
			branches[branch] = map[string]float64{}
		}
		branches[branch][names[at]] += share
	}
	out := map[string]float64{}
	for _, stages := range branches {
		for stage, share := range stages {
			out[stage] = max(out[stage], share)
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
