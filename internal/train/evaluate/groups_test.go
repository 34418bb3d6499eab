package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf(
			"%s is %v, want %v",
			what, got, want,
		)
	}
}

// TestGroupEstimates compares the metrics of a group with the test values of the design: R² and the bias of 300 records
// in a table of 1,500 whose squared errors add up to 50 with fourth powers 1.5, and whose squared targets add up to
// 240 with fourth powers 60.
func TestGroupEstimates(t *testing.T) {
	const limit = .6
	x := &ReleasedSums{
		Unit:           1,
		TargetLimit:    1,
		ErrorLimit:     limit,
		Scale:          1.2,
		ErrorKurtosis:  1500 * 1.5 / (50 * 50),
		TargetKurtosis: 1500 * 60. / (240 * 240),
		Sums: []mechanism.GroupSquares{{
			Count:    300,
			Sum:      15,
			Target:   45,
			Residual: 9 / (limit * limit),
			Signed:   4,
			Absolute: 60,
		}},
	}
	e := x.estimate(0)
	r2 := e.r2(Level)
	checkNear(t, "R²", r2.value, .796610)
	checkNear(t, "its lower end", r2.lower, .755865)
	checkNear(t, "its upper end", r2.upper, .831030)
	bias := e.bias(x)
	checkNear(t, "the lower end of the bias", bias.Lower, -.019171)
	checkNear(t, "the upper end of the bias", bias.Upper, .035175)
	checkNear(t, "the bias", bias.Value, .008)
	mae := e.mae(x)
	checkNear(t, "the mean absolute error", mae.Value, .12)
	// The sum 36 has noise of variance (.6 1.2/.25)² and a sampling error of 9 - 36²/300, the count noise of 2.4.
	half := twoSided * math.Sqrt(square(limit*1.2/.25)+9-36*36./300+square(.12*2.4)) / 300
	if math.Abs(mae.Lower-(.12-half)) > .0005 ||
		math.Abs(mae.Upper-(.12+half)) > .0005 {
		t.Errorf(
			"its interval is %v to %v, want about %v around the value",
			mae.Lower,
			mae.Upper,
			half,
		)
	}
}

// TestGroupShares compares shares and their difference with the test values of the design.
func TestGroupShares(t *testing.T) {
	share := func(part, rest float64) groupMetric {
		s := portionOf(
			noisy{value: part, variance: 18},
			noisy{value: rest, variance: 18}, Level,
		)
		return groupMetric{s.Value, s.Lower, s.Upper, s.Known()}
	}
	a := share(80, 20)
	b := share(45, 15)
	checkNear(t, "the first lower end", a.lower, .689652)
	checkNear(t, "the first upper end", a.upper, .895951)
	checkNear(t, "the second lower end", b.lower, .590628)
	checkNear(t, "the second upper end", b.upper, .896887)
	d := difference(a, b)
	checkNear(t, "the difference", d.Value, .05)
	checkNear(t, "its lower end", d.Lower, -.133718)
	checkNear(t, "its upper end", d.Upper, .236027)
	if d.Seen() ||
		!(Difference{Lower: .1, Upper: .2}).Seen() ||
		!(Difference{Lower: -.2, Upper: -.1}).Seen() {
		t.Error("a difference is seen if its interval does not contain 0")
	}
}

// groupedTable returns a table with a target, a prediction and a group of each record.
func groupedTable(
	t *testing.T,
	y, p []float64,
	group []int32,
	groups []string,
) *dataset.Table {
	t.Helper()
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{
			{Name: "p"},
			{Name: "y"},
			{
				Name:       "g",
				Kind:       dataset.Category,
				Categories: groups,
				Other:      true,
			},
		}},
		[]dataset.ColumnData{{Floats: p}, {Floats: y}, {Codes: group}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestRegressionByGroup: with little noise the metrics of every group are those of its records, that of all other values
// included, and those of all records are as without groups.
func TestRegressionByGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const n = 6000
	y := make([]float64, n)
	p := make([]float64, n)
	group := make([]int32, n)
	for i := range y {
		group[i] = int32(i % 3) // the last one is another value
		y[i] = max(
			min(r.NormFloat64()/3+.2*float64(group[i]), 1),
			-1,
		)
		p[i] = y[i] + (.05+.05*float64(group[i]))*max(min(r.NormFloat64(), 2), -2) + .02
	}
	records := memory.NewRecords(groupedTable(
		t, y, p, group,
		[]string{"a", "b"},
	).View())
	pairs := Pairs{
		Records: records,
		Target:  1,
		Model:   fixed{prediction: p},
		Lower:   -1,
		Upper:   1,
		Groups: NewGroups(
			records.Schema().Columns[2], 2,
			[]string{"a", "b"},
			true,
		),
	}
	got := releaseGroups(t, 1000, pairs)
	if got.Groups == nil || len(got.Groups.Groups) != 3 {
		t.Fatalf("groups are %+v", got.Groups)
	}
	for k, g := range got.Groups.Groups {
		var ys, ps []float64
		absolute := 0.
		signed := 0.
		for i := range y {
			if int(group[i]) == k {
				ys = append(ys, y[i])
				ps = append(ps, p[i])
				d := max(
					min(
						y[i]-max(min(p[i], 1), -1),
						got.Groups.ErrorLimit,
					),
					-got.Groups.ErrorLimit,
				)
				absolute += math.Abs(d)
				signed += d
			}
		}
		m := float64(len(ys))
		want := Exact(ys, ps, -1, 1, got.Groups.ErrorLimit)
		if math.Abs(g.R2.Value-want) > .01 ||
			g.R2.Lower > want ||
			g.R2.Upper < want {
			t.Errorf(
				"group %d: R² %+v, want %v",
				k, g.R2, want,
			)
		}
		if math.Abs(g.MAE.Value-absolute/m) > .003 ||
			math.Abs(g.Bias.Value-signed/m) > .003 ||
			math.Abs(g.Records.Value-m) > 5 {
			t.Errorf(
				"group %d: MAE %v, bias %v of %v records, want %v, %v, %v",
				k,
				g.MAE.Value,
				g.Bias.Value,
				g.Records.Value,
				absolute/m,
				signed/m,
				m,
			)
		}
	}
	pairs.Groups = Groups{}
	plain := releaseR2(t, pricedPlan(t, 1000), pairs)
	if plain.Groups != nil || math.Abs(plain.Value-got.Value) > .01 {
		t.Errorf(
			"R² is %v with groups and %v without",
			got.Value, plain.Value,
		)
	}
	again := RegressionGroups(
		"g",
		[]string{"a", "b"},
		got.Groups.Sums,
	)
	diff := cmp.Diff(got.Groups, again)
	if diff != "" {
		t.Errorf("metrics computed anew differ: %s", diff)
	}
}

// releaseGroups releases R² by group.
func releaseGroups(t *testing.T, epsilon float64, p Pairs) R2 {
	t.Helper()
	e := Regression{ByGroup: true}
	priced, err := budget.Calibrate(
		e.Plan(),
		budget.Target{Epsilon: epsilon, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Run(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// groupedLabels returns labels with a group of each record.
func groupedLabels(
	t *testing.T,
	l int,
	truth, group []int32,
	prediction, score []float64,
	bins Bins,
) Labels {
	t.Helper()
	c := dataset.Column{
		Name:       "g",
		Kind:       dataset.Category,
		Categories: []string{"a", "b"},
		Other:      true,
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{
			{
				Name:       "y",
				Kind:       dataset.Category,
				Labels:     true,
				Categories: letterNames(l),
			},
			c,
		}},
		[]dataset.ColumnData{{Codes: truth}, {Codes: group}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return Labels{
		Records: memory.NewRecords(tab.View()),
		Model:   fixed{prediction, score},
		Bins:    bins,
		Groups:  NewGroups(c, 1, c.Categories, true),
	}
}

// TestClassificationByGroup: with little noise the metrics of every group are those of its records, and those of all records
// are as without groups. Records with another label are errors, and those without one are in no metric.
func TestClassificationByGroup(t *testing.T) {
	for _, l := range []int{2, 3} {
		r := rand.New(rand.NewPCG(5, uint64(l)))
		const n = 6000
		truth := make([]int32, n)
		group := make([]int32, n)
		prediction := make([]float64, n)
		score := make([]float64, n)
		right := make([]float64, 3)
		all := make([]float64, 3)
		hits := make([][]float64, 3)
		of := make([][]float64, 3)
		for g := range 3 {
			hits[g] = make([]float64, l)
			of[g] = make([]float64, l)
		}
		for i := range truth {
			truth[i] = int32(r.IntN(l + 2)) // l is another label, l+1 a missing one
			group[i] = int32(i % 3)
			prediction[i] = float64(r.IntN(l))
			if int(truth[i]) < l &&
				r.Float64() < .3*float64(group[i]) {
				prediction[i] = float64(truth[i])
			}
			g := group[i]
			y := int(truth[i])
			if y <= l {
				all[g]++
			}
			if y < l {
				of[g][y]++
				if int(prediction[i]) == y {
					right[g]++
					hits[g][y]++
				}
			}
		}
		x := groupedLabels(t, l, truth, group, prediction, score, sixteenBins())
		priced := priceClasses(t, l, budget.Target{Epsilon: 1000})
		got := releaseClasses(t, priced, l, x)
		if got.Groups == nil {
			t.Fatal("there are no groups")
		}
		for k, g := range got.Groups.Groups {
			if math.Abs(g.Accuracy.Value-right[k]/all[k]) > .003 ||
				math.Abs(g.Records.Value-all[k]) > 4 ||
				g.Other != (k == 2) {
				t.Errorf(
					"%d classes, group %d: %+v of %v records, want %v of %v",
					l,
					k,
					g.Accuracy,
					g.Records.Value,
					right[k]/all[k],
					all[k],
				)
			}
			for y, s := range g.Recalls {
				if math.Abs(s.Value-hits[k][y]/of[k][y]) > .006 {
					t.Errorf(
						"%d classes, group %d: recall %v of class %d, want %v",
						l,
						k,
						s.Value,
						y,
						hits[k][y]/of[k][y],
					)
				}
			}
		}
		d := got.Groups.Groups[1].Difference
		if d == nil && got.Groups.Groups[0].Difference == nil {
			t.Error("no group is compared")
		}
		x.Groups = Groups{}
		plain := releaseClasses(t, priced, l, x)
		if math.Abs(plain.Accuracy.Value-got.Accuracy.Value) > .003 ||
			math.Abs(plain.Records.Value-got.Records.Value) > 5 ||
			plain.Groups != nil {
			t.Errorf(
				"%d classes: accuracy %v of %v with groups, %v of %v without",
				l,
				got.Accuracy.Value,
				got.Records.Value,
				plain.Accuracy.Value,
				plain.Records.Value,
			)
		}
		again := ClassGroups(
			"g",
			[]string{"a", "b"},
			got.Groups.Tables,
		)
		diff := cmp.Diff(got.Groups, again)
		if diff != "" {
			t.Errorf("metrics computed anew differ: %s", diff)
		}
	}
}

// TestGroupTablesSensitivity releases the cells of single records with little noise, which is inversely proportional to the
// weights, and compares all pairs of records in all groups: the weighted distances are within the bounds, and attain them.
func TestGroupTablesSensitivity(t *testing.T) {
	for _, l := range []int{2, 3} {
		bins := Bins{Edges: []float64{0}}
		priced := priceClasses(t, l, budget.Target{Epsilon: 1000})
		var vectors [][]float64
		for truth := range l + 2 {
			for guess := range l {
				for group := range 3 {
					x := groupedLabels(
						t,
						l,
						[]int32{int32(truth)},
						[]int32{int32(group)},
						[]float64{float64(guess)},
						[]float64{float64(guess) - .5},
						bins,
					)
					s, err := mechanism.NewSession(priced.Again())
					if err != nil {
						t.Fatal(err)
					}
					s = s.Sub(accuracyNode)
					pass, err := mechanism.Sum[*confusionPass](
						context.Background(),
						s,
						x.Records,
						confusionStatistic{l, x.Target, x.Model, bins, x.Groups},
					)
					if err != nil {
						t.Fatal(err)
					}
					noisy, noise, err := mechanism.WeightedGaussian(
						s,
						confusionLeaf,
						pass.cells.Bound(),
					)
					if err != nil {
						t.Fatal(err)
					}
					v := noisy.Value()
					last := len(v) - 1
					for i := range v {
						v[i] = math.Round(v[i]) * noise.Value()[last] / noise.Value()[i]
					}
					vectors = append(vectors, v)
				}
			}
		}
		added := 0.
		replaced := 0.
		for _, a := range vectors {
			square := 0.
			for _, x := range a {
				square += x * x
			}
			added = max(added, math.Sqrt(square))
			for _, b := range vectors {
				square := 0.
				for i := range a {
					square += (a[i] - b[i]) * (a[i] - b[i])
				}
				replaced = max(replaced, math.Sqrt(square))
			}
		}
		if math.Abs(added-1) > 1e-4 ||
			math.Abs(replaced-math.Sqrt2) > 1e-4 {
			t.Errorf(
				"%d classes: a record that is added moves the cells by %v, one that is replaced by %v",
				l,
				added,
				replaced,
			)
		}
	}
}
