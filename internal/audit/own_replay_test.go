//go:build replay

package audit

import (
	"context"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/svm"
)

// TestOwnTableFindsAFault plants a penalty of a support vector machine that follows the exact number of records, and
// checks that the audit of the owner's table reports it every time. Without the fault there is no finding (false
// alarm 1e-6).
func TestOwnTableFindsAFault(t *testing.T) {
	p, tab := smallExample(t, "classes", 400)
	p.Model = svm.SVM{}
	p.Holdout = 0
	for _, f := range []mechanism.Fault{0, mechanism.ExactCount} {
		v, err := OwnTableFaulty(
			context.Background(),
			p,
			tab,
			Options{
				Runs:       600,
				Records:    1,
				Confidence: 1 - 1e-6,
			},
			f,
		)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf(
			"measured %.2f of %.2f",
			v.Whole.Epsilon, v.Claim.Epsilon,
		)
		found := slices.Contains(v.Violations(), "run")
		if found != (f != 0) {
			t.Errorf(
				"fault %v: measured %.2f of %.2f",
				f, v.Whole.Epsilon, v.Claim.Epsilon,
			)
		}
	}
}
