package pipeline

import (
	"context"
	"flag"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// staysTable returns n records of a clinic whose stays last 3.27 days on average, where the given share has no target,
// along with the mean of the other records.
func staysTable(
	t testing.TB,
	n int,
	empty float64,
	declared bool,
) (*dataset.Table, float64) {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "age"},
		{Name: "risk"},
		{Name: "weight"},
		{
			Name:       "ward",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
		},
		{Name: "days"},
	}}
	data := make([]dataset.ColumnData, 5)
	p := sequence(7)
	sum := 0.
	count := 0
	for i := range n {
		age := 55 + 35*p.next()
		risk := .5 + .5*p.next()
		ward := int32(i % 3)
		days := min(
			math.Exp(.45+.9*risk+.1*float64(ward)+.9*p.next()),
			60,
		)
		if float64(i%10) < 10*empty {
			days = math.NaN()
		} else {
			sum += days
			count++
		}
		data[0].Floats, data[1].Floats, data[2].Floats = append(data[0].Floats, age),
			append(data[1].Floats, risk), append(
				data[2].Floats,
				70+20*p.next(),
			)
		data[3].Codes = append(data[3].Codes, ward)
		data[4].Floats = append(data[4].Floats, days)
	}
	mean := sum / float64(count)
	for i := range data[4].Floats {
		data[4].Floats[i] *= 3.27 / mean
	}
	if declared {
		for j, to := range map[int][2]float64{
			0: {18, 100},
			1: {0, 1},
			2: {40, 120},
			4: {0, 60},
		} {
			c := &schema.Columns[j]
			c.Ranged = true
			c.Lower = to[0]
			c.Upper = to[1]
		}
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab, 3.27
}

// meanPrediction trains several times and returns the models' mean prediction for the records of the table.
func meanPrediction(t *testing.T, p *Pipeline, tab *dataset.Table, fits int) float64 {
	t.Helper()
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.
	count := 0
	for range fits {
		res, err := p.FitPlan(
			context.Background(), plan.Again(), tab,
			Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if res.Model == nil { // tukey abstained
			continue
		}
		prediction, err := res.Model.Predict(nil, RowsOf(tab.View()))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range prediction {
			sum += x
		}
		count += len(prediction)
	}
	return sum / float64(count)
}

// TestEmptyTargets checks that, if a share of the records has no target, the mean prediction is within 3% (4.5%) of
// the mean of the existing targets, with declared ranges and without. Earlier, 30% of empty targets moved it from
// 3.27 to 11 with the range 0 to 60.
//
// With ranges found privately the mean moves by at most .5% over 4 fits (standard deviation, largest for tukey), with
// declared ranges by .4% over 16 (cost-tree; fewer without fresh noise, see [isExhaustive]). It is off by at most 1.5%, that
// of cost-tree by 2.9%, which is allowed 4.5%: false alarm below 1e-6 a case. One fit of tukey with found ranges was off by
// at most 3.8% in 20,000. boosted-kernel and boosted-additive, which clamp the residuals of long stays, were off by 2.9% and
// 2.1% before they released the mean residual, and by .7% and 1.1% since. The range is declared far too wide on purpose: a
// ridge penalty draws the mean to its middle, and one more step on the constant undoes this. Rows of adassp and
// boosted-adassp are shortened, but not their constant: shortened with the rest, it left 3.4%.
func TestEmptyTargets(t *testing.T) {
	for _, m := range Methods(regression.TaskRegression) {
		for _, declared := range []bool{false, true} {
			for _, empty := range emptyShares() {
				tab, want := staysTable(t, 12000, empty, declared)
				p := &Pipeline{
					Schema: tab.Schema(),
					Target: "days",
					Model:  defaultTrainer(m),
					Budget: budget.Target{Epsilon: 3, Delta: 1e-6},
				}
				fits := 4
				off := .03
				if declared && isExhaustive() {
					fits = 16
				}
				if m == "cost-tree" {
					off = .045
				}
				got := meanPrediction(t, p, tab, fits)
				t.Logf("%s, ranges declared %v, %v of the targets empty: off by %.2f%%", m, declared, empty, 100*(got/want-1))
				if !(math.Abs(got-want) <= off*want) {
					t.Errorf(
						"%s, ranges declared %v, %v of the targets empty: mean prediction %.3f, of the targets %.3f",
						m,
						declared,
						empty,
						got,
						want,
					)
				}
			}
		}
	}
}

var long = flag.Bool("long", false, "test all shares of empty targets")

// isExhaustive reports whether tests average over more fits: with -long, and with fresh noise, where the odds of a false
// alarm apply. With the fixed noise of other runs, a test that passed once passes again.
func isExhaustive() bool {
	return *long || hasFreshNoise()
}

// hasFreshNoise reports whether fits draw other noise in every run: without the tag replay, and if it is asked for.
func hasFreshNoise() bool {
	info, ok := debug.ReadBuildInfo()
	hasTag := ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), "replay")
	})
	return !hasTag || os.Getenv("DPTRAIN_TEST_SEED") == "fresh"
}

// emptyShares are the tested shares of empty targets.
func emptyShares() []float64 {
	if *long {
		return []float64{0, .1, .3}
	}
	return []float64{.3}
}

// classlessTable returns n records of two classes, about 30% in the second. The given share of the records has no
// class.
func classlessTable(
	t testing.TB,
	n int,
	empty float64,
) (tab *dataset.Table, classes []int32) {
	t.Helper()
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "income"},
		{Name: "age"},
		{
			Name:       "home",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
		},
		{
			Name:       "repaid",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}}
	data := make([]dataset.ColumnData, 4)
	p := sequence(11)
	for i := range n {
		income := p.next()
		age := 50 + 30*p.next()
		home := int32(i % 3)
		class := int32(0)
		if income+.3*float64(home)+.5*p.next() > .7 {
			class = 1
		}
		classes = append(classes, class)
		if float64(i%10) < 10*empty {
			class = 2
		}
		data[0].Floats = append(data[0].Floats, 30+20*income)
		data[1].Floats = append(data[1].Floats, age)
		data[2].Codes = append(data[2].Codes, home)
		data[3].Codes = append(data[3].Codes, class)
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab, classes
}

// TestEmptyClasses checks that, if a share of the records has no class, every method assigns about as large a part of
// all records to either class as if no class were missing. The recall of a class moves by at most .035 between fits
// (standard deviation, of the second class of brc), and the difference of two means of 8 by half of that: .1 is a false
// alarm below 1e-6 a case. Without fresh noise the means are of 4; see [isExhaustive].
func TestEmptyClasses(t *testing.T) {
	for _, m := range append(Methods(regression.TaskClassification), Auto) {
		want := meanRecalls(t, m, 0)
		for _, empty := range emptyShares() {
			got := meanRecalls(t, m, empty)
			if !(math.Abs(got[0]-want[0]) <= .1 &&
				math.Abs(got[1]-want[1]) <= .1) {
				t.Errorf(
					"%s, %v without a class: recalls %.3f, with all of them %.3f",
					m,
					empty,
					got,
					want,
				)
			}
		}
	}
}

// meanRecalls returns the mean recall of either class over several fits.
func meanRecalls(t *testing.T, method string, empty float64) (out [2]float64) {
	t.Helper()
	tab, truth := classlessTable(t, 12000, empty)
	p := &Pipeline{
		Schema: tab.Schema(),
		Target: "repaid",
		Task:   regression.TaskClassification,
		Model:  defaultTrainer(method),
		Budget: budget.Target{Epsilon: 3, Delta: 1e-6},
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	fits := 4
	if isExhaustive() {
		fits = 8
	}
	var hit, of [2]float64
	for range fits {
		res, err := p.FitPlan(
			context.Background(), plan.Again(), tab,
			Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		if res.Model == nil { // tukey abstained
			continue
		}
		prediction, err := res.Model.Predict(nil, RowsOf(tab.View()))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range truth {
			of[c]++
			if prediction[i] == float64(c) {
				hit[c]++
			}
		}
	}
	return [2]float64{hit[0] / of[0], hit[1] / of[1]}
}
