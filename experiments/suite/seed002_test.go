package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

// boardCSV writes a table of three classes on a board of nine fields, which no line can separate. A text column marks
// the border of the board.
func boardCSV(t *testing.T, path string, n int) {
	t.Helper()
	g := newGenerator("test", 5, 1)
	var b strings.Builder
	b.WriteString("a,b,border,class\n")
	for i := range n {
		row := i % 3
		column := i / 3 % 3
		fmt.Fprintf(
			&b,
			"%.4f,%.4f,%t,%s\n",
			3*float64(row)+.7*g.normal(),
			3*float64(column)+.7*g.normal(),
			row != 1 || column != 1,
			[]string{"x", "y", "z"}[(row+column)%3],
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

func TestSpaceRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "letters.csv")
	boardCSV(t, path, 1000)
	for _, set := range []spaceSet{
		{name: "letters", train: 800},
		{name: "letters", components: 2},
	} {
		x := &space{set: set, path: path}
		keys := []Key{{Cell{Data: "letters", Method: "magic"}, 1}}
		for _, m := range spaceWholes() {
			keys = append(
				keys,
				Key{spaceCell("letters", m, 0, 0), 1},
				Key{spaceCell(noisyLetters, m, 0, .32), 1},
			)
		}
		for _, m := range spaceCurves() {
			keys = append(keys, Key{spaceCell("letters", m, .04, 0), 1})
		}
		keys = append(keys, Key{spaceCell(noisyLetters, spaceSNC, .02, .32), 1})
		var records []Record
		err := x.run(t.Context(), keys, func(k Key, o Outcome) {
			records = append(records, Record{k, o})
		})
		if err != nil {
			t.Fatal(err)
		}
		found := map[Cell]map[string]float64{}
		for _, r := range records {
			if (r.Status != OK) != (r.Method == "magic") {
				t.Errorf("%+v", r)
			}
			found[r.Cell] = r.Values
		}
		errorOf := func(data, method string, share, noise float64) float64 {
			return found[spaceCell(data, method, share, noise)][metricError]
		}
		// With 32 vectors the compressor makes fewer errors than the subsample it starts from.
		if snc, sample := errorOf("letters", spaceSNC, .04, 0),
			errorOf("letters", spaceSubsample, .04, 0); snc > .8*sample || snc > .1 {
			t.Errorf(
				"%+v: snc %v, subsample %v",
				set, snc, sample,
			)
		}
		if all, snc := errorOf(noisyLetters, spaceAll, 0, .32),
			errorOf(noisyLetters, spaceSNC, .02, .32); snc > .7*all {
			t.Errorf(
				"%+v, noise: snc %v, all %v",
				set, snc, all,
			)
		}
		v := found[spaceCell("letters", spaceFCNN, 0, 0)]
		if v[metricShare] > .5 ||
			v[metricError] > .15 ||
			v[metricDistances] <= 0 {
			t.Errorf("%+v, fcnn: %v", set, v)
		}
		v = found[spaceCell("letters", spaceAll, 0, 0)]
		if v[metricVectors] != 800 || v[metricDistances] >= 800 {
			t.Errorf("%+v, all: %v", set, v)
		}
	}
}

// TestSeed002Plan checks that the suite with all parts has the tasks of each part, and that an error names the part
// with a missing table.
func TestSeed002Plan(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "classification")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Public: true,
		Data:   dir,
		Trials: 1,
	}
	for _, set := range spaceSets() {
		_, err := NewPlan(seed002+"-space", o)
		if !errors.Is(err, ErrData) ||
			!strings.Contains(err.Error(), "seed-002-space: ") {
			t.Fatal(err)
		}
		boardCSV(t, filepath.Join(below, set.name+".csv"), 50)
	}
	for _, data := range []string{dir, below} {
		o.Data = data
		p, err := NewPlan(seed002+"-space", o)
		if err != nil ||
			len(p.Tasks) != 5 ||
			len(p.Tasks[0].Keys()) != 16 ||
			len(p.Tasks[1].Keys()) != 36 {
			t.Fatalf("%v: %+v", err, p)
		}
		text := checkPage(t, p.Page(nil))
		for _, part := range []string{
			"figure 3.5",
			"table 3.3", "seed 002",
		} {
			if !strings.Contains(text, part) {
				t.Errorf("the page lacks %s", part)
			}
		}
	}
}

// TestSpaceOnPublicTables checks the claims of the thesis for which a trial is short.
func TestSpaceOnPublicTables(t *testing.T) {
	mean := func(set spaceSet, method string, share float64, trials int, metric string) float64 {
		x := &space{
			set:  set,
			path: testkit.PublicData(t, "classification", set.file+".csv.gz"),
		}
		sum := 0.
		for trial := range trials {
			k := Key{spaceCell(set.name, method, share, 0), trial + 1}
			err := x.run(t.Context(), []Key{k}, func(_ Key, o Outcome) {
				sum += o.Values[metric] / float64(trials)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf(
			"%s, %s %v: %s %.4f",
			set.name, method, share, metric, sum,
		)
		return sum
	}
	sets := map[string]spaceSet{}
	for _, set := range spaceSets() {
		sets[set.name] = set
	}
	n := mean(sets["letters"], spaceFCNN, 0, 1, metricVectors)
	if n != 2841 {
		t.Errorf("fcnn keeps %v vectors of letters, want 2841", n)
	}
	e := mean(sets["satellite"], spaceSNC, .04, 1, metricError)
	if e > .105 {
		t.Errorf(
			"satellite at 4%%: %v, want at most .105",
			e,
		)
	}
	e = mean(sets["isolet"], spaceSNC, .04, testkit.Size(1, 3), metricError)
	if e > .065 { // 50 vectors
		t.Errorf(
			"isolet at 4%%: %v, want at most .065",
			e,
		)
	}
}

// costCSV writes a table of two classes with three numbers and a category. The first two numbers and the category are
// informative.
func costCSV(t *testing.T, path string, n int) {
	t.Helper()
	g := newGenerator("test", 6, 1)
	var b strings.Builder
	b.WriteString("a,b,noise,kind,class\n")
	for i := range n {
		a := g.normal()
		c := g.normal()
		score := a + .7*c
		kind := []string{"p", "q", "r"}[i%3]
		if kind == "p" {
			score++
		}
		fmt.Fprintf(
			&b,
			"%.4f,%.4f,%.4f,%s,%t\n",
			a, c, g.normal(), kind,
			score > 0,
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

func TestCostRun(t *testing.T) {
	dir := t.TempDir()
	for _, set := range costSets() {
		costCSV(t, filepath.Join(dir, set.name+".csv"), 3000)
	}
	p, err := NewPlan(seed002+"-cost", Options{
		Public: true,
		Data:   dir,
		Trials: 1,
	})
	if err != nil || len(p.Tasks) != 4 {
		t.Fatalf("%v: %+v", err, p)
	}
	var keys []Key
	for _, k := range p.Tasks[1].Keys() { // Adult does not name its columns
		if k.Setting.K <= 1 || k.Setting.Epsilon == 3 {
			keys = append(keys, k)
		}
	}
	keys = append(
		keys,
		Key{Cell{Data: costSets()[1].name, Method: "magic"}, 1},
	)
	var records []Record
	err = p.Tasks[1].Run(t.Context(), keys, func(k Key, o Outcome) {
		records = append(records, Record{k, o})
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[Cell]map[string]float64{}
	for _, r := range records {
		if (r.Status != OK) != (r.Method == "magic") {
			t.Errorf("%+v", r)
		}
		found[r.Cell] = r.Values
	}
	name := costSets()[1].name
	for what, tt := range map[string]struct {
		cell        Cell
		wrong, paid float64 // at most
	}{
		"one feature": {
			costCell(name, costHard, 1, 1, 0, 0),
			.35, 1,
		},
		"all":     {costCell(name, costHard, 1, 0, 0, 0), .12, 4},
		"soft":    {costCell(name, costSoft, 2, 1, 0, 0), .35, 2},
		"private": {costCell(name, costPrivate, 1, 0, 3, 0), .2, 4},
		"cheap cstc": {
			costCell(name, costCSTC, 2, 0, 0, costPrices[len(costPrices)-1]),
			.6,
			4,
		},
	} {
		v := found[tt.cell]
		if v == nil ||
			v[metricError] > tt.wrong ||
			v[metricPaid] > tt.paid {
			t.Errorf("%s: %v", what, v)
		}
	}
	text := checkPage(t, p.Page(records))
	for _, part := range []string{
		"Table 2.1", "cstc",
		"features paid",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
}

// TestTableOne checks that a cell of table 2.1 uses standardised columns and all records.
func TestTableOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spambase.csv")
	var b strings.Builder
	b.WriteString("a,b,class\n")
	g := newGenerator("test", 8, 1)
	for range 500 {
		a := g.normal()
		fmt.Fprintf(
			&b,
			"%.4f,%.4f,%t\n",
			1000*a, g.normal(),
			a > .3*g.normal(),
		)
	}
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	x := &costs{set: costSets()[2], path: path}
	for lambda, want := range map[float64]float64{.5: 2, 50: 1, 1e5: 0} {
		err := x.run(
			t.Context(),
			[]Key{{costCell(tableOne, costLogistic, 0, 0, 0, lambda), 1}},
			func(_ Key, o Outcome) {
				if o.Status != OK ||
					o.Values[metricPaid] != want ||
					want > 0 && o.Values[metricTrained] > .2 {
					t.Errorf(
						"lambda %v: %+v, want %v features",
						lambda, o, want,
					)
				}
			},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
}
