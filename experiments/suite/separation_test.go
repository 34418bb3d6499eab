package suite

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/testkit"
)

// separatedCSV writes a table of two classes that its first two columns separate, with a copy of the first and a
// constant.
func separatedCSV(t *testing.T, path string, n int) {
	t.Helper()
	g := newGenerator("test", 4, 1)
	var b strings.Builder
	b.WriteString("a,b,copy,flat,noise,target\n")
	for i := range n {
		shift := float64(2*(i%2) - 1)
		a := shift + g.normal()
		fmt.Fprintf(
			&b,
			"%.4f,%.4f,%.4f,3,%.4f,%d\n",
			a,
			shift+g.normal(),
			a+.01*g.normal(),
			g.normal(),
			i%2,
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

func TestSeparationRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wdbc.csv")
	separatedCSV(t, path, 400)
	x := &separation{name: "wdbc", path: path}
	keys := []Key{{Cell{Data: "wdbc", Method: "magic"}, 1}}
	for _, m := range separationMethods() {
		cells := append(m.cells("wdbc", 0), m.cells("wdbc"+generatedOf, 0)...)
		keys = append(
			keys,
			Key{cells[0], 1},
			Key{cells[len(cells)/2-1], 1},
			Key{cells[len(cells)-1], 1},
		)
	}
	var records []Record
	err := x.run(t.Context(), keys, func(k Key, o Outcome) {
		records = append(records, Record{k, o})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		v := r.Values
		switch {
		case r.Method == "magic":
			if r.Status != Unavailable {
				t.Errorf("%+v", r)
			}
		case r.Status != OK || v[metricTrainRows] != 360:
			t.Errorf("%+v", r)
		case r.Method == methodF:
			if v[metricF] <= 0 ||
				v[metricImportance] <= 0 ||
				v[metricMeanF] < .1 {
				t.Errorf("%+v", r)
			}
		case len(r.Picked) != int(v[metricFeatures]) || v[metricFeatures] < 1:
			t.Errorf(
				"%d columns picked: %+v",
				len(r.Picked), r,
			)
		case r.Method == openDFS &&
			(v[metricAccuracy] < .8 ||
				slices.Contains(r.Picked, 4) ||
				slices.Contains(r.Picked, 1) && slices.Contains(r.Picked, 3)):
			t.Errorf(
				"a flat column, or a copy beside its original: %+v",
				r,
			)
		case r.Setting.Epsilon == 50 && v[metricAccuracy] < .75:
			t.Errorf("with much budget: %+v", r)
		case r.Method == methodDR &&
			r.Setting.Epsilon == 1 &&
			(v[metricTotal] <= 1 || v[metricTotal] >= 1.1):
			t.Errorf("the budgets together: %+v", r)
		}
	}
	text := checkPage(t, separationPage(records))
	for _, part := range []string{
		"figure 3", "wdbc, generated",
		"within from", "none of these",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	checkPage(t, separationPage(nil))
}

// TestSplitBudget checks that two steps with a delta each cost less than the sum of their epsilons, and that the
// share gives the first step its own mu.
func TestSplitBudget(t *testing.T) {
	epsilon, share := splitBudget(.1, .5, 1e-5)
	mu := budget.GaussianMu(epsilon, 1e-5)
	if epsilon <= .5 ||
		epsilon >= .6 ||
		math.Abs(mu*math.Sqrt(share)/budget.GaussianMu(.1, 1e-5)-1) > 1e-3 ||
		math.Abs(mu*math.Sqrt(1-share)/budget.GaussianMu(.5, 1e-5)-1) > 1e-3 {
		t.Errorf("epsilon %v, share %v", epsilon, share)
	}
}

// TestClassLaw checks that the generated tables have the distribution of the table they are fitted to.
func TestClassLaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wdbc.csv")
	separatedCSV(t, path, 400)
	x := &separation{name: "wdbc", path: path}
	if err := x.run(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	drawn, err := x.law.draw(40000, newGenerator("test", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	got := fitClassLaw(drawn)
	for c := range x.law.means {
		if math.Abs(got.shares[c]-x.law.shares[c]) > .02 {
			t.Errorf(
				"class %d: share %v, want %v",
				c, got.shares[c],
				x.law.shares[c],
			)
		}
		for j, want := range x.law.means[c] {
			// The tolerance is seven standard errors of 20,000 records.
			if math.Abs(got.means[c][j]-want) > .05 {
				t.Errorf(
					"class %d, column %d: mean %v, want %v",
					c, j,
					got.means[c][j], want,
				)
			}
			for k := range j + 1 {
				if a, b := dot(got.roots[c][j], got.roots[c][k]),
					dot(
						x.law.roots[c][j],
						x.law.roots[c][k],
					); math.Abs(a-b) > .1 {
					t.Errorf(
						"class %d, columns %d and %d: covariance %v, want %v",
						c,
						j,
						k,
						a,
						b,
					)
				}
			}
		}
		if x.law.roots[c][3][3] != 0 {
			t.Error("a constant column varies")
		}
	}
	again, err := x.law.draw(40000, newGenerator("test", 0, 1))
	if err != nil ||
		!slices.Equal(again.Float(0), drawn.Float(0)) {
		t.Errorf("the same seed gave another table: %v", err)
	}
	labels := baseline.Labels(drawn.View())
	if slices.Max(labels) != 1 {
		t.Error("classes")
	}
}

func dot(a, b []float64) float64 {
	sum := 0.
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestCholesky(t *testing.T) {
	root := cholesky([][]float64{{4, 2, 0}, {2, 1, 0}, {0, 0, 9}}) // the second column is half the first
	want := [][]float64{
		{2, 0, 0},
		{1, 0, 0},
		{0, 0, 3},
	}
	if !slices.EqualFunc(root, want, slices.Equal) {
		t.Errorf("%v", root)
	}
}

func TestCrossing(t *testing.T) {
	at := []float64{.1, 1, 10}
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{.9, .5, .8}, 10},
		{[]float64{.5, .7, .8}, 1},
		{[]float64{.7, .7, .7}, .1},
		{[]float64{.9, .9, .5}, nan},
		{[]float64{nan, nan, nan}, nan},
	} {
		got := crossing(at, c.values, .7)
		if got != c.want &&
			!(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf(
				"%v: %v, want %v",
				c.values, got, c.want,
			)
		}
	}
}

func TestSeparationPlan(t *testing.T) {
	dir := t.TempDir()
	separatedCSV(t, filepath.Join(dir, "wdbc.csv"), 20)
	if _, err := NewPlan(Seed003, Options{
		Public: true,
		Data:   dir,
	}); !errors.Is(err, ErrData) ||
		!strings.Contains(err.Error(), "ionosphere") {
		t.Errorf("a table is missing: %v", err)
	}
	separatedCSV(t, filepath.Join(dir, "ionosphere.tsv"), 20)
	p, err := NewPlan(Seed003, Options{Public: true, Data: dir})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Cell]bool{}
	for _, task := range p.Tasks {
		for _, c := range task.Cells {
			if seen[c] || c.Setting.N > largeRows && task.Trials != largeTrials {
				t.Errorf(
					"%+v: twice, or with %d trials",
					c, task.Trials,
				)
			}
			seen[c] = true
		}
	}
	// Cells of a table: 2 open, 5 x 5, 3 x 9, 6 budgets of F-scores. Generated: 5 sizes of 2 open, 5 and 9; 3 sizes
	// of 2 x 5; F-scores at 2 sizes.
	want := 2 * (2 + 25 + 27 + 6 + 5*16 + 30 + 12)
	if len(seen) != want {
		t.Errorf(
			"%d cells, want %d",
			len(seen), want,
		)
	}
}

// TestSeveralClasses runs every method on a table with three classes, as part of the plan of a folder that contains it.
func TestSeveralClasses(t *testing.T) {
	dir := t.TempDir()
	separatedCSV(t, filepath.Join(dir, "wdbc.csv"), 20)
	separatedCSV(t, filepath.Join(dir, "ionosphere.csv"), 20)
	var text strings.Builder
	text.WriteString("a,b,c,target\n")
	for i := range 600 {
		class := i % 3
		fmt.Fprintf(&text, "%d,%d,%d,%d\n", 10*class+i%5, 30-10*class+i%7, i%11, class)
	}
	err := os.WriteFile(filepath.Join(dir, "dermatology.csv"), []byte(text.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(Seed003, Options{Public: true, Data: dir, Trials: 1})
	if err != nil {
		t.Fatal(err)
	}
	task := p.Tasks[len(p.Tasks)-1]
	if task.Name != "dermatology" {
		t.Fatalf("the last task is %s", task.Name)
	}
	var todo []Key
	for _, c := range task.Cells {
		todo = append(todo, Key{Cell: c})
	}
	var records []Record
	err = task.Run(t.Context(), todo, func(k Key, o Outcome) {
		if o.Status != OK {
			t.Errorf("%+v: %+v", k, o)
		}
		if x := o.Values[metricAccuracy]; (k.Method == openDFS || k.Method == openAll) && x < .99 {
			t.Errorf("%s: accuracy %v on separated classes", k.Method, x)
		}
		records = append(records, Record{k, o})
	})
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]int{}
	for _, s := range p.Page(records).Sections {
		for _, table := range s.Tables {
			if table.Caption == "dermatology" {
				titles[s.Title]++
			}
		}
	}
	if len(titles) != 3 {
		t.Errorf("sections with the table: %v, want 3", titles)
	}
}

// TestSeparationOnPublicData checks that on the table of the paper DFS is accurate with few columns, as is the
// private choice with a budget that provides hardly any privacy.
func TestSeparationOnPublicData(t *testing.T) {
	path := testkit.PublicData(t, "classification", "wdbc.csv.gz")
	x := &separation{name: "wdbc", path: path}
	keys := []Key{
		{separationCell("wdbc", openDFS, 0, 0), 1},
		{separationCell("wdbc", wholeDR, 50, 0), 1},
	}
	err := x.run(t.Context(), keys, func(k Key, o Outcome) {
		if o.Status != OK ||
			o.Values[metricAccuracy] < .85 ||
			len(o.Picked) > 15 {
			t.Errorf("%+v: %+v", k, o)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeveralClassesPublished checks that the published code runs on dermatology and not on semeion, and that the page
// compares it with the figure of the paper.
func TestSeveralClassesPublished(t *testing.T) {
	dir := t.TempDir()
	for _, name := range append(separationSets(), manyClassSets()...) {
		separatedCSV(t, filepath.Join(dir, name+".csv"), 20)
	}
	p, err := NewPlan(Seed003, Options{Public: true, Data: dir, Trials: 1})
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]int{}
	var records []Record
	for _, task := range p.Tasks {
		for _, c := range task.Cells {
			if c.Method == methodPublishedDR {
				published[c.Data]++
			}
			if c.Setting.N == 0 && c.Method != methodF {
				o := Outcome{Status: OK, Values: map[string]float64{metricAccuracy: .75}}
				records = append(records, Record{Key{c, 1}, o})
			}
		}
	}
	n := len(separationEpsilons)
	want := map[string]int{"wdbc": n, "ionosphere": n, "dermatology": n}
	if !maps.Equal(published, want) {
		t.Errorf("cells of the published code: %v, want %v", published, want)
	}
	table := publishedSeparationSection(newIndex(records)).Tables[0]
	claims := map[string]string{}
	for _, row := range table.Rows {
		if row[0].Text != "" && strings.HasPrefix(row[1].Text, "the paper") {
			claims[row[0].Text] = row[len(row)-1].Text
		}
	}
	if len(claims) != 3 || claims["wdbc"] != "≥ 0.730" || claims["dermatology"] != "≥ 0.752" {
		t.Errorf("claims %v", claims)
	}
}
