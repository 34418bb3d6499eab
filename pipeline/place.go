package pipeline

import "strings"

// A Place says where a step of a plan stands.
type Place struct {
	Part      string // the records that it sees: "train", "score" or "holdout"
	Candidate string // of a search; "" outside
	Branch    string // of a run that chooses by itself; "" outside
	Stage     string // such as "scaling", "model" or "r2"
}

// PlaceOf reads the path of a leaf of a plan of this package:
//
//	fit/part/[branch/]stage/...
//	fit/train/candidate-1/part/[branch/]stage/...
func PlaceOf(path string) Place {
	names := strings.Split(path, "/")
	for len(names) < 3 {
		names = append(names, names[len(names)-1])
	}
	out := Place{Part: names[1]}
	at := 2
	if IsCandidate(names[at]) && len(names) > at+2 {
		out.Candidate, out.Part = names[at], names[at+1]
		at += 2
	}
	if IsBranch(names[at]) && len(names) > at+1 {
		out.Branch = names[at]
		at++
	}
	out.Stage = names[at]
	return out
}

// IsCandidate reports whether a name in a plan is that of a candidate of a search.
// Those that did not win show no release, whether they were tried or not.
func IsCandidate(name string) bool { return strings.HasPrefix(name, candidatePrefix) }
