package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/testkit"
)

// scriptDriver runs check scripts in one process. Its arguments are pairs of a script and a report. For each pair it
// prints "ok" or "refused", followed by the output of the script.
const scriptDriver = `
import contextlib, io, sys
import dp_accounting.pld.privacy_loss_distribution
for script, path in zip(sys.argv[1::2], sys.argv[2::2]):
    sys.argv[1:] = [path]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(open(script).read(), script, "exec"), {"__name__": "__main__"})
        print("ok", said.getvalue().strip())
    except Exception as e:
        print("refused", type(e).__name__)
`

// runScripts runs check scripts. It skips the test if the Python package dp-accounting is not installed.
func runScripts(t *testing.T, pairs ...string) []string {
	t.Helper()
	name := os.Getenv("DPTRAIN_PYTHON")
	if name == "" {
		var err error
		if name, err = exec.LookPath("python3"); err != nil {
			t.Skip(err)
		}
	}
	var stderr bytes.Buffer
	cmd := exec.Command(name, append([]string{"-c", scriptDriver}, pairs...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if strings.Contains(stderr.String(), "No module named") &&
		os.Getenv("DPTRAIN_PYTHON") == "" {
		t.Skip(strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		t.Fatalf(
			"%v\n%.2000s",
			err, stderr.String(),
		)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// checkedRuns returns recipes that cover every composition rule, noise distribution and node type.
func checkedRuns() map[string]string {
	const data = "data: {path: table.csv, target: y, exclude: [id, word]}\n"
	const gram = "model: {method: joint-gram}\n"
	return map[string]string{
		"plain": data +
			"privacy: {epsilon: 1}\n" +
			gram,
		"numbers": data +
			"privacy: {epsilon: 1}\n" +
			"selection: {method: none}\n" +
			"model: {method: adassp}\n",
		"unit": "data: {path: table.csv, target: y, exclude: [word]}\n" +
			"privacy: {epsilon: 3, unit: {column: id, max_rows: 3}}\n" +
			gram,
		"substitution": data +
			"privacy: {epsilon: 1, relation: substitute}\n" +
			gram,
		"found": "data: {path: table.csv, target: y, exclude: [id], undeclared: found}\n" +
			"privacy: {epsilon: 2}\n" +
			gram,
		"search": data +
			"privacy: {epsilon: 2}\n" +
			"search:\n" +
			"  runs: 3\n" +
			"  candidates:\n" +
			"    - {selection: {method: none}, model: {method: joint-gram}}\n" +
			"    - {selection: {method: kendall, k: 1}, model: {method: joint-gram}}\n",
		"branches": data +
			"privacy: {epsilon: .3}\n",
		"no holdout": data +
			"privacy: {epsilon: 1}\n" +
			"holdout: 0\n" +
			gram,
		"basic": data +
			"privacy: {epsilon: 2, composition: basic}\n",
		"pure": "task: classification\n" +
			"data:\n" +
			"  path: table.csv\n" +
			"  target: word\n" +
			"  classes: [red, green]\n" +
			"  exclude: [id]\n" +
			"  columns:\n" +
			"    a: {lower: 0, upper: 16}\n" +
			"    b: {lower: 0, upper: 4}\n" +
			"    y: {lower: 0, upper: 52}\n" +
			"privacy: {epsilon: 1, delta: 0}\n" +
			"holdout: 0\n" +
			"scaling: {method: declared}\n" +
			"model: {method: brc, form: laplace}\n",
		"black box": data +
			"privacy: {epsilon: 3}\n" +
			"model: {method: tukey, fallback: joint-gram}\n",
	}
}

// writeCheckedTable writes the table for checkedRuns.
func writeCheckedTable(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,a,b,word,y\n")
	for i := range 600 {
		fmt.Fprintf(
			&b,
			"p%d,%d,%d,%s,%d\n",
			i/2,
			i%17,
			i%5,
			[]string{"red", "green"}[i%2],
			3*(i%17)+i%5,
		)
	}
	writeFile(t, "table.csv", b.String())
}

// scriptBody returns a script without the two values that differ between reports of the same plan.
func scriptBody(script string) string {
	return scriptValues.ReplaceAllString(script, "")
}

var scriptValues = regexp.MustCompile(`[0-9a-f]{64}|<= 0\.[0-9]+ and`)

// A scriptQuestion is a script to run on a report, and the expected outcome.
type scriptQuestion struct{ want, name, script, path string }

// TestCheckScript checks that the script for every kind of composition computes the epsilon of the report, and
// rejects altered reports: by checksum or, if all checksums were recomputed, by the composition. Scripts that are
// equal but for the checksum and the tolerance are the same program, so forged reports are tried on one.
func TestCheckScript(t *testing.T) {
	chdirTemp(t)
	writeCheckedTable(t)
	var questions []scriptQuestion
	recipes := checkedRuns()
	tried := map[string]bool{}
	rules := map[string]bool{}
	forged := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(recipes)) {
		writeFile(t, "r.yaml", recipes[name])
		out := strings.ReplaceAll(name, " ", "-")
		r := dptrain(
			t, "fit", "r.yaml",
			"--out", out, "--quiet",
		)
		if r.code != 0 {
			t.Fatalf("%s: %+v", name, r)
		}
		path := filepath.Join(out, "release", "report.json")
		script := writeScript(t, path, out)
		questions = append(questions, scriptQuestion{"ok", name, script, path})
		edited := filepath.Join(out, "edited.json")
		writeFile(t, edited,
			strings.Replace(
				readFile(t, path),
				`"released":1`,
				`"released":0`, 1,
			))
		questions = append(questions,
			scriptQuestion{"refused", name + ", edited", script, edited})
		lines, most := strings.Split(
			strings.TrimSpace(readFile(t, script)),
			"\n",
		), 20
		if name == "search" {
			most = 27
		}
		if len(lines) > most {
			t.Errorf(
				"%s: %d lines, at most %d",
				name, len(lines), most,
			)
		}
		body := scriptBody(readFile(t, script))
		if !tried[body] {
			tried[body] = true
			rule := compositionRule(t, path)
			if testkit.Full() && !rules[rule] {
				clear(forged)
			}
			questions = append(questions,
				forgedQuestions(t, name, path, out, forged)...)
			rules[rule] = true
		}
	}
	if len(tried) < 6 || len(rules) < 4 {
		t.Errorf(
			"%d different scripts of %d rules",
			len(tried), len(rules),
		)
	}
	var pairs []string
	for _, q := range questions {
		pairs = append(pairs, q.script, q.path)
	}
	said := runScripts(t, pairs...)
	for i, q := range questions {
		if i >= len(said) ||
			!strings.HasPrefix(said[i], q.want+" ") {
			t.Errorf(
				"%s: %q, want %s",
				q.name,
				said[min(i, len(said)-1)],
				q.want,
			)
		}
	}
}

// compositionRule returns the rule of a report, with "pure" for a delta of 0.
func compositionRule(t *testing.T, path string) string {
	t.Helper()
	r, err := report.Decode(strings.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Guarantee.Delta == 0 {
		return "pure " + r.Accounting.Rule
	}
	return r.Accounting.Rule
}

// forgedQuestions writes forged reports and their scripts, which must refuse them. All scripts end with the same
// comparison, so every script runs on smaller steps, and on other forgeries that are not yet in done, to which they are added.
func forgedQuestions(t *testing.T, name, path, out string, done map[string]bool) []scriptQuestion {
	t.Helper()
	var questions []scriptQuestion
	for what, forge := range reportForgeries() {
		if done[what] && what != "smaller steps" {
			continue
		}
		folder := filepath.Join(out, strings.ReplaceAll(what, " ", "-"))
		if !writeForged(t, path, folder, forge) {
			continue
		}
		done[what] = true
		at := filepath.Join(folder, "report.json")
		questions = append(questions,
			scriptQuestion{"refused", name + ", " + what, writeScript(t, at, folder), at})
	}
	return questions
}

// writeScript writes the check script of a report into a folder and returns its path.
func writeScript(t *testing.T, path, folder string) string {
	t.Helper()
	r := dptrain(t, "report", path, "--check-script")
	if r.code != 0 {
		t.Fatalf("%s: %+v", path, r)
	}
	script := filepath.Join(folder, "check.py")
	writeFile(t, script, r.stdout)
	for line := range strings.Lines(r.stdout) {
		if len(line) > 145 {
			t.Errorf(
				"%s: a line of %d characters: %s",
				path, len(line), line,
			)
		}
	}
	return script
}

// TestStoppedRunIsConsistent checks that the report of a run that stops early passes verify, and that a script computes its
// epsilon from the report alone, which prints a small epsilon in full.
func TestStoppedRunIsConsistent(t *testing.T) {
	chdirTemp(t)
	writeCheckedTable(t)
	var pairs []string
	for name, recipe := range map[string]string{
		"records": "data: {path: table.csv, target: word, exclude: [id]}\nprivacy: {epsilon: 5}\n",
		"units": "data: {path: table.csv, target: word}\n" +
			"privacy: {epsilon: 5, unit: {column: id, max_rows: 2}}\nmodel: {method: joint-gram}\n",
		"basic": "data: {path: table.csv, target: word, exclude: [id]}\n" +
			"privacy: {epsilon: 5, composition: basic}\nmodel: {method: joint-gram}\n",
	} {
		writeFile(t, "r.yaml", recipe)
		if r := dptrain(t, "fit", "r.yaml", "--out", name, "--quiet"); r.code != exitAbstained {
			t.Fatalf("%s: %+v", name, r)
		}
		if r := dptrain(t, "verify", name+"/release"); r.code != exitOK ||
			!strings.Contains(r.stdout, "ok       guarantee") {
			t.Errorf("%s: %+v", name, r)
		}
		r := dptrain(t, "report", name, "--check-script")
		if r.code != exitOK {
			t.Fatalf("%s: %+v", name, r)
		}
		writeFile(t, name+".py", r.stdout)
		pairs = append(pairs, name+".py", name+"/release/report.json")
	}
	for _, said := range runScripts(t, pairs...) {
		if !strings.HasPrefix(said, "ok epsilon ") ||
			!strings.HasSuffix(said, "the report says 5") {
			t.Errorf("%q", said)
		}
	}
}

// reportForgeries returns edits that make the guarantee in a report look stronger, as an attacker who can recompute
// checksums might make them. Each reports whether it changed the report.
func reportForgeries() map[string]func(r *report.Report) bool {
	return map[string]func(r *report.Report) bool{
		"a smaller epsilon": func(r *report.Report) bool {
			r.Guarantee.Epsilon /= 2
			r.Accounting.Epsilon /= 2
			r.Guarantee.Spent /= 2
			return true
		},
		"a smaller delta": func(r *report.Report) bool {
			r.Guarantee.Delta /= 100
			return r.Guarantee.Delta > 0
		},
		"smaller steps": func(r *report.Report) bool {
			for i := range r.Events {
				r.Events[i].Mu *= .9
				r.Events[i].Epsilon *= .9
			}
			return true
		},
		"a step less": func(r *report.Report) bool {
			r.Events = r.Events[1:]
			return true
		},
		"a step more": func(r *report.Report) bool {
			e := r.Events[0]
			e.ID += "-2"
			r.Events = append(r.Events, e)
			return true
		},
		"another coin": func(r *report.Report) bool {
			r.Accounting.SecretSplit *= 3
			return r.Accounting.SecretSplit > 0
		},
	}
}

// writeForged writes an edited report with all checksums recomputed.
func writeForged(t *testing.T, path, out string, forge func(*report.Report) bool) bool {
	t.Helper()
	r, err := report.Decode(strings.NewReader(readFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if !forge(r) {
		return false
	}
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(out, "report.json"), b.String())
	return true
}

// TestCheckScriptRefuses checks that no script is written for an edited report, or for one that does not state its
// composition.
func TestCheckScriptRefuses(t *testing.T) {
	earlier := readFile(
		t,
		"../../internal/publish/report/testdata/report-3.json",
	)
	chdirTemp(t)
	writeCheckedTable(t)
	writeFile(t, "r.yaml", checkedRuns()["plain"])
	r := dptrain(t, "fit", "r.yaml", "--quiet")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	text := readFile(t, "out/release/report.json")
	writeFile(
		t, "edited.json",
		strings.Replace(text, `"released":1`, `"released":0`, 1),
	)
	writeFile(t, "three.json", earlier)
	for path, want := range map[string]string{
		"edited.json": "its checksum does not match",
		"three.json":  "an earlier version",
		"table.csv":   "this is not a report",
		"none":        "cannot be read",
	} {
		r := dptrain(t, "report", path, "--check-script")
		if r.code == 0 ||
			r.stdout != "" ||
			!strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", path, r)
		}
	}
}
