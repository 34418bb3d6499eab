package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

const searchRecipe = `data:
  path: line.csv
  target: y
  undeclared: numbers
privacy:
  epsilon: 3
search:
  runs: 3
  candidates:
    - model: {method: joint-gram}
    - {selection: {method: kendall, k: 1}, model: {method: boosted-additive}}
`

// TestSearch checks that the plan and the report of a run with a search contain the candidates and the price, and
// that no output contains the number of tries.
func TestSearch(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(400))
	writeFile(t, "recipe.yaml", searchRecipe)
	priced := dptrain(t, "plan", "recipe.yaml")
	files.compare(t, "plan-search", priced.stdout+priced.stderr)

	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.terminal = true
	code := a.run(
		t.Context(),
		[]string{
			"fit", "recipe.yaml",
			"--progress", "--verbose",
		},
	)
	if code != exitOK {
		t.Fatalf(
			"code %d: %s",
			code, stderr.String(),
		)
	}
	want := "dptrain: 1 of 6: read\ndptrain: 2 of 6: check\ndptrain: 3 of 6: split\ndptrain: 4 of 6: search\ndptrain: 5 of 6: held-out metric (100.0% of the held-out budget)\ndptrain: 6 of 6: write\n"
	if stderr.String() !=
		want {
		t.Errorf("progress:\n%s", stderr.String())
	}
	text := strings.Join(
		strings.Fields(stdout.String()),
		" ",
	)
	if !regexp.MustCompile(
		`candidate [12] of 2 won \(selection (none|kendall \(k = 1\)), model (joint-gram|boosted-additive)\) with a released score \(R²\)`).MatchString(
		text) ||
		!strings.Contains(text, "biased upwards") {
		t.Errorf("%s", stdout.String())
	}
	r, err := report.Decode(strings.NewReader(readFile(t, "out/release/report.json")))
	if err != nil {
		t.Fatal(err)
	}
	x := r.Search
	if x == nil ||
		x.Runs != 3 ||
		x.Eta != 0 ||
		!(x.Gamma > 0 && x.Gamma < 1) ||
		len(x.Candidates) != 2 ||
		x.Chosen < 1 ||
		x.Chosen > 2 ||
		x.Score.Metric != "r2" ||
		!x.Score.Biased {
		t.Errorf("%+v", r.Search)
	} else if r.Model.Method != x.Candidates[x.Chosen-1].Model {
		t.Errorf(
			"method %q, candidate %+v",
			r.Model.Method,
			x.Candidates[x.Chosen-1],
		)
	}
	run := runFile(t, "out")
	if run.ScoreRows == nil ||
		*run.ScoreRows == 0 ||
		*run.ScoreRows > run.TrainRows {
		t.Errorf("%+v", run)
	}

	// The published recipe is valid and has the same plan.
	public := strings.Replace(
		readFile(t, "out/release/recipe.yaml"),
		"\ndata:\n",
		"\ndata:\n  path: line.csv\n",
		1,
	)
	writeFile(t, "again.yaml", public)
	again := dptrain(t, "plan", "again.yaml")
	if again != priced {
		t.Errorf("of the published recipe: %+v", again)
	}
	for _, args := range [][]string{
		{"check", "recipe.yaml"},
		{"report", "out/"},
		{"report", "out/", "--registry"},
		{"predict", "out/release/model.json", "line.csv"},
		{
			"fit", "recipe.yaml",
			"--quiet",
			"--out", "second",
			"--epsilon", "1",
			"--relation", "substitute",
		},
		{
			"bench", "--public", "recipe.yaml",
			"--trials", "1",
		},
		{
			"plan", "recipe.yaml", "--explain",
			"--rows", "60",
		},
		{
			"audit", "recipe.yaml", "--runs",
			"100", "--draws", "100",
		},
	} {
		got := dptrain(t, args...)
		if got.code != exitOK {
			t.Errorf("%v: %+v", args, got)
		}
		if args[0] == "plan" &&
			!strings.Contains(got.stdout, "\nRun        search among 2 candidates, ") {
			t.Error(got.stdout)
		}
	}
}

// TestSearchPlanJSON checks the price of a search in the JSON output of plan.
func TestSearchPlanJSON(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", "a,b,y\n")
	writeFile(t, "recipe.yaml", searchRecipe)
	got := dptrain(t, "plan", "recipe.yaml", "--json")
	var b bill
	err := json.Unmarshal([]byte(got.stdout), &b)
	if err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	x := b.Search
	if x == nil ||
		x.Runs != 3 ||
		len(x.Candidates) != 2 ||
		b.Method != "search" {
		t.Fatalf("%+v", b)
	}
	// One try costs less than the whole search, and more than its share in an adaptive composition of the same
	// number of runs.
	if !(x.TryEpsilon > 1 && x.TryEpsilon < 3) {
		t.Errorf("a try costs %v of 3", x.TryEpsilon)
	}
	total := map[string]float64{}
	for _, s := range b.Steps {
		if s.Share == nil && s.Part == "all" { // the price is a fraction of epsilon
			continue
		}
		total[strings.Join(
			strings.Split(s.ID, "/")[:3],
			"/",
		)+" "+s.Part] += *s.Share
	}
	if len(total) != 5 {
		t.Errorf("parts %v", total)
	}
	for part, share := range total {
		if share < 1-1e-9 || share > 1+1e-9 {
			t.Errorf(
				"the shares of %s sum to %v",
				part, share,
			)
		}
	}
}

// TestSearchLedger checks that a search is entered in the ledger as one black box.
func TestSearchLedger(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(100))
	writeFile(
		t,
		"recipe.yaml",
		strings.Replace(
			searchRecipe, "epsilon: 3",
			"epsilon: 1\n  delta: 1e-7",
			1,
		)+
			"ledger: {path: my.ledger, dataset: houses}\n",
	)
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "5",
		"--delta", "1e-5",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	if got := dptrain(t, "fit", "recipe.yaml"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got = dptrain(t, "ledger", "verify", "my.ledger", "--report",
		"out/release/report.json")
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
	export := dptrain(t, "ledger", "export", "my.ledger")
	if export.code != exitOK ||
		!strings.Contains(export.stdout, `"op":"select"`) ||
		!strings.Contains(export.stdout, `"gamma":`) ||
		!strings.Contains(export.stdout, `"method":"search"`) {
		t.Errorf("%+v", export)
	}
	if strings.Contains(export.stdout, "tries") ||
		strings.Contains(export.stdout, "runs") {
		t.Errorf("the ledger speaks of tries: %s", export.stdout)
	}
}

// TestSearchMistakes checks that the error for an impossible search contains its position.
func TestSearchMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(5))
	for name, c := range map[string]struct {
		old, new string
		args     []string
		code     int
		text     string
	}{
		"beside": {"search:", "model: {method: adassp}\nsearch:", nil, exitRecipe,
			"recipe.yaml:7:8: model cannot be combined with search"},
		"tukey": {"method: joint-gram", "method: tukey", nil, exitRecipe,
			"recipe.yaml:10:23: search.candidates[0]: tukey may abstain"},
		"runs": {"runs: 3", "runs: 1001", nil, exitRecipe,
			"recipe.yaml:8:9: search.runs must be above 1 and at most 1000"},
		"columns": {
			"k: 1", "k: 2", nil, exitRecipe,
			"search.candidates[1].selection.k is 2",
		},
		"features": {"method: kendall, k: 1", "method: fixed, features: [c]", nil, exitData,
			`the feature "c" is not in the header`},
		"classes": {
			"",
			"",
			[]string{
				"--task", "classification",
				"--classes",
				"a,b,c",
			},
			exitRecipe,
			"kendall supports only two classes",
		},
		"relation": {
			"",
			"",
			[]string{"--relation", "substitute-private-columns"},
			exitRecipe,
			"the relation substitute-private-columns needs at least one column with private: true",
		},
	} {
		writeFile(
			t, "recipe.yaml",
			strings.Replace(searchRecipe, c.old, c.new, 1),
		)
		got := dptrain(
			t,
			append([]string{"plan", "recipe.yaml"}, c.args...)...,
		)
		if got.code != c.code || !strings.Contains(got.stderr, c.text) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
