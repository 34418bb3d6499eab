package adassp

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// labelFit fits a run that protects only its target.
func labelFit(
	t *testing.T,
	trainer method.Trainer,
	epsilon float64,
	tab *dataset.Table,
	columns []dataset.Column,
	ranges []scaling.Range,
) (*method.Fit, error) {
	t.Helper()
	data := dataOf(columns, tab.View(), ranges)
	data.Facts = method.Facts{
		Columns:   columns,
		Relation:  budget.SubstitutePrivateColumns,
		LabelOnly: true,
	}
	node, err := trainer.Plan(data.Facts)
	if err != nil {
		t.Fatal(err)
	}
	return trainer.Fit(
		context.Background(),
		testrows.Session(t, node, epsilon, data.Relation),
		data,
	)
}

// privateTarget returns columns whose last one is private, and ranges that contain all numbers of [linearTable].
func privateTarget(
	t *testing.T, n int, noise float64,
) (*dataset.Table, []dataset.Column, []scaling.Range) {
	t.Helper()
	tab, columns, ranges := linearTable(t, n, noise)
	columns = append([]dataset.Column(nil), columns...)
	columns[len(columns)-1].Private = true
	return tab, columns, ranges
}

// TestPrivateTargetIsLeastSquares checks with a private target and a large budget that both trainers recover the
// least-squares coefficients without limiting any row, and that the standard errors shrink with the noise.
func TestPrivateTargetIsLeastSquares(t *testing.T) {
	tab, columns, ranges := privateTarget(t, 4000, .1)
	for _, trainer := range []method.Trainer{JointGram{}, AdaSSP{}} {
		f, err := labelFit(t, trainer, 100, tab, columns, ranges)
		if err != nil {
			t.Fatal(err)
		}
		m := f.Linear()
		for i, want := range []float64{2, -1} {
			term := m.Terms[i]
			if math.Abs(term.Coefficient-want) > .03 ||
				!(term.StdError > 0 && term.StdError < .03) {
				t.Errorf(
					"%s: coefficient of %s: %v +- %v, want %v",
					trainer.Name(),
					m.Columns[term.Column].Name,
					term.Coefficient,
					term.StdError,
					want,
				)
			}
		}
		d := m.Terms[2].Coefficient - m.Terms[3].Coefficient
		if math.Abs(d-.5) > .03 {
			t.Errorf(
				"%s: category effect %v, want .5",
				trainer.Name(), d,
			)
		}
	}
}

// TestPrivateTargetNeedsPublicFeatures checks that a private feature among those that the plan assumed to be public,
// or another relation, is an error and that the run releases no value.
func TestPrivateTargetNeedsPublicFeatures(t *testing.T) {
	tab, columns, ranges := privateTarget(t, 50, .1)
	columns[0].Private = true
	for _, trainer := range []method.Trainer{JointGram{}, AdaSSP{}} {
		_, err := labelFit(t, trainer, 1, tab, columns, ranges)
		if !errors.Is(err, mechanism.ErrRelation) {
			t.Errorf(
				"%s: %v",
				trainer.Name(), err,
			)
		}
	}
}

// TestPrivateTargetOfNoise checks that if noise hides the target, the ridge penalty shrinks the coefficients to 0
// rather than keeping the noise.
func TestPrivateTargetOfNoise(t *testing.T) {
	tab, columns, ranges := privateTarget(t, 60, .1)
	f, err := labelFit(t, JointGram{}, .01, tab, columns, ranges)
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range f.Linear().Terms {
		if !(math.Abs(term.Coefficient) < 1e3) {
			t.Errorf("coefficient %v", term.Coefficient)
		}
	}
}
