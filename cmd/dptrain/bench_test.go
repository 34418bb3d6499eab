package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchFile writes a public table of y = 3x plus a ripple and returns its path.
func benchFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 300 {
		fmt.Fprintf(
			&b, "%d,%d\n",
			i, 3*i+i%7,
		)
	}
	path := filepath.Join(t.TempDir(), "line.csv")
	err := os.WriteFile(path, []byte(b.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// keysOf returns the keys of a JSON object in their order.
func keysOf(t *testing.T, line string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	var keys []string
	if _, err := d.Token(); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		keys = append(keys, key.(string))
		var value any
		if err := d.Decode(&value); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return strings.Join(keys, " ")
}

func TestBenchJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(
		context.Background(),
		[]string{
			"bench",
			"--public",
			"--data", benchFile(t),
			"--method", "joint-gram,nonprivate-ols",
			"--trials", "2",
			"--json",
		},
		strings.NewReader(""),
		&stdout,
		&stderr,
	)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if code != 0 || stderr.Len() > 0 || len(lines) != 6 {
		t.Fatalf(
			"exit %d, %s\n%s",
			code, stderr.String(), stdout.String(),
		)
	}
	for i, line := range lines {
		want := "data method epsilon delta trial metric value seconds"
		if i >= 4 {
			want = "data method epsilon delta metric median q25 q75 trials"
		}
		got := keysOf(t, line)
		if got != want {
			t.Errorf(
				"line %d has the keys %s, want %s",
				i+1, got, want,
			)
		}
	}
	var row struct {
		Data, Method string
		Epsilon      *float64
		Value        float64
	}
	err := json.Unmarshal([]byte(lines[1]), &row)
	if err != nil ||
		row.Data != "line" ||
		row.Method != "nonprivate-ols" ||
		row.Epsilon != nil ||
		row.Value < .99 {
		t.Errorf("%v: %s", err, lines[1])
	}
}

func TestBenchTable(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(
		context.Background(),
		[]string{
			"bench",
			"--public",
			"--data", benchFile(t),
			"--method", "nonprivate-ols",
			"--target", "x",
		},
		strings.NewReader(""),
		&stdout,
		&stderr,
	)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if code != 0 || len(lines) != 2 {
		t.Fatalf(
			"exit %d, %s\n%s",
			code, stderr.String(), stdout.String(),
		)
	}
	head := strings.Join(strings.Fields(lines[0]), " ")
	if head != "data n d method median q25 q75 seconds no value" {
		t.Errorf("head %q", head)
	}
	f := strings.Fields(
		lines[1])
	if strings.Join(f[:5], " ") != "line 300 1 nonprivate-ols 1.000" ||
		f[8] != "0" {
		t.Errorf("line %q", lines[1])
	}
}

// TestBenchClasses checks that the balanced accuracy appears next to the accuracy, in the table and in JSON.
func TestBenchClasses(t *testing.T) {
	args := strings.Fields(
		"bench --public --data ../../testdata/loans.csv --task classification --categories --method nonprivate-logistic --trials 2")
	got := dptrain(t, args...)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 ||
		got.stderr != "" ||
		len(lines) != 2 {
		t.Fatalf("%+v", got)
	}
	head := strings.Join(strings.Fields(lines[0]), " ")
	if head != "data n d method median q25 q75 balanced seconds no value" {
		t.Errorf("head %q", head)
	}
	got = dptrain(t, append(args, "--json")...)
	lines = strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || len(lines) != 3 {
		t.Fatalf("%+v", got)
	}
	keys := keysOf(t, lines[0])
	if keys !=
		"data method epsilon delta trial metric value balanced_accuracy seconds" {
		t.Errorf("trial: %s", keys)
	}
	keys = keysOf(t, lines[2])
	if keys !=
		"data method epsilon delta metric median q25 q75 balanced_accuracy trials" {
		t.Errorf("summary: %s", keys)
	}
	var first, summary struct {
		Value, Median float64
		Balanced      json.RawMessage `json:"balanced_accuracy"`
	}
	var balanced float64
	err := errors.Join(
		json.Unmarshal([]byte(lines[0]), &first),
		json.Unmarshal(first.Balanced, &balanced),
	)
	if err != nil || balanced < .6 || balanced >= first.Value {
		t.Errorf("%v: %s", err, lines[0])
	}
	var quartiles struct{ Median, Q25, Q75 float64 }
	err = errors.Join(
		json.Unmarshal([]byte(lines[2]), &summary),
		json.Unmarshal(summary.Balanced, &quartiles),
	)
	if err != nil ||
		quartiles.Median < .6 ||
		quartiles.Median >= summary.Median {
		t.Errorf("%v: %s", err, lines[2])
	}
}

// TestBenchSuite checks that the error for a request of a suite contains the command that runs it, with the same
// arguments.
func TestBenchSuite(t *testing.T) {
	const program = "experiments/ of the source code of dptrain, run\n" +
		"go run ./cmd/dptrain-experiments"
	for args, want := range map[string]string{
		"bench|--public|--suite|seed-001|--data|tables/|--out|results": program +
			" --public --suite seed-001 --data tables/ --out results\n",
		"bench|--suite|copies|--seed=3|--trials|2|--out|my results": program +
			" --suite copies --seed 3 --trials 2 --out 'my results'\n",
		"bench|--suite|copies|--public|--ledger|it's": program +
			` --suite copies --public --ledger 'it'\''s'` + "\n",
		"bench|--out|results": program + " --out results\n",
	} {
		got := dptrain(t, strings.Split(args, "|")...)
		if got.code != exitUsage ||
			got.stdout != "" ||
			!strings.HasSuffix(got.stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestBenchMistakes(t *testing.T) {
	path := benchFile(t)
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	err := os.WriteFile(
		broken,
		[]byte("privacy: {epsilon: -1}\n"),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"not public": {
			[]string{"--data", path},
			2,
			[]string{"--public", "not private", "dptrain fit"},
		},
		"method": {
			[]string{
				"--public", "--data", path,
				"--method", "magic",
			},
			2,
			[]string{`"magic"`, "joint-gram", "nonprivate-lasso"},
		},
		"selection": {
			[]string{
				"--public", "--data", path,
				"--method", "magic+auto",
			},
			2,
			[]string{`"magic"`, "none"},
		},
		"needs class": {
			[]string{
				"--public", "--data", path,
				"--method", "nonprivate-svm",
			},
			2,
			[]string{"nonprivate-svm needs classes", "--task classification"},
		},
		"empty method": {
			[]string{
				"--public", "--data", path,
				"--method", "",
			},
			2,
			[]string{"joint-gram"},
		},
		"no data": {
			[]string{"--public"},
			2,
			[]string{"--data"},
		},
		"rows": {
			[]string{
				"--public", "--data", path,
				"--rows", "0",
			},
			2,
			[]string{"--rows"},
		},
		"trials": {
			[]string{
				"--public", "--data", path,
				"--trials", "0",
			},
			2,
			[]string{"--trials"},
		},
		"epsilon": {
			[]string{
				"--public", "--data", path,
				"--epsilon", "0",
			},
			2,
			[]string{"--epsilon"},
		},
		"delta": {
			[]string{
				"--public", "--data", path,
				"--delta", "1",
			},
			2,
			[]string{"--delta"},
		},
		"relation": {
			[]string{
				"--public", "--data", path,
				"--relation", "friends",
			},
			2,
			[]string{"--relation"},
		},
		"columns": {
			[]string{
				"--public",
				"--data", path,
				"--relation", "substitute-private-columns",
			},
			2,
			[]string{"--relation"},
		},
		"recipe": {
			[]string{"--public", "--data", path, broken},
			3,
			[]string{"broken.yaml", "epsilon"},
		},
		"target": {
			[]string{
				"--public", "--data", path,
				"--target", "z",
			},
			4,
			[]string{"target"},
		},
		"absent": {
			[]string{"--public", "--data", "no-such.csv"},
			4,
			[]string{"no-such.csv"},
		},
		"pure": {
			[]string{
				"--public", "--data", path,
				"--method", "adassp", "--delta",
				"0",
			},
			3,
			[]string{"delta", "adassp"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(
				context.Background(),
				append([]string{"bench"}, c.args...),
				strings.NewReader(""),
				&stdout,
				&stderr,
			)
			if code != c.code || stdout.Len() > 0 {
				t.Errorf(
					"exit %d, want %d; printed %q; %s",
					code,
					c.code,
					stdout.String(),
					stderr.String(),
				)
			}
			for _, words := range c.says {
				if !strings.Contains(stderr.String(), words) {
					t.Errorf(
						"%q does not say %q",
						stderr.String(), words,
					)
				}
			}
		})
	}
}

// interrupter is a writer that ends a context after the first lines.
type interrupter struct {
	bytes.Buffer
	cancel func()
	after  int
}

func (w *interrupter) Write(p []byte) (int, error) {
	if w.after--; w.after == 0 {
		w.cancel()
	}
	return w.Buffer.Write(p)
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stdout := &interrupter{cancel: cancel, after: 3}
	var stderr bytes.Buffer
	code := run(
		ctx,
		[]string{
			"bench",
			"--public",
			"--data", benchFile(t),
			"--method", "nonprivate-ols",
			"--trials", "100000",
			"--json",
		},
		strings.NewReader(""),
		stdout,
		&stderr,
	)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if code != 130 || len(lines) < 4 || len(lines) > 100000 {
		t.Fatalf(
			"exit %d, %d lines, %s",
			code, len(lines), stderr.String(),
		)
	}
	var last struct{ Trials int }
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &last)
	if err != nil || last.Trials != len(lines)-1 {
		t.Errorf(
			"%v: %d lines, the last is %s",
			err, len(lines),
			lines[len(lines)-1],
		)
	}
}

// brokenPipe is a writer that always fails.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, os.ErrClosed
}

func TestBenchOutputFails(t *testing.T) {
	var stderr bytes.Buffer
	code := run(
		context.Background(),
		[]string{
			"bench",
			"--public",
			"--data", benchFile(t),
			"--method", "nonprivate-ols",
			"--json",
		},
		strings.NewReader(""),
		brokenPipe{},
		&stderr,
	)
	if code != exitUsage || stderr.Len() == 0 {
		t.Errorf(
			"exit %d, %q",
			code, stderr.String(),
		)
	}
}
