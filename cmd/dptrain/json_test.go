package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// withoutJSON maps each command without --json to the reason.
var withoutJSON = map[string]string{
	"dptrain":               "prints its help",
	"dptrain ledger":        "only its verbs do something",
	"dptrain ledger export": "prints one JSON object a line",
	"dptrain export":        "prints a program or a query",
	"dptrain serve":         "answers in JSON, over HTTP",
	"dptrain ui":            "is a page",
	"dptrain schema":        "prints a JSON Schema",
	"dptrain man":           "writes pages for man",
	"dptrain sign":          "prints the path of a key or a signature",
	"dptrain worker":        "answers a cluster, not a person",
	"dptrain scores":        "answers the Python package, in binary columns",
}

// TestEveryVerbHasJSON checks that each command has --json or an entry in withoutJSON, and that no entry is out of
// date.
func TestEveryVerbHasJSON(t *testing.T) {
	seen := map[string]bool{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		name := cmd.CommandPath()
		if !cmd.Runnable() ||
			strings.HasPrefix(name, "dptrain completion") ||
			name == "dptrain help" { // topics, and cobra's own
			return
		}
		has := cmd.Flags().Lookup("json") != nil
		why := withoutJSON[name]
		if seen[name] = true; has == (why != "") {
			t.Errorf(
				"%s: has --json: %v; reason to have none: %q",
				name, has, why,
			)
		}
	}
	visit(rootCommand(newApp(
		strings.NewReader(""), t.Output(),
		t.Output(),
	)))
	for name := range withoutJSON {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
	if len(seen) < 20 {
		t.Error(seen)
	}
}

// aRun creates a folder with two runs, their ledger and a release of another tool.
func aRun(t *testing.T) {
	t.Helper()
	table := readFile(t, "../../testdata/houses.csv")
	model := readFile(t, "../../testdata/loans.csv")
	chdirTemp(t)
	writeFile(t, "houses.csv", table)
	writeFile(t, "loans.csv", model)
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: houses.csv, target: price, exclude: [ocean]}\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\nselection: {method: none}\nledger: {dataset: houses}\n",
	)
	writeFile(
		t,
		"bad.yaml",
		"data: {path: houses.csv, target: rent}\nprivacy: {epsilon: -1}\n",
	)
	writeFile(
		t,
		"causal.yaml",
		"task: causal\ndata: {path: houses.csv, columns: {area: {lower: 0, upper: 500}, price: {lower: 0, upper: 1000000}}}\ncausal: {columns: [area, price]}\nprivacy: {epsilon: 1}\noutput: {dir: why}\n",
	)
}

// jsonLines lists the commands of TestJSON in the order of a project, with the keys that each prints.
var jsonLines = []struct {
	args string
	code int
	keys string
}{
	{"init houses.csv --target price --json", 0, "format table columns recipe"},
	{"look houses.csv --json", 0, "format private"},
	{"ledger init dptrain.ledger --dataset houses --epsilon 9 --json", 0,
		"format ledger dataset head limit"},
	{
		"ledger spend --dataset houses --rho 0.01 --json",
		0, "format dataset cost left",
	},
	{"check recipe.yaml --json", 0, "format recipe ok columns_checked problems"},
	{"check bad.yaml --json", 3, "format recipe ok problems"},
	{"plan recipe.yaml --json", 0, "format steps guarantee attack meaning ledger"},
	{"fit recipe.yaml --json", 0, "format guarantee events metrics checksum"},
	{"causal causal.yaml --json", 0, "format guarantee"},
	{"describe houses.csv --epsilon 1 --out card --json", 0,
		"format guarantee events records columns correlations by warnings checksum"},
	{
		"describe houses.csv --epsilon 1 --plan --json",
		0, "format steps guarantee attack meaning",
	},
	{"report out --json", 0, "format guarantee events metrics checksum"},
	{"report why --json", 0, "format guarantee"},
	{"report card --json", 0, "format guarantee released"},
	{"verify out --json", 0, "format release ok checks"},
	{"ledger show --json", 0, "format head datasets"},
	{"ledger verify --json", 0, "format ledger ok entries runs head"},
	{"predict out/release/model.json houses.csv --json", 0, "prediction"},
	{"compress --public loans.csv -o small.json --target repaid --method subsample --share 0.1 --json",
		0, "format model privacy records vectors"},
	{"version --json", 0, "version platform"},
}

// TestJSON checks that with --json a command prints exactly one JSON object, or one per line.
func TestJSON(t *testing.T) {
	aRun(t)
	for _, c := range jsonLines {
		got := dptrain(t, strings.Fields(c.args)...)
		if got.code != c.code || got.stderr != "" {
			t.Errorf(
				"%s: %d %s",
				c.args, got.code, got.stderr,
			)
			continue
		}
		objects := 0
		for in := json.NewDecoder(strings.NewReader(got.stdout)); in.More(); objects++ {
			var object map[string]any
			if err := in.Decode(&object); err != nil {
				t.Fatalf(
					"%s: %v\n%.300s",
					c.args, err, got.stdout,
				)
			}
			for key := range strings.FieldsSeq(c.keys) {
				if _, ok := object[key]; !ok {
					t.Fatalf(
						"%s: no %s in %.300s",
						c.args, key, got.stdout,
					)
				}
			}
		}
		lines := strings.HasPrefix(c.args, "predict")
		if objects == 0 || !lines && objects > 1 {
			t.Errorf("%s: %d objects", c.args, objects)
		}
	}
	got := dptrain(t, "check", "bad.yaml", "--json").stdout
	if !strings.Contains(got,
		`"key": "privacy.epsilon"`) || !strings.Contains(got, `"ok": false`) {
		t.Error(got)
	}
	if readFile(t, filepath.Join("out", "release", report.ReportFile)) != dptrain(t, "report", "out", "--json").stdout {
		t.Error("the report is another")
	}
	if got := dptrain(t, "predict", "out/release/model.json", "houses.csv", "--json",
		"--append"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

// TestTextFitsATerminal checks that the text output of all commands has lines of at most 80 characters.
func TestTextFitsATerminal(t *testing.T) {
	aRun(t)
	for _, c := range jsonLines {
		args := strings.Fields(strings.Replace(
			c.args, " --json", "",
			1,
		))
		if args[0] == "init" { // it prints a recipe, which is shown in an editor
			continue
		}
		got := dptrain(t, args...)
		if got.code != c.code {
			t.Errorf("%s: %+v", c.args, got)
		}
		for line := range strings.Lines(got.stdout + got.stderr) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf(
					"%v: %d characters: %s",
					args, utf8.RuneCountInString(line), line,
				)
			}
		}
	}
}

// TestProgressInAPipe checks that without a terminal --progress prints the names of the stages only, and that there
// is no output without it. Times are not printed, because they depend on the records.
func TestProgressInAPipe(t *testing.T) {
	aRun(t)
	got := dptrain(
		t, "fit", "recipe.yaml",
		"--dataset", "none",
		"--ledger", "none.ledger",
	)
	if got.code != exitLedger {
		t.Errorf("%+v", got)
	}
	writeFile(
		t,
		"recipe.yaml",
		strings.Replace(
			readFile(t, "recipe.yaml"),
			"ledger: {dataset: houses}\n",
			"", 1,
		),
	)
	got = dptrain(t, "fit", "recipe.yaml", "--progress")
	want := "dptrain: 1 of 9: read\ndptrain: 2 of 9: check\ndptrain: 3 of 9: split\ndptrain: 4 of 9: vocabulary (5.0% of the budget)\ndptrain: 5 of 9: selection\n" +
		"dptrain: 6 of 9: scaling (17.9% of the budget)\ndptrain: 7 of 9: model (81.6% of the budget)\n" +
		"dptrain: 8 of 9: held-out metric (100.0% of the held-out budget)\ndptrain: 9 of 9: write\n"
	if got.code != 0 || got.stderr != want {
		t.Errorf(
			"%d\n%s",
			got.code, got.stderr,
		)
	}
}

// TestColoursNotInAPipe checks that output is not coloured unless it goes to a terminal, whatever the environment
// variables are.
func TestColoursNotInAPipe(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	aRun(t)
	var out bytes.Buffer
	code := run(
		t.Context(),
		[]string{"plan", "recipe.yaml"},
		strings.NewReader(""),
		&out,
		&out,
	)
	if code == 0 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d %q", code, out.String())
	}
}
