//go:build replay

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestOwnAuditOfAFault checks that a run with a fault and a run without one print the same output and exit with the
// same code, but write different files for the data owner. In the faulty run, the support vector machine derives its
// penalty from the exact number of records.
func TestOwnAuditOfAFault(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", classCSV(300))
	writeFile(t, "recipe.yaml", `task: classification
data:
  path: line.csv
  target: income
  classes: [under 50 K, over 50 K]
privacy:
  epsilon: 1
holdout: 0
model: {method: svm}
`)
	var got [2]result
	for i, f := range []mechanism.Fault{0, mechanism.ExactCount} {
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader(""), &stdout, &stderr)
		a.ownTable = func(
			ctx context.Context, p *pipeline.Pipeline, t *dataset.Table, o audit.Options,
		) (audit.Verdict, error) {
			return audit.OwnTableFaulty(ctx, p, t, o, f)
		}
		code := a.run(
			t.Context(),
			strings.Fields(
				"audit recipe.yaml --own-table --force --runs 250 --records 1 --confidence 0.999999"),
		)
		got[i] = result{code, stdout.String(), stderr.String()}
		x := ownVerdict(t, "out")
		if (len(x.Violations) > 0) != (f != 0) ||
			(x.Run.MeasuredEpsilon > 1) != (f != 0) {
			t.Errorf("fault %v: %+v", f, x)
		}
	}
	if got[0] != got[1] ||
		got[0].code != exitOK ||
		got[0].stdout == "" {
		t.Errorf("%+v", got)
	}
}
