package main

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A billDivision describes how one branch of the training part divides its budget. Shares add up to 1. A noisy count
// and a model with a fixed noise distribution have a share of epsilon. The others share the rest, by mu squared
// under tight composition and by epsilon under basic composition.
type billDivision struct {
	Way    string             `json:"way"` // candidate and branch; empty if there is only one
	Shares map[string]float64 `json:"shares"`
}

// divisionsOf lists the branches of a plan with the resulting shares of their stages.
func divisionsOf(plan *budget.Priced) []billDivision {
	leaves := plan.Leaves()
	relative := leafShares(leaves)
	training := plan.Target().Epsilon
	var ways []budget.Place
	for _, l := range leaves {
		switch at := branchPlace(l); {
		case l.Place.Part == pipeline.AllName:
			training -= l.Law.Epsilon * float64(l.Law.Draws)
		case l.Place.Part == pipeline.TrainName && !slices.Contains(ways, at):
			ways = append(ways, at)
		}
	}
	var out []billDivision
	for _, way := range ways {
		if slices.ContainsFunc(ways, func(other budget.Place) bool {
			return other != way && leadsTo(way, other)
		}) {
			continue // the steps before a choice are not a separate branch
		}
		d := billDivision{
			Way:    wayName(way),
			Shares: map[string]float64{},
		}
		left := 1.
		for i, l := range leaves {
			if relative[i] < 0 && leadsTo(branchPlace(l), way) {
				share := l.Law.Epsilon * float64(l.Law.Draws) / training
				d.Shares[pipeline.ShareName(l.Place.Stage)] += share
				left -= share
			}
		}
		for i, l := range leaves {
			if relative[i] >= 0 && leadsTo(branchPlace(l), way) {
				d.Shares[pipeline.ShareName(l.Place.Stage)] += left * relative[i]
			}
		}
		out = append(out, d)
	}
	return out
}

// wayName returns the name of a branch from its candidate, branch and size.
func wayName(at budget.Place) string {
	var parts []string
	for _, name := range []string{at.Candidate, at.Branch, at.Size} {
		if name != "" {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, "/")
}

// sharesText returns a table of the requested and the resulting shares.
func (b *bill) sharesText() string {
	var stages []string
	for _, share := range b.asked.Named() {
		used := func(d billDivision) bool {
			return d.Shares[share.Name] > 0
		}
		if slices.ContainsFunc(b.Divisions, used) {
			stages = append(stages, share.Name)
		}
	}
	t := table.NewWriter()
	t.SetStyle(terminal.PlainTable())
	t.SuppressTrailingSpaces()
	head := table.Row{"shares of training"}
	for _, stage := range stages {
		head = append(head, stage)
	}
	t.AppendHeader(head)
	if b.asked != (pipeline.Shares{}) {
		row := table.Row{"asked for"}
		for _, stage := range stages {
			row = append(row, askedText(b.asked, stage))
		}
		t.AppendRow(row)
	}
	for _, d := range b.Divisions {
		way := d.Way
		if way == "" {
			way = "results"
		}
		row := table.Row{way}
		for _, stage := range stages {
			text := ""
			if x, ok := d.Shares[stage]; ok {
				text = percent(x)
			}
			row = append(row, text)
		}
		t.AppendRow(row)
	}
	return t.Render() + "\n\n"
}

// askedText formats the share requested for a stage.
func askedText(asked pipeline.Shares, stage string) string {
	for _, share := range asked.Named() {
		if share.Name == stage && *share.Value > 0 {
			return percent(*share.Value)
		}
	}
	return "default"
}
