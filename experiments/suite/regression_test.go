package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
)

// smallTable writes a table of d features and n rows. The target is the sum of the first two features and a little
// noise.
func smallTable(t *testing.T, dir, name string, n, d int) {
	t.Helper()
	g := newGenerator("test", 1, 2)
	var b strings.Builder
	for j := range d {
		fmt.Fprintf(&b, "f%d,", j+1)
	}
	b.WriteString("y\n")
	for range n {
		x := g.normals(d)
		for _, v := range x {
			fmt.Fprintf(&b, "%.5f,", v)
		}
		fmt.Fprintf(
			&b, "%.5f\n",
			x[0]+x[1]+.1*g.normal(),
		)
	}
	err := os.WriteFile(
		filepath.Join(dir, name),
		[]byte(b.String()), 0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegressionSuite(t *testing.T) {
	data := t.TempDir()
	out := filepath.Join(t.TempDir(), "out")
	smallTable(t, data, "small.csv", 300, 6)
	o := Options{
		Public: true,
		Data:   data,
		Out:    out,
		Trials: 1,
	}
	records, err := Run(t.Context(), Seed001, o)
	if err != nil {
		t.Fatal(err)
	}
	methods, ks := regressionMethods()
	// Five methods may abstain and have a plan that states the records they need. There are also the numbers of
	// rounds and the published pipelines.
	each := len(methods) + len(regressionRounds) + len(publishedPipelines())
	if len(records) != each+5 || len(methods) != 13 {
		t.Fatalf(
			"%d records of %d methods",
			len(records), len(methods),
		)
	}
	for _, r := range records {
		switch {
		case strings.HasPrefix(r.Method, publishedBefore) &&
			strings.Contains(r.Method, "adassp") &&
			!(r.Status == OK && r.Values["r2"] < 1):
			t.Errorf("a published pipeline: %+v", r)
		case r.Method == "plan of tukey" &&
			!(r.Status == OK &&
				r.Values[metricNeeded] > r.Values[metricTrain] &&
				r.Values[metricTrain] == 270):
			t.Errorf(
				"the plan does not predict the abstention: %+v",
				r,
			)
		case r.Method == nonPrivate &&
			!(r.Status == OK && r.Values["r2"] > .99 && r.Setting.Epsilon == 0):
			t.Errorf("least squares: %+v", r)
		case ks[r.Method] == 10 && r.Status != NotApplicable:
			t.Errorf("10 of 6 columns: %+v", r)
		case r.Method == "tukey" && r.Status != Abstained:
			t.Errorf("300 rows are too few: %+v", r)
		case strings.HasPrefix(r.Method, "boosted-adassp:") &&
			!(r.Status == OK && r.Values["r2"] < 1):
			t.Errorf("rounds: %+v", r)
		case r.Method == "joint-gram" &&
			(r.Status != OK || r.Setting.Epsilon != bench.DefaultEpsilon):
			t.Errorf("joint-gram: %+v", r)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, PageFile))
	if err != nil ||
		!strings.Contains(
			string(text),
			`<th scope="row">small</th>`,
		) {
		t.Errorf("the page: %v", err)
	}
	// All trials are finished. Two more trials do not change the first.
	first := readResults(t, out)
	_, err = Run(t.Context(), Seed001, o)
	if err != nil || !bytes.Equal(readResults(t, out), first) {
		t.Errorf("run again: %v", err)
	}
	o.Trials = 2
	records, err = Run(t.Context(), Seed001, o)
	if err != nil ||
		len(records) != 2*each+5 ||
		!bytes.HasPrefix(readResults(t, out), first) {
		t.Errorf(
			"extended: %v, %d records",
			err, len(records),
		)
	}
}

// TestRegressionKeepsItsSplits checks that the splits are those of package bench, whichever trials remain to be run.
func TestRegressionKeepsItsSplits(t *testing.T) {
	data := t.TempDir()
	smallTable(t, data, "small.csv", 100, 3)
	path := filepath.Join(data, "small.csv")
	var want []float64
	_, err := bench.Run(
		t.Context(),
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{nonPrivate},
			Trials:  5,
			Seed:    3,
		},
		func(r bench.Row) {
			want = append(want, r.Value)
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	cell := regressionCell("small", nonPrivate, nil)
	run := regressionRun{
		path:   path,
		seed:   3,
		trials: 5,
	}
	got := map[int]float64{}
	err = run.run(t.Context(), []Key{{cell, 2}, {cell, 5}}, func(k Key, o Outcome) {
		got[k.Trial] = o.Values["r2"]
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 ||
		got[2] != want[1] ||
		got[5] != want[4] {
		t.Errorf(
			"trials %v, want 2 and 5 of %v",
			got, want,
		)
	}
}

func TestRegressionFailuresAreReported(t *testing.T) {
	data := t.TempDir()
	smallTable(t, data, "small.csv", 60, 3)
	run := regressionRun{path: filepath.Join(data, "small.csv"), trials: 1}
	got := map[string]Outcome{}
	keys := []Key{
		{Cell{Method: "magic+tukey"}, 1},
		{Cell{Method: "nonprivate-ols"}, 1},
		{Cell{Method: "kendall:9+joint-gram"}, 1},
	}
	err := run.run(t.Context(), keys, func(k Key, o Outcome) {
		got[k.Method] = o
	})
	if err != nil {
		t.Fatal(err)
	}
	o := got["magic+tukey"]
	if o.Status != Unavailable || !strings.Contains(o.Reason, "magic") {
		t.Errorf("an unknown method: %+v", o)
	}
	if o := got["kendall:9+joint-gram"]; o.Status != NotApplicable || o.Reason == "" {
		t.Errorf("9 of 3 columns: %+v", o)
	}
	if o := got["nonprivate-ols"]; o.Status != OK {
		t.Errorf("least squares: %+v", o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = run.run(ctx, keys[1:], func(Key, Outcome) {
		t.Error("a trial of an ended run")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	run.path = filepath.Join(data, "none.csv")
	var file *dataset.FileError
	err = run.run(
		t.Context(), keys[1:],
		func(Key, Outcome) {},
	)
	if !errors.As(err, &file) {
		t.Errorf("an absent table: %v", err)
	}
	o = outcomeOf(
		bench.Row{Err: fmt.Errorf("trial: %w", bench.ErrAbstained)})
	if o.Status != Abstained || o.Values != nil {
		t.Errorf("an abstention: %+v", o)
	}
}

// TestPublishedPipelines checks that with 6,000 rows every pipeline has a model, and that the pipelines that end with
// the Tukey mechanism find the two relevant columns.
func TestPublishedPipelines(t *testing.T) {
	dir := t.TempDir()
	smallTable(t, dir, "small.csv", 6000, 6)
	task := publishedTask(
		tableFile{"small", filepath.Join(dir, "small.csv")},
		Options{Trials: 1},
	)
	done := 0
	err := task.Run(t.Context(), task.Keys(), func(k Key, o Outcome) {
		done++
		if o.Status != OK ||
			strings.HasSuffix(k.Method, "tukey") && o.Values["r2"] < .9 {
			t.Errorf("%s: %+v", k.Method, o)
		}
		if k.Setting.K == publishedK && len(o.Picked) != publishedK {
			t.Errorf(
				"%s picked %v",
				k.Method, o.Picked,
			)
		}
	})
	if err != nil || done != len(publishedPipelines()) {
		t.Errorf("%d trials, %v", done, err)
	}
	e := (publishedPipeline{"", "boosted-adassp"}).trueEpsilon()
	if math.Abs(e-744.7) > .1 {
		t.Errorf("epsilon %v", e)
	}
	e = (publishedPipeline{"kendall", "boosted-adassp"}).trueEpsilon()
	if !math.IsInf(e, 1) {
		t.Errorf("epsilon %v", e)
	}
}

// TestRegressionPageByHand checks ranks computed by hand. On a, kendall:5+tukey is best and tukey abstained; on b no
// selector can choose 5 columns.
func TestRegressionPageByHand(t *testing.T) {
	methods, ks := regressionMethods()
	var records []Record
	put := func(data, method string, o Outcome) {
		for trial := range 2 {
			records = append(
				records,
				Record{Key{regressionCell(data, method, ks), trial + 1}, o},
			)
		}
	}
	value := func(v float64) Outcome {
		return Outcome{Status: OK, Values: map[string]float64{"r2": v}}
	}
	medians := map[string]float64{
		nonPrivate:                  .9,
		"joint-gram":                .8,
		"auto":                      .7,
		"boosted-adassp":            -1,
		"kendall:5+tukey":           .85,
		"sublasso:5+tukey":          .1,
		"kendall:5+boosted-adassp":  .7,
		"sublasso:5+boosted-adassp": -2e9,
	}
	for _, m := range methods {
		v, ok := medians[m]
		switch {
		case m == "tukey":
			put("a", m, failure(Abstained, errors.New("too few rows")))
		case ok:
			put("a", m, value(v))
		default: // k = 10
			put("a", m, failure(Failed, errors.New("a has 9 columns")))
		}
		if ks[m] == 0 {
			put("b", m, value(-.5))
		} else {
			put("b", m, failure(Failed, errors.New("b has 4 columns")))
		}
	}
	table := newRegressionTable(records)
	ranks := table.rankIn("a", 5)
	for m, want := range map[string]float64{
		"kendall:5+tukey":           1,
		"joint-gram":                2,
		"auto":                      3.5,
		"kendall:5+boosted-adassp":  3.5,
		"sublasso:5+tukey":          5,
		"boosted-adassp":            6,
		"sublasso:5+boosted-adassp": 7,
		"tukey":                     8,
	} {
		if ranks[m] != want {
			t.Errorf(
				"rank of %s: %v, want %v",
				m, ranks[m], want,
			)
		}
	}
	if len(ranks) != 8 ||
		len(table.rankIn("b", 5)) != 0 ||
		len(table.rankIn("a", 10)) != 0 {
		t.Errorf(
			"ranks %v, %v, %v",
			ranks,
			table.rankIn("b", 5),
			table.rankIn("a", 10),
		)
	}
	s := table.standingOf("kendall:5+tukey", 5)
	if s.mean != 1 ||
		s.first != 1 ||
		s.second != 1 ||
		s.positive != 1 ||
		s.tables != 1 {
		t.Errorf("standing %+v", s)
	}
	if s := table.standingOf("tukey", 5); s.abstained != 2 || s.positive != 0 {
		t.Errorf("standing %+v", s)
	}
	if s := table.standingOf("tukey", 10); s.tables != 0 || !math.IsNaN(s.mean) {
		t.Errorf("standing %+v", s)
	}
	for i, p := range publishedPipelines() {
		for trial := range 2 {
			o := value(.25 * float64(i-1))
			if p.model == "tukey" && p.selector == "" {
				o = failure(Abstained, errors.New("the check did not pass"))
			}
			records = append(
				records,
				Record{Key{publishedCell("361104_x", p), trial + 1}, o},
			)
		}
	}
	text := checkPage(t, regressionPage(records))
	for _, want := range []string{
		"as-published kendall &#43; tukey", "<td>56%</td>", "<td>-29.000</td>", "<td>744.7</td>",
		"<td>none</td>", "<td>1 of 1</td>", "<td>0 of 1</td>",
		`<td class="strong hot" style="--heat:0.85">0.850</td>`, "-2.0e&#43;09",
		"<small>2 abstained</small>",
		`<td class="prose">too few rows</td>`, "<td>3.5</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestRoundsByHand checks a comparison computed by hand. On a the default is .004 below the best of few rounds and
// above one round; on b it is .1 below it and below one round. T = 100 is not part of the comparison.
func TestRoundsByHand(t *testing.T) {
	var records []Record
	for data, medians := range map[string][5]float64{
		"a": {.5, .6, .55, .7, .596},
		"b": {.5, .4, .3, .2, .4},
	} {
		methods := []string{roundsMethod(1), roundsMethod(3), roundsMethod(10), roundsMethod(100),
			"boosted-adassp"}
		for i, m := range methods {
			records = append(
				records,
				Record{
					Key{regressionCell(data, m, nil), 1},
					Outcome{Status: OK, Values: map[string]float64{"r2": medians[i]}},
				},
			)
		}
	}
	table := newRegressionTable(records)
	a := table.roundsOf("a")
	b := table.roundsOf("b")
	if a.best != .6 ||
		b.best != .5 ||
		!a.isNearBest() ||
		b.isNearBest() ||
		!a.gains() ||
		b.gains() {
		t.Errorf("%+v, %+v", a, b)
	}
	s := table.rounds()
	if !strings.Contains(s.Text[1], "on 1 of 2 tables, and above T = 1 on 1.") {
		t.Errorf("%q", s.Text)
	}
	var text strings.Builder
	err := (Page{Title: "Rounds", Sections: []Section{s}}).Markdown(&text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Rounds\n\n## Rounds of Boosted AdaSSP\n",
		"| table | T = 1 | T = 3 | T = 10 | T = 100 | chosen | chosen − best of T ≤ 10 | chosen − T = 1 |\n| --- | --- |",
		"| a | 0.500 | **0.600** | 0.550 | 0.700 | 0.596 | -0.004 | +0.096 |\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf(
				"no %q in\n%s",
				want, &text,
			)
		}
	}
	tables := Comparison(Seed001, records)
	var plain strings.Builder
	err = tables[len(tables)-1].Plain(&plain)
	if err != nil ||
		!strings.Contains(plain.String(), "b      0.500  0.400") {
		t.Errorf("%v\n%s", err, &plain)
	}
}

func TestMissingMethodsAreNamed(t *testing.T) {
	_, ks := regressionMethods()
	text := checkPage(t, regressionPage([]Record{
		{
			Key{regressionCell("a", nonPrivate, ks), 1},
			Outcome{Status: OK, Values: map[string]float64{"r2": .5}},
		},
		{
			Key{regressionCell("a", "tukey", ks), 1},
			failure(Unavailable, errors.New("no model")),
		},
	}))
	if !strings.Contains(text, "left out below: tukey.") ||
		strings.Contains(text, "<th>tukey</th>") {
		t.Error("an unavailable method is not set apart")
	}
}
