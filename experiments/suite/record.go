package suite

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/bench"
)

// A Setting holds the parameters of a cell other than data and method. A field that an experiment does not use is 0.
type Setting struct {
	K       int     `json:"k,omitempty"`       // columns to choose
	Epsilon float64 `json:"epsilon,omitempty"` // budget of a trial; 0 without privacy
	Delta   float64 `json:"delta,omitempty"`
	N       int     `json:"n,omitempty"`      // rows of a synthetic table
	Copies  int     `json:"copies,omitempty"` // copies of each informative column of a synthetic table
	Share   float64 `json:"share,omitempty"`  // of the training records that a method keeps
	Noise   float64 `json:"noise,omitempty"`  // share of the training labels that are drawn anew
	Lambda  float64 `json:"lambda,omitempty"` // penalty, or price of a feature
}

// A Cell is one method in one setting on one table, which is repeated in several trials.
type Cell struct {
	Data    string  `json:"data"`
	Method  string  `json:"method"`
	Setting Setting `json:"setting"`
}

// A Key names one trial of an experiment.
type Key struct {
	Cell
	Trial int `json:"trial"` // from 1
}

// A Status describes how a trial ended.
type Status string

// The statuses of a trial.
const (
	OK        Status = "ok"
	Abstained Status = "abstained" // the method released that it has no answer
	// NotApplicable: the method does not fit the table or the setting, such as a selection on a table with one feature.
	NotApplicable Status = "not applicable"
	Failed        Status = "failed" // it fits, and something went wrong
	// Unavailable: this version has no such method. A later run tries again.
	Unavailable Status = "unavailable"
)

// An Outcome is the result of one trial.
type Outcome struct {
	Status  Status             `json:"status"`
	Reason  string             `json:"reason,omitempty"` // why the status is not OK
	Values  map[string]float64 `json:"values,omitempty"` // finite, by metric; nil unless OK
	Picked  []int              `json:"picked,omitempty"` // the chosen columns, from 1, increasing
	Seconds float64            `json:"seconds"`          // wall time, concurrent with other trials
}

// A Record is one line of results.jsonl.
type Record struct {
	Key
	Outcome
}

// failure returns the outcome of a trial without a value.
func failure(status Status, err error) Outcome {
	return Outcome{Status: status, Reason: err.Error()}
}

// failed returns the outcome of a trial that ended with an error. It is not applicable if the method has no plan or
// no price for this table or setting.
func failed(err error) Outcome {
	if bench.NotApplicable(err) {
		return failure(NotApplicable, err)
	}
	return failure(Failed, err)
}

// String describes the setting in a few words, such as "k=5 epsilon=1".
func (s Setting) String() string {
	text := ""
	add := func(name string, used bool, value any) {
		if used {
			text += fmt.Sprintf(" %s=%v", name, value)
		}
	}
	add("k", s.K != 0, s.K)
	add("epsilon", s.Epsilon != 0, s.Epsilon)
	add("delta", s.Delta != 0, s.Delta)
	add("n", s.N != 0, s.N)
	add("copies", s.Copies != 0, s.Copies)
	add("share", s.Share != 0, s.Share)
	add("noise", s.Noise != 0, s.Noise)
	add("lambda", s.Lambda != 0, s.Lambda)
	if text == "" {
		return ""
	}
	return text[1:]
}
