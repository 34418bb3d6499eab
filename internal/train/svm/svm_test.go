package svm

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/logistic"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A record is one row of the test table.
type record struct {
	a, b    float64
	k, code int32
}

// columnsOf declares two numbers, a category, and a target with the given number of classes.
func columnsOf(classes int) ([]dataset.Column, []scaling.Range) {
	names := []string{
		"no", "yes",
		"maybe so", "never",
	}[:classes]
	return []dataset.Column{
			{
				Name:   "a",
				Ranged: true,
				Lower:  -2,
				Upper:  2,
			},
			{
				Name:   "b",
				Ranged: true,
				Lower:  100,
				Upper:  300,
			},
			{
				Name:       "c",
				Kind:       dataset.Category,
				Categories: []string{"x", "y"},
				Other:      true,
			},
			{
				Name:       "class",
				Kind:       dataset.Category,
				Categories: names,
			},
		}, []scaling.Range{
			{Lower: -2, Upper: 2, Declared: true},
			{Lower: 100, Upper: 300, Declared: true},
			{},
			{},
		}
}

// planeRecords returns n records. Two classes are the signs of a + (b-200)/100 + [c is x] - .2; more classes are sectors
// of the plane.
func planeRecords(n, classes int) []record {
	p := testrows.Points(3)
	out := make([]record, n)
	for i := range out {
		r := record{
			a: 2 * p.Next(),
			b: 200 + 100*p.Next(),
			k: int32(1.5 + 1.4999*p.Next()),
		}
		x := r.a + (r.b-200)/100 - .2
		if r.k == 0 {
			x++
		}
		switch {
		case classes == 2 && x > 0:
			r.code = 1
		case classes > 2 && r.a > .5:
			r.code = 1
		case classes > 2 && r.b > 200:
			r.code = 2
		}
		out[i] = r
	}
	return out
}

func tableOf(
	t testing.TB,
	columns []dataset.Column,
	rows []record,
	ids []uint64,
) *dataset.Table {
	t.Helper()
	data := make([]dataset.ColumnData, 4)
	for _, r := range rows {
		data[0].Floats = append(data[0].Floats, r.a)
		data[1].Floats = append(data[1].Floats, r.b)
		data[2].Codes = append(data[2].Codes, r.k)
		data[3].Codes = append(data[3].Codes, r.code)
	}
	if len(rows) == 0 {
		for j := range data {
			data[j] = dataset.ColumnData{Floats: []float64{}}
			if j >= 2 {
				data[j] = dataset.ColumnData{Codes: []int32{}}
			}
		}
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func allTrainers() map[string]method.Trainer {
	return map[string]method.Trainer{
		"svm":           SVM{},
		"output":        logistic.Logistic{Form: logistic.Output},
		"logistic":      logistic.Logistic{},
		"pure svm":      SVM{}.PureForm(),
		"pure logistic": logistic.Logistic{}.PureForm(),
	}
}

// dataOf returns the records of a view, with a public lower bound on their number.
func dataOf(v dataset.View, atLeast int, ranges []scaling.Range) method.Data {
	return method.Data{
		Facts:   method.Facts{Columns: v.Schema().Columns},
		Records: memory.NewRecords(v),
		AtLeast: atLeast,
		Ranges:  ranges,
	}
}

func pricedPlan(
	t testing.TB,
	tr method.Trainer,
	columns []dataset.Column,
	epsilon float64,
	rel budget.Relation,
) *budget.Priced {
	t.Helper()
	node, err := tr.Plan(method.Facts{Columns: columns, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func trainClassifier(
	t testing.TB,
	tr method.Trainer,
	epsilon float64,
	rel budget.Relation,
	v dataset.View,
	ranges []scaling.Range,
) *regression.Classifier {
	t.Helper()
	s, err := mechanism.NewSession(pricedPlan(
		t, tr, v.Schema().Columns, epsilon,
		rel,
	))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := tr.Fit(
		context.Background(), s,
		dataOf(v, v.Len(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	m := fit.Model.(*regression.Classifier)
	for c, score := range m.Scores {
		err := score.(interface{ Validate() error }).Validate()
		if err != nil {
			t.Errorf("score %d: %v", c, err)
		}
	}
	return m
}

// rowsOf returns the columns of the table as rows to predict.
func rowsOf(v dataset.View) regression.Rows {
	r := regression.Rows{
		N:       v.Len(),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	whole := v.Block(0, v.Len())
	for j, c := range v.Schema().Columns {
		if c.Kind == dataset.Numeric {
			r.Numeric[c.Name] = whole.Float(j, nil)
		} else {
			r.Codes[c.Name] = regression.Codes{
				Values:     whole.Codes(j, nil),
				Categories: c.Categories,
			}
		}
	}
	return r
}

// accuracyOf returns the share of rows whose class is predicted correctly.
func accuracyOf(t testing.TB, m *regression.Classifier, v dataset.View) float64 {
	t.Helper()
	got, err := m.Predict(nil, rowsOf(v))
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, k := range v.Block(0, v.Len()).Codes(len(v.Schema().Columns)-1, nil) {
		if got[i] == float64(k) {
			right++
		}
	}
	return float64(right) / float64(v.Len())
}

// TestSVMSeparatesClasses checks with a large budget that the separating line is found for two and for three classes,
// under every relation. The three classes are sectors that lines separate only roughly.
func TestSVMSeparatesClasses(t *testing.T) {
	for classes, want := range map[int]float64{2: .96, 3: .85} {
		columns, ranges := columnsOf(classes)
		v := tableOf(t, columns, planeRecords(testkit.Size(6000, 20000), classes), nil).View()
		for name, tr := range allTrainers() {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
				budget.SubstitutePrivateColumns} {
				got := accuracyOf(t, trainClassifier(t, tr, 10, rel, v, ranges), v)
				if got < want {
					t.Errorf(
						"%s, %d classes, %v: accuracy %v, want at least %v",
						name,
						classes,
						rel,
						got,
						want,
					)
				}
			}
		}
	}
}

// TestSVMSpreadMatchesStandardErrors checks over fits of one table that the spread of an SVM's weight matches its
// standard error and that the spread of a logistic weight does not exceed it. With 200 fits, a ratio of variances above
// 1.7 or below .55 has probability below 1e-6 (chi-square with 199 degrees of freedom). The ratio over 800 fits with
// Laplace noise has about the spread of 320 fits with Gaussian noise.
func TestSVMSpreadMatchesStandardErrors(t *testing.T) {
	columns, ranges := columnsOf(2)
	v := tableOf(t, columns, planeRecords(300, 2), nil).View()
	for name, tr := range allTrainers() {
		fits := 200.
		if strings.HasPrefix(name, "pure") {
			fits = 800
		}
		var sum, squares, claimed float64
		for range int(fits) {
			score := trainClassifier(t, tr, 2, budget.AddRemove, v, ranges).Scores[0]
			l, ok := score.(*regression.Linear)
			if !ok {
				l = &score.(*regression.ClippedLinear).Linear
			}
			x := l.Terms[0].Coefficient
			sum += x
			squares += x * x
			claimed += l.Terms[0].StdError * l.Terms[0].StdError / fits
		}
		ratio := (squares - sum*sum/fits) / (fits - 1) / claimed
		if ratio > 1.7 ||
			name != "logistic" && ratio < .55 ||
			ratio < .05 {
			t.Errorf(
				"%s: observed variance is %.2f times the claimed one",
				name, ratio,
			)
		}
	}
}

// TestSVMAcceptsAnyTable checks that tables without rows, with one row, one class, records in no class, or missing and
// infinite cells yield finite models that can predict.
func TestSVMAcceptsAnyTable(t *testing.T) {
	for classes := 2; classes <= 4; classes++ {
		columns, ranges := columnsOf(classes)
		weird := planeRecords(60, classes)
		for i := range weird {
			weird[i].a = []float64{
				math.NaN(),
				math.Inf(1),
				math.Inf(-1), 1e308,
			}[i%4]
			weird[i].code = int32(i%(classes+2)) - 1
		}
		one := planeRecords(50, classes)
		for i := range one {
			one[i].code = 1
		}
		none := planeRecords(50, classes)
		for i := range none {
			none[i].code = int32(classes)
		}
		for what, rows := range map[string][]record{
			"no rows":   {},
			"one row":   planeRecords(1, classes),
			"weird":     weird,
			"one class": one,
			"no class":  none,
		} {
			v := tableOf(t, columns, rows, nil).View()
			for name, tr := range allTrainers() {
				fit := trainClassifier(t, tr, 1, budget.AddRemove, v, ranges)
				got, err := fit.Predict(
					nil,
					rowsOf(tableOf(t, columns, weird, nil).View()),
				)
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range got {
					if !(k >= 0 && k < float64(classes)) {
						t.Fatalf(
							"%s, %s: class %v",
							name, what, k,
						)
					}
				}
			}
		}
	}
}

// TestSVMNoiseScale checks that the noise of the release is (R + 2g)/(Lambda mu) in units of x/B, twice that under
// substitution and sqrt(3) times that for three classes.
func TestSVMNoiseScale(t *testing.T) {
	for _, c := range []struct {
		classes int
		rel     budget.Relation
		factor  float64
	}{
		{2, budget.AddRemove, 1},
		{2, budget.Substitute, 2},
		{3, budget.AddRemove, math.Sqrt(3)},
	} {
		columns, ranges := columnsOf(c.classes)
		tr := SVM{Lambda: 20}
		s, err := mechanism.NewSession(pricedPlan(t, tr, columns, 1, c.rel))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tr.Fit(
			context.Background(),
			s,
			dataOf(tableOf(t, columns, nil, nil).View(), 0, ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		b := math.Sqrt(scaling.NewEncoder(columns[:3], nil).NormLimit(0))
		want := c.factor * math.Sqrt(1.25) / 20 / s.Mu("svm")
		got := s.Scale("svm") * b
		if math.Abs(got-want) > 1e-4*want {
			t.Errorf(
				"%+v: sigma %v, want %v",
				c, got, want,
			)
		}
	}
}

// TestPureScale checks that the scale of Laplace noise is sqrt(P) (R + 2g)/(Lambda epsilon) for P coordinates, that
// the leaf is pure, and that a run with delta 0 can be priced.
func TestPureScale(t *testing.T) {
	for _, tr := range []method.Trainer{
		SVM{Lambda: 20}.PureForm(),
		logistic.Logistic{Lambda: 20}.PureForm(),
	} {
		columns, ranges := columnsOf(3)
		node, err := tr.Plan(method.Facts{Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		p, err := budget.Calibrate(
			budget.Sequence("run", node),
			budget.Target{Epsilon: 2},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := mechanism.NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tr.Fit(
			context.Background(),
			s,
			dataOf(tableOf(t, columns, nil, nil).View(), 0, ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		e := scaling.NewEncoder(columns[:3], nil)
		coordinates := float64(3 * (len(e.Slots()) + 1))
		want := math.Sqrt(coordinates) * math.Sqrt(3) * math.Sqrt(1.25) / 20 / 2
		got := s.Events()[0]
		if got.Law.Kind != budget.Pure ||
			math.Abs(got.Scale*math.Sqrt(e.NormLimit(0))-want) > 1e-3*want {
			t.Errorf(
				"%s: %+v, want the scale %v",
				tr.Name(),
				got,
				want/math.Sqrt(e.NormLimit(0)),
			)
		}
	}
	form := method.FormOf(
		logistic.Logistic{Form: logistic.Gradients}.PureForm())
	if form != logistic.Gradients {
		t.Errorf("a form that is named became %q", form)
	}
}

// TestPlanErrors covers invalid settings.
func TestPlanErrors(t *testing.T) {
	columns, _ := columnsOf(2)
	wide := make([]dataset.Column, 5000)
	for j := range wide {
		wide[j].Name = string(rune('a' + j))
	}
	for what, c := range map[string]struct {
		columns []dataset.Column
		lambda  float64
		want    error
	}{
		"no columns":     {nil, 0, linear.ErrTarget},
		"numeric target": {columns[:2], 0, linear.ErrTarget},
		"one class": {
			[]dataset.Column{
				columns[0],
				{
					Name:       "y",
					Kind:       dataset.Category,
					Categories: []string{"a"},
				},
			},
			0,
			linear.ErrTarget,
		},
		"no features": {columns[3:], 0, linear.ErrFeatures},
		"empty category": {
			[]dataset.Column{{Name: "e", Kind: dataset.Category}, columns[3]},
			0,
			linear.ErrFeatures,
		},
		"too wide":     {append(wide, columns[3]), 0, linear.ErrTooWide},
		"small lambda": {columns, .01, linear.ErrLambda},
		"NaN":          {columns, math.NaN(), linear.ErrLambda},
		"negative":     {columns, -1, linear.ErrLambda},
	} {
		_, err := (SVM{Lambda: c.lambda}).Plan(method.Facts{Columns: c.columns})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: svm: %v", what, err)
		}
		_, err = (logistic.Logistic{Form: logistic.Output, Lambda: c.lambda}).Plan(
			method.Facts{Columns: c.columns})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: output: %v", what, err)
		}
		_, err = (logistic.Logistic{Lambda: c.lambda}).Plan(
			method.Facts{Columns: c.columns})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: logistic: %v", what, err)
		}
	}
}

// TestCancelled checks that a cancelled context ends each method with its error.
func TestCancelled(t *testing.T) {
	columns, ranges := columnsOf(2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, tr := range allTrainers() {
		s, err := mechanism.NewSession(pricedPlan(t, tr, columns, 1, budget.AddRemove))
		if err != nil {
			t.Fatal(err)
		}
		fit, err := tr.Fit(
			ctx,
			s,
			dataOf(
				tableOf(t, columns, planeRecords(10, 2), nil).View(),
				10, ranges,
			),
		)
		if !errors.Is(err, context.Canceled) || fit != nil {
			t.Errorf(
				"%s: %v, %v",
				name, fit, err,
			)
		}
	}
}

// TestSVMReleasesEveryDraw checks that every priced draw is released.
func TestSVMReleasesEveryDraw(t *testing.T) {
	columns, ranges := columnsOf(3)
	for name, tr := range allTrainers() {
		s, err := mechanism.NewSession(pricedPlan(t, tr, columns, 1, budget.AddRemove))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tr.Fit(
			context.Background(),
			s,
			dataOf(
				tableOf(t, columns, planeRecords(10, 3), nil).View(),
				10, ranges,
			),
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Events() {
			if e.Released != e.Law.Draws {
				t.Errorf(
					"%s: %d of %d draws of %s",
					name, e.Released, e.Law.Draws,
					e.Path,
				)
			}
		}
	}
}
