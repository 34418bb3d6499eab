package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// joinWords joins the words of an output into one line.
func joinWords(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

// TestCausal checks a study configured by flags alone, its report and its verification.
func TestCausal(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	args := []string{
		"causal",
		"--data", "../../testdata/doses.csv",
		"--columns", "dose,response",
		"--range", "dose=0:50",
		"--range", "response=0:150",
		"--epsilon", "3",
		"--out", out,
	}
	first := dptrain(t, args...)
	if first.code != 0 ||
		!strings.Contains(joinWords(first.stdout), "dose causes response") {
		t.Fatalf(
			"exit %d\n%s%s",
			first.code, first.stdout, first.stderr,
		)
	}
	again := dptrain(t, args...)
	if again.code != 2 || !strings.Contains(again.stderr, "already exists") {
		t.Errorf(
			"a second run: exit %d, %s",
			again.code, again.stderr,
		)
	}
	r := dptrain(t, "report", out)
	if r.code != 0 || !strings.HasPrefix(first.stdout, r.stdout) {
		t.Errorf(
			"report: exit %d\n%s%s",
			r.code, r.stdout, r.stderr,
		)
	}
	r = dptrain(
		t, "report",
		filepath.Join(out, "release", "causal.json"),
	)
	if r.code != 0 || !strings.HasPrefix(first.stdout, r.stdout) {
		t.Errorf(
			"report of the file: exit %d\n%s%s",
			r.code, r.stdout, r.stderr,
		)
	}
	for _, flag := range []string{
		"--registry", "--scores",
		"--shape=dose",
	} {
		r := dptrain(t, "report", out, flag)
		if r.code != 2 {
			t.Errorf(
				"report %s: exit %d",
				flag, r.code,
			)
		}
	}
	v := dptrain(t, "verify", out)
	if v.code != 0 || !strings.Contains(v.stdout, "\nOK  ") {
		t.Errorf(
			"verify: exit %d\n%s%s",
			v.code, v.stdout, v.stderr,
		)
	}
	recipe := filepath.Join(out, "release", "recipe.yaml")
	p := dptrain(t, "plan", recipe)
	if p.code != 0 ||
		!strings.Contains(p.stdout, "causal directions, method histogram") {
		t.Errorf(
			"plan: exit %d\n%s%s",
			p.code, p.stdout, p.stderr,
		)
	}
	entries, err := os.ReadDir(filepath.Join(out, "release"))
	if err != nil || len(entries) != 3 {
		t.Errorf(
			"%d files in release/ (%v)",
			len(entries), err,
		)
	}
}

// TestCausalQuiet: notes about the header are printed, and --quiet leaves them out.
func TestCausalQuiet(t *testing.T) {
	chdirTemp(t)
	var b strings.Builder
	b.WriteString("x;y\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d;%d\n", i, i*i%97)
	}
	writeFile(t, "t.csv", b.String())
	args := []string{
		"causal",
		"--data", "t.csv",
		"--columns", "x,y",
		"--range", "x=0:500",
		"--range", "y=0:97",
		"--epsilon", "1",
	}
	got := dptrain(t, args...)
	if got.code != exitOK ||
		!strings.Contains(got.stderr, "note: t.csv: read with --separator") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, append(args, "--force", "--quiet")...)
	if got.code != exitOK || got.stdout+got.stderr != "" {
		t.Errorf("%+v", got)
	}
}

// TestCausalRecipe: a recipe, a flag laid over it, and the verbs that read it.
func TestCausalRecipe(t *testing.T) {
	const file = "../../examples/causal/matrix.yaml"
	for _, verb := range []string{"check", "plan"} {
		r := dptrain(t, verb, file)
		if r.code != 0 {
			t.Errorf(
				"%s: exit %d, %s",
				verb, r.code, r.stderr,
			)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	r := dptrain(t, "causal", file,
		"--columns", "dose,response,weight",
		"--bins", "6",
		"--epsilon", "9",
		"--relation", "add-remove",
		"--range", "weight=0:200",
		"--out", out,
		"--quiet",
	)
	if r.code != 0 || r.stdout != "" {
		t.Fatalf(
			"exit %d: %s%s",
			r.code, r.stdout, r.stderr,
		)
	}
	data, err := os.ReadFile(filepath.Join(out, "release", "causal.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Guarantee struct {
			Epsilon  float64
			Relation string
		}
		Columns []struct{ Upper float64 }
		Pairs   []struct{ Counts [][]float64 }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if c.Guarantee.Epsilon != 9 ||
		c.Guarantee.Relation != "add-remove" ||
		c.Columns[2].Upper != 200 ||
		len(c.Pairs) != 3 ||
		len(c.Pairs[0].Counts) != 6 {
		t.Errorf(
			"%+v, %d pairs",
			c.Guarantee, len(c.Pairs),
		)
	}
}

// TestCausalPlanJSON checks that the price includes the requirements of private ranges.
func TestCausalPlanJSON(t *testing.T) {
	recipe := filepath.Join(t.TempDir(), "r.yaml")
	text := "task: causal\ndata: {header: [a, b]}\nprivacy: {epsilon: 2}\ncausal: {columns: [a, b]}\n"
	err := os.WriteFile(recipe, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	r := dptrain(t, "plan", recipe, "--json")
	var b struct {
		Method string
		Target string
		Steps  []struct{ ID string }
		Ranges *struct {
			Spoiled float64 `json:"spoiled_below"`
			Free    float64 `json:"free_from"`
		}
	}
	err = json.Unmarshal([]byte(r.stdout), &b)
	if err != nil || r.code != 0 {
		t.Fatalf(
			"exit %d, %v: %s",
			r.code, err, r.stderr,
		)
	}
	if b.Method != "histogram" ||
		b.Target != "a, b" ||
		len(b.Steps) != 5 ||
		b.Ranges == nil ||
		!(b.Ranges.Spoiled > 100 &&
			b.Ranges.Free > b.Ranges.Spoiled) {
		t.Errorf(
			"%+v, ranges %+v",
			b, b.Ranges,
		)
	}
}

// TestCausalLedger checks that the price of a study is entered in the ledger, that a study beyond the budget is
// refused, and that verify compares a release with its entry.
func TestCausalLedger(t *testing.T) {
	dir := t.TempDir()
	ledger := filepath.Join(dir, "l.ledger")
	out := filepath.Join(dir, "out")
	r := dptrain(t, "ledger", "init", ledger,
		"--dataset", "doses",
		"--epsilon", "12",
		"--delta", "1e-5",
	)
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	args := []string{
		"causal", "../../examples/causal/pair.yaml",
		"--ledger", ledger,
		"--dataset", "doses",
		"--out", out,
		"--note", "first",
	}
	r = dptrain(
		t,
		append([]string{"plan"}, append(
			args[1:6:6],
			"--runs", "3",
		)...)...,
	)
	if r.code != 0 ||
		!strings.Contains(r.stdout, "Ledger") ||
		!strings.Contains(r.stdout, "Runs") {
		t.Errorf(
			"plan: exit %d\n%s%s",
			r.code, r.stdout, r.stderr,
		)
	}
	r = dptrain(t, args...)
	if r.code != 0 ||
		!strings.Contains(r.stdout, "recorded for data set doses") ||
		strings.Contains(r.stdout, "no-ledger") {
		t.Fatalf(
			"exit %d\n%s%s",
			r.code, r.stdout, r.stderr,
		)
	}
	v := dptrain(t, "verify", out, "--ledger", ledger)
	if v.code != 0 ||
		!strings.Contains(joinWords(v.stdout), "is this run, with the same head") {
		t.Errorf(
			"verify: exit %d\n%s%s",
			v.code, v.stdout, v.stderr,
		)
	}
	refused := dptrain(t, append(
		args, "--epsilon", "9",
		"--force",
	)...)
	if refused.code != 5 ||
		!strings.Contains(refused.stderr, "the largest epsilon that fits is") {
		t.Errorf(
			"exit %d: %s",
			refused.code, refused.stderr,
		)
	}
}

// TestCausalRefuses checks that errors in a study are reported with their position and a remedy.
func TestCausalRefuses(t *testing.T) {
	const data = "../../testdata/doses.csv"
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "nothing to do", []string{"causal"}},
		{
			3,
			"--columns: causal.columns needs at least two columns",
			[]string{
				"causal", "--data", data,
				"--epsilon", "1",
			},
		},
		{
			3,
			"--epsilon: privacy.epsilon is required",
			[]string{
				"causal", "--data", data,
				"--columns", "dose,response",
			},
		},
		{
			4,
			`--columns: the column "respons" is not in the header of the table (did you mean "response"?)`,
			[]string{
				"causal",
				"--data", data,
				"--columns", "dose,respons",
				"--epsilon", "1",
			},
		},
		{
			2,
			"is not NAME=LOWER:UPPER",
			[]string{
				"causal",
				"--data", data,
				"--columns", "dose,response",
				"--epsilon", "1",
				"--range", "dose",
			},
		},
		{
			3,
			"--range: data.columns.dose: lower (5) must be below upper (1)",
			[]string{
				"causal",
				"--data", data,
				"--columns", "dose,response",
				"--epsilon", "1",
				"--range", "dose=5:1",
			},
		},
		{
			3, "its task is regression",
			[]string{"causal", "../../examples/basic.yaml"},
		},
		{
			3,
			"task: causal trains no model (`dptrain causal` runs it)",
			[]string{"fit", "../../examples/causal/pair.yaml"},
		},
		{
			3,
			"task: causal trains no model (`dptrain causal` runs it)",
			[]string{
				"audit",
				"../../examples/causal/pair.yaml",
				"--own-table",
			},
		},
		{
			2,
			"--explain is for runs that train a model",
			[]string{
				"plan",
				"../../examples/causal/pair.yaml",
				"--explain",
			},
		},
		{
			2,
			"--note needs a ledger",
			[]string{
				"causal",
				"../../examples/causal/pair.yaml",
				"--note", "x",
			},
		},
		{
			5,
			"epsilon 1e-10 is too small for this study",
			[]string{
				"causal",
				"../../examples/causal/pair.yaml",
				"--epsilon", "1e-10",
			},
		},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := c.args
		if args[0] != "plan" && len(args) > 1 {
			args = append(args[:len(args):len(args)], "--out", out)
		}
		r := dptrain(t, args...)
		if r.code != c.code ||
			!strings.Contains(joinWords(r.stderr), c.says) {
			t.Errorf(
				"%v: exit %d, want %d: %s",
				c.args, r.code, c.code,
				r.stderr,
			)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v left something behind", c.args)
		}
	}
}

// TestCausalBaseline checks the baseline with each of its scores, its report and its verification.
func TestCausalBaseline(t *testing.T) {
	base := []string{
		"causal",
		"--data", "../../testdata/doses.csv",
		"--columns", "dose,response",
		"--range", "dose=0:50",
		"--range", "response=0:150",
		"--epsilon", "5",
		"--relation", "substitute",
		"--method", "anm",
	}
	for _, c := range [][]string{
		{"hsic", "all"},
		{"hsic", "test"},
		{"kendall", "test"},
		{"spearman", "test"},
		{"iqr", "test"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		r := dptrain(
			t,
			append(base[:len(base):len(base)],
				"--score", c[0],
				"--protect", c[1],
				"--out", out,
			)...,
		)
		if r.code != 0 ||
			!strings.Contains(joinWords(r.stdout), "baseline anm with score "+c[0]) {
			t.Fatalf(
				"%v: exit %d\n%s%s",
				c, r.code, r.stdout, r.stderr,
			)
		}
		unprotected := strings.Contains(
			joinWords(r.stdout),
			"the training records are not protected",
		)
		if unprotected != (c[1] == "test") {
			t.Errorf(
				"%v: says that training records are unprotected: %v",
				c, unprotected,
			)
		}
		v := dptrain(t, "verify", out)
		if v.code != 0 || !strings.Contains(v.stdout, "\nOK  ") {
			t.Errorf(
				"%v: verify: exit %d\n%s%s",
				c, v.code, v.stdout, v.stderr,
			)
		}
		p := dptrain(
			t, "plan",
			filepath.Join(out, "release", "recipe.yaml"),
		)
		if p.code != 0 ||
			strings.Contains(joinWords(p.stdout),
				"the training records are not protected") != unprotected {
			t.Errorf(
				"%v: plan: exit %d\n%s%s",
				c, p.code, p.stdout, p.stderr,
			)
		}
	}
	for flag, want := range map[string]string{
		"--score=kendall":                        "kendall has no sensitivity bound for training records",
		"--score=hsic --bins=8":                  "--bins: has no effect with method anm",
		"--score=magic":                          "unknown name",
		"--score=hsic --protect=most":            "unknown name",
		"--protect=test":                         "causal.score is required",
		"--score=iqr --protect=test --dataset=x": "cannot use a ledger",
	} {
		r := dptrain(
			t,
			append(
				append(base[:len(base):len(base)], strings.Fields(flag)...),
				"--out",
				filepath.Join(t.TempDir(), "out"),
			)...,
		)
		if r.code != 3 || !strings.Contains(joinWords(r.stderr), want) {
			t.Errorf(
				"%s: exit %d: %s",
				flag, r.code, r.stderr,
			)
		}
	}
}
