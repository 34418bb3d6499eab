package report_test

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// TestRegistryUnit checks that the registry fields state the privacy unit of the report and the choices and
// ranges found by mechanisms, and no others.
func TestRegistryUnit(t *testing.T) {
	r := &report.Report{
		Training: &report.Training{
			Target: "y",
			Features: report.Features{
				Considered: []string{"a", "b", "c"},
				Selected:   []string{"b"},
			},
			Model: report.Model{Method: "joint-gram", Kind: "linear"},
		},
		Guarantee: report.Guarantee{
			Epsilon:     1,
			Delta:       1e-6,
			Relation:    "add-remove",
			Composition: "tight",
			Unit:        &report.Unit{Column: "patient", MaxRows: 4},
		},
		Events: []report.Event{
			{
				ID:      "fit/train/selection/kendall",
				Part:    "train",
				Law:     "exponential",
				Draws:   2,
				Epsilon: .5,
			},
			{
				ID:          "fit/train/scaling/bins",
				Part:        "train",
				Law:         "gaussian",
				Draws:       1,
				Mu:          .25,
				Sensitivity: 1,
				Scale:       4,
			},
		},
	}
	d := report.Registry(r).Deployment
	if d.Loss.Unit != "User" ||
		!strings.Contains(d.Loss.UnitDetails, `one value of the column "patient"`) ||
		!strings.Contains(d.Loss.UnitDetails, "at most 4 records of each") {
		t.Errorf("%+v", d.Loss)
	}
	p := d.Implementation.Preprocessing
	if !strings.Contains(p, "1 of 3 columns were selected") ||
		!strings.Contains(p, "found by a mechanism") {
		t.Error(p)
	}
	want := "- fit/train/selection/kendall (train records): exponential, 2 draws, each epsilon 0.5.\n" +
		"- fit/train/scaling/bins (train records): gaussian, 1 draw of mu 0.25; sensitivity 1, noise scale 4."
	if d.Implementation.Mechanisms !=
		want {
		t.Error(d.Implementation.Mechanisms)
	}

	r.Guarantee.Unit = nil
	r.Events = r.Events[:0]
	d = report.Registry(r).Deployment
	if d.Loss.Unit != "Record" ||
		!strings.Contains(d.Loss.UnitDetails, "differ by the presence of one record") {
		t.Errorf("%+v", d.Loss)
	}
	p = d.Implementation.Preprocessing
	if strings.Contains(p, "chosen") ||
		strings.Contains(p, "found by a mechanism") {
		t.Error(p)
	}
}
