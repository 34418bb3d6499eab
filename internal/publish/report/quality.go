package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/transform"
)

// A Quality is an error of predictions, measured on the records of Part. The interval [Lower, Upper] has confidence
// Level and is about new records.
type Quality Share

// An Interval is a prediction interval: it contains the target of a new record with probability Level and is the
// prediction plus or minus HalfWidth.
type Interval struct {
	Level     float64 `json:"level"`
	HalfWidth float64 `json:"half_width"` // in units of the target
}

// Missing is a noisy number of records of Part without a usable target, and their share, with an interval of
// confidence Level for the noise.
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
		return &Quality{
			Value:   q.Value,
			Lower:   q.Lower,
			Upper:   q.Upper,
			Level:   q.Level,
			Private: true,
			Part:    "holdout",
		}
	}
	m.MAE, m.RMSE = quality(r.MAE), quality(r.RMSE)
	for _, w := range r.Intervals {
		m.Intervals = append(m.Intervals, Interval(w))
	}
	m.counts(r.Records, r.Missing)
	m.Groups = groupsOf(r.Groups, nil)
}

func r2Of(r *evaluate.R2) *R2 {
	return &R2{
		Value:            r.Value,
		Lower:            r.Lower,
		Upper:            r.Upper,
		Level:            r.Level,
		Private:          true,
		Part:             "holdout",
		TargetLower:      r.TargetLower,
		TargetUpper:      r.TargetUpper,
		Beyond:           r.Beyond.Value,
		BeyondUpper:      r.Beyond.Upper,
		ErrorLimit:       r.ErrorLimit,
		ErrorsSeenBeyond: r.SeenBeyond,
		PredictionsCut:   r.PredictionsCut,
		NoiseShare:       r.NoiseShare,
		AllErrors: &AllErrors{
			Lower: r.AllErrorsLower,
			Level: evaluate.AllErrorsLevel,
		},
	}
}

// transform returns the transform of the target.
func (r *Report) transform() rescale.Transform {
	for _, f := range r.Unprotected {
		if word, ok := f.Value.(string); ok && f.Name == transform.Fact {
			return rescale.Transform(word)
		}
	}
	return rescale.None
}

// scale names the quantity that the terms of the model add up to: the target, or the transformed one.
func (r *Report) scale() string {
	return r.transform().Name(printableName(r.Target))
}

// counts fills in the numbers of held-out records with and without a usable target.
func (m *Metrics) counts(records, missing evaluate.Count) {
	share := evaluate.ShareOf(missing, records)
	m.Records = &Count{
		Value:   records.Value,
		Scale:   records.Sigma,
		Private: true,
		Part:    "holdout",
	}
	m.MissingTargets = &Missing{
		Value:   missing.Value,
		Scale:   missing.Sigma,
		Private: true,
		Part:    "holdout",
		Share:   share.Value,
		Lower:   share.Lower,
		Upper:   share.Upper,
		Level:   share.Level,
	}
}

// metric prints R².
func metric(r *Report) string {
	return metricOf(r, r.Metrics.R2)
}

// transformedMetric prints R² of a transformed target; empty without a transform.
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
		return fmt.Sprintf(
			"%.3f, %g%% interval %.3f to %.3f, released with noise on the held-out records",
			m.Value, 100*m.Level, m.Lower, m.Upper)
	case m.unknown():
		return fmt.Sprintf(
			"not reported: with this budget%s it can only be placed between %s and %s (%g%% confidence)",
			amongRecords(r.Metrics), limit2(m.Lower), limit2(m.Upper), 100*m.Level)
	}
	s := fmt.Sprintf("%.3f (%g%% interval %.3f to %.3f), for a target between %s and %s",
		m.Value, 100*m.Level, m.Lower, m.Upper, short(m.TargetLower), short(m.TargetUpper))
	switch {
	case m.BeyondUpper < fewBeyond:
	case m.Beyond < leastBeyond:
		s += fmt.Sprintf("; at most %.1f%% of records lie outside", 100*m.BeyondUpper)
	default:
		s += fmt.Sprintf("; about %.1f%% of records (at most %.1f%%) lie outside", 100*m.Beyond,
			100*m.BeyondUpper)
	}
	if m.ErrorLimit > 0 {
		s += fmt.Sprintf("; an error above %s counts as %[1]s", short(m.ErrorLimit))
	}
	return s
}

// fewBeyond is the share of targets outside the limits from which a text mentions them, and leastBeyond the share
// from which it states an estimate.
const (
	fewBeyond   = .005
	leastBeyond = .0005
)

// unknown reports whether the interval is too wide for the value to be informative.
func (m *R2) unknown() bool {
	return !evaluate.R2Measured(m.Lower, m.Upper)
}

// unknown reports whether the interval is too wide for the value to be informative.
func (s *Share) unknown() bool {
	return !evaluate.ShareMeasured(s.Lower, s.Upper)
}

// Measured returns the metrics without the values that reports withhold, because the noise hides them.
func (m Metrics) Measured() Metrics {
	if m.errorsUnknown() {
		m.MAE = nil
		m.RMSE = nil
	}
	if m.R2 != nil && m.R2.unknown() {
		m.R2 = nil
	}
	for _, s := range []**Share{&m.Accuracy, &m.BalancedAccuracy, &m.AUC} {
		if *s != nil && (*s).unknown() {
			*s = nil
		}
	}
	return m
}

// notMeasuredByNoise explains that a metric of classes is withheld.
func (m Metrics) notMeasuredByNoise() string {
	return "not measured: the noise hides it with this budget" + amongRecords(m) +
		"; use a larger epsilon, or more records"
}

// hidden replaces a metric that is withheld in a table or after its name.
const hidden = "not measured"

// errorsHidden explains why the mean absolute error is not reported.
const errorsHidden = "the noise hides the sizes of the errors"

// errorsUnknown reports whether the interval of the mean absolute error reaches the size above which errors are not
// counted in full, while R² is unknown: the actual errors may then be of any size.
func (m Metrics) errorsUnknown() bool {
	return m.MAE != nil && m.R2 != nil && m.R2.unknown() &&
		!evaluate.ErrorsMeasured(m.MAE.Upper, m.R2.ErrorLimit)
}

// allErrors describes the possible R² if every error counts in full; empty if it is not known.
func allErrors(m *R2) string {
	if m == nil || m.AllErrors == nil || m.unknown() {
		return ""
	}
	seen := fmt.Sprintf("No error above %s was detected.", short(m.ErrorLimit))
	if m.ErrorsSeenBeyond {
		seen = fmt.Sprintf("Unusually large errors were detected, so errors count up to %s.",
			short(m.ErrorLimit))
	}
	if m.AllErrors.Lower > 0 {
		return fmt.Sprintf(
			"R² is at least %.2f if every error counts in full, however large the few errors are that the noise may hide (%g%% confidence). %s",
			m.AllErrors.Lower, 100*m.AllErrors.Level, seen)
	}
	return fmt.Sprintf(
		"if every error counts in full, R² is below %.2f and has no known lower limit: the noise may hide a few records with very large errors. %s",
		m.Upper, seen)
}

const notMeasured = "not measured: no records were held out"

// errorsOf prints the prediction errors; empty if there are no such metrics.
func errorsOf(r *Report) string {
	m := r.Metrics
	if m.MAE == nil || m.RMSE == nil {
		return ""
	}
	if m.errorsUnknown() {
		return "not reported: " + errorsHidden
	}
	mae := shortAlike(m.MAE.Value, m.MAE.Lower, m.MAE.Upper)
	rmse := shortAlike(m.RMSE.Value, m.RMSE.Lower, m.RMSE.Upper)
	return fmt.Sprintf(
		"mean absolute error (MAE) %s (%s to %s), root mean squared error (RMSE) %s (%s to %s), in units of %s",
		mae[0], mae[1], mae[2], rmse[0], rmse[1], rmse[2], printableName(r.Target))
}

// intervals prints the prediction intervals; empty without intervals.
func intervals(r *Report) string {
	list := r.Metrics.Intervals
	if len(list) == 0 {
		return ""
	}
	s := fmt.Sprintf("%g%% of new values of %s lie within ±%s of the prediction", 100*list[0].Level,
		printableName(r.Target), short(list[0].HalfWidth))
	for _, w := range list[1:] {
		s += fmt.Sprintf(", %g%% within ±%s", 100*w.Level, short(w.HalfWidth))
	}
	return s
}

// amongRecords describes the number of test records; empty if it is not known.
func amongRecords(m Metrics) string {
	if m.Records == nil {
		return ""
	}
	return fmt.Sprintf(" and about %s test records", roundedCount(m.Records.Value, m.Records.Scale))
}

// limit2 prints a limit with at most two decimals.
func limit2(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}

// heldOut prints the number of held-out records, and its implication for the targets of the whole table.
func heldOut(r *Report) string {
	records := r.Metrics.Records
	missing := r.Metrics.MissingTargets
	if records == nil {
		return ""
	}
	s := fmt.Sprintf("about %s test records with a usable target",
		roundedCount(records.Value, records.Scale))
	share, ok := heldOutShare(r)
	if missing == nil || missing.Lower <= 0 || !ok {
		return s
	}
	scale := math.Hypot(records.Scale, missing.Scale) / share
	return s + fmt.Sprintf(", %s without: an estimated %s of the table's %s records have one",
		roundedCount(missing.Value, missing.Scale), roundedCount(records.Value/share, scale),
		roundedCount((records.Value+missing.Value)/share, scale))
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

// roundedCount prints a noisy number of records with separators, rounded to the precision that the noise allows.
func roundedCount(x, scale float64) string {
	unit := 1.
	for unit*5 < scale && unit < 1e15 {
		unit *= 10
	}
	return separated(strconv.FormatFloat(math.Round(max(x, 0)/unit)*unit, 'f', 0, 64))
}

// FormatCount formats an integer with thousands separators.
func FormatCount(n int) string {
	return separated(strconv.Itoa(n))
}

// separated adds thousands separators to a number in decimal notation.
func separated(digits string) string {
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign = "-"
		whole = whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}

// short prints a number with three significant digits and thousands separators; from 1e9 on and below 1e-3 with an
// exponent.
func short(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if size := math.Abs(rounded); err != nil || size >= 1e9 || size < 1e-3 && size > 0 {
		return plainExponent(strconv.FormatFloat(x, 'g', 3, 64))
	}
	return separated(strconv.FormatFloat(rounded, 'f', -1, 64))
}

// shortAlike prints numbers with as many decimals as the first one has with three significant digits. Numbers that would be
// 0 then, and all numbers if the first one has no decimals, are printed as by [short].
func shortAlike(list ...float64) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = short(x)
	}
	if len(list) == 0 || strings.ContainsRune(out[0], 'e') || math.IsInf(list[0], 0) ||
		math.IsNaN(list[0]) || list[0] == 0 {
		return out
	}
	digits := strconv.FormatFloat(math.Abs(list[0]), 'e', 2, 64)
	exponent, err := strconv.Atoi(digits[strings.IndexByte(digits, 'e')+1:])
	if decimals := 2 - exponent; err == nil && decimals > 0 {
		for i, x := range list {
			if math.IsInf(x, 0) || math.IsNaN(x) || math.Abs(x) >= 1e9 {
				continue
			}
			if text := strconv.FormatFloat(x, 'f', decimals, 64); strings.ContainsAny(text, "123456789") {
				out[i] = separated(text)
			}
		}
	}
	return out
}
