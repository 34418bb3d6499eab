package report

import (
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/pipeline"
)

// placeOf reads the place of a step from its id, the path of a leaf of a plan of package
// pipeline: a report is all that a reader of it has. Where a plan is at hand, its leaves
// say where they stand.
//
//	fit/part/[branch/]stage/...
//	fit/train/vocabulary/..., and then fit/train/train/ in place of fit/train/
//	fit/train/candidate-1/part/[branch/]stage/...
//	fit/train/model/size-2/...
func placeOf(id string) budget.Place {
	names := strings.Split(id, "/")
	for len(names) < 3 {
		names = append(names, names[len(names)-1])
	}
	out := budget.Place{Part: names[1]}
	at := 2
	if names[1] == names[2] && len(names) > 3 { // what comes after the vocabulary
		at++
	}
	if pipeline.IsCandidate(names[at]) && len(names) > at+2 {
		out.Candidate, out.Part = names[at], names[at+1]
		at += 2
	}
	if pipeline.IsBranch(names[at]) && len(names) > at+1 {
		out.Branch = names[at]
		at++
	}
	out.Stage = names[at]
	if len(names) > at+1 && pipeline.IsSize(names[at+1]) {
		out.Size = names[at+1]
	}
	return out
}
