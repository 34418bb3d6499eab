package suite

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/testkit"
)

// classCSV writes a table with a public number, a public text column, two private columns, and a class that depends
// on the private ones. Every fifth job is missing.
func classCSV(t *testing.T, path string, n int) {
	t.Helper()
	g := newGenerator("test", 3, 1)
	var b strings.Builder
	b.WriteString("ID,fnlwgt,sex,age,job,income\n")
	for i := range n {
		class := "<=50K"
		age := 40 + 10*g.normal()
		job := []string{
			"clerk", "smith", "baker", "smith",
			"?",
		}[i%5]
		if age+5*float64(i%3)+2*g.normal() > 48 {
			class = ">50K"
		}
		fmt.Fprintf(
			&b,
			"%d,%.3f,%s,%.3f,%s,%s\n",
			i,
			g.normal(),
			[]string{"f", "m"}[i%2],
			age,
			job,
			class,
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

func smallSet(codes bool) partlySet {
	return partlySet{
		name:   adultCodes,
		file:   "adult",
		drop:   []string{"ID"},
		public: []string{"fnlwgt", "sex"},
		codes:  codes,
	}
}

func TestReadClassTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adult.csv")
	classCSV(t, path, 50)
	for _, codes := range []bool{false, true} {
		tab, err := readClassTable(
			t.Context(), path,
			[]string{"ID"}, nil, codes,
		)
		if err != nil {
			t.Fatal(err)
		}
		columns := marked(tab.Schema().Columns, []string{"fnlwgt", "sex"})
		var names, private []string
		for _, c := range columns {
			names = append(names, c.Name)
			if c.Private {
				private = append(private, c.Name)
			}
		}
		if !slices.Equal(names, []string{"fnlwgt", "sex", "age", "job", "income"}) ||
			!slices.Equal(private, []string{"age", "job"}) {
			t.Errorf("columns %v, private %v", names, private)
		}
		if codes {
			if columns[3].Kind != dataset.Numeric ||
				!slices.Equal(
					tab.Float(3)[:5],
					[]float64{2, 3, 1, 3, 0},
				) {
				t.Errorf(
					"codes %v",
					tab.Float(3)[:5],
				)
			}
		} else if c := columns[3]; !c.Other ||
			!slices.Equal(
				c.Categories,
				[]string{"baker", "clerk", "smith"},
			) ||
			columns[1].Other {
			t.Errorf("%+v", c)
		}
		c := columns[4]
		if c.Other || len(c.Categories) != 2 {
			t.Errorf("the target: %+v", c)
		}
	}
	tab, err := readClassTable(
		t.Context(), path, nil,
		[]string{"ID"}, false,
	)
	if err != nil ||
		len(tab.Schema().Columns[0].Categories) != 50 {
		t.Errorf("a number as a category: %v", err)
	}
}

func TestBalanced(t *testing.T) {
	labels := []int32{0, 0, 1, 0, 0, 2, 1, 0, 1}
	got := balanced(labels, count(1, 9), newGenerator("test", 0, 1))
	var ones int
	for _, i := range got {
		ones += int(labels[i])
	}
	sorted := slices.Sorted(slices.Values(got))
	if len(got) != 6 ||
		ones != 3 ||
		sorted[0] == 0 ||
		len(slices.Compact(sorted)) != 6 ||
		slices.Contains(got, 5) {
		t.Errorf("%v", got)
	}
}

// TestPartlyRun runs every method on a small table and renders the page.
func TestPartlyRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adult.csv")
	classCSV(t, path, 1200)
	var records []Record
	for _, codes := range []bool{false, true} {
		x := &partly{set: smallSet(codes), path: path}
		var keys []Key
		for _, m := range partlyMethods() {
			cell := partlyCell(adultCodes, m, 5)
			if !codes {
				cell.Data = adultOneHot
			}
			keys = append(keys, Key{cell, 1})
		}
		if codes {
			for _, c := range curveCells() {
				keys = append(keys, Key{c, 1})
			}
		}
		keys = append(keys, Key{Cell{Method: "magic"}, 1})
		err := x.run(t.Context(), keys, func(k Key, o Outcome) {
			records = append(records, Record{k, o})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records {
		a := r.Values[metricAccuracy]
		curve := r.Values[afterRounds(curveLength)]
		switch {
		case r.Method == "magic":
			if r.Status != Unavailable {
				t.Errorf("%+v", r)
			}
		case r.Status != OK:
			t.Errorf("%+v", r)
		case r.Data == curveSet &&
			!(curve > .5 && curve <= 1 && len(r.Values) == len(curveRounds)):
			t.Errorf(
				"%s: %v",
				r.Method, r.Values,
			)
		case r.Method == openLogistic && a < .7:
			t.Errorf("without privacy: %+v", r)
		case r.Method == publicLogistic && a > .75:
			t.Errorf("public columns say nothing: %+v", r)
		case r.Method == openLogistic && r.Setting != (Setting{}),
			r.Method == partlyGram && r.Setting.Epsilon != 5:
			t.Errorf("setting: %+v", r)
		}
	}
	text := checkPage(t, partlyPage(records))
	for _, part := range []string{
		adultOneHot + ", partly private",
		"boosting-for-people",
		"ε = 0.3",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	checkPage(t, partlyPage(nil))
}

// TestPartlyTrial checks that splits do not depend on the method, that the two parts are balanced together and
// disjoint, and that the small set trains on its first records only.
func TestPartlyTrial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adult.csv")
	classCSV(t, path, 1500)
	x := &partly{set: smallSet(true), path: path}
	err := x.run(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(v dataset.View) []uint64 {
		var out []uint64
		for i := range v.Len() {
			out = append(out, v.ID(i))
		}
		return out
	}
	a := x.trial(Key{Cell{Method: "a"}, 2})
	b := x.trial(Key{
		Cell{Method: "b", Setting: Setting{Epsilon: 1}},
		2,
	})
	if !slices.Equal(ids(a.train), ids(b.train)) ||
		!slices.Equal(ids(a.test), ids(b.test)) ||
		slices.Equal(
			ids(a.test),
			ids(x.trial(Key{Trial: 3}).test),
		) {
		t.Error("splits depend on the method, or not on the trial")
	}
	if slices.ContainsFunc(ids(a.test), func(id uint64) bool {
		return slices.Contains(ids(a.train), id)
	}) {
		t.Error("a record is trained and tested on")
	}
	ones := 0
	for _, v := range []dataset.View{a.train, a.test} {
		for _, c := range baseline.Labels(v) {
			ones += int(c)
		}
	}
	n := a.train.Len() + a.test.Len()
	if 2*ones != n || a.test.Len() != n/10 {
		t.Errorf(
			"%d of %d are of class 1, %d tested",
			ones, n, a.test.Len(),
		)
	}
	x.set.small = true
	s := x.trial(Key{Trial: 1})
	last := slices.Max(ids(s.train))
	if last >= smallRows || slices.Min(ids(s.test)) < smallRows {
		t.Errorf("trained on records up to %d", last)
	}
}

func TestPartlyPlan(t *testing.T) {
	dir := t.TempDir()
	classCSV(t, filepath.Join(dir, "adult.csv"), 20)
	if _, err := NewPlan(Seed004, Options{
		Public: true,
		Data:   dir,
	}); !errors.Is(err, ErrData) ||
		!strings.Contains(err.Error(), "credit_default") {
		t.Errorf("a table is missing: %v", err)
	}
	classCSV(t, filepath.Join(dir, "credit_default.raw.csv"), 20)
	p, err := NewPlan(Seed004, Options{Public: true, Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Cell]bool{}
	for _, task := range p.Tasks {
		for _, c := range task.Cells {
			if seen[c] {
				t.Errorf("%+v is there twice", c)
			}
			seen[c] = true
		}
		want := partlyTrials
		if task.Name == toySet && task.Trials != toyTrials ||
			task.Name != toySet && task.Trials != want {
			t.Errorf(
				"%s: %d trials",
				task.Name, task.Trials,
			)
		}
	}
	// There are five sets of 10 private methods at 6 budgets and 2 open ones; 4 boosters; and 2 x 7.
	if len(seen) != 5*(10*6+2)+4+14 {
		t.Errorf("%d cells", len(seen))
	}
}

// TestToyExampleIsSolved checks that the toy example is solved with a large budget.
func TestToyExampleIsSolved(t *testing.T) {
	task := toyTask(Options{Trials: 1})
	keys := []Key{
		{partlyCell(toySet, toyMethods()[0], 10), 1},
		{partlyCell(toySet, toyMethods()[0], .001), 1},
		{Cell{Data: toySet, Method: "magic"}, 1},
	}
	got := map[float64]Outcome{}
	if err := task.Run(t.Context(), keys, func(k Key, o Outcome) {
		got[k.Setting.Epsilon] = o
	}); err != nil {
		t.Fatal(err)
	}
	a := got[10].Values[metricAccuracy]
	if a < .9 ||
		got[.001].Status != OK ||
		got[0].Status != Unavailable {
		t.Errorf("%+v", got)
	}
	tab, err := toyTable(newGenerator("test", 0, 1))
	if err != nil ||
		tab.Len() != toyPoints ||
		!slices.IsSorted(tab.Float(1)) ||
		!almostEqual(
			tab.Float(1)[0],
			-tab.Float(1)[toyPoints-1],
		) {
		t.Errorf("the points: %v", err)
	}
}

// TestReweigh checks one round of AdaBoost computed by hand, with one of four records misclassified.
func TestReweigh(t *testing.T) {
	weights := []float64{.25, .25, .25, .25}
	alpha := reweigh(
		weights,
		[]float64{1, -1, 1, 1},
		[]int32{1, 0, 1, 0},
	)
	if !almostEqual(alpha, math.Log(3)/2) ||
		!almostEqual(weights[3], .5) ||
		!almostEqual(weights[0], 1./6) {
		t.Errorf("alpha %v, weights %v", alpha, weights)
	}
	h := weak{
		constant: -.5,
		at:       []int{1},
		slopes:   []float64{1},
	}
	got := h.votes(
		[][]float64{{9, 9}, {.4, .6}},
		2,
	)
	if !slices.Equal(got, []float64{-1, 1}) {
		t.Errorf("votes %v", got)
	}
}

// TestPartlyOnPublicData checks the public table of the paper: the sizes of its parts, and the accuracy of the public
// columns alone.
func TestPartlyOnPublicData(t *testing.T) {
	path := testkit.PublicData(t, "classification", "adult.raw.csv.gz")
	x := &partly{set: partlySets()[0], path: path}
	keys := []Key{
		{partlyCell(adultCodes, methodNamed(publicLogistic), 0), 1},
		{partlyCell(adultCodes, methodNamed(partlyGram), 1), 1},
	}
	got := map[string]float64{}
	err := x.run(t.Context(), keys, func(k Key, o Outcome) {
		got[k.Method] = o.Values[metricAccuracy]
	})
	if err != nil {
		t.Fatal(err)
	}
	trial := x.trial(Key{Trial: 1})
	n := trial.train.Len() + trial.test.Len()
	if n != 2*11687 {
		t.Errorf("%d balanced records", n)
	}
	if got[publicLogistic] < .58 ||
		got[publicLogistic] > .65 ||
		got[partlyGram] < .72 {
		t.Errorf("%v", got)
	}
}

// TestPartlyBank checks that bank marketing is planned and shown if the folder contains its table, and that every
// method runs on it in both codings.
func TestPartlyBank(t *testing.T) {
	dir := t.TempDir()
	classCSV(t, filepath.Join(dir, "adult.csv"), 20)
	classCSV(t, filepath.Join(dir, "credit_default.csv"), 20)
	bankCSV(t, filepath.Join(dir, "bank.csv"), 1200)
	p, err := NewPlan(Seed004, Options{
		Public: true,
		Data:   dir,
		Trials: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	accuracies := map[string]float64{}
	var records []Record
	for _, task := range p.Tasks {
		if task.Name != bankCodes && task.Name != bankOneHot {
			continue
		}
		var todo []Key
		for _, c := range task.Cells {
			if c.Setting.Epsilon == 0 || c.Setting.Epsilon == 5 {
				todo = append(todo, Key{c, 1})
			}
		}
		err := task.Run(t.Context(), todo, func(k Key, o Outcome) {
			if o.Status != OK {
				t.Errorf("%+v: %+v", k, o)
			}
			accuracies[k.Data+" "+k.Method] = o.Values[metricAccuracy]
			records = append(records, Record{k, o})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := 2 * len(partlyMethods()); len(records) != want {
		t.Errorf("%d outcomes, want %d", len(records), want)
	}
	for _, set := range []string{bankCodes, bankOneHot} {
		public := accuracies[set+" "+publicLogistic]
		all := accuracies[set+" "+openLogistic]
		if public < .6 || public > .85 || all < .9 {
			t.Errorf("%s: public columns %v, all columns %v", set, public, all)
		}
	}
	with := checkPage(t, p.Page(records))
	without := checkPage(t, p.Page(nil))
	if !strings.Contains(with, bankOneHot) || strings.Contains(without, bankOneHot) {
		t.Error("the page must show bank marketing if and only if it was measured")
	}
}

// bankCSV writes a table with the columns of bank marketing that are public in the paper, and one private column. The
// outcome of the previous campaign agrees with the class in 70% of the records, the private column determines it.
func bankCSV(t *testing.T, path string, n int) {
	t.Helper()
	g := newGenerator("test", 4, 1)
	var b strings.Builder
	b.WriteString("campaign,pdays,poutcome,duration,target\n")
	for i := range n {
		class := i % 2
		outcome := class
		if i/2%10 < 3 {
			outcome = 1 - class
		}
		fmt.Fprintf(
			&b,
			"%d,%d,%s,%.2f,%s\n",
			1+i/3%5,
			i/7%100,
			[]string{"failure", "success"}[outcome],
			100+400*float64(class)+20*g.normal(),
			[]string{"no", "yes"}[class],
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}
