package evaluate

// The widths from which an interval places a metric almost anywhere within its limits. Its value is then not a
// measurement, and reports withhold it. The rule depends on released values only.
const (
	widestR2    = 1   // of R², which is in [-1, 1]; excluded
	widestShare = .95 // of an accuracy, a recall or an AUC, which are in [0, 1]; included
)

// R2Measured reports whether an interval is narrow enough for a value of R².
func R2Measured(lower, upper float64) bool {
	return upper-lower <= widestR2
}

// ShareMeasured reports whether an interval is narrow enough for the value of a share.
func ShareMeasured(lower, upper float64) bool {
	return upper-lower < widestShare
}

// ErrorsMeasured reports whether the sizes of errors are known beside an R² that is not measured: the interval of their
// mean ends at upper, below the size limit above which errors are not counted in full.
func ErrorsMeasured(upper, limit float64) bool {
	return upper < (1-1e-9)*limit
}

// LossMeasured reports whether the interval of a log loss excludes either a perfect model or one as bad as the class
// shares alone, whose log loss is chance.
func LossMeasured(lower, upper, chance float64) bool {
	return lower > 0 || upper < chance
}
