package ui

import "testing"

// TestUnknownMetricsAreHidden checks that the comparison of runs has the metrics that the reports print: no R² with an interval
// wider than 1, and then no error whose interval reaches the limit of errors.
func TestUnknownMetricsAreHidden(t *testing.T) {
	for _, c := range []struct {
		lower, mae float64
		r2, errors bool
	}{
		{.4, 10, true, true},
		{-1, 10, false, false},
		{-1, 8, false, true},
	} {
		m := metrics{
			R2:   &estimate{Value: .9, Lower: c.lower, Upper: 1, ErrorLimit: 10},
			MAE:  &estimate{Upper: c.mae},
			RMSE: &estimate{Upper: 10},
		}
		m.hideUnknown()
		if (m.R2 != nil) != c.r2 || (m.MAE != nil) != c.errors || (m.RMSE != nil) != c.errors {
			t.Errorf("%+v: %+v", c, m)
		}
	}
}
