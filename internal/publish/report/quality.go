package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/rescale"
)

// A Quality is an error of predictions, measured on the records of Part. The interval
// [Lower, Upper] has confidence Level and is about fresh records.
type Quality Share

// An Interval of prediction holds the target of a fresh record, the prediction plus or minus
// HalfWidth, with probability Level.
type Interval struct {
	Level     float64 `json:"level"`
	HalfWidth float64 `json:"half_width"` // in units of the target
}

// Missing is a noisy number of records of Part whose target cannot be read, and
// their share with its interval for the noise, which has confidence Level.
type Missing struct {
	Value   float64 `json:"value"` // may be negative
	Scale   float64 `json:"scale"` // standard deviation of the noise
	Share   float64 `json:"share"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Level   float64 `json:"level"`
	Private bool    `json:"private"` // released by a mechanism
	Part    string  `json:"part"`    // "holdout"
}

// regression fills in the metrics of a numeric target.
func (m *Metrics) regression(r *evaluate.R2) {
	m.R2 = r2Of(r)
	quality := func(q evaluate.Quality) *Quality {
		return &Quality{Value: q.Value, Lower: q.Lower, Upper: q.Upper, Level: q.Level, Private: true, Part: "holdout"}
	}
	m.MAE, m.RMSE = quality(r.MAE), quality(r.RMSE)
	for _, w := range r.Intervals {
		m.Intervals = append(m.Intervals, Interval(w))
	}
	m.counts(r.Records, r.Missing)
}

func r2Of(r *evaluate.R2) *R2 {
	return &R2{
		Value: r.Value, Lower: r.Lower, Upper: r.Upper, Level: r.Level, Private: true, Part: "holdout",
		TargetLower: r.TargetLower, TargetUpper: r.TargetUpper, Beyond: r.Beyond.Value, BeyondUpper: r.Beyond.Upper,
		ErrorLimit: r.ErrorLimit, ErrorsSeenBeyond: r.SeenBeyond, PredictionsCut: r.PredictionsCut, NoiseShare: r.NoiseShare,
		AllErrors: &AllErrors{Lower: r.AllErrorsLower, Level: evaluate.AllErrorsLevel},
	}
}

// transform returns that of the target.
func (r *Report) transform() rescale.Transform {
	for _, f := range r.Unprotected {
		if word, ok := f.Value.(string); ok && f.Name == pipeline.TransformFact {
			return rescale.Transform(word)
		}
	}
	return rescale.None
}

// scale names what the terms of the model add up to: the target, or the transformed one.
func (r *Report) scale() string { return r.transform().Name(shown(r.Target)) }

// counts fills in how many held-out records have a target that can be read, and have
// not.
func (m *Metrics) counts(records, missing evaluate.Count) {
	share := evaluate.ShareOf(missing, records)
	m.Records = &Count{Value: records.Value, Scale: records.Sigma, Private: true, Part: "holdout"}
	m.MissingTargets = &Missing{
		Value: missing.Value, Scale: missing.Sigma, Private: true, Part: "holdout",
		Share: share.Value, Lower: share.Lower, Upper: share.Upper, Level: share.Level,
	}
}

// metric prints R².
func metric(r *Report) string { return metricOf(r, r.Metrics.R2) }

// transformedMetric prints R² of a transformed target; empty where there is none.
func transformedMetric(r *Report) string {
	if r.Metrics.R2Transformed == nil {
		return ""
	}
	return r.scale() + ": " + metricOf(r, r.Metrics.R2Transformed)
}

func metricOf(r *Report, m *R2) string {
	switch {
	case m == nil:
		return notMeasured
	case r.Format == format1:
		return fmt.Sprintf("%.3f, %g%% interval %.3f to %.3f, released with noise on the held-out records", m.Value, 100*m.Level, m.Lower, m.Upper)
	case m.unknown():
		return fmt.Sprintf("could not be measured: it lies somewhere between %.2f and %.2f (%g%% sure)", m.Lower, m.Upper, 100*m.Level)
	}
	s := fmt.Sprintf("%.3f for new records (%g%% interval %.3f to %.3f), for targets from %s to %s",
		m.Value, 100*m.Level, m.Lower, m.Upper, short(m.TargetLower), short(m.TargetUpper))
	if m.BeyondUpper >= fewBeyond {
		s += fmt.Sprintf(", beyond which about %.1f%% lie (at most %.1f%%)", 100*m.Beyond, 100*m.BeyondUpper)
	}
	if m.ErrorLimit > 0 {
		s += fmt.Sprintf("; an error above %s counts as %[1]s", short(m.ErrorLimit))
	}
	return s
}

// fewBeyond is the share of targets outside the limits from which a text mentions them.
const fewBeyond = .005

// unknown reports whether the interval is so wide that the value says nothing.
func (m *R2) unknown() bool { return m.Upper-m.Lower > 1 }

// allErrors says what R² can be if every error counts in full; empty where that is not known.
func allErrors(m *R2) string {
	if m == nil || m.AllErrors == nil || m.unknown() {
		return ""
	}
	seen := fmt.Sprintf("None above %s was seen.", short(m.ErrorLimit))
	if m.ErrorsSeenBeyond {
		seen = fmt.Sprintf("Larger errors than usual were seen, so they count up to %s.", short(m.ErrorLimit))
	}
	if m.AllErrors.Lower > 0 {
		return fmt.Sprintf("R² is at least %.2f, however large the few errors are that the noise may hide (%g%% sure). %s", m.AllErrors.Lower, 100*m.AllErrors.Level, seen)
	}
	return fmt.Sprintf("R² is below %.2f, and how far below cannot be told: the few records whose errors the noise may hide could take away all of it. %s", m.Upper, seen)
}

const notMeasured = "not measured: no records were held out"

// errorsOf prints the errors of predictions; empty where there are none.
func errorsOf(r *Report) string {
	m := r.Metrics
	if m.MAE == nil || m.RMSE == nil {
		return ""
	}
	return fmt.Sprintf("mean absolute error %s (%s to %s), root mean squared error %s (%s to %s), in units of %s",
		short(m.MAE.Value), short(m.MAE.Lower), short(m.MAE.Upper), short(m.RMSE.Value), short(m.RMSE.Lower), short(m.RMSE.Upper), shown(r.Target))
}

// intervals prints the intervals of prediction; empty where there are none.
func intervals(list []Interval) string {
	if len(list) == 0 {
		return ""
	}
	s := fmt.Sprintf("%g%% of new targets lie within %s of their prediction", 100*list[0].Level, short(list[0].HalfWidth))
	for _, w := range list[1:] {
		s += fmt.Sprintf(", %g%% within %s", 100*w.Level, short(w.HalfWidth))
	}
	return s
}

// heldOut prints how many records were held out, and what that says about the targets
// of the whole table.
func heldOut(r *Report) string {
	records, missing := r.Metrics.Records, r.Metrics.MissingTargets
	if records == nil {
		return ""
	}
	s := fmt.Sprintf("about %s records with a target that can be read", about(records.Value, records.Scale))
	share, ok := heldOutShare(r)
	if missing == nil || missing.Lower <= 0 || !ok {
		return s
	}
	scale := math.Hypot(records.Scale, missing.Scale) / share
	return s + fmt.Sprintf(", %s without: as an estimate, about %s of the %s records of the table have one",
		about(missing.Value, missing.Scale), about(records.Value/share, scale), about((records.Value+missing.Value)/share, scale))
}

// heldOutShare returns the share of records that the recipe holds out.
func heldOutShare(r *Report) (float64, bool) {
	for _, f := range r.Unprotected {
		if share, ok := f.Value.(float64); ok && f.Name == "holdout" && share > 0 {
			return share, true
		}
	}
	return 0, false
}

// about prints a noisy number of records, rounded to what its noise leaves of it, with
// separators.
func about(x, scale float64) string {
	unit := 1.
	for unit*5 < scale && unit < 1e15 {
		unit *= 10
	}
	digits := strconv.FormatFloat(math.Round(max(x, 0)/unit)*unit, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// short prints a number with three digits, in full where that is no longer than a
// few.
func short(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if size := math.Abs(rounded); err != nil || size >= 1e9 || size < 1e-3 && size > 0 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
