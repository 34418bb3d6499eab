package report

import (
	"math"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A Recall is the share of the records of a class that are classified correctly.
type Recall struct {
	Class string  `json:"class"`
	Value float64 `json:"value"`
	Lower float64 `json:"lower"` // of an interval as in [Share]
	Upper float64 `json:"upper"`
	Level float64 `json:"level"`
	// Counts are noisy, rounded numbers of records of the class that are classified wrongly and correctly, with the
	// noise of the confusion matrix. They are present for more than two classes.
	Counts []int `json:"counts" format:"3+?"`
}

// LargestClass is the class with the largest noisy number of records. Value is its share, which is the accuracy of
// always predicting it. The accuracy of the model exceeds Value by GainLower to GainUpper.
type LargestClass struct {
	Class     string  `json:"class"`
	Value     float64 `json:"value"`
	Lower     float64 `json:"lower"`
	Upper     float64 `json:"upper"`
	Level     float64 `json:"level"` // confidence level of both intervals
	GainLower float64 `json:"gain_lower"`
	GainUpper float64 `json:"gain_upper"`
}

// Loss is the mean of -ln of the predicted probability of the true class.
type Loss struct {
	Value   float64 `json:"value"`
	Lower   float64 `json:"lower"` // of an interval as in [Share]
	Upper   float64 `json:"upper"`
	Level   float64 `json:"level"`
	Scale   float64 `json:"scale"`   // standard deviation of the noise in Value
	Private bool    `json:"private"` // released by a mechanism
	Part    string  `json:"part"`    // "holdout"
}

// A Bin is one bin of scores.
type Bin struct {
	Above *float64 `json:"above"` // exclusive lower bound of the scores; nil: unbounded
	UpTo  *float64 `json:"up_to"` // inclusive upper bound of the scores; nil: unbounded
	// Counts are noisy, rounded numbers of records: for two classes those of the first and of the second, otherwise
	// those classified wrongly and correctly.
	Counts []int `json:"counts"`
	// Share is the share of the second number and StdError its standard deviation; both are nil if the noise hides
	// the bin.
	Share    *float64 `json:"share"`
	StdError *float64 `json:"std_error"`
	// Probability is the predicted probability of the second class in the bin; nil for a model without probabilities.
	Probability *float64 `json:"probability"`
}

// A Threshold holds the quality of the classifier that predicts the second class above a score. Shares are three
// numbers: the value and the lower and upper end of an interval as in [Share].
type Threshold struct {
	Score       float64   `json:"score"`
	Probability *float64  `json:"probability"` // predicted at this score; nil if the model has no probabilities
	Recall      []float64 `json:"recall"`      // of the second class
	FirstRecall []float64 `json:"first_recall"`
	Precision   []float64 `json:"precision"` // of the second class
}

// classes fills in the released metrics of a classifier.
func (m *Metrics) classes(res *pipeline.Result) {
	c := res.Confusion
	if c == nil {
		return
	}
	m.Accuracy, m.BalancedAccuracy = share(c.Accuracy), share(c.Balanced)
	m.Confusion = &Confusion{
		Classes: c.Classes,
		Counts:  c.Counts,
		Scale:   c.Sigma,
		Private: true,
		Part:    "holdout",
	}
	for k, s := range c.Recalls {
		recall := Recall{
			Class: c.Classes[k],
			Value: s.Value,
			Lower: s.Lower,
			Upper: s.Upper,
			Level: s.Level,
		}
		if k < len(c.Right) {
			recall.Counts = c.Right[k][:]
		}
		m.Recalls = append(m.Recalls, recall)
	}
	x := c.Largest
	m.LargestClass = &LargestClass{c.Classes[x.Class], x.Share.Value, x.Share.Lower, x.Share.Upper,
		x.Share.Level, x.GainLower, x.GainUpper}
	m.counts(c.Records, c.Missing)
	o := c.OtherShare
	m.OtherLabels = &Missing{
		Value:   c.Other.Value,
		Scale:   c.Other.Sigma,
		Private: true,
		Part:    "holdout",
		Share:   o.Value,
		Lower:   o.Lower,
		Upper:   o.Upper,
		Level:   o.Level,
	}
	m.Groups = groupsOf(c.Groups, c.Classes)
	s := c.Scores
	if s == nil {
		return
	}
	if s.AUC != nil {
		m.AUC = share(*s.AUC)
	}
	if l := s.LogLoss; l != nil {
		m.LogLoss = &Loss{l.Value, l.Lower, l.Upper, l.Level, l.Sigma, true, "holdout"}
	}
	var curve *regression.Probability
	if res.Model != nil {
		curve = res.Model.Output().Probability
	}
	m.Reliability = bins(s)
	for _, t := range s.Thresholds {
		m.Thresholds = append(m.Thresholds, threshold(t, curve))
	}
}

func bins(s *evaluate.Scores) []Bin {
	out := make([]Bin, len(s.Reliability))
	for b := range out {
		out[b].Counts = []int{s.Counts[0][b], s.Counts[1][b]}
		if b > 0 {
			out[b].Above = places(s.Bins.Edges[b-1])
		}
		if b < len(s.Bins.Edges) {
			out[b].UpTo = places(s.Bins.Edges[b])
		}
		if e := s.Reliability[b]; e != nil {
			out[b].Share, out[b].StdError = places(e.Value), places(e.StdError)
		}
		if s.Bins.Chance != nil {
			out[b].Probability = places(s.Bins.Chance[b])
		}
	}
	return out
}

func threshold(t evaluate.Threshold, curve *regression.Probability) Threshold {
	out := Threshold{
		Score:       *places(t.Edge),
		Recall:      withEnds(t.Recall),
		FirstRecall: withEnds(t.FirstRecall),
		Precision:   withEnds(t.Precision),
	}
	if curve != nil {
		out.Probability = places(curve.Evaluate(t.Edge))
	}
	return out
}

func withEnds(s evaluate.Share) []float64 {
	return []float64{*places(s.Value), *places(s.Lower), *places(s.Upper)}
}

// places rounds a number to six decimal places.
func places(x float64) *float64 {
	x = math.Round(x*1e6) / 1e6
	return &x
}
