package dptrain

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/regression"
)

// An Estimate is a released number about new records with its confidence interval, which covers the privacy noise
// and the sampling error of the held-out records.
type Estimate struct {
	Value        float64
	Lower, Upper float64 // ends of the interval: Lower <= Value <= Upper
	Level        float64 // confidence level of the interval, in (0, 1)
}

// String returns the value and its interval.
func (e Estimate) String() string {
	return fmt.Sprintf(
		"%.3g, %v%% interval %.3g to %.3g",
		e.Value,
		100*e.Level,
		e.Lower,
		e.Upper,
	)
}

// R2 is the quality of a regression model on the held-out records: its Estimate is the coefficient of
// determination, in [-1, 1], where -1 means "-1 or less", 0 is as good as predicting the mean, and 1 is perfect.
// Targets and predictions count as cut to [TargetLower, TargetUpper], and errors as at most ErrorLimit
// (docs/proofs/evaluation.md, "What is estimated").
type R2 struct {
	Estimate
	// NoiseShare is the share of the variance of the estimate that is privacy noise, in [0, 1]. A larger epsilon
	// reduces it; the rest is sampling error, which more held-out records reduce.
	NoiseShare float64
	// MAE is the mean absolute error and RMSE the root mean squared error, in units of the target.
	MAE, RMSE Estimate
	// ErrorLimit, TargetLower and TargetUpper are in units of the target. They are found privately.
	ErrorLimit  float64
	TargetLower float64
	TargetUpper float64
	// Intervals are the half widths of prediction intervals by increasing level; nil if the noise makes them
	// several times too wide.
	Intervals []regression.Interval
	// Records and Missing are the noisy numbers of held-out records with and without a usable target.
	Records, Missing float64
	Groups           []Group // by the values of Run.EvaluateBy, the other values last; nil without it
}

// Unknown reports whether the interval is too wide for the value to be informative.
func (r R2) Unknown() bool {
	return !evaluate.R2Measured(r.Lower, r.Upper)
}

// String returns the value and its interval, or the interval only if [R2.Unknown].
func (r R2) String() string {
	if r.Unknown() {
		return fmt.Sprintf(
			"unknown, %v%% interval %.3g to %.3g",
			100*r.Level,
			r.Lower,
			r.Upper,
		)
	}
	return r.Estimate.String()
}

// A Confusion is the quality of a classifier on the held-out records (docs/proofs/classification.md, "The held-out metric").
type Confusion struct {
	Classes []string
	// Counts has one row per true class and a last one for records with another label, and one column per
	// predicted class: noisy numbers of held-out records, which may be negative.
	Counts [][]int
	Sigma  float64 // standard deviation of the noise in each count
	// Accuracy is the share of the records with a label that are classified correctly, in [0, 1].
	Accuracy Estimate
	Recalls  []Estimate // by class: the share of its records that are classified correctly
	Balanced Estimate   // the mean of the recalls
	// Majority is the share of the largest class: the accuracy of always predicting it.
	Majority Estimate
	// AUC is the area under the ROC curve, and LogLoss the mean logistic loss in nats; nil if they are unknown.
	AUC, LogLoss *Estimate
	// Records, Other and Missing are the noisy numbers of held-out records with a label, with a label that is no
	// class, and without a label.
	Records, Other, Missing float64
	Groups                  []Group // by the values of Run.EvaluateBy, the other values last; nil without it
}

// String returns the accuracy and its interval, or the interval only if it is too wide for the value to be informative.
func (c Confusion) String() string {
	a := c.Accuracy
	if !evaluate.ShareMeasured(a.Lower, a.Upper) {
		return fmt.Sprintf("accuracy unknown, %v%% interval %.3g to %.3g", 100*a.Level, a.Lower, a.Upper)
	}
	return "accuracy " + a.String()
}

// A Group is the quality of a model on the held-out records with one value of the column Run.EvaluateBy.
type Group struct {
	Name    string  // the value; empty if Other
	Other   bool    // the group of all other values
	Records float64 // noisy number of held-out records with a target
	// TooFew reports that the noise hides how many records the group has. It then has no metrics.
	TooFew   bool
	R2       *Estimate  // of a regression
	MAE      *Estimate  // of a regression, in units of the target
	RMSE     *Estimate  // of a regression, in units of the target
	Bias     *Estimate  // of a regression: the mean of target minus prediction
	Accuracy *Estimate  // of a classification, in [0, 1]
	Recalls  []Estimate // of a classification, by class
	// Difference is the accuracy or R2 minus that of the largest group. All differences of a report are within
	// their intervals at once with probability Level. It is nil for the largest group, and if either is unknown.
	Difference *Estimate
}

// newR2 converts the metric of a regression; nil remains nil.
func newR2(x *evaluate.R2) *R2 {
	if x == nil {
		return nil
	}
	out := &R2{
		Estimate:    Estimate(x.Quality),
		NoiseShare:  x.NoiseShare,
		MAE:         Estimate(x.MAE),
		RMSE:        Estimate(x.RMSE),
		ErrorLimit:  x.ErrorLimit,
		TargetLower: x.TargetLower,
		TargetUpper: x.TargetUpper,
		Records:     x.Records.Value,
		Missing:     x.Missing.Value,
		Groups:      newGroups(x.Groups),
	}
	for _, w := range x.Intervals {
		out.Intervals = append(out.Intervals, regression.Interval{
			Level:     w.Level,
			HalfWidth: w.HalfWidth,
		})
	}
	return out
}

// newConfusion converts the metrics of a classification; nil remains nil.
func newConfusion(x *evaluate.Confusion) *Confusion {
	if x == nil {
		return nil
	}
	out := &Confusion{
		Classes:  x.Classes,
		Counts:   x.Counts,
		Sigma:    x.Sigma,
		Accuracy: Estimate(x.Accuracy),
		Balanced: Estimate(x.Balanced),
		Majority: Estimate(x.Largest.Share),
		Recalls:  estimates(x.Recalls),
		Records:  x.Records.Value,
		Other:    x.Other.Value,
		Missing:  x.Missing.Value,
		Groups:   newGroups(x.Groups),
	}
	if s := x.Scores; s != nil {
		out.AUC = (*Estimate)(s.AUC)
		if l := s.LogLoss; l != nil {
			out.LogLoss = &Estimate{l.Value, l.Lower, l.Upper, l.Level}
		}
	}
	return out
}

// newGroups converts the metrics of all groups; nil remains nil.
func newGroups(x *evaluate.ByGroup) []Group {
	if x == nil {
		return nil
	}
	var out []Group
	for _, g := range x.Groups {
		group := Group{
			Name:     g.Name,
			Other:    g.Other,
			Records:  g.Records.Value,
			TooFew:   g.TooFew,
			R2:       (*Estimate)(g.R2),
			MAE:      (*Estimate)(g.MAE),
			RMSE:     (*Estimate)(g.RMSE),
			Bias:     (*Estimate)(g.Bias),
			Accuracy: (*Estimate)(g.Accuracy),
			Recalls:  estimates(g.Recalls),
		}
		if d := g.Difference; d != nil {
			group.Difference = &Estimate{d.Value, d.Lower, d.Upper, evaluate.Level}
		}
		out = append(out, group)
	}
	return out
}

// estimates converts a list of shares; nil remains nil.
func estimates(shares []evaluate.Share) []Estimate {
	var out []Estimate
	for _, s := range shares {
		out = append(out, Estimate(s))
	}
	return out
}
