package report

import (
	"strings"
	"testing"
)

// TestErrorsOfUnknownSize checks that a mean absolute error is withheld where R² is unknown and the interval reaches the limit
// of errors, and that the limit is stated beside it where R² is unknown and the interval does not.
func TestErrorsOfUnknownSize(t *testing.T) {
	for _, c := range []struct {
		r2Lower, maeUpper float64
		summary, text     string
	}{
		{-1, 10, "not reported: the noise hides", "not reported: the noise hides"},
		{-1, 8, "2.00  (0 to 8.00), mean absolute error; an error above 10 counts as 10", "(MAE) 2.00 (0 to 8.00)"},
		{.5, 10, "2.00  (0 to 10.00), mean absolute error", "(MAE) 2.00 (0 to 10.00)"},
	} {
		r := &Report{
			Format: Format,
			Training: &Training{
				Target: "y",
				Model:  Model{Kind: "additive"},
				Metrics: Metrics{
					R2:   &R2{Value: .9, Lower: c.r2Lower, Upper: 1, Level: .95, ErrorLimit: 10},
					MAE:  &Quality{Value: 2, Upper: c.maeUpper},
					RMSE: &Quality{Value: 3, Upper: 10},
				},
			},
		}
		if got := r.Metrics.maeSummary(); !strings.HasPrefix(got, c.summary) ||
			strings.Contains(got, "counts as") != strings.Contains(c.summary, "counts as") {
			t.Errorf("%+v: %q", c, got)
		}
		if got := errorsOf(r); !strings.Contains(got, c.text) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
