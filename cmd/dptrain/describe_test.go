package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDescribe checks a description configured by flags, its report in every format and its verification.
func TestDescribe(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	args := []string{
		"describe", "../../testdata/visits.csv",
		"--exclude", "patient_id",
		"--by", "ward",
		"--range", "age=0:110",
		"--epsilon", "2",
		"--out", out,
	}
	first := dptrain(t, args...)
	if first.code != 0 || first.stderr != "" {
		t.Fatalf(
			"exit %d\n%s%s",
			first.code, first.stdout, first.stderr,
		)
	}
	for _, want := range []string{"Records: ", "0 to 110", "night ", "Groups by ward",
		"Strongest associations", "Warnings: no-ledger"} {
		if !strings.Contains(first.stdout, want) {
			t.Errorf(
				"no %q in\n%s",
				want, first.stdout,
			)
		}
	}
	lines := strings.Split(strings.TrimSuffix(first.stdout, "\n"), "\n")
	for _, line := range lines {
		if len(lines) > 40 ||
			utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "Published") {
			t.Errorf(
				"%d lines, one of %d characters: %s",
				len(lines),
				utf8.RuneCountInString(line),
				line,
			)
		}
	}
	again := dptrain(t, args...)
	if again.code != 2 || !strings.Contains(again.stderr, "already exists") {
		t.Errorf(
			"a second run: exit %d, %s",
			again.code, again.stderr,
		)
	}
	for _, path := range []string{
		out,
		filepath.Join(out, "release"),
		filepath.Join(out, "release", "describe.json"),
	} {
		r := dptrain(t, "report", path)
		if r.code != 0 ||
			!strings.HasPrefix(first.stdout, r.stdout) ||
			r.stdout == "" {
			t.Errorf(
				"report %s: exit %d\n%s%s",
				path, r.code, r.stdout, r.stderr,
			)
		}
	}
	for format, want := range map[string]string{
		"html": "<!doctype html>",
		"md":   "# Private description of a table",
		"json": `"format": "dptrain.describe/1"`,
	} {
		r := dptrain(t, "report", out, "--format", format)
		if r.code != 0 ||
			!strings.Contains(strings.ToLower(r.stdout), strings.ToLower(want)) {
			t.Errorf(
				"report --format %s: exit %d\n%.200s%s",
				format,
				r.code,
				r.stdout,
				r.stderr,
			)
		}
	}
	for _, flag := range []string{
		"--registry",
		"--scores",
		"--shape=age",
		"--format=pdf",
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
	entries, err := os.ReadDir(filepath.Join(out, "release"))
	if err != nil || len(entries) != 2 {
		t.Errorf(
			"%d files in release/ (%v)",
			len(entries), err,
		)
	}
	r := dptrain(t, append(
		args, "--force", "--quiet",
	)...)
	if r.code != 0 || r.stdout+r.stderr != "" {
		t.Errorf(
			"replaced: exit %d, %s%s",
			r.code, r.stdout, r.stderr,
		)
	}
}

// TestDescribeLedger checks that the price is entered in the ledger before a row is read, that a description beyond
// the budget is refused, and that verify compares a release with its entry.
func TestDescribeLedger(t *testing.T) {
	dir := t.TempDir()
	ledger := filepath.Join(dir, "l.ledger")
	out := filepath.Join(dir, "out")
	if r := dptrain(t, "ledger", "init", ledger, "--dataset", "visits", "--epsilon", "3", "--delta",
		"1e-5"); r.code != 0 {
		t.Fatal(r.stderr)
	}
	args := []string{
		"describe", "../../testdata/visits.csv",
		"--exclude", "patient_id",
		"--epsilon", "1",
		"--ledger", ledger,
		"--dataset", "visits",
		"--out", out,
	}
	plan := dptrain(t, append(
		args, "--plan", "--json",
	)...)
	var b struct {
		Method string
		Steps  []struct{ ID string }
		Ledger *struct {
			Fits bool
			Cost struct{ Cost float64 }
		}
	}
	err := json.Unmarshal([]byte(plan.stdout), &b)
	if err != nil ||
		b.Method != "describe" ||
		b.Ledger == nil ||
		!b.Ledger.Fits ||
		len(b.Steps) < 10 {
		t.Errorf(
			"plan: exit %d, %v\n%s%s",
			plan.code, err, plan.stdout, plan.stderr,
		)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("--plan made the output folder")
	}
	r := dptrain(t, append(args, "--note", "first look")...)
	if r.code != 0 ||
		!strings.Contains(r.stdout, "Ledger: entry 3 for data set visits") ||
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
	if v := dptrain(t, "ledger", "verify", ledger, "--report", out); v.code != 0 {
		t.Errorf(
			"ledger verify: exit %d\n%s%s",
			v.code, v.stdout, v.stderr,
		)
	}
	refused := dptrain(
		t,
		append(
			args, "--epsilon=2.9",
			"--out="+filepath.Join(dir, "two"),
		)...,
	)
	if refused.code != 2 { // the flag is repeated
		t.Errorf(
			"exit %d: %s",
			refused.code, refused.stderr,
		)
	}
	larger := []string{
		"describe", "../../testdata/visits.csv",
		"--exclude", "patient_id",
		"--epsilon", "2.9",
		"--ledger", ledger,
		"--dataset", "visits",
		"--out", filepath.Join(dir, "two"),
	}
	refused = dptrain(t, larger...)
	if refused.code != 5 ||
		!strings.Contains(refused.stderr, "the largest epsilon that fits is") {
		t.Errorf(
			"exit %d: %s",
			refused.code, refused.stderr,
		)
	}
	if _, err := os.Stat(filepath.Join(dir, "two", "release")); err == nil {
		t.Error("a refused description was published")
	}
}

// TestDescribeRefuses checks that errors in a description are reported with a remedy.
func TestDescribeRefuses(t *testing.T) {
	chdirWith := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		err := os.WriteFile(path, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	const data = "../../testdata/visits.csv"
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{2, nil, "takes the table"},
		{3, []string{data}, "epsilon is required"},
		{
			3,
			[]string{data, "--epsilon", "0"},
			"greater than 0",
		},
		{
			4,
			[]string{"none.csv", "--epsilon", "1"},
			"none.csv",
		},
		{
			4,
			[]string{
				data, "--epsilon", "1",
				"--exclude", "patient_id", "--by",
				"wrad",
			},
			`did you mean "ward"?`,
		},
		{
			4,
			[]string{
				data, "--epsilon", "1",
				"--columns", "age,dos",
			},
			`did you mean "dose"?`,
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--columns", "age", "--exclude",
				"age",
			},
			"not both",
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--by", "age", "--range",
				"age=0:9",
			},
			"declare its categories",
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--relation", "substitute-private-columns",
			},
			"protects whole records",
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--relation", "both",
			},
			"unknown name",
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--delta", "0",
			},
			"delta",
		},
		{
			3,
			[]string{
				data, "--epsilon", "1",
				"--unit", "patient_id",
			},
			"--max-rows: privacy.unit.max_rows is required",
		},
		{
			3,
			[]string{
				data,
				"--epsilon", "1",
				"--relation", "substitute",
				"--unit", "patient_id",
				"--max-rows", "2",
			},
			"add-remove",
		},
		{
			2,
			[]string{
				data, "--epsilon", "1",
				"--range", "age",
			},
			"NAME=LOWER:UPPER",
		},
		{
			2,
			[]string{
				data, "--epsilon", "1",
				"--note", "x",
			},
			"--dataset",
		},
		{
			4,
			[]string{
				chdirWith("x.csv", ""),
				"--epsilon", "1",
			},
			"x.csv",
		},
	} {
		r := dptrain(
			t,
			append(
				[]string{"describe"},
				append(
					c.args, "--out",
					filepath.Join(t.TempDir(), "out"),
				)...,
			)...,
		)
		if r.code != c.code ||
			!strings.Contains(joinWords(r.stderr), c.want) {
			t.Errorf(
				"%v: exit %d, %s",
				c.args, r.code, r.stderr,
			)
		}
	}
}

// TestDescribeTables checks descriptions of tables without records, with one record, with constants and with missing
// values, with and without units.
func TestDescribeTables(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty":     "a,b,who\n",
		"one":       "a,b,who\n1,x,p\n",
		"constants": "a,b,who\n" + strings.Repeat("7,x,p\n", 3000),
		"missing":   "a,b,who\n" + strings.Repeat(",,p\n", 3000),
		"huge": "a,b,who\n" + strings.Repeat(
			"1e308,-1e308,p\n-1e308,1e308,q\n",
			1500,
		),
	} {
		file := filepath.Join(dir, name+".csv")
		err := os.WriteFile(file, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for i, more := range [][]string{
			{"--by", "b"},
			{"--relation", "substitute", "--by", "b"},
			{"--unit", "who", "--max-rows", "2"},
		} {
			out := filepath.Join(dir, name+string(rune('a'+i)))
			r := dptrain(
				t,
				append(
					[]string{
						"describe", file, "--epsilon", "3",
						"--out", out,
					},
					more...,
				)...,
			)
			if r.code != 0 {
				t.Errorf(
					"%s %v: exit %d, %s",
					name, more, r.code, r.stderr,
				)
				continue
			}
			v := dptrain(t, "verify", out)
			if v.code != 0 {
				t.Errorf(
					"%s %v: verify: exit %d, %s%s",
					name,
					more,
					v.code,
					v.stdout,
					v.stderr,
				)
			}
		}
	}
}

// TestDescribeScript checks that the check script of a description composes the steps to the epsilon in its file.
func TestDescribeScript(t *testing.T) {
	dir := t.TempDir()
	var pairs []string
	for name, more := range map[string][]string{
		"undeclared": {"--exclude", "patient_id"},
		"persons": {
			"--unit", "patient_id",
			"--max-rows", "3",
			"--by", "ward",
		},
		"numbers": {
			"--columns", "age,dose",
			"--undeclared", "numbers",
			"--relation", "substitute",
		},
	} {
		out := filepath.Join(dir, name)
		if r := dptrain(t,
			append([]string{
				"describe", "../../testdata/visits.csv",
				"--epsilon", "1",
				"--out", out,
			}, more...)...); r.code != 0 {
			t.Fatal(r.stderr)
		}
		r := dptrain(t, "report", out, "--check-script")
		if r.code != 0 {
			t.Fatalf(
				"%s: exit %d, %s",
				name, r.code, r.stderr,
			)
		}
		script := filepath.Join(dir, name+".py")
		err := os.WriteFile(script, []byte(r.stdout), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, script, filepath.Join(out, "release", "describe.json"))
	}
	for i, line := range runScripts(t, pairs...) {
		if !strings.HasPrefix(line, "ok ") {
			t.Errorf(
				"%s: %s",
				pairs[2*i], line,
			)
		}
	}
}
