package ui

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestUnknownMetricsAreHidden checks that the comparison of runs has the metrics that the reports print.
func TestUnknownMetricsAreHidden(t *testing.T) {
	for _, c := range []struct {
		lower, mae float64
		r2, errors bool
	}{
		{.4, 10, true, true},
		{-1, 10, false, false},
		{-1, 8, false, true},
	} {
		var m metrics
		text := fmt.Sprintf(`{"r2": {"value": 0.9, "lower": %v, "upper": 1, "error_limit": 10}, "mae": {"upper": %v}, "rmse": {"upper": 10}}`,
			c.lower, c.mae)
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if (m.R2 != nil) != c.r2 || (m.MAE != nil) != c.errors || (m.RMSE != nil) != c.errors {
			t.Errorf("%+v: %+v", c, m)
		}
	}
	var m metrics
	err := json.Unmarshal([]byte(`{"accuracy": {"value": 0.5, "lower": 0, "upper": 1, "level": 0.95},
		"balanced_accuracy": {"value": 0.6, "lower": 0.2, "upper": 0.9, "level": 0.95}, "auc": {"value": 0.5, "lower": 0, "upper": 1}}`), &m)
	if err != nil || m.Accuracy != nil || m.AUC != nil || m.BalancedAccuracy == nil || *m.BalancedAccuracy != (estimate{.6, .2, .9, .95}) {
		t.Errorf("%+v, %v", m, err)
	}
}
