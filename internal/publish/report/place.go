package report

import (
	"path"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// placeOf parses the place of a step from its id, the path of a leaf of a plan of package pipeline. It is for readers
// who have only the report; the leaves of a plan know their place.
//
//	fit/part/[branch/]stage/...
//	fit/train/vocabulary/..., and then fit/train/train/ in place of fit/train/
//	fit/train/train/2-classes/[branch/]stage/...
//	fit/part/[branch/]undeclared/way/stage/...
//	fit/train/candidate-1/part/[branch/]stage/...
//	fit/train/model/size-2/...
func placeOf(id string) budget.Place {
	names := strings.Split(id, "/")
	for len(names) < 3 {
		names = append(names, names[len(names)-1])
	}
	out := budget.Place{Part: names[1]}
	at := 2
	for more := true; more; {
		left := len(names) - at // number of remaining names
		switch {
		case left > 1 && at == 2 && names[at] == names[1]: // the steps after the vocabulary
			at++
		case left > 2 && vocabulary.IsBranch(names[at+1]) && names[at] == vocabulary.UndeclaredNode:
			out.Branch = path.Join(out.Branch, names[at+1])
			at += 2
		case left > 2 && out.Candidate == "" && pipeline.IsCandidate(names[at]):
			out.Candidate = names[at]
			out.Part = names[at+1]
			at += 2
		case left > 1 && (pipeline.IsBranch(names[at]) || pipeline.IsNumberOfClasses(names[at])):
			out.Branch = path.Join(out.Branch, names[at])
			at++
		default:
			more = false
		}
	}
	out.Stage = names[at]
	if len(names) > at+1 && pipeline.IsSize(names[at+1]) {
		out.Size = names[at+1]
	}
	return out
}
