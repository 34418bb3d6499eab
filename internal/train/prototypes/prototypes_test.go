package prototypes

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A record is one row of the test table.
type record struct {
	a, b    float64
	k, code int32
}

// columnsOf declares two numbers, the second with an indicator for missing cells, a category, and a target with the
// given number of classes.
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
				Name:      "b",
				Ranged:    true,
				Lower:     100,
				Upper:     300,
				Indicator: true,
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

// circleRecords returns n records on a plane. The label is the third of a circle that contains the record or, for two
// classes, the half.
func circleRecords(n, classes int) []record {
	p := testrows.Points(3)
	out := make([]record, n)
	for i := range out {
		r := record{
			a: 2 * p.Next(),
			b: 200 + 100*p.Next(),
			k: int32(1.5 + 1.4999*p.Next()),
		}
		angle := math.Atan2(
			r.a/2,
			(r.b-200)/100,
		) + math.Pi
		r.code = min(
			int32(angle/(2*math.Pi)*float64(classes)),
			int32(classes-1),
		)
		if i%17 == 0 {
			r.b = math.NaN()
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
	data := []dataset.ColumnData{
		{Floats: []float64{}},
		{Floats: []float64{}},
		{Codes: []int32{}},
		{Codes: []int32{}},
	}
	for _, r := range rows {
		data[0].Floats = append(data[0].Floats, r.a)
		data[1].Floats = append(data[1].Floats, r.b)
		data[2].Codes = append(data[2].Codes, r.k)
		data[3].Codes = append(data[3].Codes, r.code)
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func dataOf(v dataset.View, ranges []scaling.Range) method.Data {
	return method.Data{
		Facts:   method.Facts{Columns: v.Schema().Columns},
		Records: memory.NewRecords(v),
		Ranges:  ranges,
	}
}

func pricedPlan(
	t testing.TB,
	columns []dataset.Column,
	epsilon float64,
	rel budget.Relation,
) *budget.Priced {
	t.Helper()
	n, err := Prototypes{}.Plan(method.Facts{Columns: columns, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.Calibrate(
		budget.Sequence("run", n),
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

func trainModel(
	t testing.TB,
	epsilon float64,
	v dataset.View,
	ranges []scaling.Range,
) *regression.Classifier {
	t.Helper()
	s, err := mechanism.NewSession(pricedPlan(
		t,
		v.Schema().Columns,
		epsilon,
		budget.AddRemove,
	))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Prototypes{}.Fit(context.Background(), s, dataOf(v, ranges))
	if err != nil {
		t.Fatal(err)
	}
	m := fit.Model.(*regression.Classifier)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

// cellsOf returns the columns of a view as rows to predict.
func cellsOf(v dataset.View) regression.Rows {
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

// TestPrototypesSeparateClasses checks that with many records and a large budget the classifier separates classes that
// a line or a few prototypes can separate. The classes are thirds, or quarters, of a circle.
func TestPrototypesSeparateClasses(t *testing.T) {
	for classes, want := range map[int]float64{2: .9, 3: .85, 4: .85} {
		columns, ranges := columnsOf(classes)
		v := tableOf(t, columns, circleRecords(3000, classes), nil).View()
		m := trainModel(t, 8, v, ranges)
		got, err := m.Predict(nil, cellsOf(v))
		if err != nil {
			t.Fatal(err)
		}
		right := 0.
		for i, k := range v.Block(0, v.Len()).Codes(3, nil) {
			if int(got[i]) == int(k) {
				right++
			}
		}
		if right /= 3000; right < want {
			t.Errorf(
				"%d classes: accuracy %.3f, want %v",
				classes, right, want,
			)
		}
		chances, err := m.ClassProbabilities(cellsOf(v))
		if err != nil || len(chances) != classes {
			t.Errorf("%d classes: %v", classes, err)
		}
	}
}

// TestAnyTableYieldsClassifier checks that every table yields a consistent classifier.
func TestAnyTableYieldsClassifier(t *testing.T) {
	columns, ranges := columnsOf(3)
	none := []record{
		{
			a:    math.NaN(),
			b:    math.Inf(1),
			k:    -1,
			code: 3,
		},
		{
			a:    math.Inf(-1),
			b:    1e308,
			k:    99,
			code: -1,
		},
	}
	same := make([]record, 500)
	for name, rows := range map[string][]record{
		"empty":        nil,
		"one":          circleRecords(1, 3),
		"in no class":  none,
		"all the same": same,
	} {
		for _, epsilon := range []float64{1e-3, 1, 100} {
			v := tableOf(t, columns, rows, nil).View()
			m := trainModel(t, epsilon, v, ranges)
			if _, err := m.Predict(nil, cellsOf(v)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// This view has only the target column.
	only := tableOf(t, columns, circleRecords(50, 3), nil).View().Columns([]int{3})
	s, err := mechanism.NewSession(pricedPlan(t, columns, 1, budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Prototypes{}.Fit(
		context.Background(), s,
		dataOf(only, ranges[3:]),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.Model.Validate(); err != nil {
		t.Error(err)
	}
}

// TestFewRecordsStayAtMeans checks that if classes are balanced and small, the draw of the steps is used for their
// means instead. If they are unbalanced or larger, prototypes move.
func TestFewRecordsStayAtMeans(t *testing.T) {
	columns, ranges := columnsOf(3)
	uneven := circleRecords(90, 3)
	for i := range uneven {
		uneven[i].code = int32(i % 30 / 29)
	}
	for _, c := range []struct {
		rows    []record
		epsilon float64
		still   bool
	}{
		{circleRecords(90, 3), 2, true},
		{uneven, 2, false},
		{circleRecords(3000, 3), 2, false},
		{circleRecords(90, 3), 100, false},
	} {
		v := tableOf(t, columns, c.rows, nil).View()
		still := 0
		const runs = 20
		for range runs {
			s, err := mechanism.NewSession(pricedPlan(
				t,
				columns,
				c.epsilon,
				budget.AddRemove,
			))
			if err != nil {
				t.Fatal(err)
			}
			d := dataOf(v, ranges)
			r := &run{
				ctx:     t.Context(),
				session: s.Sub(node),
				records: d.Records,
				frame:   frameOf(d.Columns, d.Ranges),
			}
			err = errors.Join(r.releaseWhitening(d), r.startPrototypes())
			if err != nil {
				t.Fatal(err)
			}
			r.records.Forget(r.rows)
			if r.still {
				still++
			}
		}
		if (still > runs/2) != c.still {
			t.Errorf(
				"%d records, epsilon %v: %d of %d stay at the means",
				len(c.rows),
				c.epsilon,
				still,
				runs,
			)
		}
	}
}

// TestTwoReleasesOfCells checks that the mean of two releases uses the weights with the least noise.
func TestTwoReleasesOfCells(t *testing.T) {
	c := cellSums{
		sums:   [][]float64{{1, 2}, {3, 4}},
		counts: []float64{10, 20},
		tested: []float64{10, 20},
		noise:  2,
	}
	c.combineWith(
		cellSums{
			sums:   [][]float64{{2, 2}, {3, 9}},
			counts: []float64{15, 20},
			tested: []float64{15, 20},
			noise:  1,
		})
	want := cellSums{
		sums:   [][]float64{{1.8, 2}, {3, 8}},
		counts: []float64{14, 20},
		tested: []float64{14, 20},
		noise:  2 / math.Sqrt(5),
	}
	if !reflect.DeepEqual(roundSums(c), roundSums(want)) {
		t.Errorf("%+v, want %+v", c, want)
	}
	if !c.isEven() ||
		(&cellSums{
			counts: []float64{100, 5, 5},
			noise:  1,
		}).isEven() ||
		!(&cellSums{
			counts: []float64{100, 5, 5},
			noise:  50,
		}).isEven() {
		t.Error("even where it is not, or the other way round")
	}
}

func roundSums(c cellSums) cellSums {
	round := func(x float64) float64 {
		return math.Round(1e9*x) / 1e9
	}
	for _, list := range append([][]float64{c.counts, c.tested}, c.sums...) {
		for i := range list {
			list[i] = round(list[i])
		}
	}
	c.noise = round(c.noise)
	return c
}

// TestWideRanges checks that absurd ranges yield numbers that a model may contain.
func TestWideRanges(t *testing.T) {
	columns, ranges := columnsOf(2)
	ranges[0].Lower = -1e308
	ranges[0].Upper = 1e308
	ranges[1].Lower = 200
	ranges[1].Upper = math.Nextafter(200, 300)
	trainModel(
		t, 1,
		tableOf(t, columns, circleRecords(100, 2), nil).View(),
		ranges,
	)
}

func TestPlanRefuses(t *testing.T) {
	columns, _ := columnsOf(2)
	wide := []dataset.Column{
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: make([]string, linear.MaxSlots),
		},
		columns[3],
	}
	for name, c := range map[string]struct {
		columns []dataset.Column
		want    error
	}{
		"nothing":    {nil, linear.ErrTarget},
		"a number":   {columns[:2], linear.ErrTarget},
		"no feature": {columns[3:], linear.ErrFeatures},
		"wide":       {wide, linear.ErrTooWide},
		"one class": {
			[]dataset.Column{
				columns[0],
				{
					Name:       "y",
					Kind:       dataset.Category,
					Categories: []string{"a"},
				},
			},
			linear.ErrTarget,
		},
	} {
		_, err := (Prototypes{}).Plan(method.Facts{Columns: c.columns})
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s: %v, want %v",
				name, err, c.want,
			)
		}
	}
}

// runOf returns a run with the given prototypes on a table, before any release.
func runOf(
	v dataset.View,
	ranges []scaling.Range,
	centers [][]float64,
	class []int32,
) *run {
	columns := v.Schema().Columns
	r := &run{
		ctx:     context.Background(),
		records: memory.NewRecords(v),
		frame:   frameOf(columns, ranges),
	}
	slots := r.frame.slotCount()
	unit := 1 + r.frame.squaredReach()
	r.rows = &whitened{
		Columns:  columns,
		Ranges:   ranges,
		Constant: scaling.FixedPoint(1 / math.Sqrt(unit)),
		Map:      make([]float64, slots*slots),
	}
	r.basis.Vectors = mat.NewDense(max(slots, 1), max(slots, 1), nil)
	for k := range slots {
		r.basis.Vectors.Set(k, k, 1)
		r.stretch = append(r.stretch, 1/math.Sqrt(unit))
		r.rows.Map[k*slots+k] = r.stretch[k]
	}
	r.at = mixture{
		Centers: centers,
		Class:   class,
		Gamma:   3,
		One:     float64(r.rows.Constant) / mechanism.FixedOne,
	}
	return r
}

// exactCells returns the exact cells of a statistic over a table.
func exactCells(
	t testing.TB,
	x mechanism.Statistic,
	rel budget.Relation,
	v dataset.View,
) []int64 {
	t.Helper()
	values, err := mechanism.Pass{
		Statistic: x,
		Relation:  rel,
	}.Sums(
		context.Background(),
		v,
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestStepSensitivity searches for the largest change that one record makes to a step and to the cells, over records
// of every kind and prototypes near and far. For rows of norm 1 it is at most C and close to C. Two records change
// the sums by the sum of their changes, so tables of one record suffice.
func TestStepSensitivity(t *testing.T) {
	columns, ranges := columnsOf(3)
	var rows []record
	for _, a := range []float64{
		-1e300, -2, -.3, 2,
		math.NaN(),
	} {
		for _, b := range []float64{100, 180, 300, math.NaN()} {
			for k := range int32(4) {
				for code := int32(-1); code < 4; code++ {
					rows = append(rows, record{a, b, k, code})
				}
			}
		}
	}
	class := []int32{0, 0, 1, 2}
	p := testrows.Points(9)
	for name, size := range map[string]float64{"near": .3, "far": 3} {
		centers := make([][]float64, len(class))
		for j := range centers {
			for range 6 {
				centers[j] = append(centers[j], size*p.Next())
			}
		}
		r := runOf(tableOf(t, columns, nil, nil).View(), ranges, centers, class)
		for what, x := range map[string]mechanism.Statistic{
			"step":  stepStatistic{r.rows, r.at, .5},
			"cells": cellStatistic{r.rows, r.at},
		} {
			searchSensitivity(t, name+" "+what, x, columns, rows)
		}
	}
}

// searchSensitivity compares the change between a table of one record and an empty table, or a table of another record, with the
// declared sensitivity.
func searchSensitivity(
	t *testing.T,
	name string,
	x mechanism.Statistic,
	columns []dataset.Column,
	rows []record,
) {
	t.Helper()
	added := make([][]int64, len(rows))
	for i := range rows {
		added[i] = exactCells(
			t,
			x,
			budget.AddRemove,
			tableOf(t, columns, rows[i:i+1], nil).View(),
		)
	}
	distance := func(a, b []int64) float64 {
		sum := 0.
		for k := range a {
			d := float64(a[k])
			if b != nil {
				d -= float64(b[k])
			}
			sum += d * d
		}
		return math.Sqrt(sum) / (mechanism.FixedOne * mechanism.FixedOne)
	}
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		declared := x.New(mechanism.NewMaker(rel)).(*outerPass).outer.Bound().Sensitivity()
		worst := 0.
		for i, a := range added {
			if rel == budget.AddRemove {
				worst = max(worst, distance(a, nil))
				continue
			}
			for _, b := range added[:i] {
				worst = max(worst, distance(a, b))
			}
		}
		least := .99
		if rel == budget.Substitute {
			least = .6 // no two records of this table are opposite
		}
		if worst > declared || worst < least*declared {
			t.Errorf(
				"%s, %v: the largest change is %v, declared %v",
				name,
				rel,
				worst,
				declared,
			)
		}
	}
}

// TestRowsDoNotDependOnBlocks checks that rows are the same whether they are cached or recomputed in every pass, and
// in any order.
func TestRowsDoNotDependOnBlocks(t *testing.T) {
	columns, ranges := columnsOf(3)
	rows := circleRecords(2500, 3)
	v := tableOf(t, columns, rows, nil).View()
	r := runOf(
		v, ranges, sineMatrix(3, 6),
		[]int32{0, 1, 2},
	)
	x := stepStatistic{r.rows, r.at, .5}
	want := exactCells(t, x, budget.AddRemove, v)
	kept := &whitened{
		Columns:  r.rows.Columns,
		Ranges:   r.rows.Ranges,
		Map:      r.rows.Map,
		Constant: r.rows.Constant,
		Keep:     true,
	}
	got := exactCells(t, stepStatistic{kept, r.at, .5}, budget.AddRemove, v)
	if !reflect.DeepEqual(
		got, want) {
		t.Error("other sums with rows that are kept")
	}
	turned := make([]record, len(rows))
	for i, row := range rows {
		turned[len(rows)-1-i] = row
	}
	got = exactCells(
		t,
		x,
		budget.AddRemove,
		tableOf(t, columns, turned, nil).View(),
	)
	if !reflect.DeepEqual(got, want) {
		t.Error("other sums in another order")
	}
}

// TestStatisticIsTheStep checks that the sums of a step match those of weights and rows in floating point, up to the
// grid, and that the scores of the model are the logits for rows that need no shortening.
func TestStatisticIsTheStep(t *testing.T) {
	columns, ranges := columnsOf(3)
	rows := circleRecords(40, 3)
	v := tableOf(t, columns, rows, nil).View()
	class := []int32{0, 1, 1, 2}
	r := runOf(v, ranges, sineMatrix(4, 6), class)
	for _, z := range r.at.Centers {
		shortenTo(z, .5)
	}
	values := exactCells(
		t,
		stepStatistic{r.rows, r.at, .5},
		budget.AddRemove, v,
	)
	m := r.rows.takeWhitener()
	m.whitenBlock(v.Block(0, v.Len()))
	want := make([]float64, len(values))
	predicted, err := r.newFit().Model.Predict(nil, cellsOf(v))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		x := make([]float64, 7)
		for k := range x {
			x[k] = float64(m.rows[k][i]) / mechanism.FixedOne
		}
		w := make([]float64, 4)
		for j, z := range r.at.Centers {
			w[j] = r.at.Gamma * (2*dot(x[:6], z) - dot(z, z)*x[6]/r.at.One)
		}
		likely := r.likelyClass(w)
		if int(predicted[i]) != likely &&
			x[6] >= r.at.One-1e-9 {
			t.Errorf(
				"record %d: the model predicts %v, its logits %d",
				i,
				predicted[i],
				likely,
			)
		}
		recordWeights(w, class, row.code)
		shortenTo(w, .5)
		for j, a := range w {
			for k, b := range x {
				want[7*j+k] += a * b
			}
		}
	}
	for k, got := range values {
		x := float64(got) / (mechanism.FixedOne * mechanism.FixedOne)
		if math.Abs(x-want[k]) > 40*
			3e-4 {
			t.Errorf(
				"entry %d: %v, want %v",
				k, x, want[k],
			)
		}
	}
}

// likelyClass returns the class with the largest sum of e^logit.
func (r *run) likelyClass(logits []float64) int {
	sums := make([]float64, r.frame.classCount())
	for j, x := range logits {
		sums[r.at.Class[j]] += math.Exp(x)
	}
	best := 0
	for c, s := range sums {
		if s > sums[best] {
			best = c
		}
	}
	return best
}

// TestCentersAreWhereThePrototypesAre maps centers of purely numeric columns back to rows and checks that they match
// the rows of the prototypes.
func TestCentersAreWhereThePrototypesAre(t *testing.T) {
	columns, ranges := columnsOf(2)
	columns[1].Indicator = false
	r := runOf(
		tableOf(t, columns, nil, nil).View().Columns([]int{0, 1, 3}),
		[]scaling.Range{ranges[0], ranges[1], {}},
		[][]float64{{.2, -.1}, {-.3, .25}},
		[]int32{0, 1},
	)
	m := r.newFit().Model.(*regression.Classifier).Scores[0].(*regression.Prototypes)
	for j, p := range m.Prototypes {
		for k, want := range r.at.Centers[j] {
			x := (p.Centers[k] - ranges[k].Center()) / ranges[k].Half() * r.stretch[k]
			checkNear(t, "entry", x, want)
		}
	}
}

// TestStretchOfNoiseIsUniform checks that if noise hides everything, all directions are stretched equally, and that
// without noise the mean squared norm is the requested one.
func TestStretchOfNoiseIsUniform(t *testing.T) {
	hidden := stretchFactors(
		[]float64{-30, -1, 2, 40},
		1e6, 100, .8,
	)
	if hidden[0]/hidden[3] > 1.01 {
		t.Errorf("%v", hidden)
	}
	sum := 0.
	values := []float64{1, 20, 300, 4000}
	for i, s := range stretchFactors(values, 1e-9, 1000, .8) {
		sum += s * s * values[i] / 1000
	}
	checkNear(t, "mean squared norm", sum, .8)
	for _, list := range [][]float64{
		{-3, -2},
		{0, 0},
		{1e-300, 1e300},
	} {
		for _, s := range stretchFactors(list, 1e-8, 1, .8) {
			if !(s > 0 && s < 1e60) {
				t.Errorf("%v: %v", list, s)
			}
		}
	}
}

func BenchmarkFit(b *testing.B) {
	columns, ranges := columnsOf(4)
	v := tableOf(b, columns, circleRecords(20_000, 4), nil).View()
	for b.Loop() {
		trainModel(b, 1, v, ranges)
	}
}
