package report

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// Search describes how a search found the model: it tried candidates a secret number of times, drawn from the
// truncated negative binomial distribution with Eta and Gamma, and kept the try with the best private score on
// records not used for training.
type Search struct {
	Runs       float64     `json:"runs"`    // mean number of tries
	Eta        float64     `json:"eta"`     // 0: the logarithmic distribution
	Gamma      float64     `json:"gamma"`   // in (0, 1)
	Holdout    float64     `json:"holdout"` // share of the training records used for scoring
	Candidates []Candidate `json:"candidates"`
	Chosen     int         `json:"chosen"` // number of the winner, from 1; 0 for a run that ended before the search
	Score      Score       `json:"score"`  // of the winning try
}

// Sizes describes how the number of features of a classifier was chosen: by a search as in Search, with the noisy
// number of correct predictions on the training records as the score.
type Sizes struct {
	Sizes  []int   `json:"sizes"` // the sizes that may have been tried
	Runs   float64 `json:"runs"`  // mean number of tries
	Eta    float64 `json:"eta"`
	Gamma  float64 `json:"gamma"`
	Chosen int     `json:"chosen"` // the size that won; 0 for a run that ended before it tried any
	// Right is the released number of training records that the model classifies correctly. It is a maximum, and is
	// measured on the records used for training.
	Right float64 `json:"right"`
}

// Candidate is one of the strategies that a search may have tried.
type Candidate struct {
	ID        string `json:"id"`          // its name in the plan, such as candidate-1
	Selection string `json:"selection"`   // method; auto if the selection is automatic
	K         int    `json:"k,omitempty"` // number of selected columns, if specified
	Model     string `json:"model"`
	Form      string `json:"form,omitempty"` // form of the model, if specified
}

// CandidateOf describes candidate i, from 0.
func CandidateOf(i int, c pipeline.Candidate) Candidate {
	return Candidate{pipeline.CandidateName(i), c.SelectionName(), c.K(), c.ModelName(), c.Form()}
}

// Way describes in text how a candidate selects and trains.
func (c Candidate) Way() string {
	s := "selection " + printableName(c.Selection)
	if c.K > 0 {
		s += fmt.Sprintf(" (k = %d)", c.K)
	}
	s += ", model " + printableName(c.Model)
	if c.Form != "" {
		s += " (" + printableName(c.Form) + ")"
	}
	return s
}

// Score is the largest of several noisy numbers and therefore biased upwards, unlike a metric on the held-out
// records.
type Score struct {
	Metric  string  `json:"metric"` // "r2" or "accuracy"
	Value   float64 `json:"value"`
	Private bool    `json:"private"` // released by a mechanism
	Biased  bool    `json:"biased"`  // upwards: it is a maximum
	Part    string  `json:"part"`    // "score"
}

// search describes a search.
func search(x *pipeline.Searched, task string) *Search {
	out := &Search{
		Runs:    x.Search.Runs,
		Eta:     x.Eta,
		Gamma:   x.Gamma,
		Holdout: x.Search.Holdout,
		Chosen:  x.Chosen + 1,
		Score: Score{
			Metric:  "r2",
			Value:   x.Score,
			Private: true,
			Biased:  true,
			Part:    "score",
		},
	}
	if task == regression.TaskClassification {
		out.Score.Metric = "accuracy"
	}
	for i, c := range x.Search.Candidates {
		out.Candidates = append(out.Candidates, CandidateOf(i, c))
	}
	return out
}
