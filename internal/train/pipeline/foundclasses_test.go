package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/prototypes"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/regression"
)

// classRun is a classification whose classes are found privately, up to the given number.
func classRun(most int, m method.Trainer) *Pipeline {
	return &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:   "a",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:   "b",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:  "y",
				Kind:  dataset.Category,
				Found: true,
			},
		}},
		Task:        regression.TaskClassification,
		Target:      "y",
		MostClasses: most,
		Model:       m,
		Budget:      budget.Target{Epsilon: 2, Delta: 1e-6},
		Holdout:     .2,
	}
}

// classRows are records of the given number of classes around a circle, and one record of another class.
func classRows(t *testing.T, p *Pipeline, classes, n int) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, 3)
	for k := range classes {
		columns[2].Words = append(
			columns[2].Words,
			fmt.Sprint("kind ", k),
		)
	}
	columns[2].Words = append(columns[2].Words, "a secret kind")
	for i := range n {
		k := i % classes
		if i == n/2 {
			k = classes
		}
		angle := 2 * math.Pi * float64(k) / float64(classes)
		columns[0].Floats = append(
			columns[0].Floats,
			.7*math.Cos(angle)+.2*math.Sin(float64(i)),
		)
		columns[1].Floats = append(
			columns[1].Floats,
			.7*math.Sin(angle)+.2*math.Cos(float64(7*i)),
		)
		columns[2].Codes = append(columns[2].Codes, int32(k))
	}
	table, err := dataset.NewTable(p.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestClassesFound checks that all frequent classes are found if they fit the limit of seven, that the model
// separates them, and that methods whose price does not depend on the number of classes have exactly these.
func TestClassesFound(t *testing.T) {
	for name, x := range map[string]struct {
		trainer method.Trainer
		divides bool // its budget among the classes, up to the number that a branch is planned for
	}{
		"auto":             {nil, false},
		"prototypes":       {prototypes.Prototypes{}, false},
		"joint-gram":       {adassp.JointGram{}, false},
		"logistic":         {logistic.Logistic{}, false},
		"svm":              {svm.SVM{}, false},
		"boosted-additive": {boosting.Additive{}, true},
	} {
		for _, classes := range []int{2, 4, 5, 9} {
			p := classRun(7, x.trainer)
			res, err := p.Fit(
				context.Background(),
				classRows(t, p, classes, 16000),
				Options{},
			)
			if err != nil {
				t.Fatalf(
					"%s, %d classes: %v",
					name, classes, err,
				)
			}
			got := res.Model.Output().Classes
			want := min(classes, 7)
			v := res.Vocabulary
			if len(v) != 1 ||
				len(v[0].Words) != want ||
				slices.Contains(got, "a secret kind") {
				t.Errorf(
					"%s, %d classes: found %v",
					name, classes, res.Vocabulary,
				)
			}
			planned := want
			if x.divides && classes == 5 {
				planned = 6
			}
			if len(got) != planned || len(res.Confusion.Classes) != planned {
				t.Errorf(
					"%s, %d classes: the model has %q",
					name, classes, got,
				)
			}
			share := res.Confusion.OtherShare
			if classes == 9 && !(share.Lower > .1 && share.Upper < .4) { // two of nine
				t.Errorf(
					"%s: %+v of the records have other labels",
					name, share,
				)
			}
			if classes == 4 && res.Confusion.Accuracy.Value < .8 {
				t.Errorf(
					"%s: accuracy %v",
					name, res.Confusion.Accuracy.Value,
				)
			}
		}
	}
}

// TestClassesFoundPrices checks that the plan does not depend on the classes, that rules know the largest number, and
// that a run which finds no class abstains.
func TestClassesFoundPrices(t *testing.T) {
	p := classRun(7, nil)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if plan.Method() != Auto ||
		plan.Delta(2) > 1e-6 ||
		plan.Delta(2) < .99e-6 {
		t.Errorf(
			"%s, delta %v",
			plan.Method(), plan.Delta(2),
		)
	}
	_, err = classRun(1, nil).Plan()
	if !errors.Is(err, ErrClasses) ||
		!strings.Contains(err.Error(), "most_classes") {
		t.Error(err)
	}
	if _, err := classRun(256, nil).Plan(); !errors.Is(err, ErrClasses) {
		t.Error(err)
	}
	none := classRun(5, nil)
	res, err := none.Fit(
		context.Background(),
		classRows(t, none, 4, 3),
		Options{},
	)
	if err != nil || res.Model != nil || !res.LacksClasses() {
		t.Errorf(
			"three records: %+v, %v",
			res, err,
		)
	}
}
